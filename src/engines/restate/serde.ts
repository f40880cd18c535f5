import type { Item } from './generation.ts';

/** Writes text as it is, and reads JSON as the answer to an item. */
export interface AnswerSerde {
  readonly contentType: string;
  readonly serialize: (text: string) => Uint8Array;
  readonly deserialize: (bytes: Uint8Array) => Item;
}

/** Reads what came as JSON. The item is asked for when it has come: it is made of the promise for which this is needed. */
export function readingSerde(itemOf: () => Item): AnswerSerde {
  return {
    contentType: 'application/json',
    serialize: writeText,
    deserialize: (bytes) => {
      const item = itemOf();
      // A buffer costs less than the platform's decoder, which shows where this is done for every step.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
      item.value = JSON.parse(text);
      item.bytes = bytes.byteLength;
      return item;
    },
  };
}

function writeText(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}
