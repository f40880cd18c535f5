import { unreachable } from '../../base/assert.ts';
import type { Json } from '../../base/json.ts';
import type { FinishReason } from '../../model/finish.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';

/** The four protocols in which a model answers here. */
export const chaosProtocols = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;

/** One of `chaosProtocols`. */
export type ChaosProtocol = (typeof chaosProtocols)[number];

/** One answer before it is written in the words of a provider. A fault may have bent any field of it. */
export interface WireAnswer {
  /** Letters and digits; each protocol puts its own prefix before it. */
  readonly id: string;
  readonly model: string;
  readonly createdS: number;
  readonly reasoning: string;
  readonly text: string;
  /** What the model says instead of answering, where the protocol has a place for it. */
  readonly refusal: string;
  readonly toolCalls: readonly WireToolCall[];
  readonly finish: FinishReason;
  /** Stands in for the provider's own word for `finish`. */
  readonly rawFinish: string | undefined;
  readonly usage: WireUsage;
  readonly chunkCharacters: number;
  /** OpenAI chat streams usage only to those who ask. */
  readonly wantsStreamUsage: boolean;
}

export interface WireToolCall {
  readonly callId: string;
  readonly name: string;
  /** JSON, unless a fault bent it. */
  readonly argumentsText: string;
  /** The limit of output tokens was reached inside this call. */
  readonly isCutOff: boolean;
}

export type WireUsage =
  | { readonly type: 'counted'; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly type: 'missing' }
  /** Stands in the place of every count. */
  | { readonly type: 'nonsense'; readonly value: Json };

/** One event of a stream; an answer in one piece of JSON is one event without a name. */
export interface WireEvent {
  readonly name?: string;
  readonly data: string;
  /** `terminal` events announce the end; `content` carries something of the answer. */
  readonly role: 'opening' | 'content' | 'note' | 'terminal';
  /** The fault lies in this event: once it is sent, the fault is delivered. */
  readonly isFault?: true;
}

/** Writes an answer as a provider would. Pure, and knows nothing of faults. */
export interface WireEncoder {
  readonly json: (answer: WireAnswer) => unknown;
  readonly events: (answer: WireAnswer) => readonly WireEvent[];
}

/** Token counts as JSON, or nothing where the provider says nothing. */
export interface WireCounts {
  readonly input: Json;
  readonly output: Json;
  readonly total: Json;
  readonly none: Json;
}

export function countsOf(usage: WireUsage): WireCounts | undefined {
  switch (usage.type) {
    case 'missing':
      return undefined;
    case 'nonsense':
      return { input: usage.value, output: usage.value, total: usage.value, none: usage.value };
    case 'counted': {
      const { inputTokens, outputTokens } = usage;
      return { input: inputTokens, output: outputTokens, total: inputTokens + outputTokens, none: 0 };
    }
    default:
      return unreachable(usage);
  }
}

/** Cuts a text into pieces of at most `characters` code points, as a model streams it. */
export function cutText(text: string, characters: number): readonly string[] {
  const points = Array.from(text);
  const pieces: string[] = [];
  for (let start = 0; start < points.length; start += characters) {
    pieces.push(points.slice(start, start + characters).join(''));
  }
  return pieces;
}

/** The arguments as an object; nothing where a fault bent them, which each protocol says in its own way. */
export function argumentsOf({ argumentsText }: WireToolCall): Readonly<Record<string, Json>> | undefined {
  const read = parseToolArguments(argumentsText);
  if (read.type === 'invalid') return undefined;
  return read.type === 'empty' ? {} : read.value;
}
