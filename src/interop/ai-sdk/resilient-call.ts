import { isRecord } from '../../base/json.ts';
import { completeTimeouts } from '../../model/stream-watch.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { familyOf } from '../../providers/ai-sdk/language-model.ts';
import type { AiSdkRecord, CheckedModel } from '../../providers/ai-sdk/language-model.ts';
import type { AiSdkOutcome } from '../../providers/ai-sdk/tally.ts';
import type { CallOptions } from '../../runtime/model-call/call-model.ts';
import { resolveLoopOptions } from '../../runtime/model-call/call-policy.ts';
import type { CallPolicy } from '../../runtime/model-call/call-policy.ts';
import type { CallTarget, LoopEvent, LoopOptions } from '../../runtime/model-call/call-target.ts';
import { createDelivery } from '../../runtime/model-call/delivery.ts';

/** How the wrapped model goes about failures. */
export interface ResilientPolicy extends CallPolicy, Pick<CallOptions, 'gates' | 'clock' | 'random'> {
  /** Hears every attempt and every decision. What it throws, the call throws when its attempts have ended. */
  readonly onEvent?: (event: LoopEvent) => void | Promise<void>;
  /**
   * `live` (the default) hands text on at once; an answer that breaks after that ends with an error, for the AI SDK cannot
   * take text back. Tool calls wait for the end of their answer in either case. `whole` holds an answer until its end, so
   * that a broken one is tried again unseen.
   */
  readonly delivery?: 'live' | 'whole';
}

/** The models behind a resilient one, and its policy. */
export interface Wrapped {
  readonly models: readonly [CheckedModel, ...CheckedModel[]];
  readonly policy: ResilientPolicy;
}

type Attempt = CallTarget<AiSdkOutcome>['attempt'];

/** One target per model, all tried in the same way. */
export function targetsOf(
  { models: [first, ...rest] }: Wrapped,
  attempt: (model: CheckedModel, ...context: Parameters<Attempt>) => ReturnType<Attempt>,
): readonly [CallTarget<AiSdkOutcome>, ...CallTarget<AiSdkOutcome>[]] {
  const toTarget = (model: CheckedModel): CallTarget<AiSdkOutcome> => ({
    provider: familyOf(model),
    name: model.modelId,
    quotaKey: `ai-sdk ${familyOf(model)}`,
    attempt: (context) => attempt(model, context),
  });
  return [toTarget(first), ...rest.map(toTarget)];
}

/** The timeouts of one attempt, cut to what is left of the deadline. */
export function timeoutsWithin(policy: ResilientPolicy, leftMs: number): Timeouts {
  const timeouts = completeTimeouts(policy.timeouts);
  return { ...timeouts, totalMs: Math.max(1, Math.min(timeouts.totalMs, leftMs)) };
}

/** Whether what this model filters is asked of the next one. The last one's finish reason is the caller's answer. */
export function asksNextOnFilter({ models, policy }: Wrapped, model: CheckedModel): boolean {
  return policy.fallBackOnFilter === true && model !== models.at(-1);
}

/** One call, from its first attempt to its last. */
export interface Call {
  readonly loopOptions: LoopOptions;
  /** Waits for the listener, and throws what it threw: a listener must not end an attempt half way. */
  readonly settled: () => Promise<void>;
}

/** What the one owner of retries wants to know. */
export function startCall(policy: ResilientPolicy, signal: AbortSignal | undefined): Call {
  const { onEvent, gates, clock, random } = policy;
  const delivery = onEvent === undefined ? undefined : createDelivery((event) => onEvent(event as LoopEvent)); // No parts are told here.
  const loopOptions = resolveLoopOptions({ policy, signal, gates, clock, random, onEvent: delivery?.event });
  const { clock: time, retry } = loopOptions;
  const dueMs = time.monotonicMs() + retry.deadlineMs;
  const settled = async (): Promise<void> => {
    await delivery?.settled({ clock: time, signal, maxMs: Math.max(0, dueMs - time.monotonicMs()) });
  };
  return { loopOptions, settled };
}

/** The signal in the options of an AI SDK call. One of another realm or of a polyfill is no instance of ours. */
export function signalOf(callOptions: AiSdkRecord): AbortSignal | undefined {
  const signal = callOptions['abortSignal'];
  if (signal instanceof AbortSignal) return signal;
  const isSignal =
    isRecord(signal) && 'aborted' in signal && typeof signal['addEventListener'] === 'function';
  return isSignal ? (signal as unknown as AbortSignal) : undefined; // As far as it is used here.
}
