import { defined } from '../../base/defined.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { RunRow, StoredStatus } from '../../model/store/store.ts';
import { isKnownDead } from '../common/owner-process.ts';
import { storageError } from '../common/storage-error.ts';
import { checkOf, decodeText, encodeText } from '../common/stored-text.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { change, getRow } from './held.ts';
import type { Connection } from './held.ts';
import { withHead } from './run-head.ts';

/**
 * A run: what is listed, and the lease. Texts that may be long stand elsewhere, known by their hash.
 *
 * While a run is `running`, its row may be behind: an addition that changes nothing else writes its events alone. Then the last
 * event says where the head is and when it was written. The row of any other run is never behind.
 */
export interface RunRecord {
  readonly runId: string;
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
  readonly textHash: string;
  readonly owner: string | null;
  readonly epoch: number;
  readonly leaseUntilMs: number;
  readonly leaseMs: number;
  /** Of the owner: see `owner-process.ts`. */
  readonly process: string;
  /** The sum over the row as it is kept; it also says whether the row is still the one that was read. */
  readonly check: string;
  /** The row as it is kept. */
  readonly kept: readonly SqlValue[];
  /** What the last event says of itself does not hold: it is only counted, and what is listed is what the row says. */
  readonly isHeadDamaged: boolean;
}

/** The texts of a run. */
export interface RunTexts {
  readonly text: string;
  readonly tools: readonly string[];
}

/** What a query must select to read records. */
export const recordColumns = [
  'run_id',
  'agent',
  'session_id',
  'created_at',
  'sort_key',
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
  'text_hash',
  'owner',
  'epoch',
  'lease_until',
  'lease_ms',
  'process',
] as const;

/** The run of this id, its row checked. */
export function findRecord(connection: Connection, runId: string): RunRecord | undefined {
  const row = getRow(connection, findSql, [encodeText(runId)]);
  return row === undefined ? undefined : readRecord(connection, row);
}

/** A row as it was written, or `STORAGE_CORRUPT`. */
export function readRecord(connection: Connection, row: SqlRow): RunRecord {
  return withHead(connection, checkedRecord(row));
}

/** The same by the row alone, which may be behind. */
export function checkedRecord(row: SqlRow): RunRecord {
  const runId = readText(row['run_id']);
  const kept = recordColumns.map((name): SqlValue => row[name] ?? null);
  const check = checkOf(kept);
  if (check !== row['row_check']) throw damagedRow(runId);
  return {
    runId,
    agent: readText(row['agent']),
    sessionId: readTextOrNull(row['session_id']),
    createdAtMs: Number(row['created_at']),
    status: String(row['status']) as StoredStatus, // Written by us, as the check has shown.
    updatedAtMs: Number(row['updated_at']),
    headSeq: Number(row['head_seq']),
    headHash: String(row['head_hash']),
    generationSeq: Number(row['generation_seq']),
    crashes: Number(row['crashes']),
    code: readTextOrNull(row['code']),
    reason: readTextOrNull(row['reason']),
    resumeAtMs: readNumberOrNull(row['resume_at']),
    turns: Number(row['turns']),
    costUsd: readNumberOrNull(row['cost_usd']),
    textHash: String(row['text_hash']),
    owner: readTextOrNull(row['owner']),
    epoch: Number(row['epoch']),
    leaseUntilMs: Number(row['lease_until']),
    leaseMs: Number(row['lease_ms']),
    process: String(row['process']),
    check,
    kept,
    isHeadDamaged: false,
  };
}

/** The same, and nothing where the row is damaged: for code that goes through many runs, and must not stop at one. */
export function readWholeRecord(connection: Connection, row: SqlRow): RunRecord | undefined {
  try {
    return readRecord(connection, row);
  } catch (error) {
    if (RerailError.isInstance(error)) return undefined;
    throw error;
  }
}

/** Gives the record as it is kept. */
export function insertRecord(connection: Connection, record: RunRecord): RunRecord {
  const values = valuesOf(record);
  const check = checkOf(values);
  change(connection, insertSql, [...values, check]);
  return { ...record, check, kept: values };
}

/** Writes a record over the one before it and gives it as it is kept; nothing where the row is no longer that one. */
export function updateRecord(
  connection: Connection,
  record: RunRecord,
  before: RunRecord,
): RunRecord | undefined {
  const values = valuesOf(record);
  // Only what has changed: an indexed column that is set is written again in its index, changed or not.
  let form = 0;
  const changed: SqlValue[] = [];
  for (const [place, value] of values.entries()) {
    if (value === before.kept[place]) continue;
    form |= 1 << place;
    changed.push(value);
  }
  const check = checkOf(values);
  changed.push(check, encodeText(before.runId), before.check);
  return change(connection, updateSqlOf(form), changed) > 0 ? { ...record, check, kept: values } : undefined;
}

/** The hash by which the texts of a run are known. */
export function hashTexts({ text, tools }: RunTexts): string {
  return checkOf([encodeText(text), JSON.stringify(tools)]);
}

/** The texts that stand in a row besides the record, checked. */
export function readTexts(row: SqlRow, record: RunRecord): RunTexts {
  const texts = {
    text: readText(row['text']),
    tools: parseTools(row['tools']),
  };
  const isWhole =
    row['text'] !== null &&
    hashTexts(texts) === record.textHash &&
    row['search'] === encodeText(texts.text.toLowerCase());
  if (!isWhole) throw damagedRow(record.runId);
  return texts;
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
    ...listedHead(record),
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

function listedHead(record: RunRecord): Pick<RunRow, 'updatedAtMs' | 'headSeq' | 'headHash'> {
  const { updatedAtMs, headSeq, headHash, isHeadDamaged, kept } = record;
  if (!isHeadDamaged) return { updatedAtMs, headSeq, headHash };
  const valueOf = (name: (typeof recordColumns)[number]): SqlValue | undefined =>
    kept[recordColumns.indexOf(name)];
  return {
    updatedAtMs: Number(valueOf('updated_at')),
    headSeq: Number(valueOf('head_seq')),
    headHash: String(valueOf('head_hash')),
  };
}

const names = recordColumns.join(', ');
const marks = recordColumns.map(() => '?').join(', ');
const findSql = `SELECT ${names}, row_check FROM runs WHERE run_id = ?`;
const insertSql = `INSERT INTO runs (${names}, row_check) VALUES (${marks}, ?)`;

/** One bit for each column. */
const updateSqls = new Map<number, string>();

function updateSqlOf(form: number): string {
  const known = updateSqls.get(form);
  if (known !== undefined) return known;
  const changed = recordColumns.filter((_name, place) => (form & (1 << place)) !== 0);
  const set = [...changed, 'row_check'].map((name) => `${name} = ?`).join(', ');
  const sql = `UPDATE runs SET ${set} WHERE run_id = ? AND row_check = ?`;
  if (updateSqls.size < maxForms) updateSqls.set(form, sql);
  return sql;
}

const maxForms = 500;

function valuesOf(record: RunRecord): readonly SqlValue[] {
  return [
    encodeText(record.runId),
    encodeText(record.agent),
    encodeOrNull(record.sessionId),
    record.createdAtMs,
    -record.createdAtMs,
    record.status,
    record.updatedAtMs,
    record.headSeq,
    record.headHash,
    record.generationSeq,
    record.crashes,
    encodeOrNull(record.code),
    encodeOrNull(record.reason),
    record.resumeAtMs,
    record.turns,
    record.costUsd,
    record.textHash,
    encodeOrNull(record.owner),
    record.epoch,
    record.leaseUntilMs,
    record.leaseMs,
    record.process,
  ];
}

function encodeOrNull(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

function readText(value: SqlValue | undefined): string {
  return decodeText(String(value));
}

function readTextOrNull(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : readText(value);
}

function readNumberOrNull(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function parseTools(value: SqlValue | undefined): readonly string[] {
  const tools: unknown = value === null || value === undefined ? [] : JSON.parse(String(value));
  return Array.isArray(tools) ? tools.map(String) : [];
}

function damagedRow(runId: string): Error {
  return storageError('STORAGE_CORRUPT', {
    message: `What is listed of the run "${runId}" is damaged: its row does not match its checksum`,
    hint: 'Its events may still be whole: look with a check of the store. Restore a copy of the file, or remove this run.',
    context: { runId },
  });
}
