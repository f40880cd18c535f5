import { registerSecret } from '../../base/redact.ts';
import type { Clock } from '../../base/clock.ts';
import type {
  Addition,
  BlobStore,
  Durability,
  Lease,
  Retention,
  RunStore,
  SessionStore,
  Store,
} from '../../model/store/store.ts';
import { checkRetention, checkRunQuery } from '../../model/store-query.ts';
import { toTexts } from '../common/text-addition.ts';
import { findBlob, keepBlob } from './blobs.ts';
import { carryOut } from './carry-out.ts';
import { checkGiven, nameOf, toAddress } from './check-options.ts';
import { checkStore } from './check-store.ts';
import { closeAll } from './connections.ts';
import { loadDriver } from './driver.ts';
import { createHeld } from './held.ts';
import type { Held } from './held.ts';
import { claimRun, releaseRun, renewLeases } from './leases.ts';
import { findRun, findWaiting, listRuns, toRow } from './list-runs.ts';
import { atOnce } from './query.ts';
import { openProven } from './proven.ts';
import { acceptHead, pruneRuns, removeRun } from './remove-runs.ts';
import { findLatest, readEvents } from './run-events.ts';
import {
  appendMessages,
  findSession,
  listSessions,
  readMessages,
  removeSession,
  toSessionRow,
  trimSession,
} from './sessions.ts';
import { findSignals, keepSignal } from './signals.ts';
import { readWhole, restoreRun } from './whole-runs.ts';
import { readWholeSession, restoreSession } from './whole-sessions.ts';
import { enqueue, inOrder, read, settled } from './write-queue.ts';

/** Where the database is, as the driver `pg` takes it. */
export interface PostgresAddress {
  /** `postgres://user:password@host:5432/database`. Only `ssl` may stand beside it. */
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  /** A function is asked for every new connection: for passwords that change. */
  readonly password?: string | (() => string | Promise<string>);
  readonly database?: string;
  /** `true`, or the options of `tls.connect`. */
  readonly ssl?: boolean | Readonly<Record<string, unknown>>;
}

/** How a database is used. */
export interface PostgresOptions {
  /** What a run does when it cannot be written: see `Store`. `required` by default. */
  readonly durability?: Durability;
  /** The schema that holds the tables, which is made where there is none; `rerail` by default. */
  readonly schema?: string;
  /** Whether a schema that is not there is made, which needs the right to; it is by default. Where it is not, `STORAGE_NOT_FOUND`. */
  readonly create?: boolean;
  /** At most so many connections at the same time; 10 by default. */
  readonly maxConnections?: number;
  /** How long a call waits for a connection, for a lock, and for a server that is coming back; 10 seconds by default. */
  readonly busyTimeoutMs?: number;
  /** How long one statement may take; 30 seconds by default. */
  readonly statementTimeoutMs?: number;
  /** Gives the time instead of the database: for tests, never where several machines share it. */
  readonly clock?: Clock;
  /** The module `pg`, from a caller that has loaded it: needed where a bundler leaves nothing to be found at run time. */
  readonly pg?: unknown;
}

/**
 * Runs in a Postgres database, shared by any number of processes on any number of machines. The database's time decides about leases.
 * Needs the package `pg`. Nothing is loaded or opened before it is needed.
 *
 * @example createAgent({ name: 'support', model, store: postgres('postgres://app:secret@db.internal/agents') });
 */
export function postgres(address: string | PostgresAddress, options: PostgresOptions = {}): Store {
  checkGiven(address, options);
  const { durability = 'required', schema = 'rerail', create = true, maxConnections = 10 } = options;
  const { busyTimeoutMs = 10_000, statementTimeoutMs = 30_000, clock, pg } = options;
  const { config, secret } = toAddress(address);
  const held = createHeld(
    {
      name: nameOf(address),
      schema,
      create,
      clock,
      maxConnections,
      busyTimeoutMs,
      statementTimeoutMs,
      address: config,
      loadDriver: () => loadDriver(pg),
    },
    secret === undefined ? () => undefined : registerSecret(secret),
  );
  return {
    name: `postgres ${held.settings.name}`,
    durability,
    runs: createRunVerbs(held),
    blobs: createBlobVerbs(held),
    sessions: createSessionVerbs(held),
    open: () => read(held, () => Promise.resolve()),
    check: ({ signal } = {}) => checkStore(held, signal),
    proven: () => openProven(held),
    close: () => close(held),
  };
}

function createRunVerbs(held: Held): RunStore {
  return {
    create: async (run, owner) =>
      enqueue(held, { type: 'create', creation: { run, addition: toTexts(run) }, owner }),
    claim: (runId, owner) => {
      const claim = { runId, owner, memo: { wasAbandoned: false } };
      return enqueue(held, { type: 'other', perform: (connection) => claimRun(connection, claim) });
    },
    append: (lease, addition) => append(held, lease, addition),
    renew: (owner) =>
      enqueue(held, { type: 'other', perform: (connection) => renewLeases(connection, owner) }),
    release: (lease) =>
      enqueue(held, { type: 'other', perform: (connection) => releaseRun(connection, lease) }),
    signal: async (runId, { id, name, payload }) => {
      const signal = { id, name, payloadText: JSON.stringify(payload), writer: crypto.randomUUID() };
      return inOrder(held, signalsOf(runId), () =>
        carryOut(held, (connection) => keepSignal(connection, runId, signal)),
      );
    },
    prune: (rule) => prune(held, rule),
    remove: (runId) => remove(held, runId),
    acceptHead: (runId) => read(held, (connection) => acceptHead(connection, runId)),
    restore: (run) => read(held, (connection) => restoreRun(connection, run)),
    ...createRunLooks(held),
  };
}

/** Without an async function around it: nothing is called as often. */
function append(held: Held, lease: Lease, addition: Addition): Promise<void> {
  try {
    return enqueue(held, { type: 'append', appending: { lease, addition: toTexts(addition) } });
  } catch (error) {
    return Promise.reject(error); // A body that is no JSON.
  }
}

type RunLooks = Pick<RunStore, 'find' | 'events' | 'list' | 'latestOf' | 'signals' | 'waiting' | 'whole'>;

function createRunLooks(held: Held): RunLooks {
  return {
    find: (runId) =>
      read(held, async (connection) => {
        const row = await findRun(connection, runId);
        return row === undefined ? undefined : toRow(row);
      }),
    events: (runId, range = {}) =>
      read(held, (connection) => atOnce(connection, () => readEvents(connection, { runId, range }))),
    whole: (runId) => read(held, (connection) => atOnce(connection, () => readWhole(connection, runId))),
    list: async (query = {}) => {
      checkRunQuery(query);
      return read(held, (connection) => listRuns(connection, query));
    },
    latestOf: (runIds, types) => read(held, (connection) => findLatest(connection, runIds, types)),
    signals: (runId) =>
      inOrder(held, signalsOf(runId), () => carryOut(held, (connection) => findSignals(connection, runId))),
    waiting: (query) => read(held, (connection) => findWaiting(connection, query)),
  };
}

function signalsOf(runId: string): string {
  return `signals ${runId}`;
}

async function prune(held: Held, rule: Retention): Promise<number> {
  checkRetention(rule);
  await settled(held);
  let removed = 0;
  for (let isOver = false; !isOver;) {
    // Ends when nothing more may go: every step removes something.
    const step = await carryOut(held, (connection) => pruneRuns(connection, rule), { isRepeatable: false });
    removed += step.removed;
    isOver = step.isOver;
  }
  return removed;
}

/** That it is gone may be the work of an attempt without an answer. */
async function remove(held: Held, runId: string): Promise<boolean> {
  await settled(held);
  let wasThere = false;
  return carryOut(held, async (connection) => {
    wasThere ||= (await findRun(connection, runId)) !== undefined;
    return (await removeRun(connection, runId)) || wasThere;
  });
}

function createBlobVerbs(held: Held): BlobStore {
  return {
    put: (content, runId) => carryOut(held, (connection) => keepBlob(connection, content, runId)),
    get: (hash) => read(held, (connection) => findBlob(connection, hash)),
  };
}

function createSessionVerbs(held: Held): SessionStore {
  const ordered = <T>(sessionId: string, work: () => Promise<T>): Promise<T> =>
    inOrder(held, `session ${sessionId}`, work);
  return {
    append: async (sessionId, messages, runId) => {
      const addition = { sessionId, texts: messages.map((message) => JSON.stringify(message)), runId };
      return ordered(sessionId, () => carryOut(held, (connection) => appendMessages(connection, addition)));
    },
    messages: (sessionId, { last = Infinity } = {}) =>
      ordered(sessionId, () =>
        carryOut(held, (connection) => atOnce(connection, () => readMessages(connection, sessionId, last))),
      ),
    find: (sessionId) =>
      ordered(sessionId, () =>
        carryOut(held, async (connection) => {
          const session = await findSession(connection, sessionId);
          return session === undefined ? undefined : toSessionRow(session);
        }),
      ),
    list: (query = {}) => read(held, (connection) => listSessions(connection, query)),
    trim: (sessionId, count) =>
      ordered(sessionId, () =>
        // Twice would take back twice as much.
        carryOut(held, (connection) => trimSession(connection, sessionId, count), { isRepeatable: false }),
      ),
    remove: (sessionId) =>
      ordered(sessionId, () => carryOut(held, (connection) => removeSession(connection, sessionId))),
    whole: (sessionId) =>
      ordered(sessionId, () =>
        carryOut(held, (connection) => atOnce(connection, () => readWholeSession(connection, sessionId))),
      ),
    restore: (session) =>
      ordered(session.row.sessionId, () =>
        carryOut(held, (connection) => restoreSession(connection, session)),
      ),
  };
}

/** What is queued is written first. */
async function close(held: Held): Promise<void> {
  await Promise.allSettled([settled(held), ...held.tails.values()]);
  if (held.isClosed) return;
  held.isClosed = true;
  held.forgetSecret();
  await closeAll(held);
}
