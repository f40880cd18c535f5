import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import { configError } from '../../errors/config-error.ts';
import type {
  Addition,
  Lease,
  BlobStore,
  Durability,
  RunStore,
  SessionStore,
  Store,
} from '../../model/store/store.ts';
import { checkRetention, checkRunQuery } from '../../model/store-query.ts';
import { toTexts } from '../common/text-addition.ts';
import { findBlob, keepBlob } from './blobs.ts';
import { checkStore } from './check-store.ts';
import { abandon, connect } from './connect.ts';
import { checkHead } from './head-check.ts';
import { closeHeads } from './heads.ts';
import { createHeld } from './held.ts';
import type { Held } from './held.ts';
import { claimRun, releaseRun, renewLeases, shorten } from './leases.ts';
import { findWaiting, listRuns } from './list-runs.ts';
import { openProven } from './proven.ts';
import { acceptHead, pruneRuns, removeRun } from './remove-runs.ts';
import { findLatest, learnHeads, readEvents } from './run-events.ts';
import { findRecord, toRunRow } from './run-record.ts';
import { findTexts } from './run-texts.ts';
import { appendAlone, appendEvents, createRun } from './run-writes.ts';
import {
  appendMessages,
  findSession,
  listSessions,
  readMessages,
  readWholeSession,
  removeSession,
  restoreSession,
  toSessionRow,
  trimSession,
} from './sessions.ts';
import { findSignals, keepSignal } from './signals.ts';
import { readWhole, restoreRun } from './whole-runs.ts';
import { atOnce, enqueue, lookUp, noteHeadsNow, read, scan, settled } from './write-queue.ts';
import { aNumber, anObjectWith, checkOptions, oneOf } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';

/** How a database is kept. */
export interface SqliteOptions {
  /** What a run does when it cannot be written: see `Store`. `required` by default. */
  readonly durability?: Durability;
  /**
   * `full`, by default: what was acknowledged survives a loss of power. `normal` survives the death of the process, and a
   * loss of power may take the latest events; where the record of the heads has survived it, the run is then refused as diverged until
   * a person accepts it; where it has not, that is unknown, and an effect may be repeated.
   */
  readonly sync?: 'full' | 'normal';
  /** Leases and times are by its wall clock; the machine's by default. */
  readonly clock?: Clock;
  /** How long to wait for the lock of another process; 5 seconds by default. */
  readonly busyTimeoutMs?: number;
}

/**
 * Runs in one file, private to its owner (0600), with `-wal`, `-shm` and `-heads` beside it; a missing folder is made (0700).
 * Several processes of one machine may share it. Nothing is opened before it is needed.
 *
 * @example createAgent({ name: 'support', model, store: sqlite('runs.db') });
 */
export function sqlite(file: string, options: SqliteOptions = {}): Store {
  const { durability = 'required', sync = 'full', clock = systemClock, busyTimeoutMs = 5000 } = options;
  checkGiven(file, options);
  const held = createHeld({ file: path.resolve(file), sync, clock, busyTimeoutMs });
  return {
    name: `sqlite ${file}`,
    durability,
    runs: createRunVerbs(held),
    blobs: createBlobVerbs(held),
    sessions: createSessionVerbs(held),
    open: () => read(held, () => undefined),
    check: ({ signal } = {}) => checkStore(held, signal),
    proven: () => openProven(held.settings.file),
    close: () => close(held),
  };
}

const optionRules: Readonly<Record<keyof SqliteOptions, OptionRule>> = {
  durability: oneOf('required', 'bestEffort'),
  sync: oneOf('full', 'normal'),
  clock: anObjectWith('wallMs', 'a Clock, with wallMs()'),
  busyTimeoutMs: aNumber(0, 3_600_000),
};

function checkGiven(file: unknown, options: SqliteOptions): void {
  if (typeof file !== 'string' || file.trim() === '' || file.includes('\0')) {
    throw configError(`sqlite() needs the path of a file, got ${JSON.stringify(file)}`);
  }
  if (file === ':memory:') {
    throw configError(
      'sqlite(":memory:") would keep nothing: leave out "store", and runs are kept in memory',
    );
  }
  if (/^file:/i.test(file)) throw configError(`sqlite() takes a path, not an address, got "${file}"`);
  checkOptions({ of: 'sqlite()', rules: optionRules }, options);
}

function nowOf({ settings }: Held): number {
  return Math.round(settings.clock.wallMs());
}

function createRunVerbs(held: Held): RunStore {
  return {
    create: async (run, owner) => {
      const addition = toTexts(run);
      return enqueue(held, (transaction) => createRun(transaction, { run, addition, owner }));
    },
    claim: (runId, owner) => enqueue(held, (transaction) => claimRun(transaction, runId, owner)),
    append: (lease, addition) => append(held, lease, addition),
    renew: (owner) => enqueue(held, (transaction) => renewLeases(transaction, owner)),
    release: (lease) => enqueue(held, (transaction) => releaseRun(transaction, lease)),
    signal: async (runId, { id, name, payload }) => {
      const signal = { id, name, payloadText: JSON.stringify(payload) };
      return enqueue(held, (transaction) => keepSignal(transaction, runId, signal));
    },
    prune: (rule) => prune(held, rule),
    remove: (runId) => enqueue(held, (transaction) => removeRun(transaction, runId)),
    acceptHead: (runId) => enqueue(held, (transaction) => acceptHead(transaction, runId)),
    restore: (run) => enqueue(held, (transaction) => restoreRun(transaction, run)),
    ...createRunLooks(held),
  };
}

/** Without an async function around it: nothing is called as often. */
function append(held: Held, lease: Lease, addition: Addition): Promise<void> {
  try {
    const texts = toTexts(addition);
    return enqueue(
      held,
      (transaction) => appendEvents(transaction, lease, texts),
      (transaction) => appendAlone(transaction, lease, texts),
    );
  } catch (error) {
    return Promise.reject(error); // A body that is no JSON.
  }
}

type RunLooks = Pick<RunStore, 'find' | 'events' | 'list' | 'latestOf' | 'signals' | 'waiting' | 'whole'>;

function createRunLooks(held: Held): RunLooks {
  return {
    find: (runId) =>
      lookUp(held, (connection) => {
        learnHeads(held);
        return atOnce(connection, () => {
          const record = findRecord(connection, runId);
          if (record !== undefined) return toRunRow(record, findTexts(connection, record), nowOf(held));
          checkHead(held, connection, { runId, record });
          return undefined;
        });
      }),
    events: (runId, range = {}) =>
      lookUp(held, (connection) => {
        learnHeads(held);
        return atOnce(connection, () => readEvents(held, connection, { runId, range }));
      }),
    whole: (runId) =>
      lookUp(held, (connection) => {
        learnHeads(held);
        return atOnce(connection, () => readWhole(held, connection, runId));
      }),
    list: async (query = {}) => {
      checkRunQuery(query);
      return scan(held, (connection) => listRuns(connection, query, nowOf(held)));
    },
    latestOf: (runIds, types) => scan(held, (connection) => findLatest(connection, runIds, types)),
    signals: (runId) => scan(held, (connection) => findSignals(connection, runId)),
    waiting: async (query) => {
      const { runs, tooLong } = await scan(held, (connection) =>
        atOnce(connection, () => findWaiting(connection, query, nowOf(held))),
      );
      if (tooLong.length > 0) await shortenLeases(held, tooLong);
      return runs;
    },
  };
}

function shortenLeases(held: Held, runIds: readonly string[]): Promise<void> {
  return enqueue(held, (transaction) => {
    for (const runId of runIds) {
      const record = findRecord(transaction.connection, runId);
      if (record !== undefined) shorten(transaction, record);
    }
  });
}

async function prune(held: Held, rule: Parameters<RunStore['prune']>[0]): Promise<number> {
  checkRetention(rule);
  let removed = 0;
  for (let isOver = false; !isOver;) {
    // Ends when nothing more may go: every step removes something.
    const step = await enqueue(held, (transaction) => pruneRuns(transaction, rule));
    removed += step.removed;
    isOver = step.isOver;
  }
  return removed;
}

function createBlobVerbs(held: Held): BlobStore {
  return {
    put: (content, runId) => enqueue(held, ({ connection }) => keepBlob(connection, content, runId)),
    get: (hash) => lookUp(held, (connection) => findBlob(connection, hash)),
  };
}

function createSessionVerbs(held: Held): SessionStore {
  return {
    append: async (sessionId, messages, runId) => {
      const texts = messages.map((message) => JSON.stringify(message));
      return enqueue(held, (transaction) => appendMessages(transaction, { sessionId, texts, runId }));
    },
    messages: (sessionId, { last = Infinity } = {}) =>
      lookUp(held, (connection) => atOnce(connection, () => readMessages(connection, sessionId, last))),
    find: (sessionId) =>
      lookUp(held, (connection) => {
        const session = findSession(connection, sessionId);
        return session === undefined ? undefined : toSessionRow(session);
      }),
    list: (query = {}) => scan(held, (connection) => listSessions(connection, query)),
    trim: (sessionId, count) => enqueue(held, (transaction) => trimSession(transaction, sessionId, count)),
    remove: (sessionId) => enqueue(held, (transaction) => removeSession(transaction, sessionId)),
    whole: (sessionId) =>
      lookUp(held, (connection) => atOnce(connection, () => readWholeSession(connection, sessionId))),
    restore: (session) => enqueue(held, (transaction) => restoreSession(transaction, session)),
  };
}

/** What is queued is written first; then the log is taken into the file, as far as others let it. */
async function close(held: Held): Promise<void> {
  await settled(held);
  await noteHeadsNow(held);
  if (held.isClosed) return;
  checkpoint(held);
  held.isClosed = true;
  abandon(held);
  held.believed.clear();
  closeHeads(held.heads);
}

/** By hand, for one of the drivers leaves the log behind when it closes. */
function checkpoint(held: Held): void {
  if (held.connection === undefined) return;
  try {
    connect(held).database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Everything is in the log, and the next start reads it; a file that was lost must not be written to.
  }
}
