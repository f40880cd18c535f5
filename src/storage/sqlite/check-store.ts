import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { chainStart } from '../../model/store/event-chain.ts';
import type { StoreCheck, StoreProblem } from '../../model/store/store.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { findBlob } from './blobs.ts';
import type { SqlRow } from './driver.ts';
import { findDivergence } from './head-check.ts';
import { getRows } from './held.ts';
import type { Connection, Held } from './held.ts';
import { brokenChain, learnHeads, pageEvents, readPage } from './run-events.ts';
import type { EventPage } from './run-events.ts';
import { findRecord } from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { findTexts } from './run-texts.ts';
import { tables } from './schema.ts';
import { readMessages } from './sessions.ts';
import { readSignal } from './signals.ts';
import { read } from './write-queue.ts';

/**
 * Looks at everything: the inner order of the file, every row, every chain, every content, every head. It goes in small
 * steps, between which others work and the signal is asked; a run that is written meanwhile is seen as it is then.
 */
export async function checkStore(held: Held, signal: AbortSignal | undefined): Promise<StoreCheck> {
  const checking: Checking = { held, signal, problems: [], runs: 0, events: 0, blobs: 0 };
  for (const table of tables) await step(checking, (connection) => checkTable(checking, connection, table));
  await checkRuns(checking);
  await checkPages(checking, signalPages);
  await checkPages(checking, blobPages);
  await checkPages(checking, sessionPages);
  await checkLostRuns(checking);
  const { runs, events, blobs, problems } = checking;
  return { runs, events, blobs, problems };
}

interface Checking {
  readonly held: Held;
  readonly signal: AbortSignal | undefined;
  readonly problems: StoreProblem[];
  runs: number;
  events: number;
  blobs: number;
}

/** More are of no use to anybody. */
const maxProblems = 1000;

async function step<T>({ held, signal }: Checking, work: (connection: Connection) => T): Promise<T> {
  signal?.throwIfAborted();
  const result = await read(held, work);
  await nextTurn();
  return result;
}

/** A failure of one thing is a finding; that the file itself cannot be read ends the check. */
function note(checking: Checking, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!RerailError.isInstance(thrown) || thrown.code !== 'STORAGE_CORRUPT') throw thrown;
    add(checking, thrown.failure);
  }
}

function add({ problems }: Checking, { code, message, context }: Failure): void {
  if (problems.length >= maxProblems) return;
  const { runId, seq } = context;
  problems.push({
    code: code === 'STORAGE_DIVERGED' ? code : 'STORAGE_CORRUPT',
    ...(typeof runId === 'string' ? { runId } : {}),
    ...(typeof seq === 'number' ? { seq } : {}),
    message,
  });
}

function checkTable({ problems }: Checking, connection: Connection, table: string): void {
  const rows = getRows(connection, `PRAGMA integrity_check(${table})`);
  for (const row of rows) {
    const message = String(Object.values(row)[0]);
    if (message !== 'ok') problems.push({ code: 'STORAGE_CORRUPT', message: `Table ${table}: ${message}` });
  }
}

async function checkRuns(checking: Checking): Promise<void> {
  for (let last = 0; ;) {
    const after = last;
    // Ends with the last run: numbers only grow.
    const rows = await step(checking, (connection) => getRows(connection, runsSql, [after]));
    if (rows.length === 0) return;
    for (const row of rows) {
      checking.runs += 1;
      const runId = decodeText(String(row['run_id']));
      const record = await step(checking, (connection) => checkRun(checking, connection, runId));
      if (record !== undefined) await checkEvents(checking, record);
    }
    last = Number(rows.at(-1)?.['number']);
  }
}

/** The heads first, then the row as it is now. */
function checkRun(checking: Checking, connection: Connection, runId: string): RunRecord | undefined {
  learnHeads(checking.held);
  let record: RunRecord | undefined;
  note(checking, () => {
    record = findRecord(connection, runId);
    if (record === undefined) return;
    findTexts(connection, record);
    const diverged = findDivergence(checking.held, connection, { runId, record });
    if (diverged !== undefined) add(checking, diverged.failure);
  });
  return record;
}

async function checkEvents(checking: Checking, { runId, headSeq, headHash }: RunRecord): Promise<void> {
  let previous: string | undefined = chainStart;
  for (let from = 1; from <= headSeq && previous !== undefined; from += pageEvents) {
    const to = Math.min(from + pageEvents - 1, headSeq);
    const page: EventPage = { runId, from, to, previous };
    previous = await step(checking, (connection) => checkPage(checking, connection, page));
  }
  if (previous !== undefined && previous !== headHash) add(checking, brokenChain(runId, headSeq).failure);
}

/** The hash to continue with, or nothing where the chain has ended. */
function checkPage(checking: Checking, connection: Connection, page: EventPage): string | undefined {
  let last: string | undefined;
  note(checking, () => {
    const events = readPage(connection, page);
    checking.events += events.length;
    last = events.at(-1)?.hash;
  });
  // A run that was removed meanwhile has no chain to be broken.
  return last;
}

interface Pages {
  readonly sql: string;
  readonly first: readonly (string | number)[];
  readonly check: (checking: Checking, connection: Connection, row: SqlRow) => void;
  readonly placeOf: (row: SqlRow) => readonly (string | number)[];
}

const signalPages: Pages = {
  sql: `SELECT * FROM signals WHERE (run_id, id) > (?, ?) ORDER BY run_id, id LIMIT 200`,
  first: ['', ''],
  check: (_checking, _connection, row) => void readSignal(row),
  placeOf: (row) => [String(row['run_id']), String(row['id'])],
};

const blobPages: Pages = {
  sql: 'SELECT hash FROM blobs WHERE hash > ? ORDER BY hash LIMIT 20',
  first: [''],
  check: (checking, connection, row) => {
    checking.blobs += 1;
    findBlob(connection, String(row['hash']));
  },
  placeOf: (row) => [String(row['hash'])],
};

const sessionPages: Pages = {
  sql: 'SELECT session_id FROM sessions WHERE session_id > ? ORDER BY session_id LIMIT 5',
  first: [''],
  check: (_checking, connection, row) =>
    void readMessages(connection, decodeText(String(row['session_id'])), Infinity),
  placeOf: (row) => [String(row['session_id'])],
};

async function checkPages(checking: Checking, { sql, first, check, placeOf }: Pages): Promise<void> {
  for (let place = first; ;) {
    const after = place;
    // Ends with the last row: places only grow.
    const rows = await step(checking, (connection) => {
      const found = getRows(connection, sql, after);
      for (const row of found) note(checking, () => check(checking, connection, row));
      return found;
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    place = placeOf(last);
  }
}

/** Runs of which only the record of the head is left. */
async function checkLostRuns(checking: Checking): Promise<void> {
  const { held } = checking;
  const known = [...held.heads.known.keys()];
  for (let from = 0; from < known.length; from += idsPerStep) {
    await step(checking, (connection) => {
      learnHeads(held);
      for (const runId of known.slice(from, from + idsPerStep)) {
        const isThere =
          getRows(connection, 'SELECT 1 FROM runs WHERE run_id = ?', [encodeText(runId)]).length > 0;
        const diverged = isThere ? undefined : findDivergence(held, connection, { runId, record: undefined });
        if (diverged !== undefined) add(checking, diverged.failure);
      }
    });
  }
}

const idsPerStep = 500;
const runsSql = 'SELECT number, run_id FROM runs WHERE number > ? ORDER BY number LIMIT 200';
