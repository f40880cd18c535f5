import type { RunPage, RunQuery, RunRow, WaitingQuery, WaitingRun } from '../../model/store/store.ts';
import { limitOf, nextOf, placeAt } from '../common/pages.ts';
import { encodeText } from '../common/stored-text.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { getRow, getRows, statement } from './held.ts';
import type { Connection } from './held.ts';
import { isTooLong } from './leases.ts';
import { updatedAtSql } from './run-head.ts';
import { belowSql, isBelowSql } from './run-tree.ts';
import {
  heldUntilMs,
  readWholeRecord,
  readRecord,
  readTexts,
  recordColumns,
  toRunRow,
} from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { findTexts } from './run-texts.ts';

/** A page of runs, found by its place: the last page costs what the first one does. */
export function listRuns(connection: Connection, query: RunQuery, nowMs: number): RunPage {
  const limit = limitOf(query.limit);
  const conditions = [...conditionsOf(query), ...placeConditions(query.cursor)];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
  const rows = getRows(connection, `${listSql} ${where} ORDER BY runs.sort_key, runs.run_id LIMIT ?`, [
    ...conditions.flatMap(({ values }) => values),
    limit + 1,
  ]);
  const runs = rows.slice(0, limit).map((row) => toRow(connection, row, nowMs));
  const last = runs.at(-1);
  if (last === undefined || rows.length <= limit) return { runs };
  return { runs, next: nextOf(last.createdAtMs, last.runId) };
}

/** What a look for runs that wait has found. */
export interface Waiting {
  readonly runs: readonly WaitingRun[];
  /** Runs whose lease would never end: see `shorten`. */
  readonly tooLong: readonly string[];
}

export function findWaiting(connection: Connection, query: WaitingQuery, nowMs: number): Waiting {
  const { agents, ownerId, limit } = query;
  const values = [JSON.stringify(agents.map(encodeText)), encodeText(ownerId), nowMs];
  const runs: WaitingRun[] = [];
  const tooLong: string[] = [];
  for (const row of statement(connection, waitingSql).iterate(...values)) {
    const record = readWholeRecord(connection, row as SqlRow); // By column name, as every row.
    if (record === undefined) continue;
    if (isTooLong(record, nowMs)) tooLong.push(record.runId);
    if (heldUntilMs(record, nowMs) !== undefined) continue;
    runs.push({
      row: toRunRow(record, findTexts(connection, record), nowMs),
      why: whyOf(connection, record),
    });
    if (runs.length >= limit) break;
  }
  return { runs, tooLong };
}

const names = recordColumns.map((name) => `runs.${name}`).join(', ');
const listSql = `SELECT ${names}, runs.row_check, run_texts.text, run_texts.search, run_texts.tools
  FROM runs LEFT JOIN run_texts ON run_texts.run_id = runs.run_id`;

// An answer wakes a run before its time: the time is when to give up waiting for one.
const signalled = 'EXISTS (SELECT 1 FROM signals WHERE signals.run_id = runs.run_id AND is_taken = 0)';
const waitingSql = `SELECT ${names}, runs.row_check FROM runs
  WHERE status IN ('running', 'suspended')
    AND agent IN (SELECT value FROM json_each(?1))
    AND owner IS NOT ?2
    AND ((status = 'running' AND (resume_at IS NULL OR resume_at <= ?3))
      OR (status = 'suspended' AND (resume_at <= ?3 OR ${signalled})))
  ORDER BY CASE WHEN status = 'suspended' AND resume_at <= ?3 THEN resume_at ELSE ${updatedAtSql} END, run_id`;

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Only fixed texts become SQL; whatever was asked for is a value. */
function conditionsOf(query: RunQuery): readonly Condition[] {
  const { status, agent, sessionId, code, tool, text, below, fromMs, toMs } = query;
  const found: Condition[] = [];
  const add = (sql: string, ...values: readonly SqlValue[]): void => void found.push({ sql, values });
  if (status !== undefined) add('runs.status IN (SELECT value FROM json_each(?))', JSON.stringify(status));
  if (agent !== undefined) add('runs.agent = ?', encodeText(agent));
  if (sessionId !== undefined) add('runs.session_id = ?', encodeText(sessionId));
  if (code !== undefined) add('runs.code = ?', encodeText(code));
  if (tool !== undefined) add('EXISTS (SELECT 1 FROM json_each(run_texts.tools) WHERE value = ?)', tool);
  if (text !== undefined) add('instr(run_texts.search, ?) > 0', encodeText(text.toLowerCase()));
  if (below === false) add(`NOT ${isBelowSql}`);
  else if (below !== undefined) add(`runs.run_id IN (${belowSql})`, encodeText(below));
  // Ordered by the negative time, so that the latest come first.
  if (fromMs !== undefined) add('runs.sort_key <= ?', -fromMs);
  if (toMs !== undefined) add('runs.sort_key > ?', -toMs);
  return found;
}

function placeConditions(cursor: string | undefined): readonly Condition[] {
  if (cursor === undefined) return [];
  const { createdAtMs, id } = placeAt(cursor);
  return [{ sql: '(runs.sort_key, runs.run_id) > (?, ?)', values: [-createdAtMs, encodeText(id)] }];
}

function toRow(connection: Connection, row: SqlRow, nowMs: number): RunRow {
  const record = readRecord(connection, row);
  return toRunRow(record, readTexts(row, record), nowMs);
}

function whyOf(connection: Connection, { runId, status }: RunRecord): WaitingRun['why'] {
  if (status === 'running') return 'interrupted';
  const signal = getRow(connection, 'SELECT 1 FROM signals WHERE run_id = ? AND is_taken = 0 LIMIT 1', [
    encodeText(runId),
  ]);
  return signal === undefined ? 'due' : 'signalled';
}
