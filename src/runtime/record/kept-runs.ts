import type { Cancel, Clock } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type {
  Addition,
  Lease,
  LeaseOwner,
  NewEvent,
  RowChange,
  Store,
  StoredSignal,
} from '../../model/store/store.ts';
import type { AgentFacts } from '../run/agent-facts.ts';

/** What a keeper needs besides its store. */
export interface KeeperOptions {
  readonly store: Store;
  readonly agent: string;
  readonly owner: LeaseOwner;
  /** Of the agent, with what the run has of its own. */
  readonly facts: (runId: string) => AgentFacts;
  readonly clock: Clock;
  /** What is listed of a run that begins. */
  readonly describeStart: (input: unknown) => Pick<RowChange, 'text'>;
  readonly sessionOf: (runId: string) => string | undefined;
  /** Another process has taken the run: nothing that this one does to it counts any more. */
  readonly onLost: (runId: string) => void;
  /** Another process has sent something to a run that is carried here. */
  readonly onSignal: (runId: string, signal: StoredSignal) => void;
  /** The store has failed, and the run continues without it; or it is on record again. */
  readonly onUnsaved: (runId: string, failure: Failure | undefined) => void;
}

/** A run that is this process's own. */
export interface KeptRun {
  readonly lease: Lease | undefined;
  row: RowChange | undefined;
  /** What was obeyed although it could not be written: it goes in front of whatever is written next, for that depends on it. */
  owed: readonly NewEvent[];
  /** What could not be written, in order, where the run continues without. */
  readonly unsaved: Addition[];
  failure: Failure | undefined;
  /** While what could not be written is tried again: settles when that is over. */
  retrying: Promise<void> | undefined;
  /** What is written next, together, as soon as nothing else of the run is being written. */
  gathered: Gathered | undefined;
  writing: Gathered | undefined;
  /** An entry of the journal could not be written down. None that comes after it is: it depends on that one. */
  refusal: { readonly error: unknown } | undefined;
}

/** Additions that become one: all of them are on record, or none is. */
export interface Gathered {
  readonly events: NewEvent[];
  row: RowChange | undefined;
  took: readonly string[] | undefined;
  /** Some of it is of the journal. */
  hasEntries: boolean;
  readonly whenWritten: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What a keeper holds. */
export interface Keeping {
  readonly options: KeeperOptions;
  readonly runs: Map<string, KeptRun>;
  /** Runs of which it is being written down that they begin. */
  readonly beginning: Map<string, Promise<void>>;
  stopRenewing: Cancel | undefined;
}

/** A run of which nothing is known yet. */
export function freshRun(): KeptRun {
  return {
    lease: undefined,
    row: undefined,
    owed: [],
    unsaved: [],
    failure: undefined,
    retrying: undefined,
    gathered: undefined,
    writing: undefined,
    refusal: undefined,
  };
}

/** More than that is not kept in memory for a store that may never come back. */
const maxUnsaved = 10_000;

/** Hands an addition to the store. By the store's promise, what is asked first is written first. */
export function put(held: Keeping, runId: string, addition: Addition): Promise<void> {
  const run = held.runs.get(runId);
  // Without a lease it was never on record: `begin` has reported so.
  if (run?.lease === undefined) return Promise.resolve();
  if (run.failure !== undefined) return retry(held, runId, addition);
  return run.owed.length === 0
    ? append(held, run.lease, addition).catch((error: unknown) =>
        goOnWithout(held, runId, { run, addition, error }),
      )
    : writeOwed(held, runId, addition);
}

/** A store that throws rejects, as all others do. */
function append({ options }: Keeping, lease: Lease, addition: Addition): Promise<void> {
  try {
    return options.store.runs.append(lease, addition);
  } catch (error) {
    return Promise.reject(error);
  }
}

async function writeOwed(held: Keeping, runId: string, addition: Addition): Promise<void> {
  const run = held.runs.get(runId);
  if (run?.lease === undefined) return;
  const { owed, lease } = run;
  // A generation begins with the first event of what is written together.
  const isFirst = addition.row?.beginsGeneration !== true;
  const events = isFirst ? owed.concat(addition.events) : addition.events.concat(owed);
  const whole = { ...addition, events };
  try {
    await append(held, lease, whole);
    if (run.owed === owed) run.owed = [];
  } catch (error) {
    goOnWithout(held, runId, { run, addition: whole, error });
  }
}

interface Unwritten {
  readonly run: KeptRun;
  readonly addition: Addition;
  readonly error: unknown;
}

/** The store has failed: it ends the run, or where the store allows it the run continues and this is kept in memory. */
function goOnWithout({ options }: Keeping, runId: string, { run, addition, error }: Unwritten): void {
  const { store, onUnsaved } = options;
  const failure = classifyFailure(error, 'storage');
  if (store.durability === 'required' || failure.context['leaseLost'] === true) throw error;
  run.failure = failure;
  run.unsaved.push(addition);
  onUnsaved(runId, failure);
}

/** The store has failed before: everything since goes with this, or stays in memory. */
function retry(held: Keeping, runId: string, addition: Addition): Promise<void> {
  const run = held.runs.get(runId);
  if (run?.lease === undefined || run.unsaved.length >= maxUnsaved) return Promise.resolve();
  run.unsaved.push(addition);
  // A caller that comes meanwhile waits as well: the owner may be about to give the lease back.
  run.retrying ??= writeUnsaved(held, runId, { run, lease: run.lease });
  return run.retrying;
}

interface Retrying {
  readonly run: KeptRun;
  readonly lease: Lease;
}

async function writeUnsaved(held: Keeping, runId: string, { run, lease }: Retrying): Promise<void> {
  const { onUnsaved } = held.options;
  try {
    for (let [next] = run.unsaved; next !== undefined; [next] = run.unsaved) {
      await append(held, lease, next);
      run.unsaved.shift();
    }
    run.failure = undefined;
    onUnsaved(runId, undefined);
  } catch (error) {
    run.failure = classifyFailure(error, 'storage');
  } finally {
    run.retrying = undefined;
  }
}

/** Renews often enough that a lease survives two renewals that failed. */
const renewalsPerLease = 4;
const maxRenewMs = 5000;

/** From now on the lease of this run is renewed. */
export function hold(held: Keeping, runId: string, run: KeptRun): void {
  held.runs.set(runId, run);
  if (held.stopRenewing === undefined) renewLater(held);
}

function renewLater(held: Keeping): void {
  const { clock, owner } = held.options;
  const delayMs = Math.min(maxRenewMs, owner.leaseMs / renewalsPerLease);
  held.stopRenewing = clock.after(delayMs, () => void renew(held));
}

/** Nothing is left to renew. */
export function stopRenewing(held: Keeping): void {
  held.stopRenewing?.();
  held.stopRenewing = undefined;
}

/** Says that the runs are still carried here, and looks for what others have sent them. */
async function renew(held: Keeping): Promise<void> {
  const { store, owner, onLost, onSignal } = held.options;
  try {
    for (const runId of await store.runs.renew(owner)) {
      if (held.runs.delete(runId)) onLost(runId);
    }
    for (const runId of held.runs.keys()) {
      for (const signal of await store.runs.signals(runId)) onSignal(runId, signal);
    }
  } catch {
    // The next write meets the same store and reports; the lease outlives a renewal or two that failed.
  }
  if (held.runs.size > 0) renewLater(held);
  else stopRenewing(held);
}
