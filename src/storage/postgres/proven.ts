import type { ProvenRecords, ProvenRun } from '../../model/store/proven.ts';
import type { StoredEvent } from '../../model/store/store.ts';
import type { WholeSignal } from '../../model/store/whole-run.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { proveEvent, proveRun } from '../common/prove-run.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { hashInMark } from '../common/text-addition.ts';
import { findBlob } from './blobs.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { knownHead } from './head-check.ts';
import type { Connection, Held, Rows } from './held.ts';
import { findRun, toRow } from './list-runs.ts';
import { atOnce, getRow, getRows } from './query.ts';
import { pageEvents } from './run-events.ts';
import { lastSeqColumn } from './run-record.ts';
import { readSignal } from './signals.ts';
import { readWholeSession } from './whole-sessions.ts';
import { read } from './write-queue.ts';

/** Reads what the tables still prove, as they are. Nothing is changed. */
export async function openProven(held: Held): Promise<ProvenRecords> {
  await read(held, () => Promise.resolve());
  return {
    runIds: () => allOf(held, idsStatement),
    run: (runId) => read(held, (connection) => atOnce(connection, () => provenOf(connection, runId))),
    blob: (hash) => read(held, (connection) => contentOf(connection, hash)),
    sessionIds: () => allOf(held, sessionsStatement),
    session: (sessionId) =>
      read(held, (connection) =>
        orNothing(() => atOnce(connection, () => readWholeSession(connection, sessionId))),
      ),
    // The connections belong to the store.
    close: () => Promise.resolve(),
  };
}

/** Page by page: an id is greater than all before it. */
async function allOf(held: Held, statement: { readonly text: string }): Promise<readonly string[]> {
  const ids: string[] = [];
  let after = '';
  // Ends with the last one.
  for (;;) {
    const place: readonly SqlValue[] = [after];
    const rows: Rows = await read(held, (connection) => getRows(connection, statement, place));
    const end = rows.at(-1);
    if (end === undefined) return ids;
    ids.push(...rows.map(({ id }) => decodeText(String(id))));
    after = String(end['id']);
  }
}

/** What is not what was written is lost; that the server cannot be asked is not. */
async function orNothing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (RerailError.isInstance(error) && error.code !== 'STORAGE_CORRUPT') throw error;
    return undefined;
  }
}

function contentOf(connection: Connection, hash: string): Promise<string | undefined> {
  return orNothing(() => findBlob(connection, hash));
}

async function provenOf(connection: Connection, runId: string): Promise<ProvenRun> {
  const key = [encodeText(runId)];
  const found = await findRun(connection, runId);
  const row = found === undefined ? undefined : await orNothing(async () => toRow(found));
  const last = await getRow(connection, lastStatement, key);
  const lastSeq = Number(last?.['last_seq'] ?? 0);
  const hashes = (await getRows(connection, blobsStatement, key)).map(({ hash }) => decodeText(String(hash)));
  const blobs: string[] = [];
  for (const hash of hashes) if ((await contentOf(connection, hash)) !== undefined) blobs.push(hash);
  const signals = await getRows(connection, signalsStatement, key);
  return proveRun({
    runId,
    row,
    events: await eventsOf(connection, runId),
    signals: signals.map((signal): WholeSignal => ({
      ...readSignal(signal),
      isTaken: signal['is_taken'] === true,
    })),
    blobs,
    lostBlobs: hashes.length - blobs.length,
    knownSeq: Math.max(lastSeq, knownHead(connection.held, runId)?.seq ?? 0),
  });
}

async function eventsOf(connection: Connection, runId: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  // Ends with the last event, or with the first that is not proven.
  for (let from = 1; ; from += pageEvents) {
    const rows = await getRows(connection, pageStatement, [encodeText(runId), from, from + pageEvents - 1]);
    for (const row of rows) {
      const event = await provenEvent(connection, row, { runId, before: events.at(-1) });
      if (event === undefined) return events;
      events.push(event);
    }
    if (rows.length < pageEvents) return events;
  }
}

async function provenEvent(
  connection: Connection,
  row: SqlRow,
  { runId, before }: { readonly runId: string; readonly before: StoredEvent | undefined },
): Promise<StoredEvent | undefined> {
  const mark = hashInMark(String(row['body']));
  const content = mark === undefined ? undefined : await contentOf(connection, mark);
  return proveEvent(row, { runId, before, contentOf: () => content });
}

const idsStatement = {
  text: `SELECT id FROM (SELECT run_id AS id FROM @.runs UNION SELECT run_id FROM @.events) AS ids
    WHERE id > $1 ORDER BY id LIMIT 500`,
};
const sessionsStatement = {
  text: 'SELECT session_id AS id FROM @.sessions WHERE session_id > $1 ORDER BY session_id LIMIT 500',
};
const lastStatement = {
  text: `SELECT ${lastSeqColumn} FROM (SELECT $1::text AS run_id) AS runs`,
};
const pageStatement = {
  text: 'SELECT seq, at_ms, type, body, hash FROM @.events WHERE run_id = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq',
};
const signalsStatement = {
  text: 'SELECT id, name, payload, at_ms, is_taken FROM @.signals WHERE run_id = $1 ORDER BY place',
};
const blobsStatement = { text: 'SELECT hash FROM @.run_blobs WHERE run_id = $1 ORDER BY hash' };
