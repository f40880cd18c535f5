import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import { getRows } from './held.ts';
import type { Connection } from './held.ts';
import type { RunRecord } from './run-record.ts';

/** The run with its true head, also where its row is behind. The last event is held against the one before it, for no row vouches for it. */
export function withHead(connection: Connection, record: RunRecord): RunRecord {
  if (record.status !== 'running') return record;
  const { runId } = record;
  const [last, before] = getRows(connection, lastSql, [encodeText(runId), record.headSeq]);
  const seq = Number(last?.['seq'] ?? 0);
  if (last === undefined || seq <= record.headSeq) return record;
  const previous = seq === 1 ? chainStart : String(before?.['hash']);
  const [updatedAtMs, headHash] = [Number(last['at_ms']), String(last['hash'])];
  const [type, bodyText] = [decodeText(String(last['type'])), String(last['body'])];
  const hash = hashEvent(previous, { runId, seq, atMs: updatedAtMs, type, bodyText });
  return { ...record, updatedAtMs, headSeq: seq, headHash, isHeadDamaged: hash !== headHash };
}

/** SQL for when a run was last written to, also where its row is behind. */
export const updatedAtSql = `coalesce((SELECT at_ms FROM events
  WHERE events.run_id = runs.run_id AND seq > runs.head_seq ORDER BY seq DESC LIMIT 1), updated_at)`;

const lastSql = `SELECT seq, at_ms, type, body, hash FROM events
  WHERE run_id = ? AND seq >= ? ORDER BY seq DESC LIMIT 2`;
