import { wait } from '../../base/abort.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { WaitingRun } from '../../model/store/store.ts';
import { earliestDueMs, markRow, markSignals, rememberDue, whysOf } from './worker-memory.ts';
import type { Due } from './worker-memory.ts';
import type { Taken, WorkerState } from './worker-state.ts';
import { backoffMs, isSuspect, takeUp } from './worker-take.ts';

/** However many moments come one after the other, polls keep this distance. */
const minGapMs = 20;
/** The most that is looked at in one poll: beyond it, runs that are withheld could hide one that is not. */
const maxListed = 1000;
/** How long the store may take to answer a poll. */
const maxAnswerMs = 60_000;
/** A wall clock that lags behind by more than this was set back. */
const setBackMs = 1000;

/** Asks the store now what waits and resumes it, as far as there are places. Never rejects. */
export async function poll(state: WorkerState): Promise<void> {
  const { polling, parts } = state;
  polling.cancelTimer();
  polling.isUnderWay = true;
  polling.isWantedAgain = false;
  polling.count += 1;
  const waitMs = await answered(state, lookAround(state)).then(
    () => {
      polling.failures = 0;
      return parts.pollMs;
    },
    (thrown: unknown) => {
      polling.failures += 1;
      const retryInMs = backoffMs(parts, polling.failures);
      // After the end of a worker its store may be closed, and it is not asked again.
      if (state.phase === 'working')
        parts.tell({ type: 'storage-failed', failure: classifyFailure(thrown, 'storage'), retryInMs });
      return retryInMs;
    },
  );
  polling.isUnderWay = false;
  polling.endedMs = parts.clock.monotonicMs();
  polling.nextMs = polling.endedMs + waitMs;
  if (polling.isWantedAgain) pollSoon(state);
  else arm(state);
}

/** Polls without waiting for the time of the next one; while the store fails, its pause is kept. */
export function pollSoon(state: WorkerState): void {
  const { polling } = state;
  if (state.phase !== 'working') return;
  if (polling.isUnderWay) polling.isWantedAgain = true;
  else if (polling.failures > 0) arm(state);
  else void poll(state);
}

/** Sets the one timer: for the next poll, or for an earlier moment that a run waits for. */
function arm(state: WorkerState): void {
  const { polling, parts, memory, running } = state;
  if (state.phase !== 'working' || polling.isUnderWay) return;
  polling.cancelTimer();
  const canTake = polling.failures === 0 && running.size < parts.concurrency;
  const earlyMs = canTake ? Math.max(earliestDueMs(memory), polling.endedMs + minGapMs) : Infinity;
  const atMs = Math.min(polling.nextMs, earlyMs);
  const delayMs = Math.max(0, atMs - parts.clock.monotonicMs());
  polling.cancelTimer = parts.clock.after(delayMs, () => void poll(state));
}

/** A store that never answers is reported like one that fails; what it says after all comes too late. */
async function answered(state: WorkerState, look: Promise<void>): Promise<void> {
  const { clock, store } = state.parts;
  const over = new AbortController();
  const waited = await Promise.race([
    look.finally(() => over.abort()),
    wait(maxAnswerMs, { clock, signal: over.signal }),
  ]);
  if (waited !== 'elapsed') return look;
  throw RerailError.from(
    createFailure('STORAGE_IO', {
      origin: 'storage',
      message: `The store ${store.name} did not list the waiting runs within ${maxAnswerMs} ms`,
      hint: 'Check that its disk or its server responds. The store is asked again automatically.',
      retryable: true,
    }),
  );
}

async function lookAround(state: WorkerState): Promise<void> {
  const { parts, running, polling, idlers } = state;
  const number = polling.count;
  const places = isOnTrial(state) ? 0 : parts.concurrency - running.size;
  polling.hasMore = places <= 0;
  if (places <= 0) return;
  const setBack = await findSetBack(state, places);
  const { found, isAll } = await findWaiting(state, places - setBack.length);
  // The worker may have been stopped meanwhile, or has asked again.
  if (state.phase !== 'working' || polling.count !== number) return;
  const listed = new Set(found.map(({ row }) => row.runId));
  const chosen = [...found, ...setBack.filter(({ row }) => !listed.has(row.runId))];
  polling.hasMore = !isAll;
  const taking = withoutCompany(state, chosen);
  const beside = running.size + taking.length - 1;
  for (const waiting of taking) begin(state, waiting, beside);
  if (running.size > 0) return;
  for (const idler of idlers) {
    if (idler.sincePoll >= number) continue;
    idlers.delete(idler);
    idler.resolve();
  }
}

/** How long a run is carried alone, and how long it waits for that; then it goes with the others all the same. */
const maxTrialMs = 60_000;

/** Whether one is carried alone, to see whether it is the one that ends processes. */
function isOnTrial({ trial, running, parts }: WorkerState): boolean {
  return trial !== undefined && running.has(trial.runId) && parts.clock.monotonicMs() < trial.untilMs;
}

/** Suspects are run one by one, once nothing else is in hand: an innocent run must not be parked with a guilty one. */
function withoutCompany(state: WorkerState, chosen: readonly WaitingRun[]): readonly WaitingRun[] {
  const { parts, running, suspects } = state;
  const nowMs = parts.clock.monotonicMs();
  const free: WaitingRun[] = [];
  const held: WaitingRun[] = [];
  for (const waiting of chosen) {
    const sinceMs = suspects.get(waiting.row.runId) ?? nowMs;
    if (!isSuspect(state, waiting) || nowMs - sinceMs >= maxTrialMs) free.push(waiting);
    else held.push(waiting);
  }
  for (const { row } of held) if (!suspects.has(row.runId)) suspects.set(row.runId, nowMs);
  for (const { row } of free) suspects.delete(row.runId);
  // Those that another process has taken meanwhile are not waited for.
  if (held.length === 0) suspects.clear();
  const [first] = held;
  if (first === undefined || free.length > 0 || running.size > 0) return free;
  suspects.delete(first.row.runId);
  state.trial = { runId: first.row.runId, untilMs: nowMs + maxTrialMs };
  return [first];
}

/** Runs whose moment has come by the monotonic clock while the wall clock, and so the store, says that it has not. */
async function findSetBack(state: WorkerState, places: number): Promise<readonly WaitingRun[]> {
  const { parts, memory } = state;
  const found: WaitingRun[] = [];
  const nowMs = parts.clock.monotonicMs();
  for (const [runId, due] of memory.dues) {
    if (found.length >= places) break;
    if (due.dueMs > nowMs) continue;
    const waiting = await readSetBack(state, runId, due);
    if (waiting !== undefined) found.push(waiting);
  }
  return found;
}

async function readSetBack(state: WorkerState, runId: string, due: Due): Promise<WaitingRun | undefined> {
  const { parts, memory, running } = state;
  const lagMs = due.resumeAtMs - parts.clock.wallMs();
  if (lagMs > 0 && lagMs <= setBackMs) {
    rememberDue(memory, runId, { ...due, dueMs: parts.clock.monotonicMs() + lagMs });
    return undefined;
  }
  const row = lagMs > 0 ? await parts.store.runs.find(runId) : undefined;
  // From here on the poll knows it, as it knows all the others.
  memory.dues.delete(runId);
  const isWaiting = row?.status === 'suspended' && row.resumeAtMs === due.resumeAtMs;
  if (row === undefined || !isWaiting || row.owner !== undefined || running.has(runId)) return undefined;
  return { row, why: 'due' };
}

interface Found {
  /** At most as many as there are places. */
  readonly found: readonly WaitingRun[];
  /** There is nothing besides that could be resumed. */
  readonly isAll: boolean;
}

/** What waits and is worth taking up. Looks further where the first ones are all withheld. */
async function findWaiting(state: WorkerState, places: number): Promise<Found> {
  const { parts, running } = state;
  const agents = [...parts.agents.keys()];
  // Each agent takes leases under a name of its own; what it executes is held, and thus not listed. The worker's own name is not
  // asked with: what it could not give back after looking at it would stay hidden from it for ever.
  const ownerId = `${parts.owner.id}:looks`;
  let limit = Math.min(maxListed, places + running.size + 1);
  // Bounded: the limit grows fourfold up to its own bound.
  while (true) {
    const listed = await parts.store.runs.waiting({ agents, ownerId, limit });
    const found: WaitingRun[] = [];
    for (const waiting of listed) {
      if (!(await isWorthTaking(state, waiting))) continue;
      if (found.length >= places) return { found, isAll: false };
      found.push(waiting);
    }
    if (listed.length < limit || limit >= maxListed) return { found, isAll: listed.length < limit };
    limit = Math.min(maxListed, limit * 4);
  }
}

async function isWorthTaking(state: WorkerState, waiting: WaitingRun): Promise<boolean> {
  const { parts, memory, running } = state;
  const { row, why } = waiting;
  if (running.has(row.runId) || !parts.agents.has(row.agent)) return false;
  const withheld = memory.withheld.get(row.runId);
  if (withheld === undefined) return true;
  const { mark, forWhys, notBeforeMs } = withheld;
  if (parts.clock.monotonicMs() < notBeforeMs) return false;
  const hasOtherWhy = whysOf(waiting, parts.clock.wallMs()).some((reason) => !forWhys.includes(reason));
  if (hasOtherWhy || mark?.row !== markRow(row)) return true;
  if (why !== 'signalled' || mark.signals === undefined) return false;
  return markSignals(await parts.store.runs.signals(row.runId)) !== mark.signals;
}

function begin(state: WorkerState, waiting: WaitingRun, beside: number): void {
  const { parts, running, memory } = state;
  const { row } = waiting;
  const agent = parts.agents.get(row.agent);
  if (agent === undefined) return;
  memory.dues.delete(row.runId);
  const taken: Taken = { agent, beside, stage: 'claiming', done: Promise.resolve() };
  running.set(row.runId, taken);
  taken.done = takeUp(state, taken, waiting).then(() => leave(state, row.runId));
}

function leave(state: WorkerState, runId: string): void {
  const { running, idlers, polling } = state;
  running.delete(runId);
  const isAwaited = running.size === 0 && idlers.size > 0;
  // A suspect waits for everybody else to be gone.
  const isTrialDue = running.size === 0 && state.suspects.size > 0;
  if (polling.hasMore || isAwaited || isTrialDue) pollSoon(state);
  else arm(state);
}
