import type { Clock } from '../base/clock.ts';
import type { Failure } from '../errors/failure.ts';
import type { Capabilities } from './capabilities.ts';
import type { Finish } from './finish.ts';
import type { AssistantPart, ToolCallPart } from './message.ts';
import type { Pooled } from './key-pool.ts';
import type { Price } from './price.ts';
import type { RequestNote } from './request-note.ts';
import type { ModelRequest } from './request.ts';
import type { StreamPart } from './stream-part.ts';
import type { Timeouts } from './timeouts.ts';
import type { Usage } from './usage.ts';

/** A model that can be called. One call is one attempt: it never retries, never falls back and never rejects. */
export interface Model extends Pooled<Model> {
  /** Who serves it: `anthropic`. */
  readonly provider: string;
  /** The model's name there: `claude-sonnet-5`. */
  readonly name: string;
  /** What shares limits and outages: provider, endpoint and a fingerprint of the key; never the key itself. */
  readonly quotaKey: string;
  readonly capabilities: Capabilities;
  /** Where it is not known, cost is unknown. */
  readonly price?: Price;
  /**
   * Sends the request once. Must not reject: whatever goes wrong comes back as a failure with what had arrived. Must end
   * within `timeouts.totalMs`, must end at once when the signal aborts, and must not send a second request; only
   * a kept connection that turns out to be closed before anything was answered may be replaced, once.
   */
  readonly call: (request: ModelRequest, options?: AttemptOptions) => Promise<ModelResponse>;
}

/** What one attempt is given. */
export interface AttemptOptions {
  readonly signal?: AbortSignal | undefined;
  /** Receives every part while it arrives. A promise that it returns is awaited before more is read. */
  readonly onPart?: ((part: StreamPart) => void | Promise<void>) | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly clock?: Clock | undefined;
  /** The request has been through `checkRequest` for this model, and need not go again. */
  readonly isChecked?: boolean | undefined;
}

/** A typed success or a typed failure, never a throw. */
export type ModelResponse<Result = ModelResult> =
  | { readonly type: 'success'; readonly result: Result }
  | {
      readonly type: 'failure';
      readonly failure: Failure;
      /** What had arrived: evidence, never an answer. A tool call that was still being written is not in it. */
      readonly partial: PartialResult;
    };

/** An answer that is whole: it has text or tool calls, its end was announced, and the arguments of its calls are JSON. */
export interface ModelResult extends PartialResult {
  readonly finish: Finish;
}

/** What a response held. */
export interface PartialResult {
  readonly content: readonly AssistantPart[];
  /** The text of `content`. */
  readonly text: string;
  /** The tool calls of `content`. */
  readonly toolCalls: readonly ToolCallPart[];
  readonly finish?: Finish;
  readonly usage: Usage;
  /** Absent where usage or price is unknown. */
  readonly costUsd?: number;
  readonly responseId?: string;
  /** The model that answered, in the provider's words, where it says so. */
  readonly servedBy?: string;
  /** What was done about the request on its way; absent where nothing. */
  readonly notes?: readonly RequestNote[];
}

/** Nothing had arrived. */
export const emptyPartial: PartialResult = { content: [], text: '', toolCalls: [], usage: {} };
