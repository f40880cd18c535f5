import { defined } from '../../base/defined.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Health } from '../../resilience/breaker.ts';
import { cancelledFailure, closedOffFailure, coolingFailure } from '../../resilience/call-failures.ts';
import { chargeEnd } from '../../resilience/call-progress.ts';
import type { AttemptSituation, StepEnd } from '../../resilience/call-progress.ts';
import { decideNext } from '../../resilience/decide.ts';
import type { Decision } from '../../resilience/decide.ts';
import { countPace, kindOf, isShortage, weightOf } from '../../resilience/failure-kind.ts';
import type { Entry, Gate } from '../../resilience/gate.ts';
import { spentLimit } from '../../resilience/ledger.ts';
import { recoveryRoutes } from '../../resilience/recovery-routes.ts';
import type { Attempted, CallTarget, LoopOptions } from './call-target.ts';

/**
 * One step of a call: waits at the gate, makes the attempt, and decides what follows, by the real clock, chance and gate. It
 * repeats nothing itself; what it decided is for `advance` to follow. Rejects only for a defect, ours or a listener's.
 */
export async function performStep<Value>(
  target: CallTarget<Value>,
  situation: AttemptSituation,
  options: LoopOptions,
): Promise<StepEnd<Value>> {
  const gate = options.gates.gateOf(target.quotaKey);
  const enterMs = options.clock.monotonicMs();
  const step: Step = { target, situation, options, gate, enterMs, dueMs: enterMs + situation.leftMs };
  if (situation.tooEarly !== undefined) return notAdmitted(step, situation.tooEarly);
  const cooling = findCooling(step);
  if (cooling !== undefined) return cooling;
  const entered = enter(step);
  const entry = entered instanceof Promise ? await entered : entered;
  if (entry.type === 'aborted') return notAdmitted(step, cancelledFailure(target));
  if (entry.type !== 'admitted') return notAdmitted(step, closedOffFailure(target, entry));

  const startMs = entered === entry ? enterMs : options.clock.monotonicMs();
  const breaker = gate.breaker(target.name);
  const { attempt, tries } = situation;
  let attempted: Attempted<Value>;
  try {
    const { provider, name: model } = target;
    options.onEvent?.({ type: 'attempt-started', attempt, provider, model, isProbe: entry.isProbe });
    attempted = await target.attempt({ attempt, leftMs: leftOf(step), hasFallback: hasFallback(situation) });
  } catch (error) {
    // A defect, of ours or of a listener, must not keep its place at the gate for ever.
    entry.leave({ health: 'none', isSuccess: false, retries: tries });
    throw error;
  }
  return endOf(step, attempted, { entry, startMs, breaker });
}

interface Step {
  readonly target: CallTarget<unknown>;
  readonly situation: AttemptSituation;
  readonly options: LoopOptions;
  readonly gate: Gate;
  readonly enterMs: number;
  readonly dueMs: number;
}

/** What is left of the deadline. */
function leftOf({ options, dueMs }: Step): number {
  return Math.max(0, dueMs - options.clock.monotonicMs());
}

/** Whether a model stands by that was not asked yet: only then is it worth leaving this one early. */
function hasFallback({ hasNextModel, isLastResort, isReturn }: AttemptSituation): boolean {
  return hasNextModel && isLastResort !== true && isReturn !== true;
}

type NotAdmitted = Extract<StepEnd<never>, { type: 'failure' }>;

/** An account that is empty, refused or limited is asked after the others; the one that is ready first where all of them are. */
function findCooling(step: Step): NotAdmitted | undefined {
  const { target, situation, gate, options } = step;
  const { hasNextModel, hasNextKey, isReturn } = situation;
  if (isReturn === true || !(hasNextModel || hasNextKey === true)) return undefined;
  const cooling = gate.cooling(target.name);
  if (cooling === undefined) return undefined;
  const failure = coolingFailure(target, cooling);
  const { waitMs } = cooling;
  const to = hasNextKey === true ? { to: 'next-key' as const } : {};
  const base = { type: 'fall-back', reason: failure.message, ...to } as const;
  const isStated = failure.retryAfterMs !== undefined;
  if (!isStated) return notAdmitted(step, failure, { ...base, returnAfterMs: waitMs, isAskable: true });
  const isTooLong = waitMs > options.retry.maxWaitMs || waitMs >= leftOf(step);
  return notAdmitted(step, failure, {
    ...base,
    ...(isTooLong ? { resumeAfterMs: waitMs } : { returnAfterMs: waitMs }),
  });
}

/** The target could not be asked, or the answer is not wanted any more. */
function notAdmitted(step: Step, failure: Failure, decided?: Decision): NotAdmitted {
  const { clock } = step.options;
  return {
    type: 'failure',
    failure,
    canSplice: false,
    decision: decided ?? whereNotAdmitted(step, failure),
    wasAdmitted: false,
    charge: {},
    isProbe: false,
    waitedMs: clock.monotonicMs() - step.enterMs,
    durationMs: 0,
    wallMs: clock.wallMs(),
  };
}

function whereNotAdmitted(step: Step, failure: Failure): Decision {
  const { hasNextModel, hasNextKey } = step.situation;
  if (failure.code === 'CANCELLED') return { type: 'give-up', reason: 'the caller cancelled it' };
  const isEnd = leftOf(step) <= 0 || !(hasNextModel || hasNextKey === true);
  const { message: reason, retryAfterMs: resumeAfterMs } = failure;
  const rest = { reason, ...defined({ resumeAfterMs }) };
  if (isEnd) return { type: 'give-up', ...rest };
  const isOfKey = recoveryRoutes[failure.code].isOfKey === true && hasNextKey === true;
  if (!hasNextModel && !isOfKey) return { type: 'give-up', ...rest };
  return { type: 'fall-back', ...rest, ...(isOfKey && { to: 'next-key' as const }) };
}

/** An open breaker sends a call on to the next model at once; without one it is worth a wait. */
function enter({ target, situation, options, gate }: Step): Entry | Promise<Entry> {
  const { retry, signal, onEvent } = options;
  const { leftMs, hasNextModel } = situation;
  const longestMs = retry.maxAttempts === Infinity ? leftMs : Math.min(retry.maxWaitMs, leftMs);
  const entry = gate.enter({
    signal,
    model: target.name,
    // Where another model could answer, half of the time is left for it.
    maxPlaceWaitMs: hasNextModel ? leftMs / 2 : leftMs,
    maxBreakerWaitMs: hasNextModel ? 0 : longestMs,
  });
  if (!(entry instanceof Promise) || gate.breaker(target.name) === 'closed' || hasNextModel) return entry;
  try {
    onEvent?.({ type: 'breaker-awaited', provider: target.provider, model: target.name });
  } catch (error) {
    void leaveLate(entry, situation.tries);
    throw error;
  }
  return entry;
}

/** No caller waits any more, but the gate does not know: the caller that is let in must leave. */
async function leaveLate(entry: Promise<Entry>, retries: number): Promise<void> {
  const late = await entry;
  if (late.type === 'admitted') late.leave({ health: 'none', isSuccess: false, retries });
}

interface Inside {
  readonly entry: Extract<Entry, { type: 'admitted' }>;
  readonly startMs: number;
  /** As it was before the attempt. */
  readonly breaker: BreakerType;
}

type BreakerType = ReturnType<Gate['breaker']>;

/** Leaves the gate, reports what came of the attempt, and decides. */
function endOf<Value>(
  step: Step,
  attempted: Attempted<Value>,
  { entry, startMs, breaker }: Inside,
): StepEnd<Value> {
  const { clock, onEvent } = step.options;
  const { attempt, tries } = step.situation;
  const { value, charge } = attempted;
  const { isProbe } = entry;
  const waitedMs = startMs - step.enterMs;
  if (attempted.type === 'success') {
    entry.leave({ health: 'working', isSuccess: true, retries: tries });
    const durationMs = clock.monotonicMs() - startMs;
    tellBreaker(step, breaker);
    return { type: 'success', value, charge, isProbe, waitedMs, durationMs, wallMs: clock.wallMs() };
  }
  const { failure, canSplice } = attempted;
  const durationMs = clock.monotonicMs() - startMs;
  const weight = weightOf(failure, { tookMs: durationMs, resent: charge.resent });
  entry.leave({ health: healthOf(failure), isSuccess: false, failure, retries: tries, weight });
  onEvent?.({ type: 'failure', attempt, failure });
  tellBreaker(step, breaker);
  const decision = decide(step, attempted, durationMs);
  const end = { charge, isProbe, waitedMs, durationMs, wallMs: clock.wallMs() };
  return { type: 'failure', failure, value, canSplice, decision, wasAdmitted: true, ...end };
}

/** Whatever was answered shows that the provider works, a refusal too; what a person must fix shows nothing. */
function healthOf(failure: Failure): Health {
  const { isOutage, isOurs, isRefusal } = recoveryRoutes[failure.code];
  if (isOurs === true || failure.context['listener'] === 'slow') return 'none';
  if (isShortage(failure)) return 'none';
  if (!isOutage && failure.phase === 'connect') return 'none';
  // A time that is named says when it answers again: see `cooldown.ts`.
  if (isRefusal === true) return (failure.retryAfterMs ?? 0) > 0 ? 'working' : 'refusing';
  if (!isOutage) return 'working';
  return failure.retryable ? 'down' : 'none';
}

function tellBreaker({ options, gate, target }: Step, from: BreakerType): void {
  const to = gate.breaker(target.name);
  if (from !== to) options.onEvent?.({ type: 'breaker-changed', provider: target.provider, from, to });
}

type FailedAttempt = Extract<Attempted<unknown>, { type: 'failure' }>;

function decide(step: Step, { failure, charge, isFinal }: FailedAttempt, tookMs: number): Decision {
  const { target, situation, gate, options } = step;
  const { retry, fallBackOnFilter, limits, random } = options;
  return decideNext(
    {
      failure,
      attempts: situation.tries + 1,
      sameKindBefore: situation.kinds[kindOf(failure)] ?? 0,
      samePaceBefore: countPace(situation.kinds, failure),
      isAnswering: gate.answersLately(target.name),
      tookMs,
      leftMs: leftOf(step),
      drawn: random(),
      // A connection that this machine could not open counts against no other run.
      spendRetry: () => isShortage(failure) || gate.spendRetry() || throttle(step, failure),
      hasNextModel: situation.hasNextModel,
      hasNextKey: situation.hasNextKey,
      isFinal,
      spentLimit: spentLimit(chargeEnd(situation.ledger, charge, failure), limits),
    },
    { retry, fallBackOnFilter },
  );
}

/** A patient call does not give up when the budget is spent: it waits its turn to be the single probe. */
function throttle(step: Step, failure: Failure): boolean {
  if (step.options.retry.maxAttempts !== Infinity) return false;
  const { name } = step.target;
  const from = step.gate.breaker(name);
  step.gate.throttle(name, failure);
  tellBreaker(step, from);
  return true;
}
