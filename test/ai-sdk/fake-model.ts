import { isRecord } from '../../src/base/json.ts';
import type { SpecificationVersion } from '../../src/providers/ai-sdk/language-model.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A language model of the AI SDK that plays a list, and remembers how it was called. */
export interface FakeModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Fields;
  readonly doStream: (options: Fields) => Promise<Fields>;
  readonly doGenerate: (options: Fields) => Promise<Fields>;
  readonly calls: Fields[];
  /** How many streams were let go of before their end. */
  readonly cancelled: () => number;
}

interface FakeOptions {
  readonly version?: string;
  readonly provider?: string;
  /** Sent one by one; an `Error` breaks the stream, `hang` waits for ever. */
  readonly parts?: readonly (Fields | Error | 'hang')[];
  /** Instead of a stream. */
  readonly start?: (options: Fields) => Promise<Fields>;
  readonly generated?: Fields;
}

/** Makes one. It speaks the version that it is told, and never listens to its signal. */
export function fakeModel(given: FakeOptions = {}): FakeModel {
  const calls: Fields[] = [];
  let cancelled = 0;
  return {
    specificationVersion: given.version ?? 'v3',
    provider: given.provider ?? 'fake.chat',
    modelId: 'fake-1',
    supportedUrls: {},
    calls,
    cancelled: () => cancelled,
    doStream: (options) => {
      calls.push(options);
      if (given.start !== undefined) return given.start(options);
      return Promise.resolve({ stream: streamOf(given.parts ?? [], () => (cancelled += 1)) });
    },
    doGenerate: (options) => {
      calls.push(options);
      return Promise.resolve(given.generated ?? {});
    },
  };
}

/** A stream of the AI SDK out of a list. */
export function streamOf(
  parts: readonly (Fields | Error | 'hang')[],
  onCancel: () => void = () => undefined,
): ReadableStream<Fields> {
  let index = 0;
  return new ReadableStream<Fields>(
    {
      pull: (controller) => {
        const part = parts[index];
        index += 1;
        if (part === 'hang') return new Promise(() => undefined);
        if (part instanceof Error) controller.error(part);
        else if (part === undefined) controller.close();
        else controller.enqueue(part);
        return undefined;
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
}

/** A text in three parts. */
export function textParts(text: string, id = '0'): readonly Fields[] {
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
  ];
}

/** The finish part as each version has it. */
export function finishPart(
  version: SpecificationVersion,
  unified = 'stop',
  raw: string | undefined = unified,
): Fields {
  const flat = {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 15,
    reasoningTokens: 2,
    cachedInputTokens: 4,
  };
  const nested = {
    inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
    outputTokens: { total: 5, text: 3, reasoning: 2 },
  };
  return version === 'v2'
    ? { type: 'finish', finishReason: unified, usage: flat }
    : { type: 'finish', finishReason: { unified, raw }, usage: nested };
}

/** An error as the AI SDK throws it: known by its marks, whatever its class. */
export function apiCallError(fields: Fields, name = 'AI_APICallError'): Error {
  const message = typeof fields['message'] === 'string' ? fields['message'] : 'It failed';
  return Object.assign(new Error(message), fields, {
    name,
    [Symbol.for('vercel.ai.error')]: true,
    [Symbol.for(`vercel.ai.error.${name}`)]: true,
  });
}

/** The prompt of a recorded call. */
export function promptOf(call: Fields | undefined): readonly Fields[] {
  const prompt = call?.['prompt'];
  return Array.isArray(prompt) ? prompt.filter(isRecord) : [];
}
