import { wait } from '../base/abort.ts';
import type { WaitResult } from '../base/abort.ts';
import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { Decision } from '../resilience/decide.ts';
import { chargeAttempt, chargeWait, emptyLedger } from '../resilience/ledger.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { AttemptRecord, CallReport, RecoveryRecord } from './call-report.ts';
import type { Attempted, LoopOptions } from './call-target.ts';

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
  /** What the latest attempt spent, if it came to nothing. */
  lostTokens: number;
  /** A failure that the next attempt will have overcome, if it starts. */
  pending: Omit<RecoveryRecord, 'lostMs'> | undefined;
  resumeAtMs: number | undefined;
  /** Who asked not to be called before, by quota key, provider and name. At most one entry per model of the chain. */
  notBefore: Map<string, { readonly untilMs: number; readonly failure: Failure }> | undefined;
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
    lostTokens: 0,
    pending: undefined,
    resumeAtMs: undefined,
    notBefore: undefined,
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
  overcome(loop);
  loop.pending = { failure, recovery, attempts: loop.attempts, lostTokens: loop.lostTokens };
  loop.lostTokens = 0;
}

/** What failed before was overcome as far as that something else is done now. */
function overcome(loop: Loop): void {
  if (loop.pending === undefined) return;
  if (loop.recoveries.length === maxRecords) loop.recoveries.shift();
  const lostMs = loop.options.clock.monotonicMs() - loop.attemptStartMs;
  loop.recoveries.push({ ...loop.pending, lostMs });
  loop.pending = undefined;
}

/** The next attempt starts. */
export function beginAttempt(loop: Loop): { readonly attempt: number; readonly startMs: number } {
  overcome(loop);
  const startMs = loop.options.clock.monotonicMs();
  loop.attempts += 1;
  loop.attemptStartMs = startMs;
  return { attempt: loop.attempts, startMs };
}

/** Waits, on the ledger. */
export async function pause(loop: Loop, delayMs: number): Promise<WaitResult> {
  const { clock, signal } = loop.options;
  const startMs = clock.monotonicMs();
  const ended = await wait(delayMs, { clock, signal });
  loop.ledger = chargeWait(loop.ledger, clock.monotonicMs() - startMs);
  return ended;
}

/** Notes the end of one attempt, and tells its failure. */
export function endAttempt(loop: Loop, record: AttemptRecord, charge: Attempted<unknown>['charge']): void {
  if (loop.records.length === maxRecords) loop.records.shift();
  loop.records.push(record);
  const { attempt, failure } = record;
  loop.ledger = chargeAttempt(loop.ledger, {
    inputTokens: charge.inputTokens,
    outputTokens: charge.outputTokens,
    costUsd: charge.costUsd,
    wasSent: failure?.phase !== 'connect',
    isLost: failure !== undefined,
  });
  if (failure === undefined) return;
  loop.lostTokens = (charge.inputTokens ?? 0) + (charge.outputTokens ?? 0);
  loop.options.onEvent?.({ type: 'failure', attempt, failure });
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
