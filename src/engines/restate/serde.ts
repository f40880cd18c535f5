import type { Answered } from './generation.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes text as it is, and reads JSON as an answer to whoever waits for it. */
export interface AnswerSerde {
  readonly contentType: string;
  readonly serialize: (text: string) => Uint8Array;
  readonly deserialize: (bytes: Uint8Array) => Answered;
}

/** Reads what came as JSON. */
export function readingSerde(answer: (value: unknown) => Answered): AnswerSerde {
  return measuringSerde((value) => answer(value));
}

/** The same, with its size. A text is written as it was measured. */
export function measuringSerde(answer: (value: unknown, bytes: number) => Answered): AnswerSerde {
  return {
    contentType: 'application/json',
    serialize: (text) => encoder.encode(text),
    deserialize: (bytes) => answer(JSON.parse(decoder.decode(bytes)), bytes.length),
  };
}
