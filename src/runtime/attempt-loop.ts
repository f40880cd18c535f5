import type { Failure } from '../errors/failure.ts';
import type { Health } from '../resilience/breaker.ts';
import { decideNext } from '../resilience/decide.ts';
import type { Decision } from '../resilience/decide.ts';
import type { Entry, Gate } from '../resilience/gate.ts';
import { chargeWait, spentLimit } from '../resilience/ledger.ts';
import { recoveryRoutes } from '../resilience/recovery-routes.ts';
import type { RetryPolicy } from '../resilience/retry-policy.ts';
import { cancelledFailure, closedOffFailure, summariseFailures } from './call-failures.ts';
import type { TargetFailure } from './call-failures.ts';
import { keep, leftOf, overcome, pause, reportOf, startLoop, tell } from './call-loop.ts';
import type { Loop } from './call-loop.ts';
import type { Attempted, CallTarget, LoopOptions, LoopResult } from './call-target.ts';

/**
 * The one owner of retries. Tries the targets in order, each as often as the policy allows, within one deadline and on one
 * ledger. Every wait ends on abort; no attempt starts before the moment that was asked for; every decision is told as an
 * event before it is acted on.
 */
export async function runAttempts<Value>(
  targets: readonly [CallTarget<Value>, ...CallTarget<Value>[]],
  options: LoopOptions,
): Promise<LoopResult<Value>> {
  const loop = startLoop(options);
  const failures: TargetFailure[] = [];
  let value: Value | undefined;
  for (const [index, target] of targets.entries()) {
    const ended = await tryTarget(loop, target, { hasNextModel: index < targets.length - 1 });
    if (ended.type === 'success')
      return { type: 'success', value: ended.value, report: reportOf(loop, true) };
    const { provider, name } = target;
    failures.push({ provider, name, failure: ended.failure, attempts: ended.attempts });
    value = ended.value ?? value;
    if (ended.type === 'gave-up') break;
  }
  const failure = summariseFailures(failures as [TargetFailure, ...TargetFailure[]]); // There was at least one target.
  return { type: 'failure', failure, value, report: reportOf(loop, false) };
}

type TargetEnd<Value> =
  | { readonly type: 'success'; readonly value: Value }
  | {
      readonly type: 'gave-up' | 'fell-back';
      readonly failure: Failure;
      readonly value: Value | undefined;
      readonly attempts: number;
    };

interface Place {
  readonly hasNextModel: boolean;
}

async function tryTarget<Value>(
  loop: Loop,
  target: CallTarget<Value>,
  place: Place,
): Promise<TargetEnd<Value>> {
  const gate = loop.options.gates.gateOf(target.quotaKey);
  const codes: string[] = [];
  let value: Value | undefined;
  for (;;) {
    // Bounded by the policy's attempts and by the deadline: the decision is to give up at either.
    const entry = await enter(loop, gate, { target, place });
    if (entry.type !== 'admitted') {
      const failure = entry.type === 'aborted' ? cancelledFailure(target) : closedOffFailure(target, entry);
      return { ...leaveTarget(loop, failure, place), failure, value, attempts: codes.length };
    }
    const attempted = await attemptOnce(loop, target, { gate, entry, retries: codes.length });
    value = attempted.value;
    if (attempted.type === 'success') return { type: 'success', value };
    const { failure } = attempted;
    const decision = decide(loop, attempted, { gate, codes, place });
    codes.push(failure.code);
    tell(loop, { ...attempted, decision });
    const attempts = codes.length;
    if (decision.type === 'give-up') return { type: 'gave-up', failure, value, attempts };
    if (decision.type === 'fall-back') return { type: 'fell-back', failure, value, attempts };
    if ((await pause(loop, decision.delayMs)) === 'aborted') {
      return { type: 'gave-up', failure: cancelledFailure(target), value, attempts };
    }
  }
}

/** An open breaker sends a call on to the next model at once; without one it is worth a wait. */
async function enter(
  loop: Loop,
  gate: Gate,
  { target, place }: { readonly target: CallTarget<unknown>; readonly place: Place },
): Promise<Entry> {
  const { retry, signal, onEvent } = loop.options;
  const leftMs = leftOf(loop);
  const longestMs = retry.maxAttempts === Infinity ? leftMs : Math.min(retry.maxWaitMs, leftMs);
  const entry = gate.enter({
    signal,
    maxPlaceWaitMs: leftMs,
    maxBreakerWaitMs: place.hasNextModel ? 0 : longestMs,
  });
  if (!(entry instanceof Promise)) return entry;
  if (gate.breaker() !== 'closed' && !place.hasNextModel) {
    onEvent?.({ type: 'breaker-awaited', provider: target.provider, model: target.name });
  }
  const startMs = loop.options.clock.monotonicMs();
  const entered = await entry;
  loop.ledger = chargeWait(loop.ledger, loop.options.clock.monotonicMs() - startMs);
  return entered;
}

interface Admitted {
  readonly gate: Gate;
  readonly entry: Extract<Entry, { type: 'admitted' }>;
  readonly retries: number;
}

async function attemptOnce<Value>(
  loop: Loop,
  target: CallTarget<Value>,
  { gate, entry, retries }: Admitted,
): Promise<Attempted<Value>> {
  const { clock, onEvent } = loop.options;
  const startMs = clock.monotonicMs();
  const before = gate.breaker();
  overcome(loop, startMs);
  loop.attempts += 1;
  loop.attemptStartMs = startMs;
  const attempted = await attemptSafely(loop, target, entry);
  const failure = attempted.type === 'failure' ? attempted.failure : undefined;
  entry.leave({ health: healthOf(failure), isSuccess: failure === undefined, failure, retries });
  const { attempts: attempt } = loop;
  const { provider, name: model } = target;
  const record = {
    attempt,
    provider,
    model,
    isProbe: entry.isProbe,
    durationMs: clock.monotonicMs() - startMs,
  };
  keep(loop, failure === undefined ? record : { ...record, failure }, {
    inputTokens: attempted.charge.inputTokens,
    outputTokens: attempted.charge.outputTokens,
    costUsd: attempted.charge.costUsd,
    wasSent: failure?.phase !== 'connect',
    isLost: failure !== undefined,
  });
  if (failure !== undefined) onEvent?.({ type: 'failure', attempt, failure });
  if (before !== gate.breaker())
    onEvent?.({ type: 'breaker-changed', provider, from: before, to: gate.breaker() });
  return attempted;
}

/** A defect, of ours or of a listener, must not keep its place at the gate for ever. */
async function attemptSafely<Value>(
  loop: Loop,
  target: CallTarget<Value>,
  entry: Admitted['entry'],
): Promise<Attempted<Value>> {
  try {
    const { attempts: attempt } = loop;
    const { provider, name: model } = target;
    loop.options.onEvent?.({ type: 'attempt-started', attempt, provider, model, isProbe: entry.isProbe });
    return await target.attempt({ attempt, leftMs: leftOf(loop) });
  } catch (error) {
    entry.leave({ health: 'none', isSuccess: false, retries: 0 });
    throw error;
  }
}

/** Whatever was answered shows that the provider works, a refusal too; what a person must mend shows nothing. */
function healthOf(failure: Failure | undefined): Health {
  if (failure === undefined) return 'working';
  if (failure.code === 'CANCELLED') return 'none';
  if (!recoveryRoutes[failure.code].isOutage) return 'working';
  return failure.retryable ? 'down' : 'none';
}

type FailedEnd = Extract<Attempted<unknown>, { type: 'failure' }>;

interface Situation {
  readonly gate: Gate;
  /** The codes of the failures before this one, at the same target. */
  readonly codes: readonly string[];
  readonly place: Place;
}

function decide(
  loop: Loop,
  { failure, isFinal }: Pick<FailedEnd, 'failure' | 'isFinal'>,
  { gate, codes, place }: Situation,
): Decision {
  const { retry, fallBackOnFilter, limits, random, clock } = loop.options;
  const decision = decideNext(
    {
      failure,
      attempts: codes.length + 1,
      sameCodeBefore: codes.filter((code) => code === failure.code).length,
      leftMs: leftOf(loop),
      drawn: random(),
      spendRetry: () => gate.spendRetry() || throttle(gate, { failure, retry }),
      hasNextModel: place.hasNextModel,
      isFinal,
      spentLimit: spentLimit(loop.ledger, limits),
    },
    { retry, fallBackOnFilter },
  );
  if (decision.type === 'give-up' && decision.resumeAfterMs !== undefined) {
    loop.resumeAtMs = clock.wallMs() + decision.resumeAfterMs;
  }
  return decision;
}

/** A patient call does not give up when the budget is spent: it waits its turn to be the single probe. */
function throttle(
  gate: Gate,
  { failure, retry }: { readonly failure: Failure; readonly retry: RetryPolicy },
): boolean {
  if (retry.maxAttempts !== Infinity) return false;
  gate.throttle(failure);
  return true;
}

/** The target could not be asked at all. */
function leaveTarget(loop: Loop, failure: Failure, place: Place): { readonly type: 'gave-up' | 'fell-back' } {
  const isEnd = failure.code === 'CANCELLED' || !place.hasNextModel;
  const reason = failure.code === 'CANCELLED' ? 'the caller cancelled it' : failure.message;
  tell(loop, { failure, canSplice: false, decision: { type: isEnd ? 'give-up' : 'fall-back', reason } });
  if (isEnd && failure.retryAfterMs !== undefined) {
    loop.resumeAtMs = loop.options.clock.wallMs() + failure.retryAfterMs;
  }
  return { type: isEnd ? 'gave-up' : 'fell-back' };
}
