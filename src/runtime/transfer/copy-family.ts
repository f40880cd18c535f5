import type { Provenance } from '../../agent/approval/provenance.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import { systemClock, systemId } from '../../base/system.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { hashEvent } from '../../model/store/event-chain.ts';
import type { Lease, LeaseOwner, RowChange, RunRow, Store } from '../../model/store/store.ts';
import type { WholeRun } from '../../model/store/whole-run.ts';
import { readBelow } from '../children/child-runs.ts';
import { provenanceIn, toEvent } from '../record/stored-run.ts';
import { isNoAnswer } from '../hosted/take-over.ts';
import {
  carried,
  gone,
  notTheSame,
  onItsWay,
  otherEvents,
  sameStore,
  takenAway,
  unfinished,
} from './copy-failures.ts';

// What holds at every moment, also after a crash: no two stores have a run that would be resumed automatically. Before a run that can go
// on is written over there, it is parked here, with a mark of what it was; a repeated copy reads the mark.

/** What a copy is made of. */
export interface Copying {
  readonly from: Store;
  readonly to: Store;
  readonly remove: boolean;
  /** Approvals and answers count over there. */
  readonly trusted: boolean;
  readonly signal: AbortSignal | undefined;
  readonly owner: LeaseOwner;
}

/** What became of a run with those below it. */
export type CopyEnd =
  { readonly type: 'copied' | 'there' } | { readonly type: 'left'; readonly failure: Failure };

/** Copies a run with those below it, and takes them away here where that is wanted. Rejects where a store fails. */
export async function copyFamily(copying: Copying, row: RunRow): Promise<CopyEnd> {
  const { runId } = row;
  // Before it is taken: the process that continues it here must still see that its owner has vanished.
  if (isOpen(row) && !copying.remove) return { type: 'left', failure: unfinished(runId) };
  const taken: Taken[] = [];
  try {
    const failure = await takeFamily(copying, runId, taken);
    return failure === undefined ? await copyTaken(copying, taken) : { type: 'left', failure };
  } catch (thrown) {
    // What is wrong with one run keeps no other.
    if (RerailError.isInstance(thrown) && ofOneRun.has(thrown.code))
      return { type: 'left', failure: thrown.failure };
    throw thrown;
  } finally {
    for (const { lease } of taken) await giveBack(copying, lease);
  }
}

async function giveBack({ from }: Copying, lease: Lease): Promise<void> {
  try {
    await from.runs.release(lease);
  } catch {
    // The lease ends by itself; what went wrong before is what counts.
  }
}

const ofOneRun: ReadonlySet<string> = new Set(['STORAGE_CORRUPT', 'STORAGE_DIVERGED']);

interface Taken {
  readonly lease: Lease;
  readonly row: RunRow;
  readonly wasAbandoned: boolean;
}

/** The run and those below it, so that no process writes to them any more; the run itself last. */
async function takeFamily(
  { from, to, owner }: Copying,
  runId: string,
  taken: Taken[],
): Promise<Failure | undefined> {
  const below = await readBelow(from, runId);
  // The one above first: the process that runs it also runs those below it.
  for (const id of [runId, ...below.map((child) => child.runId)]) {
    const claimed = await from.runs.claim(id, owner);
    if (claimed.type === 'held') return carried(runId, claimed);
    if (claimed.type === 'unknown') return gone(runId);
    taken.push(claimed);
    if ((await to.runs.find(id))?.owner?.id === owner.id) throw sameStore();
  }
  taken.reverse();
  return undefined;
}

async function copyTaken(copying: Copying, taken: readonly Taken[]): Promise<CopyEnd> {
  const { from, to, remove } = copying;
  const top = taken.at(-1);
  if (top === undefined) return { type: 'there' };
  const { row, lease } = top;
  const mark = readMark(row);
  if (mark !== undefined && mark.to !== to.name)
    return { type: 'left', failure: onItsWay(row.runId, mark.to) };
  if (mark !== undefined && !remove) return { type: 'left', failure: unfinished(row.runId) };
  if (!isOpen(row)) return copyMarked(copying, taken, mark);
  await from.runs.append(lease, { events: [], row: markOf(row, to.name) });
  const unmark = (): Promise<void> => from.runs.append(lease, { events: [], row: unmarked(row) });
  try {
    const end = await copyMarked(copying, taken, mark);
    // Where another process has resumed it meanwhile, it keeps it.
    if (end.type === 'left' && end.failure.code !== 'STORAGE_LOCKED') await unmark();
    return end;
  } catch (thrown) {
    if (RerailError.isInstance(thrown) && ofOneRun.has(thrown.code)) await unmark();
    throw thrown;
  }
}

async function copyMarked(
  copying: Copying,
  taken: readonly Taken[],
  mark: Mark | undefined,
): Promise<CopyEnd> {
  const { from, to, remove, owner } = copying;
  const runId = taken.at(-1)?.row.runId ?? '';
  const copies: Omit<WholeRun, 'events'>[] = [];
  let isThere = true;
  for (const one of taken) {
    const { events, ...rest } = await readWhole(copying, one, one.row.runId === runId ? mark : undefined);
    const end = await writeWhole(copying, { ...rest, events });
    if (end === 'other') return { type: 'left', failure: otherEvents(to, one.row.runId) };
    isThere &&= end === 'there';
    copies.push(rest);
  }
  if (remove) {
    for (const copy of copies) await checkCopy(copying, copy);
    const lost = new Set(await from.runs.renew(owner));
    if (taken.some(({ lease }) => lost.has(lease.runId))) return { type: 'left', failure: takenAway(runId) };
    await from.runs.remove(runId);
  }
  return { type: isThere ? 'there' : 'copied' };
}

function isOpen({ status }: RunRow): boolean {
  return status === 'running' || status === 'suspended';
}

/** What a run was before it was parked to be moved. */
interface Mark extends Pick<RunRow, 'status' | 'reason' | 'resumeAtMs' | 'updatedAtMs'> {
  readonly to: string;
}

const markStart = 'moving ';

function markOf({ status, reason, resumeAtMs, updatedAtMs }: RunRow, to: string): RowChange {
  const mark: Mark = defined({ to, status, reason, resumeAtMs, updatedAtMs });
  return { status: 'parked', reason: `${markStart}${JSON.stringify(mark)}`, resumeAtMs: null };
}

function unmarked({ status, reason, resumeAtMs }: RunRow): RowChange {
  return { status, reason: reason ?? null, resumeAtMs: resumeAtMs ?? null };
}

function readMark({ status, reason }: RunRow): Mark | undefined {
  if (status !== 'parked' || reason?.startsWith(markStart) !== true) return undefined;
  const mark: unknown = JSON.parse(reason.slice(markStart.length));
  return isRecord(mark) ? (mark as unknown as Mark) : undefined; // Written by us.
}

/** All of it, as it was before it was marked. */
async function readWhole(
  { from }: Copying,
  { row, wasAbandoned }: Taken,
  mark: Mark | undefined,
): Promise<WholeRun> {
  const whole = await from.runs.whole(row.runId);
  if (whole === undefined) throw RerailError.from(gone(row.runId));
  const { status, reason, resumeAtMs, updatedAtMs } = mark ?? row;
  // A process that resumes it over there cannot see that its owner vanished here.
  const crashes = whole.row.crashes + (wasAbandoned && status === 'running' ? 1 : 0);
  return {
    ...whole,
    row: defined({ ...whole.row, owner: undefined, crashes, status, reason, resumeAtMs, updatedAtMs }),
  };
}

async function writeWhole(copying: Copying, whole: WholeRun): Promise<'copied' | 'there' | 'other'> {
  const { from, to, trusted } = copying;
  const { runId, headSeq, headHash } = whole.row;
  for (const hash of whole.blobs) {
    const content = await from.blobs.get(hash);
    if (content !== undefined) await to.blobs.put(content, runId);
  }
  if ((await to.runs.restore(trusted ? whole : withoutRights(copying, whole))) === 'restored')
    return 'copied';
  if (headSeq === 0) return 'there';
  // Where it was copied before it may have continued since.
  const [there] = await to.runs.events(runId, { from: headSeq, to: headSeq });
  return there?.hash === headHash ? 'there' : 'other';
}

/** What is on record came from elsewhere, and says so: nothing in it is a right. A run that is over and cannot be resumed stays as it was. */
function withoutRights({ from }: Copying, whole: WholeRun): WholeRun {
  const { row, events } = whole;
  const { runId, headSeq, headHash, status } = row;
  if (headSeq === 0 || status === 'completed' || status === 'stopped') return whole;
  const seq = headSeq + 1;
  const atMs = systemClock.wallMs();
  // One that was imported before stays so.
  const copied = { type: 'copied', atMs, from: from.name } as const;
  const provenance: Provenance = { ...(provenanceIn(events) ?? copied), id: systemId() };
  const { type, body } = toEvent({ type: 'moved', body: { provenance } });
  const hash = hashEvent(headHash, { runId, seq, atMs, type, bodyText: JSON.stringify(body) });
  return {
    ...whole,
    row: { ...row, headSeq: seq, headHash: hash },
    events: [...events, { seq, atMs, type, body, hash }],
    signals: whole.signals.filter((signal) => signal.isTaken || isNoAnswer(signal)),
  };
}

/** Reads it again over there, and hands on what has come here since it was read. */
async function checkCopy(
  { from, to, trusted }: Copying,
  { row, signals, blobs }: Omit<WholeRun, 'events'>,
): Promise<void> {
  const { runId, headSeq, headHash } = row;
  const events = await to.runs.events(runId, { to: headSeq });
  const missing: string[] = [];
  for (const hash of blobs) if ((await to.blobs.get(hash)) === undefined) missing.push(hash);
  if (events.length !== headSeq || (headSeq > 0 && events.at(-1)?.hash !== headHash) || missing.length > 0)
    throw RerailError.from(notTheSame(to, runId));
  const known = new Set(signals.map(({ id }) => id));
  for (const { id, name, payload } of await from.runs.signals(runId))
    if (!known.has(id) && (trusted || isNoAnswer({ name })))
      await to.runs.signal(runId, { id, name, payload });
}
