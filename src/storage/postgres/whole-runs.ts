import type { Restored, WholeRun, WholeSignal } from '../../model/store/whole-run.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import type { HashedEvent } from '../common/text-addition.ts';
import { chainOf } from '../common/whole-chain.ts';
import { columns } from './append-statements.ts';
import { keepBlob } from './blobs.ts';
import type { SqlValue } from './driver.ts';
import type { Connection, Values } from './held.ts';
import { findRun, toRow } from './list-runs.ts';
import { changeRows, getRows, inTransaction } from './query.ts';
import { readEvents } from './run-events.ts';
import { encodeOrNull, encodeTools } from './run-record.ts';
import { readSignal } from './signals.ts';

/** All that is kept of a run. */
export async function readWhole(connection: Connection, runId: string): Promise<WholeRun | undefined> {
  const row = await findRun(connection, runId);
  if (row === undefined) return undefined;
  const key = [encodeText(runId)];
  const events = await readEvents(connection, { runId, range: {} });
  const signals = await getRows(connection, signalsStatement, key);
  const blobs = await getRows(connection, blobsStatement, key);
  return {
    row: toRow(row),
    events,
    signals: signals.map((signal): WholeSignal => ({
      ...readSignal(signal),
      isTaken: signal['is_taken'] === true,
    })),
    blobs: blobs.map(({ hash }) => decodeText(String(hash))),
  };
}

/** Writes a run as it was elsewhere. Sent again, it finds that it is there. */
export async function restoreRun(connection: Connection, whole: WholeRun): Promise<Restored> {
  const events = chainOf(whole);
  const { runId } = whole.row;
  return inTransaction(connection, async () => {
    for (const { blob } of events) if (blob !== undefined) await keepBlob(connection, blob, runId);
    const written = await changeRows(connection, restoreStatement, valuesOf(whole, events));
    return written.length === 0 ? 'exists' : 'restored';
  });
}

function valuesOf({ row, signals }: WholeRun, events: readonly HashedEvent[]): Values {
  const { text, tools, code, reason, resumeAtMs, costUsd, sessionId } = row;
  return [
    encodeText(row.runId),
    encodeText(row.agent),
    encodeOrNull(sessionId ?? null),
    row.createdAtMs,
    row.status,
    row.updatedAtMs,
    row.headSeq,
    row.headHash,
    row.generationSeq,
    row.crashes,
    encodeOrNull(code ?? null),
    encodeOrNull(reason ?? null),
    resumeAtMs ?? null,
    row.turns,
    costUsd ?? null,
    encodeText(text),
    encodeText(text.toLowerCase()),
    encodeTools(tools),
    ...columns(
      events.map(({ seq, atMs, type, bodyText, hash }) => [seq, atMs, encodeText(type), bodyText, hash]),
      5,
    ),
    ...columns(
      signals.map(({ id, name, payload, atMs, isTaken }): readonly SqlValue[] => [
        encodeText(id),
        encodeText(name),
        JSON.stringify(payload),
        atMs,
        isTaken,
      ]),
      5,
    ),
  ];
}

const restoreStatement = {
  text: `WITH made AS (INSERT INTO @.runs (run_id, agent, session_id, created_at, sort_key, status, updated_at,
        head_seq, head_hash, generation_seq, crashes, code, reason, resume_at, turns, cost_usd,
        owner, epoch, lease_until, lease_ms, process)
      VALUES ($1::text, $2, $3, $4::bigint, -$4::bigint, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        NULL, nextval('@.epochs'), 0, 0, '')
      ON CONFLICT (run_id) DO NOTHING RETURNING run_id),
    told AS (INSERT INTO @.run_texts (run_id, text, search, tools) SELECT run_id, $16, $17, $18 FROM made),
    added AS (INSERT INTO @.events (run_id, seq, at_ms, type, body, hash)
      SELECT made.run_id, event.seq, event.at_ms, event.type, event.body, event.hash
      FROM made, unnest($19::bigint[], $20::bigint[], $21::text[], $22::text[], $23::text[])
        AS event (seq, at_ms, type, body, hash)),
    kept AS (INSERT INTO @.signals (run_id, id, name, payload, at_ms, is_taken, writer)
      SELECT made.run_id, signal.id, signal.name, signal.payload, signal.at_ms, signal.is_taken, ''
      FROM made, unnest($24::text[], $25::text[], $26::text[], $27::bigint[], $28::boolean[])
        WITH ORDINALITY AS signal (id, name, payload, at_ms, is_taken, place) ORDER BY signal.place)
    SELECT run_id FROM made`,
};
const signalsStatement = {
  text: 'SELECT id, name, payload, at_ms, is_taken FROM @.signals WHERE run_id = $1 ORDER BY place',
};
const blobsStatement = { text: 'SELECT hash FROM @.run_blobs WHERE run_id = $1 ORDER BY hash' };
