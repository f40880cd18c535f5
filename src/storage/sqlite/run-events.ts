import type { Json } from '../../base/json.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { EventRange, StoredEvent } from '../../model/store/store.ts';
import { storageError } from '../common/storage-error.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { hashInMark } from '../common/text-addition.ts';
import { findBlob } from './blobs.ts';
import type { SqlRow } from './driver.ts';
import { checkHead, readHash } from './head-check.ts';
import { readHeads } from './heads.ts';
import { getRows } from './held.ts';
import type { Connection, Held } from './held.ts';
import { findRecord } from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { isDamaged } from './storage-errors.ts';

/** The events of a run, each checked against the one before it. None where there is no such run. */
export function readEvents(
  held: Held,
  connection: Connection,
  { runId, range }: { readonly runId: string; readonly range: EventRange },
): readonly StoredEvent[] {
  const record = findRecord(connection, runId);
  checkHead(held, connection, { runId, record });
  if (record === undefined) return [];
  const from = Math.max(1, range.from ?? 1);
  const to = Math.min(range.to ?? record.headSeq, record.headSeq);
  const events: StoredEvent[] = [];
  let previous = from === 1 ? chainStart : readHash(connection, runId, from - 1);
  for (let next = from; next <= to; next += pageEvents) {
    const page = readPage(connection, {
      runId,
      from: next,
      to: Math.min(next + pageEvents - 1, to),
      previous,
    });
    events.push(...page);
    previous = page.at(-1)?.hash;
  }
  checkLast(record, to, previous);
  return events;
}

/** Of each of these runs that has an event of one of these types, the number of the latest. */
export function findLatest(
  connection: Connection,
  runIds: readonly string[],
  types: readonly string[],
): ReadonlyMap<string, number> {
  const values = [runIds, types].map((texts) => JSON.stringify(texts.map(encodeText)));
  return new Map(
    getRows(connection, latestSql, values).map((row) => [
      decodeText(String(row['run_id'])),
      Number(row['latest']),
    ]),
  );
}

const latestSql = `SELECT run_id, max(seq) AS latest FROM events
  WHERE run_id IN (SELECT value FROM json_each(?)) AND type IN (SELECT value FROM json_each(?)) GROUP BY run_id`;

/** Before the database is looked at: what is committed afterwards is then only in the database. */
export function learnHeads({ heads }: Held): void {
  readHeads(heads);
}

/** A part of a run. */
export interface EventPage {
  readonly runId: string;
  readonly from: number;
  readonly to: number;
  /** The hash of the event before; nothing where it is missing. */
  readonly previous: string | undefined;
}

/** So many at a time: their texts are in memory twice while they are checked. */
export const pageEvents = 500;

/** The events of a part, or `STORAGE_CORRUPT` with the first number that is not what was written. */
export function readPage(
  connection: Connection,
  { runId, from, to, previous }: EventPage,
): readonly StoredEvent[] {
  if (previous === undefined) throw brokenChain(runId, from - 1);
  const rows = readRows(connection, { runId, from, to });
  let hash = previous;
  const events = rows.map((row, index) => {
    const seq = from + index;
    const event = readEvent(row, { runId, seq, previous: hash });
    if (event === undefined) throw brokenChain(runId, seq);
    hash = event.hash;
    return { ...event, body: parseBody(connection, event.bodyText, { runId, seq }) };
  });
  if (rows.length < to - from + 1) throw brokenChain(runId, from + rows.length);
  return events.map(({ bodyText: _bodyText, ...event }) => event);
}

/** The failure of a chain that does not hold. */
export function brokenChain(runId: string, seq: number): RerailError {
  return storageError('STORAGE_CORRUPT', {
    message: `Event ${seq} of the run "${runId}" is missing or damaged: its hash does not match`,
    hint: `Events before ${seq} can still be read, and other runs are not affected. Restore a copy of the file, or continue from event ${seq - 1} as a new run.`,
    context: { runId, seq },
  });
}

const pageSql =
  'SELECT seq, at_ms, type, body, hash FROM events WHERE run_id = ? AND seq BETWEEN ? AND ? ORDER BY seq';

/** Where a page cannot be read as a whole, its events are read one by one, to name the first that cannot. */
function readRows(
  connection: Connection,
  { runId, from, to }: Omit<EventPage, 'previous'>,
): readonly SqlRow[] {
  const id = encodeText(runId);
  try {
    return getRows(connection, pageSql, [id, from, to]);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    for (let seq = from; seq <= to; seq += 1) {
      if (!isReadable(connection, [id, seq, seq])) throw brokenChain(runId, seq);
    }
    throw error;
  }
}

function isReadable(connection: Connection, place: readonly [string, number, number]): boolean {
  try {
    return getRows(connection, pageSql, place).length === 1;
  } catch (error) {
    if (isDamaged(error)) return false;
    throw error;
  }
}

interface Place {
  readonly runId: string;
  readonly seq: number;
}

function readEvent(
  row: SqlRow,
  { runId, seq, previous }: Place & { readonly previous: string },
): (Omit<StoredEvent, 'body'> & { readonly bodyText: string }) | undefined {
  if (row['seq'] !== seq) return undefined;
  const atMs = Number(row['at_ms']);
  const stored = String(row['type']);
  const type = decodeText(stored);
  const bodyText = String(row['body']);
  const hash = String(row['hash']);
  const isWhole = hashEvent(previous, { runId, seq, atMs, type, bodyText }) === hash;
  return isWhole ? { seq, atMs, type, bodyText, hash } : undefined;
}

function parseBody(connection: Connection, bodyText: string, { runId, seq }: Place): Json {
  const hash = hashInMark(bodyText);
  const text = hash === undefined ? bodyText : findBlob(connection, hash);
  if (text === undefined) throw brokenChain(runId, seq);
  return JSON.parse(text) as Json; // As it was written, which the hash has shown.
}

/** The head that is listed is the hash of the last event: a row that names another one has lost something. */
function checkLast({ runId, headSeq, headHash }: RunRecord, to: number, last: string | undefined): void {
  if (to === headSeq && last !== undefined && last !== headHash) throw brokenChain(runId, to);
}
