import type { Json } from '../../base/json.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { EventRange, StoredEvent } from '../../model/store/store.ts';
import { storageError } from '../common/storage-error.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { hashInMark } from '../common/text-addition.ts';
import { findBlob } from './blobs.ts';
import type { SqlRow } from './driver.ts';
import { checkHead, knownHead } from './head-check.ts';
import type { Connection } from './held.ts';
import { getRow, getRows } from './query.ts';
import { lastSeqColumn, readRecord, recordColumns } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

/** The events of a run, each checked against the one before it. None where there is no such run. */
export async function readEvents(
  connection: Connection,
  { runId, range }: { readonly runId: string; readonly range: EventRange },
): Promise<readonly StoredEvent[]> {
  const { held } = connection;
  const known = knownHead(held, runId);
  const row = await getRow(connection, headStatement, [encodeText(runId)]);
  if (row === undefined) return [];
  const record = readRecord(row);
  checkHead(held, { record, lastSeq: Number(row['last_seq']), known });
  const from = Math.max(1, range.from ?? 1);
  const to = Math.min(range.to ?? record.headSeq, record.headSeq);
  const events: StoredEvent[] = [];
  let previous = from === 1 || from > to ? chainStart : await readHash(connection, runId, from - 1);
  for (let next = from; next <= to; next += pageEvents) {
    const page = await readPage(connection, {
      runId,
      from: next,
      to: Math.min(next + pageEvents - 1, to),
      previous,
    });
    events.push(...page);
    previous = page.at(-1)?.hash;
  }
  checkLast(record, to, events.at(-1)?.hash);
  return events;
}

/** Of each of these runs that has an event of one of these types, the number of the latest. */
export async function findLatest(
  connection: Connection,
  runIds: readonly string[],
  types: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const values = [runIds, types].map((texts) => texts.map(encodeText));
  const rows = await getRows(connection, latestStatement, values);
  return new Map(rows.map((row) => [decodeText(String(row['run_id'])), Number(row['latest'])]));
}

const latestStatement = {
  text: `SELECT run_id, max(seq) AS latest FROM @.events
    WHERE run_id = ANY($1::text[]) AND type = ANY($2::text[]) GROUP BY run_id`,
};

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
export async function readPage(
  connection: Connection,
  { runId, from, to, previous }: EventPage,
): Promise<readonly StoredEvent[]> {
  if (previous === undefined) throw brokenChain(runId, from - 1);
  const rows = await getRows(connection, pageStatement, [encodeText(runId), from, to]);
  const events: StoredEvent[] = [];
  let hash = previous;
  for (const [index, row] of rows.entries()) {
    const place = { runId, seq: from + index };
    const event = readEvent(row, place, hash);
    if (event === undefined) throw brokenChain(runId, place.seq);
    hash = event.hash;
    const { bodyText, ...rest } = event;
    events.push({ ...rest, body: await parseBody(connection, bodyText, place) });
  }
  if (rows.length < to - from + 1) throw brokenChain(runId, from + rows.length);
  return events;
}

/** The failure of a chain that does not hold. */
export function brokenChain(runId: string, seq: number): RerailError {
  return storageError('STORAGE_CORRUPT', {
    message: `Event ${seq} of the run "${runId}" is missing or damaged: its hash does not match`,
    hint: `Events before ${seq} can still be read, and other runs are not affected. Restore a copy of the data, or continue from event ${seq - 1} as a new run.`,
    context: { runId, seq },
  });
}

/** The hash of one event, as it is kept. */
export async function readHash(
  connection: Connection,
  runId: string,
  seq: number,
): Promise<string | undefined> {
  const row = await getRow(connection, { text: 'SELECT hash FROM @.events WHERE run_id = $1 AND seq = $2' }, [
    encodeText(runId),
    seq,
  ]);
  return row === undefined ? undefined : String(row['hash']);
}

const headStatement = {
  text: `SELECT ${recordColumns}, ${lastSeqColumn} FROM @.runs AS runs WHERE runs.run_id = $1`,
};
const pageStatement = {
  text: 'SELECT seq, at_ms, type, body, hash FROM @.events WHERE run_id = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq',
};

interface Place {
  readonly runId: string;
  readonly seq: number;
}

function readEvent(
  row: SqlRow,
  { runId, seq }: Place,
  previous: string,
): (Omit<StoredEvent, 'body'> & { readonly bodyText: string }) | undefined {
  if (row['seq'] !== seq) return undefined;
  const atMs = Number(row['at_ms']);
  const type = decodeText(String(row['type']));
  const bodyText = String(row['body']);
  const hash = String(row['hash']);
  const isWhole = hashEvent(previous, { runId, seq, atMs, type, bodyText }) === hash;
  return isWhole ? { seq, atMs, type, bodyText, hash } : undefined;
}

async function parseBody(connection: Connection, bodyText: string, { runId, seq }: Place): Promise<Json> {
  const hash = hashInMark(bodyText);
  const text = hash === undefined ? bodyText : await findBlob(connection, hash);
  if (text === undefined) throw brokenChain(runId, seq);
  return JSON.parse(text) as Json; // As it was written, which the hash has shown.
}

/** The head that is listed is the hash of the last event: a row that names another one has lost something. */
function checkLast({ runId, headSeq, headHash }: RunRecord, to: number, last: string | undefined): void {
  if (to === headSeq && last !== undefined && last !== headHash) throw brokenChain(runId, to);
}
