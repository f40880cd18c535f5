import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { beginsAnew, joinContinuation, mayBeginAnew } from '../../model/join-continuation.ts';
import type { Model, ModelResponse, PartialResult } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import { countResent } from '../../model/request-note.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { fallbackFirstTokenMs } from '../../model/timeouts.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { readCount } from '../../model/usage.ts';
import type { AttemptContext, Attempted, CallTarget } from './call-target.ts';
import { continuableText } from './continuation.ts';
import type { Delivery } from './delivery.ts';
import { guardAttempt } from './guard-attempt.ts';

interface TargetOptions {
  readonly request: ModelRequest;
  readonly timeouts: Timeouts;
  readonly delivery: Delivery | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Whether an answer whose calls cannot be read as they stand can be read after all. */
  readonly canBeRead?: ((partial: PartialResult) => boolean) | undefined;
}

/** A broken answer that the next attempt at the same model continues. */
interface Broken {
  readonly text: string;
  readonly failure: Failure;
}

/** A model as something that can be tried. Continues a broken answer where the model can, else takes it back. */
export function createModelTarget(model: Model, options: TargetOptions): CallTarget<PartialResult> {
  const { request, delivery, clock, signal } = options;
  let broken: Broken | undefined;
  let lastAttempt = 0;

  async function attempt(context: AttemptContext): Promise<Attempted<PartialResult>> {
    const { leftMs } = context;
    // What another model has said in between replaces what this one had said.
    if (context.attempt !== lastAttempt + 1) broken = undefined;
    lastAttempt = context.attempt;
    const base = broken?.text ?? '';
    const dueMs = clock.monotonicMs() + leftMs;
    delivery?.retractTo(base.length);
    const listener = delivery === undefined ? undefined : createListener(delivery, base);
    const given = await guardAttempt(
      model,
      base === '' ? request : { ...request, continueFrom: (request.continueFrom ?? '') + base },
      {
        signal,
        clock,
        onPart: listener?.part,
        isChecked: true,
        timeouts: timeoutsOf(options.timeouts, context),
      },
    );
    const response = options.canBeRead === undefined ? given : rescue(given, options.canBeRead);
    const isListenerSlow = delivery?.isBehind() === true;
    if (delivery !== undefined && !delivery.isSettled()) {
      await delivery.settled({ clock, signal, maxMs: Math.max(0, dueMs - clock.monotonicMs()) });
    }
    // The usual way: nothing was broken, and nothing is.
    if (broken === undefined && response.type === 'success') return succeeded(response.result);
    const settled = settleContinuation(isListenerSlow ? blameListener(response) : response, broken);
    // What was held back of a failed continuation is dropped there as well.
    if (settled.type === 'success') await listener?.flush();
    const text = continuableText(model, request, settled);
    // A server that was busy, or could not be reached, has taken nothing away from what stands.
    const isUntouched =
      response.type === 'failure' && response.failure.retryable && response.partial.content.length === 0;
    if (broken === undefined || !isUntouched) {
      broken = settled.type === 'failure' && text !== '' ? { text, failure: settled.failure } : undefined;
    }
    return toAttempted(settled, broken !== undefined);
  }

  const { provider, name, quotaKey, isNextKey } = model;
  return { provider, name, quotaKey, ...defined({ isNextKey }), attempt };
}

/** Arguments that have one reading only are read so, before anybody calls the answer a failure. */
function rescue(response: ModelResponse, canBeRead: (partial: PartialResult) => boolean): ModelResponse {
  if (response.type === 'success' || response.failure.code !== 'TOOL_CALL_INVALID') return response;
  const { finish } = response.partial;
  if (finish === undefined || !canBeRead(response.partial)) return response;
  return { type: 'success', result: { ...response.partial, finish } };
}

/** Nothing of an attempt may outlast what is left of the call; a model that is silent leaves half of it to one that stands by. */
export function timeoutsOf(timeouts: Timeouts, { leftMs, hasFallback }: AttemptContext): Timeouts {
  const totalMs = Math.max(1, Math.min(timeouts.totalMs, leftMs));
  if (!hasFallback) return totalMs === timeouts.totalMs ? timeouts : { ...timeouts, totalMs };
  const { firstTokenMs = fallbackFirstTokenMs, idleMs } = timeouts;
  const halfMs = Math.max(1, leftMs / 2);
  return {
    ...timeouts,
    totalMs,
    firstTokenMs: Math.min(firstTokenMs, halfMs),
    idleMs: Math.min(idleMs, halfMs),
  };
}

/** Time that ran out while the listener was busy says nothing about the provider. */
function blameListener(response: ModelResponse): ModelResponse {
  if (response.type === 'success' || response.failure.code !== 'TIMEOUT') return response;
  const { failure } = response;
  const hint =
    'The listener of the events takes longer than the call may; let it hand its work on and return.';
  const context = { ...failure.context, listener: 'slow' };
  return { ...response, failure: createFailure(failure.code, { ...failure, hint, context }) };
}

/** Puts the text before the break and the text after it together, and says truthfully what came of it. */
function settleContinuation(response: ModelResponse, broken: Broken | undefined): ModelResponse {
  if (broken === undefined) return response;
  const { text, failure } = broken;
  if (response.type === 'success') {
    return { type: 'success', result: { ...response.result, ...joinContinuation(text, response.result) } };
  }
  const { partial } = response;
  const { code } = response.failure;
  // The model had nothing to add: the text before the break was all of it.
  if (code === 'EMPTY_RESPONSE' && partial.finish?.reason === 'stop') {
    return { type: 'success', result: { ...joinContinuation(text, partial), finish: partial.finish } };
  }
  const joined = joinContinuation(text, partial);
  if (code === 'INVALID_REQUEST')
    return {
      type: 'failure',
      failure: refusedContinuation(failure, response.failure.phase),
      partial: joined,
    };
  // Too little came to tell a continuation from a new beginning: it is dropped, for it may be either.
  const isUnclear = partial.text !== '' && mayBeginAnew(text, partial.text);
  return {
    type: 'failure',
    failure: response.failure,
    partial: isUnclear ? joinContinuation(text, { ...partial, content: [], text: '' }) : joined,
  };
}

/** The server does not continue answers after all. The answer is as broken as before, and will be restarted. */
function refusedContinuation(failure: Failure, phase: Failure['phase'] = 'headers'): Failure {
  const context = { ...failure.context, continuation: 'refused' };
  return createFailure(failure.code, { ...failure, phase: phase === 'body' ? 'headers' : phase, context });
}

function toAttempted(settled: ModelResponse, canSplice: boolean): Attempted<PartialResult> {
  if (settled.type === 'success') return succeeded(settled.result);
  const { failure, partial } = settled;
  return { type: 'failure', failure, canSplice, value: partial, charge: chargeOf(partial) };
}

function succeeded(result: PartialResult): Attempted<PartialResult> {
  return { type: 'success', value: result, charge: chargeOf(result) };
}

/** A model need not be ours: what is no count is unknown, or limits would count with it. */
function chargeOf({ usage, costUsd, notes }: PartialResult): Attempted<PartialResult>['charge'] {
  const inputTokens = readCount(usage.inputTokens);
  const outputTokens = readCount(usage.outputTokens);
  const isCost = typeof costUsd === 'number' && costUsd >= 0 && costUsd < Infinity;
  const cacheReadTokens = readCount(usage.cacheReadTokens);
  const charge = { inputTokens, outputTokens, cacheReadTokens, costUsd: isCost ? costUsd : undefined };
  return notes === undefined ? charge : { ...charge, resent: countResent(notes) };
}

interface Listener {
  readonly part: (part: StreamPart) => void | Promise<void>;
  readonly flush: () => void | Promise<void>;
}

/** Holds the first words of a continuation back until it is plain whether the server continues or starts over. */
function createListener(delivery: Delivery, base: string): Listener {
  let held = '';
  let isPlain = base === '';

  function release(): void | Promise<void> {
    isPlain = true;
    if (held === '') return undefined;
    if (beginsAnew(base, held)) delivery.retractTo(0);
    return delivery.part({ type: 'text-delta', text: held });
  }

  return {
    part: (part) => {
      if (isPlain || part.type !== 'text-delta') return delivery.part(part);
      held += part.text;
      return mayBeginAnew(base, held) ? undefined : release();
    },
    flush: () => (isPlain ? undefined : release()),
  };
}
