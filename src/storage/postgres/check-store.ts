import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { chainStart } from '../../model/store/event-chain.ts';
import type { StoreCheck, StoreProblem } from '../../model/store/store.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { findBlob } from './blobs.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { findDivergence, knownHead } from './head-check.ts';
import type { Connection, Held, Rows } from './held.ts';
import { findRun, toRow } from './list-runs.ts';
import { atOnce, getRow, getRows } from './query.ts';
import { brokenChain, pageEvents, readPage } from './run-events.ts';
import type { EventPage } from './run-events.ts';
import { lastSeqColumn, readRecord, recordColumns } from './run-record.ts';
import { readMessages } from './sessions.ts';
import { read } from './write-queue.ts';

/**
 * Looks at everything: every row, every chain, every content, every head. It goes in small steps, between which others work and the
 * signal is asked; a run that is written meanwhile is seen as it is then.
 */
export async function checkStore(held: Held, signal: AbortSignal | undefined): Promise<StoreCheck> {
  const checking: Checking = { held, signal, problems: [], runs: 0, events: 0, blobs: 0 };
  for (const pages of [runPages, blobPages, sessionPages]) await checkPages(checking, pages);
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

interface Pages {
  readonly text: string;
  readonly first: SqlValue;
  readonly check: (checking: Checking, row: SqlRow) => Promise<void>;
  readonly placeOf: (row: SqlRow) => SqlValue;
}

const runPages: Pages = {
  text: 'SELECT number, run_id FROM @.runs WHERE number > $1 ORDER BY number LIMIT 200',
  first: 0,
  check: async (checking, row) => {
    checking.runs += 1;
    await checkRun(checking, decodeText(String(row['run_id'])));
  },
  placeOf: (row) => Number(row['number']),
};

const blobPages: Pages = {
  text: 'SELECT hash FROM @.blobs WHERE hash > $1 ORDER BY hash LIMIT 200',
  first: '',
  check: async (checking, row) => {
    checking.blobs += 1;
    await step(checking, (connection) => findBlob(connection, String(row['hash'])));
  },
  placeOf: (row) => String(row['hash']),
};

const sessionPages: Pages = {
  text: 'SELECT session_id FROM @.sessions WHERE session_id > $1 ORDER BY session_id LIMIT 200',
  first: '',
  check: async (checking, row) => {
    const sessionId = decodeText(String(row['session_id']));
    await step(checking, (connection) =>
      atOnce(connection, () => readMessages(connection, sessionId, Infinity)),
    );
  },
  placeOf: (row) => String(row['session_id']),
};

async function checkPages(checking: Checking, { text, first, check, placeOf }: Pages): Promise<void> {
  for (let place: SqlValue | undefined = first; place !== undefined;) {
    const after: SqlValue = place;
    // Ends with the last row: places only grow.
    const rows: Rows = await step(checking, (connection) => getRows(connection, { text }, [after]));
    for (const row of rows) await note(checking, () => check(checking, row));
    const last: SqlRow | undefined = rows.at(-1);
    place = last === undefined ? undefined : placeOf(last);
  }
}

function step<T>({ held, signal }: Checking, work: (connection: Connection) => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  return read(held, work);
}

/** A failure of one thing is a finding; that the database cannot be read ends the check. */
async function note(checking: Checking, work: () => Promise<void>): Promise<void> {
  try {
    await work();
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

async function checkRun(checking: Checking, runId: string): Promise<void> {
  const known = knownHead(checking.held, runId);
  const row = await step(checking, (connection) => getRow(connection, headStatement, [encodeText(runId)]));
  if (row === undefined) return;
  const record = readRecord(row);
  const diverged = findDivergence({ record, lastSeq: Number(row['last_seq']), known });
  if (diverged !== undefined) add(checking, diverged.failure);
  await note(checking, async () => {
    const listed = await step(checking, (connection) => findRun(connection, runId));
    if (listed !== undefined) toRow(listed);
  });
  const headSeq = Math.min(record.headSeq, Number(row['last_seq']));
  let previous: string | undefined = chainStart;
  for (let from = 1; from <= headSeq && previous !== undefined; from += pageEvents) {
    const page: EventPage = { runId, from, to: Math.min(from + pageEvents - 1, headSeq), previous };
    const events = await step(checking, (connection) => readPage(connection, page));
    checking.events += events.length;
    previous = events.at(-1)?.hash;
  }
  if (diverged === undefined && previous !== record.headHash) throw brokenChain(runId, headSeq);
}

const headStatement = {
  text: `SELECT ${recordColumns}, ${lastSeqColumn} FROM @.runs AS runs WHERE runs.run_id = $1`,
};
