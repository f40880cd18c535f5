import { chainStart } from '../../model/store/event-chain.ts';
import type { Restored, WholeSession } from '../../model/store/whole-run.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { chainMessages } from '../common/whole-chain.ts';
import { columns } from './append-statements.ts';
import type { Connection } from './held.ts';
import { changeRows, getRows } from './query.ts';
import { findSession, readMessages, toSessionRow } from './sessions.ts';

/** All that is kept of a session. */
export async function readWholeSession(
  connection: Connection,
  sessionId: string,
): Promise<WholeSession | undefined> {
  const session = await findSession(connection, sessionId);
  if (session === undefined) return undefined;
  const key = [encodeText(sessionId)];
  const times = await getRows(connection, timesStatement, key);
  const messages = await readMessages(connection, sessionId, Infinity);
  const runs = await getRows(connection, runsStatement, key);
  return {
    row: toSessionRow(session),
    messages: messages.map((message, index) => ({ atMs: Number(times[index]?.['at_ms']), message })),
    runIds: runs.map((row) => decodeText(String(row['run_id']))),
  };
}

/** Writes a session as it was elsewhere. Sent again, it finds that it is there. */
export async function restoreSession(connection: Connection, whole: WholeSession): Promise<Restored> {
  const { row, runIds } = whole;
  const messages = chainMessages(whole);
  const written = await changeRows(connection, restoreStatement, [
    encodeText(row.sessionId),
    row.createdAtMs,
    row.updatedAtMs,
    messages.length,
    messages.at(-1)?.hash ?? chainStart,
    runIds.map(encodeText),
    ...columns(
      messages.map(({ seq, atMs, bodyText, hash }) => [seq, atMs, bodyText, hash]),
      4,
    ),
  ]);
  return written.length === 0 ? 'exists' : 'restored';
}

const restoreStatement = {
  text: `WITH made AS (INSERT INTO @.sessions (session_id, created_at, sort_key, updated_at, messages, head_hash)
      VALUES ($1::text, $2::bigint, -$2::bigint, $3, $4, $5) ON CONFLICT (session_id) DO NOTHING RETURNING session_id),
    known AS (INSERT INTO @.session_runs (session_id, run_id)
      SELECT made.session_id, run_id FROM made, unnest($6::text[]) AS run_id),
    added AS (INSERT INTO @.session_messages (session_id, seq, at_ms, body, hash)
      SELECT made.session_id, message.seq, message.at_ms, message.body, message.hash
      FROM made, unnest($7::bigint[], $8::bigint[], $9::text[], $10::text[]) AS message (seq, at_ms, body, hash))
    SELECT session_id FROM made`,
};
const timesStatement = { text: 'SELECT at_ms FROM @.session_messages WHERE session_id = $1 ORDER BY seq' };
const runsStatement = { text: 'SELECT run_id FROM @.session_runs WHERE session_id = $1 ORDER BY run_id' };
