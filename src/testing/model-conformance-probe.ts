import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../errors/failure.ts';
import { textOf } from '../model/message.ts';
import type { AttemptOptions, Model, ModelResponse, ModelResult, PartialResult } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { StreamPart } from '../model/stream-part.ts';

/** What one call showed. */
export interface Probe {
  readonly response: ModelResponse;
  /** All parts, those that came after the call had ended included. */
  readonly parts: readonly StreamPart[];
  /** How many had come when the call ended. */
  readonly partsAtEnd: number;
}

/** Ends a test that would hang; far above what any case needs. */
const maxCallMs = 30_000;
/** Turns of the event loop in which a part that comes too late can show itself. */
const turnsAfterwards = 20;

/** Calls the model once, hears every part and looks whether more come afterwards. */
export async function probe(
  model: Model,
  request: ModelRequest,
  options: AttemptOptions = {},
): Promise<Probe> {
  const parts: StreamPart[] = [];
  const own = structuredClone(request);
  const response = await ended(
    model.call(own, {
      ...options,
      onPart: (part) => {
        parts.push(part);
        return options.onPart?.(part);
      },
    }),
  );
  must(isDeepStrictEqual(own, request), 'The model wrote into the request, which belongs to its caller.');
  const partsAtEnd = parts.length;
  for (let turn = 0; turn < turnsAfterwards; turn += 1) await setImmediate();
  return { response, parts, partsAtEnd };
}

/** The response, or the broken promise: a call that rejects, or that does not end. */
export function ended(call: Promise<ModelResponse>, maxMs: number = maxCallMs): Promise<ModelResponse> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`The call has not ended within ${maxMs / 1000} seconds.`)),
      maxMs,
    );
    call
      .then(resolve, (cause: unknown) => {
        reject(new Error('The call rejected. A model never rejects: a failure is an answer.', { cause }));
      })
      .finally(() => clearTimeout(timer));
  });
}

/** Throws the sentence where the promise is broken. */
export function must(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(sentence);
}

/** The result of a call that must succeed. */
export function resultOf({ response }: Probe): ModelResult {
  if (response.type === 'success') return response.result;
  throw new Error(`Expected a whole answer, got ${response.failure.code}: ${response.failure.message}`);
}

/** The failure of a call that must fail, with one of these codes. */
export function failureOf(
  { response }: Pick<Probe, 'response'>,
  codes: readonly Failure['code'][],
): { readonly failure: Failure; readonly partial: PartialResult } {
  if (response.type === 'success') {
    throw new Error(`Expected ${codes.join(' or ')}, got an answer: ${JSON.stringify(response.result.text)}`);
  }
  const { failure } = response;
  must(
    codes.includes(failure.code),
    `Expected ${codes.join(' or ')}, got ${failure.code}: ${failure.message}`,
  );
  return response;
}

/** What the text deltas add up to. */
export function heardText(parts: readonly StreamPart[]): string {
  return textOf(parts.map((part) => (part.type === 'text-delta' ? { type: 'text', text: part.text } : part)));
}
