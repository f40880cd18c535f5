import type { Item } from './generation.ts';

/** Writes text as it is, and reads JSON as the answer to the item that it is. */
export interface AnswerSerde {
  readonly contentType: string;
  readonly serialize: (text: string) => Uint8Array;
  readonly deserialize: (bytes: Uint8Array) => Item;
}

/**
 * What every item has from its prototype. The SDK holds a serde until the invocation ends: functions of its own for every step
 * would be held with it, and copied by every collection of garbage.
 */
export const answering: AnswerSerde = {
  contentType: 'application/json',
  serialize: (text) => Buffer.from(text, 'utf8'),
  deserialize(this: Item, bytes) {
    // A buffer costs less than the platform's decoder, which shows where this is done for every step.
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    this.value = JSON.parse(text);
    this.bytes = bytes.byteLength;
    return this;
  },
};
