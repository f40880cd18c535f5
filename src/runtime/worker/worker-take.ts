import type { RunOutcome } from '../../agent/run-outcome.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { severityOf } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RunRow, WaitingRun } from '../../model/store/store.ts';
import { retryDelay } from '../../resilience/backoff.ts';
import { retryPresets } from '../../resilience/retry-policy.ts';
import { parkRun } from './park-run.ts';
import { markRow, markSignals, rememberDue, whysOf, withhold } from './worker-memory.ts';
import type { RunMark, Why } from './worker-memory.ts';
import type { WorkerParts } from './worker-options.ts';
import type { Taken, WorkerState } from './worker-state.ts';

/** The longest wait before something is tried again that failed. */
const maxBackoffMs = 60_000;
const allWhys: readonly Why[] = ['interrupted', 'due', 'signalled'];

/** Continues a run until it has an outcome, or parks it. Never rejects. */
export async function takeUp(state: WorkerState, taken: Taken, waiting: WaitingRun): Promise<void> {
  const { runId } = waiting.row;
  const { tell } = state.parts;
  try {
    if (mayBePoison(state, waiting) && !(await isFit(state, waiting, taken.beside))) return;
    if (state.phase === 'working') tell({ type: 'run-taken', runId, why: waiting.why });
    // The listener may stop the worker: then nothing would release this run any more.
    if (state.phase !== 'working') return;
    taken.stage = 'resumed';
    const outcome = await taken.agent.resume(runId);
    // It was released: that is the purpose of stopping the worker, and not how the run ended.
    if (state.phase !== 'working' && isReleased(outcome)) return;
    taken.stage = 'finished';
    tell({ type: 'run-finished', runId, outcome });
    if (state.phase === 'working') await noteOutcome(state, waiting, outcome);
  } catch (thrown) {
    await noteRefusal(state, waiting, classifyFailure(thrown));
  }
}

/** Whether it has crashed, or crashed too often before: the crash that interrupted it is counted only by the next claim. */
function mayBePoison({ parts }: WorkerState, { row, why }: WaitingRun): boolean {
  return why === 'interrupted' || row.crashes >= parts.maxCrashes;
}

/** Whether it has been interrupted so often that it is carried alone: another crash then says who is to blame. */
export function isSuspect({ parts }: WorkerState, { row, why }: WaitingRun): boolean {
  return why === 'interrupted' && row.crashes + 1 >= parts.maxCrashes;
}

async function isFit(state: WorkerState, { row: { runId } }: WaitingRun, beside: number): Promise<boolean> {
  const { store, owner, maxCrashes, tell } = state.parts;
  const parked = await parkRun(store, runId, { owner, maxCrashes, beside });
  if (parked.type === 'parked') tell({ type: 'run-parked', runId, crashes: parked.crashes });
  if (parked.type === 'held') noteHeld(state, runId, parked.untilMs);
  return parked.type === 'fit';
}

function noteHeld({ parts, memory }: WorkerState, runId: string, untilMs: number): void {
  const { clock, tell } = parts;
  tell({ type: 'run-held', runId, untilMs });
  // The wall clock may jump, and its owner may give it back early: hence never long.
  const waitMs = Math.min(maxBackoffMs, Math.max(0, untilMs - clock.wallMs()));
  const notBeforeMs = clock.monotonicMs() + waitMs;
  const tries = memory.withheld.get(runId)?.tries ?? 0;
  withhold(memory, runId, { mark: undefined, forWhys: [], tries, notBeforeMs });
}

function isReleased(outcome: RunOutcome): boolean {
  return outcome.type === 'suspended' && outcome.reason === 'released';
}

async function noteOutcome(state: WorkerState, waiting: WaitingRun, outcome: RunOutcome): Promise<void> {
  const { parts, memory } = state;
  const { row } = waiting;
  const notBeforeMs = parts.clock.monotonicMs();
  // An agent that could not be set up leaves the run as it was: it may be ready the next time.
  if (outcome.type === 'failed')
    return noteVain(state, waiting, { mayPass: outcome.failure.code === 'INITIALIZATION_ERROR' });
  if (outcome.type !== 'suspended') {
    // Listed again as it was taken, its end could not be written; doing it all again would not help.
    withhold(memory, row.runId, { mark: { row: markRow(row) }, forWhys: allWhys, tries: 0, notBeforeMs });
    return;
  }
  if (outcome.reason === 'storage') return noteVain(state, waiting, { mayPass: true });
  // This process released it for the next process that resumes it.
  if (isReleased(outcome)) return;
  if (outcome.resumeAt !== undefined) knowDue(state, row.runId, outcome.resumeAt);
  const mark = await readMark(parts, row.runId);
  // A signal that it did not wait for lies there still, and is no reason to take it up again.
  withhold(memory, row.runId, { mark, forWhys: ['interrupted', 'signalled'], tries: 0, notBeforeMs });
}

function knowDue({ parts, memory }: WorkerState, runId: string, resumeAtMs: number): void {
  const { clock, pollMs } = parts;
  const leftMs = resumeAtMs - clock.wallMs();
  // One that is due at once goes by the pace of the poll, or it could go round without a pause.
  const dueMs = clock.monotonicMs() + (leftMs > 0 ? leftMs : pollMs);
  rememberDue(memory, runId, { resumeAtMs, dueMs });
}

async function noteRefusal(state: WorkerState, waiting: WaitingRun, failure: Failure): Promise<void> {
  const { parts } = state;
  const { runId } = waiting.row;
  const untilMs = heldUntilMs(failure);
  if (untilMs !== undefined) {
    noteHeld(state, runId, untilMs);
    return;
  }
  parts.tell({ type: 'run-refused', runId, failure });
  if (state.phase === 'working') await noteVain(state, waiting, { mayPass: passesByItself(failure) });
}

/** It was of no use: it is tried again later where time may help, else when the run has changed. */
async function noteVain(
  state: WorkerState,
  waiting: WaitingRun,
  { mayPass }: { readonly mayPass: boolean },
): Promise<void> {
  const { parts, memory } = state;
  const { clock } = parts;
  const { runId } = waiting.row;
  const tries = triesOf(state, runId) + 1;
  const mark = await readMark(parts, runId);
  const forWhys = mayPass ? [] : whysOf(waiting, clock.wallMs());
  const notBeforeMs = clock.monotonicMs() + backoffMs(parts, tries);
  withhold(memory, runId, { mark, forWhys, tries, notBeforeMs });
}

/** Until when another process holds the run, where this is what the failure says. */
function heldUntilMs({ code, context }: Failure): number | undefined {
  const { untilMs } = context;
  return code === 'STORAGE_LOCKED' && typeof untilMs === 'number' ? untilMs : undefined;
}

/** A full disk is emptied and a lock is given back without the run changing. */
function passesByItself(failure: Failure): boolean {
  return failure.retryable || (failure.origin === 'storage' && severityOf(failure) === 'critical');
}

function triesOf({ memory }: WorkerState, runId: string): number {
  return memory.withheld.get(runId)?.tries ?? 0;
}

/** How long to wait after so many failures in a row. */
export function backoffMs({ random, pollMs }: WorkerParts, failures: number): number {
  const baseDelayMs = Math.min(pollMs, maxBackoffMs);
  const policy = { ...retryPresets.standard, baseDelayMs, maxDelayMs: maxBackoffMs, jitter: 0.2 };
  return Math.round(retryDelay({ retry: failures, drawn: random() }, policy).delayMs);
}

/** How the run was left; undefined where the store cannot say, which the next poll finds out and reports. */
async function readMark({ store }: WorkerParts, runId: string): Promise<RunMark | undefined> {
  try {
    const row: RunRow | undefined = await store.runs.find(runId);
    if (row === undefined) return undefined;
    return { row: markRow(row), signals: markSignals(await store.runs.signals(runId)) };
  } catch {
    return undefined; // Then only the time counts until it is tried again.
  }
}
