import { encodeText } from '../common/stored-text.ts';
import type { SqlValue } from './driver.ts';
import type { Statement, Values } from './held.ts';
import type { Group } from './plan-append.ts';
import { encodeOrNull, encodeTools } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

/** A statement, and what it is given. */
export interface Given<T> {
  readonly statement: Statement;
  readonly valuesOf: (given: T) => Values;
}

// The lease, and the last event as it was planned for: in the row, and truly there.
const fence = `runs.owner = $2 AND runs.epoch = $3 AND runs.head_seq = $4 AND runs.head_hash = $5
  AND ($4 = 0 OR EXISTS (SELECT 1 FROM @.events AS last
    WHERE last.run_id = $1 AND last.seq = $4 AND last.hash = $5))`;

const insertOne = `INSERT INTO @.events (run_id, seq, at_ms, type, body, hash)
  SELECT run_id, $6, $8, $9, $10, $7 FROM fenced`;

/** One event of one run, with nothing beside it: what happens most. */
export const appendOne: Given<Group> = {
  statement: {
    name: 'rerail-append-one',
    text: `WITH fenced AS (
        UPDATE @.runs AS runs SET head_seq = $6::bigint, head_hash = $7, updated_at = $8::bigint
        WHERE runs.run_id = $1 AND ${typed(fence)} RETURNING runs.run_id)
      ${insertOne}`,
  },
  valuesOf: oneValues,
};

/** The same, with a change of the row. */
export const appendRow: Given<Group> = {
  statement: {
    name: 'rerail-append-row',
    text: `WITH fenced AS (
        UPDATE @.runs AS runs SET head_seq = $6::bigint, head_hash = $7, updated_at = $8::bigint,
          status = $11, generation_seq = $12, crashes = $13, code = $14, reason = $15, resume_at = $16,
          turns = $17, cost_usd = $18
        WHERE runs.run_id = $1 AND ${typed(fence)} RETURNING runs.run_id)
      ${insertOne}`,
  },
  valuesOf: (group) => [...oneValues(group), ...rowValues(group.after)],
};

/** The types that a parameter would not get from where it stands first. */
function typed(sql: string): string {
  return sql.replaceAll('$4', '$4::bigint').replaceAll('$5', '$5::text');
}

function oneValues({ lease, before, after, events }: Group): Values {
  const [event] = events;
  return [
    encodeText(lease.runId),
    encodeText(lease.ownerId),
    lease.epoch,
    before.headSeq,
    before.headHash,
    after.headSeq,
    after.headHash,
    after.updatedAtMs,
    encodeText(event?.type ?? ''),
    event?.bodyText ?? '',
  ];
}

function rowValues(record: RunRecord): readonly SqlValue[] {
  const { status, generationSeq, crashes, code, reason, resumeAtMs, turns, costUsd } = record;
  return [
    status,
    generationSeq,
    crashes,
    encodeOrNull(code),
    encodeOrNull(reason),
    resumeAtMs,
    turns,
    costUsd,
  ];
}

/** Any number of runs and events, with signals taken and texts changed. */
export const appendMany: Given<readonly Group[]> = {
  statement: {
    text: `WITH change AS (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[],
          $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::text[],
          $13::text[], $14::float8[], $15::bigint[], $16::float8[])
        AS t (run_id, owner, epoch, seq, hash, head_seq, head_hash, updated_at,
          status, generation_seq, crashes, code, reason, resume_at, turns, cost_usd)),
      fenced AS (UPDATE @.runs AS runs SET head_seq = change.head_seq, head_hash = change.head_hash,
          updated_at = change.updated_at, status = change.status, generation_seq = change.generation_seq,
          crashes = change.crashes, code = change.code, reason = change.reason, resume_at = change.resume_at,
          turns = change.turns, cost_usd = change.cost_usd
        FROM change WHERE runs.run_id = change.run_id COLLATE "C" AND runs.owner = change.owner
          AND runs.epoch = change.epoch AND runs.head_seq = change.seq AND runs.head_hash = change.hash
          AND (change.seq = 0 OR EXISTS (SELECT 1 FROM @.events AS last
            WHERE last.run_id = change.run_id COLLATE "C" AND last.seq = change.seq AND last.hash = change.hash))
        RETURNING runs.run_id),
      added AS (INSERT INTO @.events (run_id, seq, at_ms, type, body, hash)
        SELECT event.run_id, event.seq, event.at_ms, event.type, event.body, event.hash
        FROM unnest($17::text[], $18::bigint[], $19::bigint[], $20::text[], $21::text[], $22::text[])
          AS event (run_id, seq, at_ms, type, body, hash)
        JOIN fenced ON fenced.run_id = event.run_id COLLATE "C"),
      taken AS (UPDATE @.signals AS signals SET is_taken = true, payload = 'null'
        FROM unnest($23::text[], $24::text[]) AS took (run_id, id) JOIN fenced ON fenced.run_id = took.run_id COLLATE "C"
        WHERE signals.run_id = took.run_id COLLATE "C" AND signals.id = took.id COLLATE "C"),
      told AS (UPDATE @.run_texts AS run_texts SET text = coalesce(new.text, run_texts.text),
          search = coalesce(new.search, run_texts.search), tools = coalesce(new.tools, run_texts.tools)
        FROM unnest($25::text[], $26::text[], $27::text[], $28::text[]) AS new (run_id, text, search, tools)
        JOIN fenced ON fenced.run_id = new.run_id COLLATE "C"
        WHERE run_texts.run_id = new.run_id COLLATE "C")
      SELECT run_id FROM fenced`,
  },
  valuesOf: (groups) => [
    ...columns(
      groups.map(({ lease, before, after }) => [
        ...fenceValues({ lease, before, after }),
        ...rowValues(after),
      ]),
      16,
    ),
    ...columns(groups.flatMap(eventValues), 6),
    ...columns(groups.flatMap(tookValues), 2),
    ...columns(groups.flatMap(textValues), 4),
  ],
};

function fenceValues({
  lease,
  before,
  after,
}: Pick<Group, 'lease' | 'before' | 'after'>): readonly SqlValue[] {
  return [
    encodeText(lease.runId),
    encodeText(lease.ownerId),
    lease.epoch,
    before.headSeq,
    before.headHash,
    after.headSeq,
    after.headHash,
    after.updatedAtMs,
  ];
}

function eventValues({ lease, events }: Group): readonly (readonly SqlValue[])[] {
  const run = encodeText(lease.runId);
  return events.map(({ seq, atMs, type, bodyText, hash }) => [
    run,
    seq,
    atMs,
    encodeText(type),
    bodyText,
    hash,
  ]);
}

function tookValues({ lease, took }: Group): readonly (readonly SqlValue[])[] {
  return took.map((id) => [encodeText(lease.runId), encodeText(id)]);
}

function textValues({ lease, texts }: Group): readonly (readonly SqlValue[])[] {
  const { text, tools } = texts;
  if (text === undefined && tools === undefined) return [];
  const both = text === undefined ? [null, null] : [encodeText(text), encodeText(text.toLowerCase())];
  return [[encodeText(lease.runId), ...both, tools === undefined ? null : encodeTools(tools)]];
}

/** One list for each column, as `unnest` takes them. */
export function columns(
  rows: readonly (readonly SqlValue[])[],
  count: number,
): readonly (readonly SqlValue[])[] {
  return Array.from({ length: count }, (_none, place) => rows.map((row) => row[place] ?? null));
}
