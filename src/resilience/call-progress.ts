import { assert } from '../base/assert.ts';
import type { Failure } from '../errors/failure.ts';
import { findAskedWait } from './asked-wait.ts';
import type { AskedWait } from './asked-wait.ts';
import { summariseFailures } from './call-failures.ts';
import type { Asked, TargetFailure } from './call-failures.ts';
import { leaveTarget, restOf, withoutReturns } from './chain-place.ts';
import type { ChainPlace, ChainRest } from './chain-place.ts';
import type { AttemptRecord, CallRecovery, CallReport, RecoveryRecord } from './call-report.ts';
import type { Decision } from './decide.ts';
import { kindOf } from './failure-kind.ts';
import type { FailureCounts } from './failure-kind.ts';
import { chargeAttempt, chargeWait, emptyLedger } from './ledger.ts';
import type { AttemptCharge, Ledger } from './ledger.ts';

/**
 * What one call has come to, as JSON: the bookkeeping of the one retry loop, and what comes next. Pure, so that a loop in
 * memory and a journalled run keep the same books.
 *
 * - Time is counted from the start of the call and only while it lasts: `elapsedMs`, moved by steps and waits.
 * - Every decision is made where the step was performed, and arrives with its end; here it is only followed.
 * - Lists are bounded: records and recoveries by a hundred, the rest by the number of targets or of kinds.
 */
export interface CallProgress extends ChainPlace {
  /** Over all targets. */
  readonly attempts: number;
  readonly ledger: Ledger;
  readonly records: readonly AttemptRecord[];
  readonly recoveries: readonly RecoveryRecord[];
  /** What became of the targets before. */
  readonly failures: readonly TargetFailure[];
  readonly elapsedMs: number;
  /** When the latest attempt started, on the same watch. */
  readonly attemptStartMs: number;
  /** Who asked not to be called before. */
  readonly waits: readonly AskedWait[];
  /** A failure that the next attempt will have overcome, if it starts. */
  readonly pending?: Omit<RecoveryRecord, 'lostMs'>;
  readonly resumeAtMs?: number;
}

/** What the next attempt needs to know. JSON. */
export interface AttemptSituation extends ChainRest {
  readonly target: number;
  /** From 1, over all targets. */
  readonly attempt: number;
  /** Attempts made at this target before. */
  readonly tries: number;
  readonly kinds: FailureCounts;
  readonly ledger: Ledger;
  /** What is left of the deadline. */
  readonly leftMs: number;
  /** What this model asked us to wait for, if that is not over. */
  readonly tooEarly?: Failure;
}

/** What an attempt used up, as far as it is known. */
export type Charge = Omit<AttemptCharge, 'wasSent' | 'isLost'>;

/** The end of one step: of the attempt, or that it was not admitted, and what was decided about it. JSON as far as `value` is. */
export type StepEnd<Value> = StepTimes & {
  readonly charge: Charge;
  readonly isProbe: boolean;
} & (
    | { readonly type: 'success'; readonly value: Value }
    | {
        readonly type: 'failure';
        readonly failure: Failure;
        /** What there is of an answer; absent where nothing was asked. */
        readonly value?: Value;
        /** The next attempt at the same target can go on where this one broke off. */
        readonly canSplice: boolean;
        readonly decision: Decision;
        /** Whether the attempt was made. */
        readonly wasAdmitted: boolean;
      }
  );

interface StepTimes {
  /** At the gate. */
  readonly waitedMs: number;
  /** Of the attempt. */
  readonly durationMs: number;
  /** Milliseconds since 1970, at the end. */
  readonly wallMs: number;
}

/** What was decided about a failure, told before anything is done about it. */
export interface RecoveryEvent {
  readonly type: 'recovery';
  readonly failure: Failure;
  readonly recovery: CallRecovery | 'give-up';
  readonly reason: string;
  readonly delayMs?: number;
}

/** What to do next. */
export type NextStep =
  | { readonly type: 'succeeded' }
  | { readonly type: 'wait'; readonly delayMs: number }
  | { readonly type: 'attempt' }
  /** The failure of the whole call. */
  | { readonly type: 'failed'; readonly failure: Failure };

export interface Advanced {
  readonly progress: CallProgress;
  readonly next: NextStep;
  /** Absent after a success. */
  readonly told?: RecoveryEvent;
}

const maxRecords = 100;

// Only its parts are frozen, for they may reach a report: to copy a frozen object takes as long as half the rest of a call.
const unstarted: CallProgress = {
  target: 0,
  attempts: 0,
  tries: 0,
  kinds: Object.freeze({}),
  ledger: emptyLedger,
  records: Object.freeze([]),
  recoveries: Object.freeze([]),
  failures: Object.freeze([]),
  elapsedMs: 0,
  attemptStartMs: 0,
  waits: Object.freeze([]),
};

/**
 * Nothing has been tried yet. A ledger that is handed in goes on: its limits hold over several calls. So does what models asked
 * for in an earlier one, and with whom to begin.
 */
export function startProgress(ledger?: Ledger, from?: Partial<CallProgress>): CallProgress {
  return ledger === undefined ? unstarted : { ...unstarted, ledger, ...from };
}

/** Where the call stands, for whoever makes the next attempt. */
export function situationOf(
  progress: CallProgress,
  targets: readonly Asked[],
  leftMs: number,
): AttemptSituation {
  const { target, attempts, tries, kinds, ledger } = progress;
  const situation: AttemptSituation = {
    target,
    attempt: attempts + 1,
    tries,
    kinds,
    ...restOf(progress, targets),
    ledger,
    leftMs,
  };
  const tooEarly = progress.waits.length === 0 ? undefined : findAskedWait(progress.waits, targets, progress);
  return tooEarly === undefined ? situation : { ...situation, tooEarly };
}

/** Notes the end of a step, and says what follows from what was decided about it. */
export function advance(progress: CallProgress, step: StepEnd<unknown>, targets: readonly Asked[]): Advanced {
  const target = targetOf(progress.target, targets);
  if (step.type === 'success') return { progress: noteAttempt(progress, step, target), next: succeeded };
  const noted = step.wasAdmitted ? noteAttempt(progress, step, target) : afterWait(progress, step.waitedMs);
  const told = toldOf(step);
  const asked = noteAskedWait(noted, step);
  const going = told.recovery === 'give-up' ? asked : beginRecovery(asked, step, told.recovery);
  if (step.decision.type === 'retry') {
    const { delayMs } = step.decision;
    return { progress: countKind(going, step.failure), next: { type: 'wait', delayMs }, told };
  }
  const { provider, name } = target;
  const failures = [
    // A target that was asked again has failed once, by its last failure.
    ...progress.failures.filter((failure) => failure.target !== progress.target),
    { target: progress.target, provider, name, failure: step.failure, attempts: noted.tries },
  ];
  const { decision } = step;
  const counted = step.wasAdmitted ? countKind(going, step.failure) : going;
  const left =
    decision.type === 'give-up'
      ? undefined
      : leaveTarget(counted, { elapsedMs: going.elapsedMs, decision }, targets);
  if (left === undefined) {
    const next: NextStep = { type: 'failed', failure: summariseFailures(failures) };
    return { progress: { ...going, failures }, next, told };
  }
  const next: NextStep = left.delayMs === 0 ? { type: 'attempt' } : { type: 'wait', delayMs: left.delayMs };
  return { progress: { ...withoutReturns(going), failures, ...left.place }, next, told };
}

/** Time was spent waiting, between attempts or at the gate. */
export function afterWait(progress: CallProgress, waitedMs: number): CallProgress {
  const ledger = chargeWait(progress.ledger, waitedMs);
  return { ...progress, ledger, elapsedMs: progress.elapsedMs + waitedMs };
}

/** Sets the watch of the call to that of its owner, which has seen what passed between the steps: listeners, a journal. */
export function atElapsed(progress: CallProgress, elapsedMs: number): CallProgress {
  return { ...progress, elapsedMs };
}

/** Adds what one attempt used up. */
export function chargeEnd(ledger: Ledger, charge: Charge, failure: Failure | undefined): Ledger {
  return chargeAttempt(ledger, {
    ...charge,
    wasSent: failure?.phase !== 'connect',
    isLost: failure !== undefined,
  });
}

/** How it all went. */
export function reportOf(progress: CallProgress, hasSucceeded: boolean): CallReport {
  const report: CallReport = {
    attempts: progress.records,
    recoveries: hasSucceeded ? progress.recoveries : [],
    ledger: progress.ledger,
    elapsedMs: progress.elapsedMs,
  };
  return progress.resumeAtMs === undefined ? report : { ...report, resumeAtMs: progress.resumeAtMs };
}

type FailedStep = Extract<StepEnd<unknown>, { type: 'failure' }>;

const succeeded: NextStep = { type: 'succeeded' };

function targetOf(index: number, targets: readonly Asked[]): Asked {
  const target = targets[index];
  assert(target !== undefined, `There is no target ${index} among ${targets.length}`);
  return target;
}

function noteAttempt(progress: CallProgress, step: StepEnd<unknown>, target: Asked): CallProgress {
  const { isProbe, waitedMs, durationMs, charge } = step;
  const startMs = progress.elapsedMs + waitedMs;
  const failure = step.type === 'failure' ? step.failure : undefined;
  const attempt = progress.attempts + 1;
  const record = { attempt, provider: target.provider, model: target.name, isProbe, durationMs };
  const ledger = waitedMs === 0 ? progress.ledger : chargeWait(progress.ledger, waitedMs);
  return {
    ...overcome(progress, startMs),
    attempts: attempt,
    tries: progress.tries + 1,
    attemptStartMs: startMs,
    elapsedMs: startMs + durationMs,
    records: appended(progress.records, failure === undefined ? record : { ...record, failure }),
    ledger: chargeEnd(ledger, charge, failure),
  };
}

/** What failed before was overcome as far as that something else is done now. */
function overcome(progress: CallProgress, nowMs: number): CallProgress {
  if (progress.pending === undefined) return progress;
  const { pending, ...rest } = progress;
  const lostMs = nowMs - progress.attemptStartMs;
  return { ...rest, recoveries: appended(progress.recoveries, { ...pending, lostMs }) };
}

function appended<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.length < maxRecords ? [...list, item] : [...list.slice(1 - maxRecords), item];
}

function toldOf({ failure, canSplice, decision }: FailedStep): RecoveryEvent {
  const { type, reason } = decision;
  if (type === 'give-up') return { type: 'recovery', failure, recovery: type, reason };
  if (type === 'fall-back') return { type: 'recovery', failure, recovery: decision.to ?? type, reason };
  const recovery = canSplice ? 'splice' : 'retry';
  return { type: 'recovery', failure, recovery, reason, delayMs: decision.delayMs };
}

function noteAskedWait(progress: CallProgress, step: FailedStep): CallProgress {
  const { decision, failure, wallMs, wasAdmitted } = step;
  if (decision.type === 'retry' || decision.resumeAfterMs === undefined) return progress;
  // Of several models that asked for a wait, the first one that may be asked again counts.
  const resumeAtMs = Math.min(progress.resumeAtMs ?? Infinity, wallMs + decision.resumeAfterMs);
  if (!wasAdmitted) return { ...progress, resumeAtMs };
  const untilMs = progress.elapsedMs + decision.resumeAfterMs;
  return {
    ...progress,
    resumeAtMs,
    waits: [...progress.waits, { target: progress.target, untilMs, failure }],
  };
}

function beginRecovery(
  progress: CallProgress,
  { failure, charge, wasAdmitted }: FailedStep,
  recovery: CallRecovery,
): CallProgress {
  const lostTokens = wasAdmitted ? (charge.inputTokens ?? 0) + (charge.outputTokens ?? 0) : 0;
  const pending = { failure, recovery, attempts: progress.attempts, lostTokens };
  return { ...overcome(progress, progress.elapsedMs), pending };
}

function countKind(progress: CallProgress, failure: Failure): CallProgress {
  const kind = kindOf(failure);
  return { ...progress, kinds: { ...progress.kinds, [kind]: (progress.kinds[kind] ?? 0) + 1 } };
}
