import type { RunPage, RunQuery, RunRow, WaitingQuery, WaitingRun } from '../../model/store/store.ts';
import { isKnownDead } from '../common/owner-process.ts';
import { limitOf, nextOf, placeAt } from '../common/pages.ts';
import { encodeText } from '../common/stored-text.ts';
import type { SqlParameter, SqlRow } from './driver.ts';
import { givenNow, nowSql } from './held.ts';
import type { Connection } from './held.ts';
import { change, getRow, getRows } from './query.ts';
import { readRecord, readTexts, recordColumns, runsWithTexts, textColumns, toRunRow } from './run-record.ts';
import { isBelowOneSql, isBelowSql } from './run-tree.ts';

/** What is listed of one run. */
export async function findRun(connection: Connection, runId: string): Promise<SqlRow | undefined> {
  return getRow(connection, findStatement, [givenNow(connection.held), encodeText(runId)]);
}

/** A row of this file as it is listed. */
export function toRow(row: SqlRow): RunRow {
  const record = readRecord(row);
  return toRunRow(record, readTexts(row, record.runId), Number(row['now_ms']));
}

/** A page of runs, found by its place: the last page costs what the first one does. */
export async function listRuns(connection: Connection, query: RunQuery): Promise<RunPage> {
  const limit = limitOf(query.limit);
  const values: SqlParameter[] = [givenNow(connection.held)];
  const conditions = conditionsOf(query, (value) => `$${values.push(value)}`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const text = `${listSql} ${where} ORDER BY runs.sort_key, runs.run_id LIMIT ${limit + 1}`;
  const rows = await getRows(connection, { text }, values);
  const runs = rows.slice(0, limit).map(toRow);
  const last = runs.at(-1);
  if (last === undefined || rows.length <= limit) return { runs };
  return { runs, next: nextOf(last.createdAtMs, last.runId) };
}

/** Runs that no process runs and that could continue, by the time of the database. */
export async function findWaiting(
  connection: Connection,
  query: WaitingQuery,
): Promise<readonly WaitingRun[]> {
  const { held } = connection;
  const nowMs = givenNow(held);
  const owners = await getRows(connection, ownersStatement, [nowMs]);
  // Given before the clock of the database was set back: see `leases.ts`.
  if (owners.some((row) => row['is_too_long'] === true)) await change(connection, shortenStatement, [nowMs]);
  const dead = owners.map((row) => String(row['process'])).filter(isKnownDead);
  const rows = await getRows(connection, waitingStatement, [
    nowMs,
    query.agents.map(encodeText),
    encodeText(query.ownerId),
    dead,
    Math.max(0, Math.ceil(query.limit)),
  ]);
  return rows.map((row) => ({ row: toRow(row), why: whyOf(row) }));
}

const listSql = `SELECT ${recordColumns}, ${textColumns}, ${nowSql('$1')} AS now_ms FROM ${runsWithTexts}`;
const findStatement = { text: `${listSql} WHERE runs.run_id = $2` };

// An answer wakes a run before its time: the time is when to give up waiting for one.
const signalled =
  'EXISTS (SELECT 1 FROM @.signals AS signals WHERE signals.run_id = runs.run_id AND NOT is_taken)';

const ownersStatement = {
  text: `SELECT process, bool_or(lease_until > ${nowSql('$1')} + lease_ms) AS is_too_long FROM @.runs
    WHERE status IN ('running', 'suspended') AND owner IS NOT NULL AND lease_until > ${nowSql('$1')}
    GROUP BY process LIMIT 10000`,
};
const shortenStatement = {
  text: `UPDATE @.runs SET lease_until = ${nowSql('$1')} + lease_ms
    WHERE owner IS NOT NULL AND lease_until > ${nowSql('$1')} + lease_ms`,
};
const waitingStatement = {
  text: `SELECT ${recordColumns}, ${textColumns}, now_ms, ${signalled} AS is_signalled
    FROM (SELECT ${nowSql('$1')} AS now_ms OFFSET 0) AS clock, ${runsWithTexts}
    WHERE runs.status IN ('running', 'suspended')
      AND runs.agent = ANY($2::text[])
      AND runs.owner IS DISTINCT FROM $3
      AND (runs.owner IS NULL OR runs.lease_until <= now_ms OR runs.process = ANY($4::text[]))
      AND ((runs.status = 'running' AND (runs.resume_at IS NULL OR runs.resume_at <= now_ms))
        OR (runs.status = 'suspended' AND (runs.resume_at <= now_ms OR ${signalled})))
    ORDER BY CASE WHEN runs.status = 'suspended' AND runs.resume_at <= now_ms THEN runs.resume_at
      ELSE runs.updated_at END, runs.run_id
    LIMIT $5`,
};

function whyOf(row: SqlRow): WaitingRun['why'] {
  if (row['status'] === 'running') return 'interrupted';
  return row['is_signalled'] === true ? 'signalled' : 'due';
}

/** Only fixed texts become SQL; whatever was asked for is a value. */
function conditionsOf(query: RunQuery, give: (value: SqlParameter) => string): readonly string[] {
  const { status, agent, sessionId, code, tool, text, below, fromMs, toMs, cursor } = query;
  const found: string[] = [];
  if (status !== undefined) found.push(`runs.status = ANY(${give(status)}::text[])`);
  if (agent !== undefined) found.push(`runs.agent = ${give(encodeText(agent))}`);
  if (sessionId !== undefined) found.push(`runs.session_id = ${give(encodeText(sessionId))}`);
  if (code !== undefined) found.push(`runs.code = ${give(encodeText(code))}`);
  if (tool !== undefined) found.push(`EXISTS (${toolsSql} WHERE name = ${give(encodeText(tool))})`);
  if (text !== undefined) found.push(`strpos(run_texts.search, ${give(encodeText(text.toLowerCase()))}) > 0`);
  if (below === false) found.push(`NOT ${isBelowSql}`);
  else if (below !== undefined)
    found.push(
      `runs.run_id IN (SELECT below.run_id FROM @.runs AS below WHERE ${isBelowOneSql(give(encodeText(below)))})`,
    );
  // Ordered by the negative time, so that the latest come first.
  if (fromMs !== undefined) found.push(`runs.sort_key <= ${give(-fromMs)}::float8`);
  if (toMs !== undefined) found.push(`runs.sort_key > ${give(-toMs)}::float8`);
  if (cursor === undefined) return found;
  const { createdAtMs, id } = placeAt(cursor);
  return [
    ...found,
    `(runs.sort_key, runs.run_id) > (${give(-createdAtMs)}::bigint, ${give(encodeText(id))})`,
  ];
}

const toolsSql = 'SELECT 1 FROM json_array_elements_text(run_texts.tools::json) AS name';
