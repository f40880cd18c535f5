import { classifyFailure } from '../../errors/classify-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Addition, RowChange, RunRow, Store } from '../../model/store/store.ts';
import { factsThatDiffer } from '../run/agent-facts.ts';
import { signalsTakenBy } from './journal.ts';
import type { JournalEntry, RunEnd, RunSnapshot } from './journal.ts';
import { drained, goneError, handedOver, lastOf, write, writeSoon } from './gathered-writes.ts';
import { keepInput, readInput } from './kept-input.ts';
import { freshRun, hold, put, stopRenewing } from './kept-runs.ts';
import type { KeeperOptions, Keeping, KeptRun } from './kept-runs.ts';
import { countCrash } from '../worker/park-run.ts';
import type { BeginningRun, Recorder } from './recorder.ts';
import { refuseSalvaged } from '../transfer/salvage-runs.ts';
import { foldRun, toEvent } from './stored-run.ts';
import type { FoldedRun, RecordedEvent } from './stored-run.ts';

/** Writes an agent's runs into a store, and takes them out again. */
export interface RunKeeper {
  readonly store: Store;
  readonly recorder: Recorder;
  /** Takes a run that no process runs: its lease, and what is on record of it. */
  readonly take: (runId: string) => Promise<Taken>;
  /** What is on record of a run, without taking it. */
  readonly read: (row: RunRow) => Promise<ReadRun>;
  /** It waits outside the process: that is written down, and anybody may take it up. */
  readonly suspend: (runId: string, event: RecordedEvent, row: RowChange) => Promise<void>;
  /** Whether it is this process that writes down what happens to the run; not once it is being given back. */
  readonly holds: (runId: string) => boolean;
  /** Settles when everything that has happened to the run is on record; absent where it is. */
  readonly pending: (runId: string) => Promise<void> | undefined;
  /** What is to be listed of the run when its end is written down. */
  readonly describe: (runId: string, row: RowChange) => void;
  /** Adds to the record of a run that is held. */
  readonly note: (runId: string, event: RecordedEvent, row?: RowChange) => Promise<void>;
  /** Gives a run back, so that another process need not wait for the lease to run out. */
  readonly release: (runId: string) => Promise<void>;
}

/** What is on record of a run. */
export interface ReadRun {
  readonly row: RunRow;
  readonly snapshot: RunSnapshot;
  /** What broke it, where it ended without an outcome of its own. */
  readonly endFailure?: Failure;
}

export type Taken =
  | (ReadRun & {
      readonly type: 'taken';
      /** What has changed in the agent since the run was begun. */
      readonly differences: readonly string[];
    })
  | { readonly type: 'held'; readonly untilMs: number }
  | { readonly type: 'unknown' };

/** A keeper with no runs yet. */
export function createRunKeeper(options: KeeperOptions): RunKeeper {
  const held: Keeping = { options, runs: new Map(), beginning: new Map(), stopRenewing: undefined };
  const { store } = options;
  return {
    store,
    recorder: createRecorder(held),
    take: (runId) => take(held, runId),
    read: async (row) => {
      const { snapshot, endFailure } = await readRun(held, row);
      return { row, snapshot, ...(endFailure === undefined ? {} : { endFailure }) };
    },
    suspend: (runId, event, row) =>
      writeLast(held, runId, {
        events: [toEvent(event)],
        row: { ...row, status: 'suspended', crashes: 0 },
      }),
    holds: (runId) => held.runs.has(runId) || held.beginning.has(runId),
    pending: (runId) => {
      const run = held.runs.get(runId);
      return run === undefined ? undefined : lastOf(run);
    },
    describe: (runId, row) => {
      const run = held.runs.get(runId);
      if (run !== undefined) run.row = row;
    },
    note: (runId, event, row) =>
      write(held, runId, { events: [toEvent(event)], ...(row === undefined ? {} : { row }) }),
    release: (runId) => release(held, runId),
  };
}

function createRecorder(held: Keeping): Recorder {
  const { store } = held.options;
  return {
    begin: (run) => {
      const beginning = begin(held, run);
      const settled = beginning.then(
        () => void held.beginning.delete(run.runId),
        () => void held.beginning.delete(run.runId), // Its caller gets the failure.
      );
      held.beginning.set(run.runId, settled);
      return beginning;
    },
    isInOrder: true,
    keep: (runId, entry) => {
      const took = signalsTakenBy(entry);
      const events = [toEvent({ type: entry.type, body: entry })];
      const row = isTakenUp(entry) ? { row: goesOnAgain } : {};
      return writeSoon(held, runId, took.length === 0 ? { events, ...row } : { events, took, ...row });
    },
    cancel: async (runId, reason) => {
      await held.beginning.get(runId);
      const events = [toEvent({ type: 'cancelled', body: { reason } })];
      try {
        // By itself, since it depends on nothing: what else fails does not take the cancel request with it, nor the other way round.
        await put(held, runId, { events });
      } catch (error) {
        const run = held.runs.get(runId);
        if (run !== undefined) run.owed = run.owed.concat(events);
        throw error;
      }
    },
    end: (runId, end) => finish(held, runId, end),
    signal: async (runId, signal) => {
      const run = held.runs.get(runId);
      if (run !== undefined && run.lease === undefined) return 'added'; // It is not on record.
      const kept = await store.runs.signal(runId, signal);
      return kept === 'unknown' ? 'added' : kept;
    },
  };
}

async function begin(held: Keeping, run: BeginningRun): Promise<void> {
  const { store, agent, owner, facts, describeStart, sessionOf } = held.options;
  const { runId, version, generation, input } = run;
  const known = held.runs.get(runId);
  try {
    const cancelled = run.cancelReason === undefined ? {} : { cancelReason: run.cancelReason };
    const body = {
      version,
      generation,
      facts: facts(runId),
      input: await keepInput(input, runId, store.blobs),
      ...cancelled,
    };
    const events = [toEvent({ type: 'began', body })];
    const row = {
      status: 'running',
      beginsGeneration: true,
      resumeAtMs: null,
      reason: null,
      code: null,
    } as const;
    if (known !== undefined) {
      // The first event of what is written together begins the generation.
      await drained(held, runId, known);
      if (held.runs.get(runId) !== known) throw goneError(runId);
      return await write(held, runId, { events, row });
    }
    const sessionId = sessionOf(runId);
    const created = await store.runs.create(
      {
        runId,
        agent,
        events,
        row: { ...row, ...describeStart(input) },
        ...(sessionId === undefined ? {} : { sessionId }),
      },
      owner,
    );
    if (created.type === 'exists') throw existsError;
    hold(held, runId, { ...freshRun(), lease: created.lease });
  } catch (error) {
    if (error === existsError || store.durability === 'required' || known !== undefined) throw error;
    const failure = classifyFailure(error, 'storage');
    hold(held, runId, { ...freshRun(), failure });
    held.options.onUnsaved(runId, failure);
  }
}

/** The store knows a run of this name that is not carried here. Never leaves the runtime. */
export const existsError = new Error('A run of this name is on record already');

async function finish(held: Keeping, runId: string, end: RunEnd): Promise<void> {
  const row = held.runs.get(runId)?.row ?? {};
  const status = end.type === 'broken' ? 'failed' : (row.status ?? 'failed');
  const body = end.type === 'broken' ? { status, failure: end.failure } : { status };
  const code = end.type === 'broken' ? { code: end.failure.code } : {};
  await writeLast(held, runId, {
    events: [toEvent({ type: 'ended', body })],
    row: { ...row, ...code, status },
  });
}

/** Writes and gives the run back. Both are asked for at once: a store that gathers what it is asked for writes them together. */
async function writeLast(held: Keeping, runId: string, addition: Addition): Promise<void> {
  // What could not be written before goes first, one by one, and by the same lease.
  if (held.runs.get(runId)?.failure !== undefined) {
    await write(held, runId, addition);
    return release(held, runId);
  }
  const written = write(held, runId, addition);
  const released = release(held, runId);
  await written;
  await released;
}

/** How long a store may take with what is under way, before the process that releases a run no longer waits for it. */
const maxReleaseMs = 5000;

async function release(held: Keeping, runId: string): Promise<void> {
  const run = held.runs.get(runId);
  if (run === undefined) return;
  const isBehind = run.gathered !== undefined;
  const given = giveBack(held, runId, run);
  if (!isBehind) return given;
  await new Promise<void>((resolve, reject) => {
    const stopTimer = held.options.clock.after(maxReleaseMs, resolve);
    void given.then(resolve, reject).finally(stopTimer);
  });
}

/** Nothing that has happened is left behind: it would be in doubt for the next process. */
async function giveBack(held: Keeping, runId: string, run: KeptRun): Promise<void> {
  if (run.gathered !== undefined) await handedOver(held, runId, run);
  if (held.runs.get(runId) !== run) return;
  held.runs.delete(runId);
  if (held.runs.size === 0) stopRenewing(held);
  // A lease that cannot be given back runs out by itself: nothing is lost but time.
  if (run.lease !== undefined) await held.options.store.runs.release(run.lease).catch(() => undefined);
}

async function take(held: Keeping, runId: string): Promise<Taken> {
  const { store, owner, facts } = held.options;
  const claimed = await store.runs.claim(runId, owner);
  if (claimed.type === 'unknown') return claimed;
  if (claimed.type === 'held') return { type: 'held', untilMs: claimed.untilMs };
  const { lease, row, wasAbandoned } = claimed;
  try {
    refuseSalvaged(row);
    const folded = await readRun(held, row);
    hold(held, runId, { ...freshRun(), lease });
    const differences = factsThatDiffer(folded.facts, facts(runId));
    if (row.status === 'parked') await write(held, runId, takenBack);
    else if (wasAbandoned && row.status === 'running') {
      const crashes = await countCrash(store, row, folded);
      const event = toEvent({ type: 'taken-over', body: { crashes } });
      await write(held, runId, { events: [event], row: { crashes } });
    }
    const snapshot = await obeyCancel(held, folded.snapshot);
    const { endFailure } = folded;
    return { type: 'taken', row, snapshot, differences, ...(endFailure === undefined ? {} : { endFailure }) };
  } catch (error) {
    held.runs.delete(runId);
    // The failure of the run is what must be reported; the lease ends by itself if it cannot be given back.
    await store.runs.release(lease).catch(() => undefined);
    throw error;
  }
}

async function readRun({ options }: Keeping, { runId, generationSeq }: RunRow): Promise<FoldedRun> {
  const { runs, blobs } = options.store;
  const [events, signals] = await Promise.all([
    runs.events(runId, { from: generationSeq }),
    runs.signals(runId),
  ]);
  const folded = foldRun(runId, events, signals);
  const input = await readInput(folded.snapshot.input, runId, blobs);
  return { ...folded, snapshot: { ...folded.snapshot, input } };
}

/** Its cancellation was requested while no process ran it. */
async function obeyCancel(held: Keeping, snapshot: RunSnapshot): Promise<RunSnapshot> {
  const wish = snapshot.signals.find(({ name }) => name === 'cancel');
  if (wish === undefined) return snapshot;
  const { payload, id } = wish;
  const reason = typeof payload === 'string' ? payload : 'cancellation was requested';
  const events = [toEvent({ type: 'cancelled', body: { reason } })];
  await write(held, snapshot.runId, { events, took: [id] });
  const signals = snapshot.signals.filter((signal) => signal !== wish);
  return { ...snapshot, signals, cancelReason: snapshot.cancelReason ?? reason };
}

/** A person has resumed it: from here on crashes are counted again. */
const takenBack: Addition = {
  events: [toEvent({ type: 'taken-over', body: { crashes: 0 } })],
  row: { status: 'running', crashes: 0 },
};

/** What it waited for has come: if this process dies now, the run was interrupted, and waits for nothing. */
function isTakenUp(entry: JournalEntry): boolean {
  return entry.type === 'wait' && entry.signal === 'resume' && entry.signalled !== undefined;
}

const goesOnAgain: RowChange = { status: 'running', reason: null, code: null, resumeAtMs: null };
