import { chainStart } from '../../model/store/event-chain.ts';
import type { Created, LeaseOwner, NewRun } from '../../model/store/store.ts';
import { ownProcess } from '../common/owner-process.ts';
import { encodeText } from '../common/stored-text.ts';
import { changedFields, hashEvents } from '../common/text-addition.ts';
import type { HashedEvent, TextAddition } from '../common/text-addition.ts';
import { columns } from './append-statements.ts';
import { keepBlob } from './blobs.ts';
import { givenNow, nowOf, nowSql } from './held.ts';
import type { Connection, Values } from './held.ts';
import { changeRows, getRow } from './query.ts';
import { encodeOrNull, encodeTools, readRecord, recordColumns } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

/** A run that a caller wants to begin. */
export interface Creation {
  readonly run: Pick<NewRun, 'runId' | 'agent' | 'sessionId'>;
  readonly addition: TextAddition;
}

/** What was planned, kept over all attempts. */
export interface CreationMemo {
  planned: PlannedRun | undefined;
}

interface PlannedRun {
  readonly nowMs: number;
  readonly events: readonly HashedEvent[];
}

/** What has become of it, and the run as it is then. */
export interface CreatedRun {
  readonly created: Created;
  readonly record: RunRecord | undefined;
}

/** Begins a run, or finds that there is one. Sent again, it knows its own. */
export async function createRun(
  connection: Connection,
  { creation, owner }: { readonly creation: Creation; readonly owner: LeaseOwner },
  memo: CreationMemo,
): Promise<CreatedRun> {
  const { run, addition } = creation;
  const { runId } = run;
  const isAgain = memo.planned !== undefined;
  const planned = (memo.planned ??= plan(connection, creation));
  for (const { blob } of planned.events) if (blob !== undefined) await keepBlob(connection, blob, runId);
  const values = valuesOf(connection, { run, addition, owner, planned });
  const [row] = await changeRows(connection, createStatement, values);
  const found = row ?? (isAgain ? await findOwn(connection, { runId, owner, planned }) : undefined);
  if (found === undefined) return { created: { type: 'exists' }, record: undefined };
  const record = readRecord(found);
  return { created: { type: 'created', lease: { runId, ownerId: owner.id, epoch: record.epoch } }, record };
}

function plan({ held }: Connection, { run, addition }: Creation): PlannedRun {
  const nowMs = nowOf(held);
  const empty = { runId: run.runId, headSeq: 0, headHash: chainStart };
  return { nowMs, events: hashEvents(empty, addition, nowMs) };
}

/** Whether the run that is there is the one that an earlier attempt has begun. */
async function findOwn(
  connection: Connection,
  {
    runId,
    owner,
    planned,
  }: { readonly runId: string; readonly owner: LeaseOwner; readonly planned: PlannedRun },
): ReturnType<typeof getRow> {
  const last = planned.events.at(-1);
  const values = [
    encodeText(runId),
    encodeText(owner.id),
    last?.seq ?? 0,
    last?.hash ?? chainStart,
    planned.nowMs,
  ];
  return getRow(connection, findOwnStatement, values);
}

const findOwnStatement = {
  text: `SELECT ${recordColumns} FROM @.runs AS runs WHERE run_id = $1 AND owner = $2 AND head_seq = $3
    AND head_hash = $4 AND created_at = $5`,
};

interface Filling extends Creation {
  readonly owner: LeaseOwner;
  readonly planned: PlannedRun;
}

function valuesOf({ held }: Connection, { run, addition, owner, planned }: Filling): Values {
  const { row } = addition;
  const { status = 'running', crashes = 0, turns = 0, code = null, reason = null } = changedFields(row);
  const { resumeAtMs = null, costUsd = null } = changedFields(row);
  const { nowMs, events } = planned;
  const text = row?.text ?? '';
  return [
    encodeText(run.runId),
    encodeText(run.agent),
    encodeOrNull(run.sessionId ?? null),
    nowMs,
    status,
    events.length,
    events.at(-1)?.hash ?? chainStart,
    crashes,
    encodeOrNull(code),
    encodeOrNull(reason),
    resumeAtMs,
    turns,
    costUsd,
    encodeText(owner.id),
    Math.round(owner.leaseMs),
    ownProcess(),
    givenNow(held),
    encodeText(text),
    encodeText(text.toLowerCase()),
    encodeTools(row?.tools ?? []),
    ...columns(
      events.map(({ seq, atMs, type, bodyText, hash }) => [seq, atMs, encodeText(type), bodyText, hash]),
      5,
    ),
  ];
}

const createStatement = {
  name: 'rerail-create',
  text: `WITH made AS (INSERT INTO @.runs AS runs (run_id, agent, session_id, created_at, sort_key, status, updated_at,
        head_seq, head_hash, generation_seq, crashes, code, reason, resume_at, turns, cost_usd,
        owner, epoch, lease_until, lease_ms, process)
      VALUES ($1::text, $2, $3, $4::bigint, -$4::bigint, $5, $4::bigint, $6, $7, 1, $8, $9, $10, $11, $12, $13,
        $14, nextval('@.epochs'), ${nowSql('$17')} + $15::bigint, $15::bigint, $16)
      ON CONFLICT (run_id) DO NOTHING RETURNING ${recordColumns}),
    told AS (INSERT INTO @.run_texts (run_id, text, search, tools) SELECT run_id, $18, $19, $20 FROM made),
    added AS (INSERT INTO @.events (run_id, seq, at_ms, type, body, hash)
      SELECT made.run_id, event.seq, event.at_ms, event.type, event.body, event.hash
      FROM made, unnest($21::bigint[], $22::bigint[], $23::text[], $24::text[], $25::text[])
        AS event (seq, at_ms, type, body, hash))
    SELECT * FROM made`,
};
