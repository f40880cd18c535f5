import { isRecord } from '../../base/json.ts';
import type { AiSdkRecord } from './language-model.ts';

/** Where the parts of one answer come from. */
export interface Source {
  readonly next: () => Promise<SourceStep>;
  /** Lets go of what is not wanted any more. Never rejects. */
  readonly cancel: () => void;
}

type SourceStep = { readonly done: true } | { readonly done: false; readonly value: unknown };

/** Reads the stream that `doStream` returned; nothing where there is none to read. */
export function sourceOfStream(result: unknown): Source | undefined {
  const stream = isRecord(result) ? result['stream'] : undefined;
  if (!(stream instanceof ReadableStream) && !isStreamLike(stream)) return undefined;
  if (stream.locked) return undefined;
  const reader = stream.getReader();
  return {
    next: async () => {
      const step = await reader.read();
      return step.done ? { done: true } : { done: false, value: step.value };
    },
    cancel: () => {
      // The attempt has its verdict: how the other side takes its end changes nothing about it.
      reader.cancel().catch(() => undefined);
    },
  };
}

/** Streams of a polyfill or of another realm are no instances of ours. */
function isStreamLike(value: unknown): value is ReadableStream<unknown> {
  return isRecord(value) && typeof value['getReader'] === 'function';
}

/** Makes the parts of a stream out of what `doGenerate` returned; nothing where that has no content. */
export function sourceOfGenerated(result: unknown): Source | undefined {
  if (!isRecord(result) || !Array.isArray(result['content'])) return undefined;
  const parts = partsOfGenerated(result, result['content']);
  let index = 0;
  return {
    next: () => {
      const value = parts[index];
      index += 1;
      return Promise.resolve(value === undefined ? { done: true } : { done: false, value });
    },
    cancel: () => undefined,
  };
}

function partsOfGenerated(result: AiSdkRecord, content: readonly unknown[]): readonly unknown[] {
  const { warnings, response, finishReason, usage, providerMetadata } = result;
  return [
    { type: 'stream-start', warnings: warnings ?? [] },
    ...(isRecord(response) ? [{ type: 'response-metadata', ...response }] : []),
    ...content.flatMap((part: unknown, index) => partsOfContent(part, String(index))),
    { type: 'finish', finishReason, usage, providerMetadata },
  ];
}

function partsOfContent(part: unknown, id: string): readonly unknown[] {
  if (!isRecord(part)) return [part];
  const { type, text, providerMetadata } = part;
  if (type !== 'text' && type !== 'reasoning') return [part];
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, id, providerMetadata },
  ];
}
