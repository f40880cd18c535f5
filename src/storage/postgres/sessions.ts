import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { Message } from '../../model/message.ts';
import type { SessionPage, SessionRow } from '../../model/store/store.ts';
import { limitOf, nextOf, placeAt } from '../common/pages.ts';
import { storageError } from '../common/storage-error.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { messageType } from '../common/whole-chain.ts';
import { columns } from './append-statements.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { nowOf } from './held.ts';
import type { Connection } from './held.ts';
import { change, getRow, getRows, inTransaction } from './query.ts';

/** What a run adds to a conversation. */
export interface SessionAddition {
  readonly sessionId: string;
  /** The JSON text of each message. */
  readonly texts: readonly string[];
  readonly runId: string;
}

interface SessionRecord extends SessionRow {
  readonly headHash: string;
}

/** Once for each run: sent again, it finds that it was there. */
export function appendMessages(
  connection: Connection,
  { sessionId, texts, runId }: SessionAddition,
): Promise<void> {
  return inTransaction(connection, async () => {
    const nowMs = nowOf(connection.held);
    const key = encodeText(sessionId);
    await change(connection, makeStatement, [key, nowMs, chainStart]);
    const before = await lockSession(connection, sessionId);
    const isFirst = (await change(connection, runStatement, [key, encodeText(runId)])) > 0;
    if (!isFirst || before === undefined) return;
    let headHash = before.headHash;
    const rows = texts.map((bodyText, index): readonly SqlValue[] => {
      const seq = before.messages + 1 + index;
      headHash = hashEvent(headHash, { runId: sessionId, seq, atMs: nowMs, type: messageType, bodyText });
      return [seq, bodyText, headHash];
    });
    await change(connection, addStatement, [key, nowMs, ...columns(rows, 3)]);
    await change(connection, updateStatement, [key, nowMs, before.messages + texts.length, headHash]);
  });
}

/** The latest messages, each checked against the one before it. */
export async function readMessages(
  connection: Connection,
  sessionId: string,
  last: number,
): Promise<readonly Message[]> {
  const session = await findSession(connection, sessionId);
  if (session === undefined) return [];
  const from = Math.max(1, session.messages - Math.max(0, Math.min(last, session.messages)) + 1);
  const key = encodeText(sessionId);
  // With the one before, whose hash the first is chained to.
  const rows = await getRows(connection, messagesStatement, [key, from - 1]);
  const [first, ...others] = rows;
  const own = from === 1 ? rows : others;
  if (from > 1 && first?.['seq'] !== from - 1) throw damagedSession(sessionId, from - 1);
  let hash = from === 1 ? chainStart : String(first?.['hash']);
  const messages = own.map((row, index) => {
    const seq = from + index;
    const bodyText = String(row['body']);
    const atMs = Number(row['at_ms']);
    const found = hashEvent(hash, { runId: sessionId, seq, atMs, type: messageType, bodyText });
    if (row['seq'] !== seq || row['hash'] !== found) throw damagedSession(sessionId, seq);
    hash = found;
    return JSON.parse(bodyText) as Message; // As it was written, which the hash has shown.
  });
  if (from - 1 + own.length !== session.messages || hash !== session.headHash)
    throw damagedSession(sessionId, from + own.length);
  return messages;
}

export async function findSession(
  connection: Connection,
  sessionId: string,
): Promise<SessionRecord | undefined> {
  const text = `SELECT ${names} FROM @.sessions WHERE session_id = $1`;
  const row = await getRow(connection, { text }, [encodeText(sessionId)]);
  return row === undefined ? undefined : readSession(row);
}

/** What is listed of a session. */
export function toSessionRow({ headHash: _headHash, ...row }: SessionRecord): SessionRow {
  return row;
}

export async function listSessions(
  connection: Connection,
  query: { readonly limit?: number; readonly cursor?: string },
): Promise<SessionPage> {
  const limit = limitOf(query.limit);
  const place = query.cursor === undefined ? undefined : placeAt(query.cursor);
  const where = place === undefined ? '' : 'WHERE (sort_key, session_id) > ($1::bigint, $2)';
  const text = `SELECT ${names} FROM @.sessions ${where} ORDER BY sort_key, session_id LIMIT ${limit + 1}`;
  const values = place === undefined ? [] : [-place.createdAtMs, encodeText(place.id)];
  const rows = await getRows(connection, { text }, values);
  const sessions = rows.slice(0, limit).map((row) => toSessionRow(readSession(row)));
  const last = sessions.at(-1);
  if (last === undefined || rows.length <= limit) return { sessions };
  return { sessions, next: nextOf(last.createdAtMs, last.sessionId) };
}

/** Takes the last messages back. The runs that added them are still known, and do not add again. */
export function trimSession(connection: Connection, sessionId: string, count: number): Promise<number> {
  return inTransaction(connection, async () => {
    const session = await lockSession(connection, sessionId);
    if (session === undefined) return 0;
    const removed = Math.min(Math.max(0, Math.floor(count)), session.messages);
    const messages = session.messages - removed;
    const key = encodeText(sessionId);
    const row = await getRow(connection, hashStatement, [key, messages]);
    if (row === undefined && messages > 0) throw damagedSession(sessionId, messages);
    await change(connection, cutStatement, [key, messages]);
    const headHash = messages === 0 ? chainStart : String(row?.['hash']);
    await change(connection, updateStatement, [key, nowOf(connection.held), messages, headHash]);
    return removed;
  });
}

export function removeSession(connection: Connection, sessionId: string): Promise<boolean> {
  return inTransaction(connection, async () => {
    const key = [encodeText(sessionId)];
    const wasThere = (await change(connection, removalOf('sessions'), key)) > 0;
    for (const table of ['session_messages', 'session_runs']) await change(connection, removalOf(table), key);
    return wasThere;
  });
}

function removalOf(table: string): { readonly text: string } {
  return { text: `DELETE FROM @.${table} WHERE session_id = $1` };
}

async function lockSession(connection: Connection, sessionId: string): Promise<SessionRecord | undefined> {
  const text = `SELECT ${names} FROM @.sessions WHERE session_id = $1 FOR UPDATE`;
  const row = await getRow(connection, { text }, [encodeText(sessionId)]);
  return row === undefined ? undefined : readSession(row);
}

const names = 'session_id, created_at, updated_at, messages, head_hash';
const makeStatement = {
  text: `INSERT INTO @.sessions (session_id, created_at, sort_key, updated_at, messages, head_hash)
    VALUES ($1, $2::bigint, -$2::bigint, $2::bigint, 0, $3) ON CONFLICT DO NOTHING`,
};
const runStatement = {
  text: 'INSERT INTO @.session_runs (session_id, run_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
};
const addStatement = {
  text: `INSERT INTO @.session_messages (session_id, at_ms, seq, body, hash)
    SELECT $1, $2, seq, body, hash FROM unnest($3::bigint[], $4::text[], $5::text[]) AS t (seq, body, hash)`,
};
const updateStatement = {
  text: 'UPDATE @.sessions SET updated_at = $2, messages = $3, head_hash = $4 WHERE session_id = $1',
};
const messagesStatement = {
  text: 'SELECT seq, at_ms, body, hash FROM @.session_messages WHERE session_id = $1 AND seq >= $2 ORDER BY seq',
};
const hashStatement = { text: 'SELECT hash FROM @.session_messages WHERE session_id = $1 AND seq = $2' };
const cutStatement = { text: 'DELETE FROM @.session_messages WHERE session_id = $1 AND seq > $2' };

function readSession(row: SqlRow): SessionRecord {
  return {
    sessionId: decodeText(String(row['session_id'])),
    createdAtMs: Number(row['created_at']),
    updatedAtMs: Number(row['updated_at']),
    messages: Number(row['messages']),
    headHash: String(row['head_hash']),
  };
}

function damagedSession(sessionId: string, seq: number): Error {
  return storageError('STORAGE_CORRUPT', {
    message: `The session "${sessionId}" is damaged. Message ${seq} does not match its checksum`,
    hint: 'Restore a copy of the data, or remove this session. Runs are not affected.',
    context: { sessionId, seq },
  });
}
