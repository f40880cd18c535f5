import type { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import { encodeText } from '../common/stored-text.ts';
import { appendMany, appendOne, appendRow } from './append-statements.ts';
import { keepBlob } from './blobs.ts';
import { divergedError } from './head-check.ts';
import type { Connection, Held } from './held.ts';
import { isSimple, planAppend } from './plan-append.ts';
import type { Appending, AppendPlan, Group } from './plan-append.ts';
import { change, changeRows, getRow } from './query.ts';
import { goneError, isHeldBy, leaseLost, remember } from './remembered.ts';
import { lastSeqColumn, readRecord, recordColumns } from './run-record.ts';

/** What was planned, kept over all attempts: what is sent again is the very same. */
export interface AppendMemo {
  readonly rounds: AppendPlan[];
}

/** What has become of a change. */
export type Answer =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'refused'; readonly failure: RerailError };

/** What has become of all. */
export interface Appended {
  readonly answers: ReadonlyMap<Appending, Answer>;
  /** To be remembered once it is committed. */
  readonly written: readonly Group[];
}

/**
 * Adds to many runs by one statement. It writes to a run only where the lease is the current one and the last event is the one that
 * was planned for; so nothing is written twice, however often it is sent. Where it did not write, it looks why.
 */
export async function appendTogether(
  connection: Connection,
  appendings: readonly Appending[],
  { rounds }: AppendMemo,
): Promise<Appended> {
  const answers = new Map<Appending, Answer>();
  const written: Group[] = [];
  let pending = appendings;
  for (let round = 0; round < maxRounds && pending.length > 0; round += 1) {
    const plan = (rounds[round] ??= await planAppend(connection, pending));
    for (const [appending, failure] of plan.refused) answers.set(appending, { type: 'refused', failure });
    const sent = await sendGroups(connection, plan.groups);
    // Some are written: a writer whose answer is missing must not be informed that nothing was.
    connection.isInDoubt = sent.size > 0;
    const moved: Appending[] = [];
    for (const group of plan.groups) {
      const verdict = sent.has(group.lease.runId) ? done : await findVerdict(connection, group);
      if (verdict === 'moved') {
        connection.held.records.delete(group.lease.runId);
        moved.push(...group.appendings);
        continue;
      }
      for (const appending of group.appendings) answers.set(appending, verdict);
      if (verdict === done) written.push(group);
      else connection.held.records.delete(group.lease.runId);
    }
    pending = moved;
  }
  connection.isInDoubt = false;
  for (const appending of pending)
    answers.set(appending, { type: 'refused', failure: movedError(appending) });
  return { answers, written };
}

/** Another handle of the same owner may be quicker, a few times. */
const maxRounds = 4;

const done: Answer = { type: 'done', value: undefined };

/** What was written, and is committed. */
export function noteWritten(held: Held, groups: readonly Group[]): void {
  for (const { lease, after, skipped } of groups) {
    const { runId } = lease;
    const left = held.doubts.get(runId)?.events.slice(skipped) ?? [];
    if (skipped === 0 || left.length === 0) {
      held.doubts.delete(runId);
      remember(held, after);
      continue;
    }
    // The rest is looked for again when it comes.
    held.doubts.set(runId, { lease, events: left });
    held.records.delete(runId);
  }
}

/** It is unknown whether this was written: the next writer to these runs finds out. */
export function noteDoubt({ doubts }: Held, { rounds }: AppendMemo): void {
  for (const { groups } of rounds) {
    for (const { lease, events } of groups) {
      if (events.length === 0) continue;
      doubts.set(lease.runId, { lease, events });
      if (doubts.size > maxDoubts) doubts.delete(doubts.keys().next().value ?? '');
    }
  }
}

const maxDoubts = 10_000;

/** Gives the ids of the runs that were written to. */
async function sendGroups(connection: Connection, groups: readonly Group[]): Promise<ReadonlySet<string>> {
  const [group, second] = groups;
  if (group === undefined) return new Set();
  for (const { lease, events } of groups) {
    // Before they are needed: a content without a reference does no harm, and goes with its run.
    for (const { blob } of events) if (blob !== undefined) await keepBlob(connection, blob, lease.runId);
  }
  if (second === undefined && isSimple(group)) {
    const { statement, valuesOf } = group.changesRow ? appendRow : appendOne;
    const count = await change(connection, statement, valuesOf(group));
    return new Set(count > 0 ? [group.lease.runId] : []);
  }
  const ids = new Map(groups.map(({ lease }) => [encodeText(lease.runId), lease.runId]));
  const rows = await changeRows(connection, appendMany.statement, appendMany.valuesOf(groups));
  return new Set(rows.map((row) => ids.get(String(row['run_id'])) ?? ''));
}

/** Why a run was not written to: it had been before, another process has it, it has lost something, or it has come further. */
async function findVerdict(connection: Connection, group: Group): Promise<Answer | 'moved'> {
  const { lease, before, events } = group;
  const last = events.at(-1);
  const row = await getRow(connection, verdictStatement, [encodeText(lease.runId), last?.seq ?? 0]);
  if (row === undefined) return { type: 'refused', failure: goneError(lease.runId) };
  if (last !== undefined && row['found_hash'] === last.hash) return done;
  const record = readRecord(row);
  if (!isHeldBy(record, lease)) return { type: 'refused', failure: leaseLost(lease, record) };
  const seq = Math.min(record.headSeq, Number(row['last_seq']));
  const headSeq = Math.max(record.headSeq, before.headSeq);
  if (record.number === before.number && seq < headSeq)
    return { type: 'refused', failure: divergedError(lease.runId, { headSeq, seq }) };
  return 'moved';
}

const verdictStatement = {
  text: `SELECT ${recordColumns}, ${lastSeqColumn},
    (SELECT hash FROM @.events AS events WHERE events.run_id = $1 AND events.seq = $2) AS found_hash
    FROM @.runs AS runs WHERE runs.run_id = $1`,
};

function movedError({ lease }: Appending): RerailError {
  return storageError('STORAGE_LOCKED', {
    message: `Cannot write to the run "${lease.runId}": another handle of its owner "${lease.ownerId}" keeps adding to it`,
    hint: 'Nothing was written. Use one store per process for a run.',
    context: { runId: lease.runId },
  });
}
