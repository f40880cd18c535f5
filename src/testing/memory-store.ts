import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/system.ts';
import type { Failure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { BlobStore, Durability, RunStore, SessionStore, Store } from '../model/store/store.ts';
import { createStoreData, hashAt, rowOf } from './memory-store-data.ts';
import type { StoreData } from './memory-store-data.ts';
import {
  checkStore,
  findLatest,
  findWaiting,
  listRuns,
  pruneRuns,
  removeRun,
} from './memory-store-queries.ts';
import {
  acceptHead,
  appendEvents,
  claimRun,
  createRun,
  keepSignal,
  readEvents,
  readSignals,
  releaseRun,
  renewLeases,
} from './memory-store-runs.ts';
import {
  appendMessages,
  findSession,
  listSessions,
  putBlob,
  readMessages,
  trimSession,
} from './memory-store-sessions.ts';
import { readWhole, readWholeSession, restoreRun, restoreSession } from './memory-store-whole.ts';
import { aFlag, anObject, anyValue, checkOptions } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';

/** What a memory store is made of. */
export interface MemoryStoreOptions {
  /** Leases run out by its wall clock; the machine's unless told. */
  readonly clock?: Clock;
  /** `required` unless told. */
  readonly durability?: Durability;
  readonly faults?: StoreFaults;
  /** Events that are read are frozen and the same for everybody, which takes less time where many read them; not so unless told. */
  readonly isFrozen?: boolean;
}

/**
 * What goes wrong, asked before and after each operation that was done. A failure makes the verb reject: with nothing written
 * before it, with everything written after it, and the caller none the wiser. At a `crash` the verb never settles, as for a
 * process that died in it.
 */
export interface StoreFaults {
  readonly before?: (operation: StoreOperation) => Failure | 'crash' | undefined;
  readonly after?: (operation: StoreOperation) => Failure | 'crash' | undefined;
}

/** One verb that was called. */
export interface StoreOperation {
  /** From 1, for each handle. */
  readonly number: number;
  readonly verb: StoreVerb;
  readonly runId?: string;
}

/** `tidy` is `prune`, `remove` and `acceptHead`; `session` whatever changes one; `read` all that changes nothing. */
export type StoreVerb =
  'create' | 'append' | 'claim' | 'signal' | 'renew' | 'release' | 'blob' | 'session' | 'tidy' | 'read';

/** How what is kept is spoilt, as by a disk. */
export type StoreDamage =
  | { readonly type: 'event-changed'; readonly seq: number }
  | { readonly type: 'tail-lost'; readonly events: number };

type HandleOptions = Omit<MemoryStoreOptions, 'clock' | 'isFrozen'>;

/** A store in memory, and what a test does to it. */
export interface MemoryStore extends Store {
  /** Another handle on the same data, as a second process has it. The clock is the same. */
  readonly reopen: (options?: HandleOptions) => MemoryStore;
  /** His leases can be taken at once. What he still writes until then is kept. */
  readonly simulateDeath: (ownerId: string) => void;
  /** Makes this handle a dead process: no verb of it writes or settles any more, and its owners are dead. */
  readonly kill: () => void;
  /** Operations of this handle so far. */
  readonly operations: () => number;
  readonly damage: (runId: string, damage: StoreDamage) => void;
}

/**
 * Runs in memory, for tests and simulations: it keeps everything until it is itself forgotten, and looks through all runs to
 * list them. A crash is survived by whatever shares the store, or has a handle by `reopen`.
 *
 * Bodies are kept as JSON text, written when the verb is called: nothing the caller does to them later matters. A verb has
 * done its work when it returns its promise. Hashes are made when somebody reads an event or a row, each once, so that
 * appending costs a few microseconds; what is read is checked against them.
 *
 * @example const store = memoryStore({ faults: { before: ({ number }) => (number === 7 ? diskFull : undefined) } });
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions({ of: 'memoryStore()', rules: optionRules }, options);
  const { clock = systemClock, isFrozen = false, ...rest } = options;
  return createHandle(
    createStoreData(() => clock.wallMs(), isFrozen),
    rest,
  );
}

const optionRules: Readonly<Record<keyof MemoryStoreOptions, OptionRule>> = {
  clock: anyValue,
  durability: anyValue,
  faults: anObject('{ before: () => undefined }', ['before', 'after']),
  isFrozen: aFlag,
};

interface Handle {
  readonly data: StoreData;
  readonly faults: StoreFaults | undefined;
  /** Owners that have taken leases by this handle. */
  readonly ownerIds: Set<string>;
  operations: number;
  isDead: boolean;
}

function createHandle(data: StoreData, options: HandleOptions): MemoryStore {
  const { durability = 'required', faults } = options;
  const handle: Handle = { data, faults, ownerIds: new Set(), operations: 0, isDead: false };
  return {
    name: 'memory',
    durability,
    runs: createRunVerbs(handle),
    blobs: createBlobVerbs(handle),
    sessions: createSessionVerbs(handle),
    open: () => Promise.resolve(),
    check: ({ signal } = {}) => perform(handle, { verb: 'read' }, () => checkStore(data, signal)),
    close: () => Promise.resolve(),
    reopen: (others = {}) => createHandle(data, { durability, ...others }),
    simulateDeath: (ownerId) => void data.deadOwners.add(ownerId),
    kill: () => {
      handle.isDead = true;
      for (const ownerId of handle.ownerIds) data.deadOwners.add(ownerId);
    },
    operations: () => handle.operations,
    damage: (runId, damage) => spoil(data, runId, damage),
  };
}

function createRunVerbs(handle: Handle): RunStore {
  const { data } = handle;
  const read = <T>(runId: string, work: () => T): Promise<T> =>
    perform(handle, { verb: 'read', runId }, work);
  const tidy = <T>(work: () => T): Promise<T> => perform(handle, { verb: 'tidy' }, work);
  return {
    create: (run, owner) => {
      handle.ownerIds.add(owner.id);
      return perform(handle, { verb: 'create', runId: run.runId }, () => createRun(data, run, owner));
    },
    claim: (runId, owner) => {
      handle.ownerIds.add(owner.id);
      return perform(handle, { verb: 'claim', runId }, () => claimRun(data, runId, owner));
    },
    append: (lease, addition) =>
      perform(handle, { verb: 'append', runId: lease.runId }, () => appendEvents(data, lease, addition)),
    renew: (owner) => perform(handle, { verb: 'renew' }, () => renewLeases(data, owner)),
    release: (lease) =>
      perform(handle, { verb: 'release', runId: lease.runId }, () => releaseRun(data, lease)),
    find: (runId) =>
      read(runId, () => {
        const run = data.runs.get(runId);
        return run === undefined ? undefined : rowOf(data, run);
      }),
    events: (runId, range = {}) => read(runId, () => readEvents(data, runId, range)),
    list: (query = {}) => perform(handle, { verb: 'read' }, () => listRuns(data, query)),
    latestOf: (runIds, types) => perform(handle, { verb: 'read' }, () => findLatest(data, runIds, types)),
    signal: (runId, signal) =>
      perform(handle, { verb: 'signal', runId }, () => keepSignal(data, runId, signal)),
    signals: (runId) => read(runId, () => readSignals(data, runId)),
    waiting: (query) => perform(handle, { verb: 'read' }, () => findWaiting(data, query)),
    prune: (rule) => tidy(() => pruneRuns(data, rule)),
    remove: (runId) => tidy(() => removeRun(data, runId)),
    acceptHead: (runId) => tidy(() => acceptHead(data, runId)),
    whole: (runId) => read(runId, () => readWhole(data, runId)),
    restore: (run) => perform(handle, { verb: 'create', runId: run.row.runId }, () => restoreRun(data, run)),
  };
}

function createBlobVerbs(handle: Handle): BlobStore {
  const { data } = handle;
  return {
    put: (content, runId) => perform(handle, { verb: 'blob', runId }, () => putBlob(data, content, runId)),
    get: (hash) => perform(handle, { verb: 'read' }, () => data.blobs.get(hash)?.content),
  };
}

function createSessionVerbs(handle: Handle): SessionStore {
  const { data } = handle;
  const read = <T>(work: () => T): Promise<T> => perform(handle, { verb: 'read' }, work);
  const change = <T>(work: () => T): Promise<T> => perform(handle, { verb: 'session' }, work);
  return {
    append: (sessionId, messages, runId) =>
      perform(handle, { verb: 'session', runId }, () => appendMessages(data, { sessionId, messages, runId })),
    messages: (sessionId, { last = Infinity } = {}) => read(() => readMessages(data, sessionId, last)),
    find: (sessionId) => read(() => findSession(data, sessionId)),
    list: (query = {}) => read(() => listSessions(data, query)),
    trim: (sessionId, count) => change(() => trimSession(data, sessionId, count)),
    remove: (sessionId) => change(() => data.sessions.delete(sessionId)),
    whole: (sessionId) => read(() => readWholeSession(data, sessionId)),
    restore: (session) => change(() => restoreSession(data, session)),
  };
}

/** Does the work at once, and settles as the faults want it. What throws makes the promise reject. */
function perform<T>(handle: Handle, named: Omit<StoreOperation, 'number'>, work: () => T): Promise<T> {
  if (handle.isDead) return never();
  handle.operations += 1;
  const { faults } = handle;
  if (faults === undefined) return new Promise((resolve) => resolve(work()));
  const operation = { number: handle.operations, ...named };
  return new Promise((resolve, reject) => {
    const before = faults.before?.(operation);
    // The hook itself may have killed the process, here and below.
    if (before === 'crash' || handle.isDead) return;
    const result = before === undefined ? { value: work() } : undefined;
    const fault = before ?? faults.after?.(operation);
    if (fault === 'crash' || handle.isDead) return;
    if (fault !== undefined) reject(RerailError.from(fault));
    else if (result !== undefined) resolve(result.value);
  });
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

function spoil({ runs }: StoreData, runId: string, damage: StoreDamage): void {
  const run = runs.get(runId);
  if (run === undefined) return;
  const headHash = hashAt(run, run.events.length);
  if (damage.type === 'tail-lost') {
    run.lostHash ??= headHash;
    run.events.length = Math.max(0, run.events.length - damage.events);
    return;
  }
  const event = run.events[damage.seq - 1];
  if (event !== undefined) event.bodyText = `${event.bodyText} `;
}
