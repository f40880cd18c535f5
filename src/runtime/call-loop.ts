import { wait } from '../base/abort.ts';
import type { WaitResult } from '../base/abort.ts';
import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { Decision } from '../resilience/decide.ts';
import { chargeAttempt, chargeWait, emptyLedger } from '../resilience/ledger.ts';
import type { AttemptCharge, Ledger } from '../resilience/ledger.ts';
import type { AttemptRecord, CallReport, RecoveryRecord } from './call-report.ts';
import type { LoopOptions } from './call-target.ts';

const maxRecords = 100;

/** What one call has come to. It changes in place while the call lasts. */
export interface Loop {
  readonly options: LoopOptions;
  readonly startMs: number;
  readonly records: AttemptRecord[];
  readonly recoveries: RecoveryRecord[];
  ledger: Ledger;
  attempts: number;
  attemptStartMs: number;
  /** A failure that the next attempt will have overcome, if it starts. */
  pending: Omit<RecoveryRecord, 'lostMs'> | undefined;
  resumeAtMs: number | undefined;
}

/** Nothing has been tried yet. */
export function startLoop(options: LoopOptions): Loop {
  const startMs = options.clock.monotonicMs();
  return {
    options,
    startMs,
    records: [],
    recoveries: [],
    ledger: emptyLedger,
    attempts: 0,
    attemptStartMs: startMs,
    pending: undefined,
    resumeAtMs: undefined,
  };
}

interface Told {
  readonly failure: Failure;
  readonly canSplice: boolean;
  readonly decision: Decision;
}

/** Says what was decided, before anything is done about it. */
export function tell(loop: Loop, { failure, canSplice, decision }: Told): void {
  const retry = canSplice ? 'splice' : 'retry';
  const recovery = decision.type === 'retry' ? retry : decision.type;
  const delayMs = decision.type === 'retry' ? decision.delayMs : undefined;
  loop.options.onEvent?.(
    defined({ type: 'recovery', failure, recovery, reason: decision.reason, delayMs } as const),
  );
  if (recovery === 'give-up') return;
  loop.pending = { failure, recovery, attempts: loop.attempts, lostTokens: 0 };
}

/** The next attempt starts: what failed before was overcome as far as that. */
export function overcome(loop: Loop, nowMs: number): void {
  if (loop.pending === undefined) return;
  if (loop.recoveries.length === maxRecords) loop.recoveries.shift();
  const lostBefore = loop.recoveries.reduce((sum, { lostTokens }) => sum + lostTokens, 0);
  const lostTokens = Math.max(0, loop.ledger.lostTokens - lostBefore);
  loop.recoveries.push({ ...loop.pending, lostMs: nowMs - loop.attemptStartMs, lostTokens });
  loop.pending = undefined;
}

/** Waits, on the ledger. */
export async function pause(loop: Loop, delayMs: number): Promise<WaitResult> {
  const { clock, signal } = loop.options;
  const startMs = clock.monotonicMs();
  const ended = await wait(delayMs, { clock, signal });
  loop.ledger = chargeWait(loop.ledger, clock.monotonicMs() - startMs);
  return ended;
}

/** Notes the end of one attempt. */
export function keep(loop: Loop, record: AttemptRecord, charge: AttemptCharge): void {
  if (loop.records.length === maxRecords) loop.records.shift();
  loop.records.push(record);
  loop.ledger = chargeAttempt(loop.ledger, charge);
}

/** What is left of the deadline. */
export function leftOf(loop: Loop): number {
  return Math.max(0, loop.startMs + loop.options.retry.deadlineMs - loop.options.clock.monotonicMs());
}

/** How it all went. */
export function reportOf(loop: Loop, hasSucceeded: boolean): CallReport {
  const report: CallReport = {
    attempts: loop.records,
    recoveries: hasSucceeded ? loop.recoveries : [],
    ledger: loop.ledger,
    elapsedMs: loop.options.clock.monotonicMs() - loop.startMs,
  };
  return loop.resumeAtMs === undefined ? report : { ...report, resumeAtMs: loop.resumeAtMs };
}
