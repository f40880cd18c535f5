import type { RerailError } from '../../errors/rerail-error.ts';
import type { Lease, RowChange } from '../../model/store/store.ts';
import { encodeText } from '../common/stored-text.ts';
import { changedFields, hashEvents } from '../common/text-addition.ts';
import type { HashedEvent, TextAddition } from '../common/text-addition.ts';
import { findDivergence, knownHead } from './head-check.ts';
import { nowOf } from './held.ts';
import type { Connection, Head, Held } from './held.ts';
import { getRow, getRows } from './query.ts';
import { goneError, isHeldBy, leaseLost } from './remembered.ts';
import { lastSeqColumn, readRecord, recordColumns } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

/** What a caller wants to add to a run. */
export interface Appending {
  readonly lease: Lease;
  readonly addition: TextAddition;
}

/** All that is added to one run at once: all of it or nothing. Its hashes stay the same, however often it is sent. */
export interface Group {
  readonly lease: Lease;
  readonly before: RunRecord;
  readonly after: RunRecord;
  readonly appendings: readonly Appending[];
  readonly events: readonly HashedEvent[];
  readonly changesRow: boolean;
  readonly texts: Pick<RowChange, 'text' | 'tools'>;
  readonly took: readonly string[];
  /** So many events were there already: see `Held.doubts`. */
  readonly skipped: number;
}

/** What is sent, and what is refused without being sent. */
export interface AppendPlan {
  readonly groups: readonly Group[];
  readonly refused: ReadonlyMap<Appending, RerailError>;
}

/** Puts together what is added to each run, after how the run is remembered, or, where it is not, after a look at it. */
export async function planAppend(
  connection: Connection,
  appendings: readonly Appending[],
): Promise<AppendPlan> {
  const { held } = connection;
  const unknown = runsToLookAt(held, appendings);
  const found = unknown.length === 0 ? noRuns : await findRuns(connection, unknown);
  const groups = new Map<string, Group>();
  const refused = new Map<Appending, RerailError>();
  for (const appending of appendings) {
    const { runId } = appending.lease;
    const run = found.get(runId) ?? toFound(held.records.get(runId));
    const failure = refusalOf(appending.lease, run);
    if (failure === undefined && run !== undefined) {
      const group = groups.get(runId) ?? emptyGroup(appending.lease, run.record);
      const skipped = countSame(run.written, appending.addition);
      groups.set(runId, extend(group, appending, { nowMs: nowOf(held), skipped }));
      run.written = skipped === 0 ? [] : run.written.slice(skipped);
    } else if (failure !== undefined) refused.set(appending, failure);
  }
  // In the same order everywhere, so that two who write to the same runs do not wait for each other.
  const sorted = [...groups.values()].toSorted((one, other) =>
    one.lease.runId < other.lease.runId ? -1 : 1,
  );
  return { groups: sorted, refused };
}

const noRuns: ReadonlyMap<string, Found> = new Map();

/** What one addition to a run does that is remembered, and of which nothing is in doubt. */
export function planRemembered(held: Held, appending: Appending): Group | undefined {
  const { lease } = appending;
  const record = held.records.get(lease.runId);
  if (record === undefined || !isHeldBy(record, lease) || held.doubts.has(lease.runId)) return undefined;
  const nowMs = nowOf(held);
  const { events, row, took } = appending.addition;
  if (events.length === 1 && row === undefined && took === undefined) return single(record, appending, nowMs);
  return extend(emptyGroup(lease, record), appending, { nowMs, skipped: 0 });
}

/** What `extend` gives for one event with nothing beside it, without copying what is empty: this is done for every step. */
function single(before: RunRecord, appending: Appending, nowMs: number): Group {
  const { lease, addition } = appending;
  const events = hashEvents(before, addition, nowMs);
  const [last] = events;
  const { seq = before.headSeq, hash = before.headHash } = last ?? {};
  const after = { ...before, updatedAtMs: nowMs, headSeq: seq, headHash: hash };
  return {
    lease,
    before,
    after,
    appendings: [appending],
    events,
    changesRow: false,
    texts: {},
    took: [],
    skipped: 0,
  };
}

/** Whether it is one event with nothing beside it but a change of the row. */
export function isSimple({ events, texts, took }: Group): boolean {
  const [event] = events;
  const isOne = events.length === 1 && event?.blob === undefined;
  return isOne && texts.text === undefined && texts.tools === undefined && took.length === 0;
}

interface Found {
  readonly record: RunRecord;
  readonly diverged: RerailError | undefined;
  /** What is there from an attempt without an answer. */
  written: readonly HashedEvent[];
}

function toFound(record: RunRecord | undefined): Found | undefined {
  return record === undefined ? undefined : { record, diverged: undefined, written: [] };
}

function runsToLookAt({ records }: Held, appendings: readonly Appending[]): readonly string[] {
  const unknown = new Set<string>();
  for (const { lease } of appendings) {
    const record = records.get(lease.runId);
    if (record === undefined || !isHeldBy(record, lease)) unknown.add(lease.runId);
  }
  return [...unknown];
}

async function findRuns(
  connection: Connection,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  const { held } = connection;
  const known = new Map<string, Head | undefined>(runIds.map((runId) => [runId, knownHead(held, runId)]));
  for (const row of await getRows(connection, findStatement, [runIds.map(encodeText)])) {
    const record = readRecord(row);
    const { runId } = record;
    const diverged = findDivergence({ record, lastSeq: Number(row['last_seq']), known: known.get(runId) });
    found.set(runId, { record, diverged, written: await findWritten(connection, record) });
  }
  return found;
}

const findStatement = {
  text: `SELECT ${recordColumns}, ${lastSeqColumn} FROM @.runs AS runs WHERE runs.run_id = ANY($1::text[])`,
};

/** A caller whose write is in doubt may repeat it: what is there by then is not added a second time. */
async function findWritten(connection: Connection, record: RunRecord): Promise<readonly HashedEvent[]> {
  const doubt = connection.held.doubts.get(record.runId);
  const last = doubt?.events.at(-1);
  if (doubt === undefined || last === undefined || !isHeldBy(record, doubt.lease)) return [];
  const row = await getRow(connection, hashStatement, [encodeText(record.runId), last.seq]);
  return row?.['hash'] === last.hash ? doubt.events : [];
}

const hashStatement = { text: 'SELECT hash FROM @.events WHERE run_id = $1 AND seq = $2' };

/** How many events of an addition are those. */
function countSame(written: readonly HashedEvent[], { events }: TextAddition): number {
  const isSame = events.every(({ type, bodyText }, index) => {
    const there = written[index];
    return there !== undefined && there.type === type && (there.blob ?? there.bodyText) === bodyText;
  });
  return isSame ? events.length : 0;
}

function refusalOf(lease: Lease, run: Found | undefined): RerailError | undefined {
  if (run === undefined) return goneError(lease.runId);
  if (!isHeldBy(run.record, lease)) return leaseLost(lease, run.record);
  return run.diverged;
}

function emptyGroup(lease: Lease, before: RunRecord): Group {
  return {
    lease,
    before,
    after: before,
    appendings: [],
    events: [],
    changesRow: false,
    texts: {},
    took: [],
    skipped: 0,
  };
}

interface Moment {
  readonly nowMs: number;
  readonly skipped: number;
}

function extend(group: Group, appending: Appending, { nowMs, skipped }: Moment): Group {
  const { addition } = appending;
  const { row, took = [] } = addition;
  const events = hashEvents(group.after, { events: addition.events.slice(skipped) }, nowMs);
  const last = events.at(-1);
  const firstSeq = group.after.headSeq + 1 - skipped;
  return {
    ...group,
    after: {
      ...group.after,
      ...changedFields(row),
      updatedAtMs: nowMs,
      headSeq: last?.seq ?? group.after.headSeq,
      headHash: last?.hash ?? group.after.headHash,
      ...(row?.beginsGeneration === true ? { generationSeq: firstSeq } : {}),
    },
    appendings: [...group.appendings, appending],
    events: [...group.events, ...events],
    changesRow: group.changesRow || row !== undefined,
    texts: {
      ...group.texts,
      ...(row?.text === undefined ? {} : { text: row.text }),
      ...(row?.tools === undefined ? {} : { tools: row.tools }),
    },
    took: [...group.took, ...took],
    skipped: group.skipped + skipped,
  };
}
