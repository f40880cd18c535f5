import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { Message } from '../../model/message.ts';
import type { SessionPage, SessionRow } from '../../model/store/store.ts';
import type { Restored, WholeSession } from '../../model/store/whole-run.ts';
import { limitOf, nextOf, placeAt } from '../common/pages.ts';
import { storageError } from '../common/storage-error.ts';
import { chainMessages, messageType } from '../common/whole-chain.ts';
import { checkOf, decodeText, encodeText } from '../common/stored-text.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { change, getRow, getRows } from './held.ts';
import type { Connection, Transaction } from './held.ts';

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

export function appendMessages({ connection, nowMs }: Transaction, addition: SessionAddition): void {
  const { sessionId, texts, runId } = addition;
  const before = findSession(connection, sessionId);
  const key = encodeText(sessionId);
  const isFirst = change(connection, insertRunSql, [key, encodeText(runId)]) > 0;
  if (!isFirst) return;
  let hash = before?.headHash ?? chainStart;
  const first = (before?.messages ?? 0) + 1;
  for (const [index, bodyText] of texts.entries()) {
    const seq = first + index;
    hash = hashEvent(hash, { runId: sessionId, seq, atMs: nowMs, type: messageType, bodyText });
    change(connection, insertMessageSql, [key, seq, nowMs, bodyText, hash]);
  }
  writeSession(connection, {
    sessionId,
    createdAtMs: before?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
    messages: first - 1 + texts.length,
    headHash: hash,
  });
}

/** The latest messages, each checked against the one before it. */
export function readMessages(connection: Connection, sessionId: string, last: number): readonly Message[] {
  const session = findSession(connection, sessionId);
  if (session === undefined) return [];
  const from = Math.max(1, session.messages - Math.max(0, Math.min(last, session.messages)) + 1);
  const key = encodeText(sessionId);
  let hash = from === 1 ? chainStart : readHash(connection, key, from - 1);
  const rows = getRows(connection, messagesSql, [key, from]);
  const messages = rows.map((row, index) => {
    const seq = from + index;
    const bodyText = String(row['body']);
    const atMs = Number(row['at_ms']);
    const found = hashEvent(hash, { runId: sessionId, seq, atMs, type: messageType, bodyText });
    if (row['seq'] !== seq || row['hash'] !== found) throw damagedSession(sessionId, seq);
    hash = found;
    return JSON.parse(bodyText) as Message; // As it was written, which the hash has shown.
  });
  if (from - 1 + rows.length !== session.messages || hash !== session.headHash)
    throw damagedSession(sessionId, from + rows.length);
  return messages;
}

/** All that is kept of a session. */
export function readWholeSession(connection: Connection, sessionId: string): WholeSession | undefined {
  const session = findSession(connection, sessionId);
  if (session === undefined) return undefined;
  const key = [encodeText(sessionId)];
  const times = getRows(connection, messagesSql, [...key, 1]).map((row) => Number(row['at_ms']));
  const runs = getRows(
    connection,
    'SELECT run_id FROM session_runs WHERE session_id = ? ORDER BY run_id',
    key,
  );
  return {
    row: toSessionRow(session),
    messages: readMessages(connection, sessionId, Infinity).map((message, index) => ({
      atMs: times[index] ?? 0,
      message,
    })),
    runIds: runs.map((row) => decodeText(String(row['run_id']))),
  };
}

/** Writes a session as it was elsewhere. */
export function restoreSession({ connection }: Transaction, whole: WholeSession): Restored {
  const { row, runIds } = whole;
  if (findSession(connection, row.sessionId) !== undefined) return 'exists';
  const key = encodeText(row.sessionId);
  const messages = chainMessages(whole);
  for (const { seq, atMs, bodyText, hash } of messages)
    change(connection, insertMessageSql, [key, seq, atMs, bodyText, hash]);
  for (const runId of runIds) change(connection, insertRunSql, [key, encodeText(runId)]);
  writeSession(connection, {
    ...row,
    messages: messages.length,
    headHash: messages.at(-1)?.hash ?? chainStart,
  });
  return 'restored';
}

export function findSession(connection: Connection, sessionId: string): SessionRecord | undefined {
  const row = getRow(connection, `SELECT ${names}, row_check FROM sessions WHERE session_id = ?`, [
    encodeText(sessionId),
  ]);
  return row === undefined ? undefined : readSession(row);
}

/** What is listed of a session. */
export function toSessionRow({ headHash: _headHash, ...row }: SessionRecord): SessionRow {
  return row;
}

export function listSessions(
  connection: Connection,
  query: { readonly limit?: number; readonly cursor?: string },
): SessionPage {
  const limit = limitOf(query.limit);
  const place = query.cursor === undefined ? undefined : placeAt(query.cursor);
  const after: readonly SqlValue[] = place === undefined ? [] : [-place.createdAtMs, encodeText(place.id)];
  const where = place === undefined ? '' : 'WHERE (sort_key, session_id) > (?, ?)';
  const sql = `SELECT ${names}, row_check FROM sessions ${where} ORDER BY sort_key, session_id LIMIT ?`;
  const rows = getRows(connection, sql, [...after, limit + 1]);
  const sessions = rows.slice(0, limit).map((row) => toSessionRow(readSession(row)));
  const last = sessions.at(-1);
  if (last === undefined || rows.length <= limit) return { sessions };
  return { sessions, next: nextOf(last.createdAtMs, last.sessionId) };
}

/** Takes the last messages back. The runs that added them are still known, and do not add again. */
export function trimSession({ connection, nowMs }: Transaction, sessionId: string, count: number): number {
  const session = findSession(connection, sessionId);
  if (session === undefined) return 0;
  const removed = Math.min(Math.max(0, Math.floor(count)), session.messages);
  const messages = session.messages - removed;
  const key = encodeText(sessionId);
  const headHash = messages === 0 ? chainStart : readHash(connection, key, messages);
  change(connection, 'DELETE FROM session_messages WHERE session_id = ? AND seq > ?', [key, messages]);
  writeSession(connection, { ...session, updatedAtMs: nowMs, messages, headHash });
  return removed;
}

export function removeSession({ connection }: Transaction, sessionId: string): boolean {
  const key = [encodeText(sessionId)];
  change(connection, 'DELETE FROM session_messages WHERE session_id = ?', key);
  change(connection, 'DELETE FROM session_runs WHERE session_id = ?', key);
  return change(connection, 'DELETE FROM sessions WHERE session_id = ?', key) > 0;
}

const columns = ['session_id', 'created_at', 'sort_key', 'updated_at', 'messages', 'head_hash'] as const;
const names = columns.join(', ');
const insertMessageSql = 'INSERT INTO session_messages VALUES (?, ?, ?, ?, ?)';
const insertRunSql = 'INSERT OR IGNORE INTO session_runs VALUES (?, ?)';
const messagesSql =
  'SELECT seq, at_ms, body, hash FROM session_messages WHERE session_id = ? AND seq >= ? ORDER BY seq';

function writeSession(connection: Connection, session: SessionRecord): void {
  const { sessionId, createdAtMs, updatedAtMs, messages, headHash } = session;
  const values = [encodeText(sessionId), createdAtMs, -createdAtMs, updatedAtMs, messages, headHash];
  const sql = `INSERT OR REPLACE INTO sessions (${names}, row_check) VALUES (?, ?, ?, ?, ?, ?, ?)`;
  change(connection, sql, [...values, checkOf(values)]);
}

function readSession(row: SqlRow): SessionRecord {
  const sessionId = decodeText(String(row['session_id']));
  if (checkOf(columns.map((name) => row[name])) !== row['row_check']) throw damagedSession(sessionId, 0);
  return {
    sessionId,
    createdAtMs: Number(row['created_at']),
    updatedAtMs: Number(row['updated_at']),
    messages: Number(row['messages']),
    headHash: String(row['head_hash']),
  };
}

function readHash(connection: Connection, key: string, seq: number): string {
  const sql = 'SELECT hash FROM session_messages WHERE session_id = ? AND seq = ?';
  const row = getRow(connection, sql, [key, seq]);
  if (row === undefined) throw damagedSession(decodeText(key), seq);
  return String(row['hash']);
}

function damagedSession(sessionId: string, seq: number): Error {
  const what = seq === 0 ? 'Its row' : `Message ${seq}`;
  return storageError('STORAGE_CORRUPT', {
    message: `The session "${sessionId}" is damaged. ${what} does not match its checksum`,
    hint: 'Restore a copy of the file, or remove this session. Runs are not affected.',
    context: { sessionId, seq },
  });
}
