import { defined } from '../../base/defined.ts';
import type { RunRow, StoredStatus } from '../../model/store/store.ts';
import { isKnownDead } from '../common/owner-process.ts';
import { storageError } from '../common/storage-error.ts';
import { decodeText, encodeText } from '../common/stored-text.ts';
import type { SqlRow, SqlValue } from './driver.ts';

/** A run: what is listed, and the lease. Texts that may be long stand elsewhere. */
export interface RunRecord {
  readonly runId: string;
  /** Of this very run: one that was removed and restarted has another. */
  readonly number: number;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly createdAtMs: number;
  readonly status: StoredStatus;
  readonly updatedAtMs: number;
  readonly headSeq: number;
  readonly headHash: string;
  readonly generationSeq: number;
  readonly crashes: number;
  readonly code: string | null;
  readonly reason: string | null;
  readonly resumeAtMs: number | null;
  readonly turns: number;
  readonly costUsd: number | null;
  readonly owner: string | null;
  readonly epoch: number;
  readonly leaseUntilMs: number;
  readonly leaseMs: number;
  /** Of the owner: see `owner-process.ts`. */
  readonly process: string;
}

/** The texts of a run. */
export interface RunTexts {
  readonly text: string;
  readonly tools: readonly string[];
}

/** What a query over `runs` must select to read records. */
export const recordColumns = [
  'run_id',
  'number',
  'agent',
  'session_id',
  'created_at',
  'status',
  'updated_at',
  'head_seq',
  'head_hash',
  'generation_seq',
  'crashes',
  'code',
  'reason',
  'resume_at',
  'turns',
  'cost_usd',
  'owner',
  'epoch',
  'lease_until',
  'lease_ms',
  'process',
]
  .map((name) => `runs.${name}`)
  .join(', ');

/** The texts beside the record, by a join with `run_texts`. */
export const textColumns = 'run_texts.text, run_texts.tools';

/** Runs with their texts. */
export const runsWithTexts =
  '@.runs AS runs LEFT JOIN @.run_texts AS run_texts ON run_texts.run_id = runs.run_id';

/** The number of the last event that is there, 0 where there is none. */
export const lastSeqColumn =
  'coalesce((SELECT max(seq) FROM @.events AS events WHERE events.run_id = runs.run_id), 0) AS last_seq';

export function readRecord(row: SqlRow): RunRecord {
  return {
    runId: decodeText(String(row['run_id'])),
    number: Number(row['number']),
    agent: decodeText(String(row['agent'])),
    sessionId: textOrNull(row['session_id']),
    createdAtMs: Number(row['created_at']),
    status: String(row['status']) as StoredStatus, // Written by us.
    updatedAtMs: Number(row['updated_at']),
    headSeq: Number(row['head_seq']),
    headHash: String(row['head_hash']),
    generationSeq: Number(row['generation_seq']),
    crashes: Number(row['crashes']),
    code: textOrNull(row['code']),
    reason: textOrNull(row['reason']),
    resumeAtMs: numberOrNull(row['resume_at']),
    turns: Number(row['turns']),
    costUsd: numberOrNull(row['cost_usd']),
    owner: textOrNull(row['owner']),
    epoch: Number(row['epoch']),
    leaseUntilMs: Number(row['lease_until']),
    leaseMs: Number(row['lease_ms']),
    process: String(row['process']),
  };
}

export function readTexts(row: SqlRow, runId: string): RunTexts {
  const { text, tools } = row;
  if (typeof text === 'string' && typeof tools === 'string')
    return { text: decodeText(text), tools: parseTools(tools) };
  throw storageError('STORAGE_CORRUPT', {
    message: `The texts of the run "${runId}" are missing`,
    hint: 'Its events may still be whole: look with a check of the store. Restore a copy, or remove this run.',
    context: { runId },
  });
}

/** Each name so that a query can compare it: see `stored-text.ts`. */
export function encodeTools(tools: readonly string[]): string {
  return JSON.stringify(tools.map(encodeText));
}

function parseTools(tools: string): readonly string[] {
  return (JSON.parse(tools) as readonly string[]).map(decodeText); // Written by us.
}

/** Until when a process holds it, or nothing where none does. */
export function heldUntilMs(record: RunRecord, nowMs: number): number | undefined {
  if (record.owner === null || record.leaseUntilMs <= nowMs || isKnownDead(record.process)) return undefined;
  return Math.min(record.leaseUntilMs, nowMs + record.leaseMs);
}

/** What is listed of a run. */
export function toRunRow(record: RunRecord, texts: RunTexts, nowMs: number): RunRow {
  const untilMs = heldUntilMs(record, nowMs);
  return defined({
    runId: record.runId,
    agent: record.agent,
    status: record.status,
    createdAtMs: record.createdAtMs,
    updatedAtMs: record.updatedAtMs,
    headSeq: record.headSeq,
    headHash: record.headHash,
    generationSeq: record.generationSeq,
    crashes: record.crashes,
    sessionId: record.sessionId ?? undefined,
    text: texts.text,
    tools: texts.tools,
    code: record.code ?? undefined,
    reason: record.reason ?? undefined,
    resumeAtMs: record.resumeAtMs ?? undefined,
    turns: record.turns,
    costUsd: record.costUsd ?? undefined,
    owner: untilMs === undefined || record.owner === null ? undefined : { id: record.owner, untilMs },
  });
}

export function encodeOrNull(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

function textOrNull(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : decodeText(String(value));
}

function numberOrNull(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
