import type { Failure } from '../errors/failure.ts';
import type { Health } from '../resilience/breaker.ts';
import { decideNext } from '../resilience/decide.ts';
import type { Decision } from '../resilience/decide.ts';
import type { Entry, Gate } from '../resilience/gate.ts';
import { chargeWait, spentLimit } from '../resilience/ledger.ts';
import { recoveryRoutes } from '../resilience/recovery-routes.ts';
import { cancelledFailure, closedOffFailure, summariseFailures } from './call-failures.ts';
import type { TargetFailure } from './call-failures.ts';
import { beginAttempt, endAttempt, leftOf, pause, reportOf, startLoop, tell } from './call-loop.ts';
import type { Loop } from './call-loop.ts';
import type { Attempted, CallTarget, LoopOptions, LoopResult } from './call-target.ts';

/**
 * The one owner of retries. Tries the targets in order, each as often as the policy allows, within one deadline and on one
 * ledger. Every wait ends on abort; no attempt starts before the moment that was asked for; every decision is told as an
 * event before it is acted on.
 */
export async function runAttempts<Value>(
  targets: readonly CallTarget<Value>[],
  options: LoopOptions,
): Promise<LoopResult<Value>> {
  const loop = startLoop(options);
  const failures: TargetFailure[] = [];
  let value: Value | undefined;
  let left = targets.length;
  for (const target of targets) {
    left -= 1;
    const ended = await tryTarget(loop, target, { hasNextModel: left > 0 });
    if (ended.type === 'success')
      return { type: 'success', value: ended.value, report: reportOf(loop, true) };
    const { provider, name } = target;
    failures.push({ provider, name, failure: ended.failure, attempts: ended.attempts });
    value = ended.value ?? value;
    if (ended.type === 'gave-up') break;
  }
  const failure = summariseFailures(failures);
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
  const leave = (failure: Failure): TargetEnd<Value> => ({
    ...leaveTarget(loop, failure, place),
    failure,
    value,
    attempts: codes.length,
  });
  for (;;) {
    // Bounded by the policy's attempts and by the deadline: the decision is to give up at either.
    const tooEarly = askedToWait(loop, target);
    if (tooEarly !== undefined) return leave(tooEarly);
    const entered = enter(loop, gate, { target, place });
    const entry = entered instanceof Promise ? await entered : entered;
    if (entry.type === 'aborted') return leave(cancelledFailure(target));
    if (entry.type !== 'admitted') return leave(closedOffFailure(target, entry));
    const attempted = await attemptOnce(loop, target, { gate, entry, retries: codes.length });
    value = attempted.value;
    if (attempted.type === 'success') return { type: 'success', value };
    const { failure } = attempted;
    const decision = decide(loop, attempted, { gate, codes, place, target });
    codes.push(failure.code);
    tell(loop, { ...attempted, decision });
    const attempts = codes.length;
    if (decision.type === 'give-up') return { type: 'gave-up', failure, value, attempts };
    if (decision.type === 'fall-back') return { type: 'fell-back', failure, value, attempts };
    if ((await pause(loop, decision.delayMs)) === 'aborted') return leave(cancelledFailure(target));
  }
}

/** The same model may stand in the chain twice; what it asked for holds all the same. */
function askedToWait(loop: Loop, { provider, name, quotaKey }: CallTarget<unknown>): Failure | undefined {
  if (loop.notBefore === undefined) return undefined;
  const asked = loop.notBefore.get(`${quotaKey} ${provider} ${name}`);
  return asked !== undefined && asked.untilMs > loop.options.clock.monotonicMs() ? asked.failure : undefined;
}

/** An open breaker sends a call on to the next model at once; without one it is worth a wait. */
function enter(
  loop: Loop,
  gate: Gate,
  { target, place }: { readonly target: CallTarget<unknown>; readonly place: Place },
): Entry | Promise<Entry> {
  const { retry, signal, onEvent } = loop.options;
  const leftMs = leftOf(loop);
  const longestMs = retry.maxAttempts === Infinity ? leftMs : Math.min(retry.maxWaitMs, leftMs);
  const entry = gate.enter({
    signal,
    // Where another model could answer, half of the time is left for it.
    maxPlaceWaitMs: place.hasNextModel ? leftMs / 2 : leftMs,
    maxBreakerWaitMs: place.hasNextModel ? 0 : longestMs,
  });
  if (!(entry instanceof Promise)) return entry;
  if (gate.breaker() !== 'closed' && !place.hasNextModel) {
    onEvent?.({ type: 'breaker-awaited', provider: target.provider, model: target.name });
  }
  return waited(loop, entry);
}

/** Waiting for the gate is time on the ledger too. */
async function waited(loop: Loop, entry: Promise<Entry>): Promise<Entry> {
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
  const { isProbe } = entry;
  const { provider, name: model } = target;
  const before = gate.breaker();
  const { attempt, startMs } = beginAttempt(loop);
  let attempted: Attempted<Value>;
  try {
    loop.options.onEvent?.({ type: 'attempt-started', attempt, provider, model, isProbe });
    attempted = await target.attempt({ attempt, leftMs: leftOf(loop) });
  } catch (error) {
    // A defect, of ours or of a listener, must not keep its place at the gate for ever.
    entry.leave({ health: 'none', isSuccess: false, retries });
    throw error;
  }
  const failure = attempted.type === 'failure' ? attempted.failure : undefined;
  entry.leave({ health: healthOf(failure), isSuccess: failure === undefined, failure, retries });
  const durationMs = loop.options.clock.monotonicMs() - startMs;
  const record = { attempt, provider, model, isProbe, durationMs };
  endAttempt(loop, failure === undefined ? record : { ...record, failure }, attempted.charge);
  const after = gate.breaker();
  if (before !== after)
    loop.options.onEvent?.({ type: 'breaker-changed', provider, from: before, to: after });
  return attempted;
}

/** Whatever was answered shows that the provider works, a refusal too; what a person must mend shows nothing. */
function healthOf(failure: Failure | undefined): Health {
  if (failure === undefined) return 'working';
  const { isOutage, isOurs } = recoveryRoutes[failure.code];
  if (isOurs === true || failure.context['listener'] === 'slow') return 'none';
  if (!isOutage) return failure.phase === 'connect' ? 'none' : 'working';
  return failure.retryable ? 'down' : 'none';
}

type FailedEnd = Extract<Attempted<unknown>, { type: 'failure' }>;

interface Situation {
  readonly gate: Gate;
  readonly target: CallTarget<unknown>;
  /** The codes of the failures before this one, at the same target. */
  readonly codes: readonly string[];
  readonly place: Place;
}

function decide(
  loop: Loop,
  { failure, isFinal }: Pick<FailedEnd, 'failure' | 'isFinal'>,
  { gate, codes, place, target }: Situation,
): Decision {
  const { retry, fallBackOnFilter, limits, random, clock } = loop.options;
  const decision = decideNext(
    {
      failure,
      attempts: codes.length + 1,
      sameCodeBefore: codes.filter((code) => code === failure.code).length,
      leftMs: leftOf(loop),
      drawn: random(),
      spendRetry: () => gate.spendRetry() || throttle(loop, gate, { failure, target }),
      hasNextModel: place.hasNextModel,
      isFinal,
      spentLimit: spentLimit(loop.ledger, limits),
    },
    { retry, fallBackOnFilter },
  );
  if (decision.type !== 'retry' && decision.resumeAfterMs !== undefined) {
    const { provider, name, quotaKey } = target;
    const untilMs = clock.monotonicMs() + decision.resumeAfterMs;
    loop.notBefore ??= new Map();
    loop.notBefore.set(`${quotaKey} ${provider} ${name}`, { untilMs, failure });
    comeBackAfter(loop, decision.resumeAfterMs);
  }
  return decision;
}

/** A patient call does not give up when the budget is spent: it waits its turn to be the single probe. */
function throttle(
  loop: Loop,
  gate: Gate,
  { failure, target }: { readonly failure: Failure; readonly target: CallTarget<unknown> },
): boolean {
  if (loop.options.retry.maxAttempts !== Infinity) return false;
  const from = gate.breaker();
  gate.throttle(failure);
  const to = gate.breaker();
  if (from !== to) loop.options.onEvent?.({ type: 'breaker-changed', provider: target.provider, from, to });
  return true;
}

/** The target could not be asked, or nobody wants the answer any more. */
function leaveTarget(loop: Loop, failure: Failure, place: Place): { readonly type: 'gave-up' | 'fell-back' } {
  const isEnd = failure.code === 'CANCELLED' || !place.hasNextModel || leftOf(loop) <= 0;
  const reason = failure.code === 'CANCELLED' ? 'the caller cancelled it' : failure.message;
  tell(loop, { failure, canSplice: false, decision: { type: isEnd ? 'give-up' : 'fall-back', reason } });
  if (failure.retryAfterMs !== undefined) comeBackAfter(loop, failure.retryAfterMs);
  return { type: isEnd ? 'gave-up' : 'fell-back' };
}

/** Of several models that asked for a wait, the first one that may be asked again counts. */
function comeBackAfter(loop: Loop, delayMs: number): void {
  const resumeAtMs = loop.options.clock.wallMs() + delayMs;
  loop.resumeAtMs = Math.min(loop.resumeAtMs ?? Infinity, resumeAtMs);
}
