import type {
  Retention,
  RunPage,
  RunQuery,
  StoreCheck,
  StoredStatus,
  StoreProblem,
  WaitingQuery,
  WaitingRun,
} from '../model/store/store.ts';
import { checkRetention, checkRunQuery } from '../model/store-query.ts';
import { isBelow, parentIdOf } from '../model/store/run-tree.ts';
import type { NamedRun } from '../model/store/run-tree.ts';
import { findChangedSeq, isHeld, rowOf, storageError } from './memory-store-data.ts';
import type { HeldRun, StoreData } from './memory-store-data.ts';

const defaultLimit = 50;
const maxLimit = 1000;
const ended: readonly StoredStatus[] = ['completed', 'stopped', 'cancelled', 'failed'];

export function listRuns(data: StoreData, query: RunQuery): RunPage {
  checkRunQuery(query);
  const { items, next } = pageOf([...data.runs.values()].filter(matcherOf(data, query)), {
    ...query,
    idOf: ({ runId }) => runId,
  });
  return { runs: items.map((run) => rowOf(data, run)), ...(next === undefined ? {} : { next }) };
}

interface Created {
  readonly createdAtMs: number;
}

interface Paging<T> {
  readonly idOf: (item: T) => string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** The latest created first. A cursor names the last one seen, so that what is added meanwhile moves nothing. */
export function pageOf<T extends Created>(
  all: readonly T[],
  { idOf, limit = defaultLimit, cursor }: Paging<T>,
): { readonly items: readonly T[]; readonly next?: string } {
  const placeOf = (item: T): Place => ({ createdAtMs: item.createdAtMs, id: idOf(item) });
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  const rest = all
    .filter((item) => after === undefined || compare(placeOf(item), after) > 0)
    .toSorted((a, b) => compare(placeOf(a), placeOf(b)));
  const items = rest.slice(0, Math.min(Math.max(1, limit), maxLimit));
  const last = items.at(-1);
  if (last === undefined || items.length === rest.length) return { items };
  return { items, next: JSON.stringify([last.createdAtMs, idOf(last)]) };
}

interface Place {
  readonly createdAtMs: number;
  readonly id: string;
}

function compare(a: Place, b: Place): number {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function parseCursor(cursor: string): Place {
  const place = /^\[(\d+),(".*")\]$/s.exec(cursor);
  if (place === null) {
    throw storageError('STORAGE_NOT_FOUND', {
      message: `There is no page at the cursor "${cursor}"`,
      hint: 'A cursor is the "next" of the page before, unchanged. Start again without one.',
    });
  }
  return { createdAtMs: Number(place[1]), id: String(JSON.parse(place[2] ?? '""')) };
}

function matcherOf(data: StoreData, query: RunQuery): (run: HeldRun) => boolean {
  const { status, agent, sessionId, code, tool, below, fromMs = -Infinity, toMs = Infinity } = query;
  const text = query.text?.toLowerCase();
  return ({ listed, ...run }) =>
    (status === undefined || status.includes(listed.status)) &&
    (agent === undefined || run.agent === agent) &&
    (sessionId === undefined || run.sessionId === sessionId) &&
    (code === undefined || listed.code === code) &&
    (tool === undefined || listed.tools.includes(tool)) &&
    (text === undefined || listed.text.toLowerCase().includes(text)) &&
    (below === undefined || (below === false ? isTop(data, run) : isBelow(run, below))) &&
    run.createdAtMs >= fromMs &&
    run.createdAtMs < toMs;
}

/** Whether it stands below no run that is kept here. */
function isTop({ runs }: StoreData, run: NamedRun): boolean {
  const parentId = parentIdOf(run);
  return parentId === undefined || !runs.has(parentId);
}

/** Of each of these runs that has an event of one of these types, the number of the latest. */
export function findLatest(
  { runs }: StoreData,
  runIds: readonly string[],
  types: readonly string[],
): ReadonlyMap<string, number> {
  const found = runIds.map((runId): [string, number] => {
    const latest = runs.get(runId)?.events.findLastIndex(({ type }) => types.includes(type)) ?? -1;
    return [runId, latest + 1];
  });
  return new Map(found.filter(([, seq]) => seq > 0));
}

export function findWaiting(
  data: StoreData,
  { agents, ownerId, limit }: WaitingQuery,
): readonly WaitingRun[] {
  return [...data.runs.values()]
    .filter((run) => agents.includes(run.agent) && run.lease?.ownerId !== ownerId && !isHeld(data, run))
    .flatMap((run) => waitOf(run, data.nowMs()) ?? [])
    .toSorted((a, b) => a.sinceMs - b.sinceMs)
    .slice(0, limit)
    .map(({ run, why }) => ({ row: rowOf(data, run), why }));
}

interface Wait extends Pick<WaitingRun, 'why'> {
  readonly run: HeldRun;
  readonly sinceMs: number;
}

/** An answer wakes a run before its time: the time is when to give up waiting for one. */
function waitOf(run: HeldRun, nowMs: number): Wait | undefined {
  const { status, resumeAtMs } = run.listed;
  const isDue = resumeAtMs !== null && resumeAtMs <= nowMs;
  if (status === 'running' && (isDue || resumeAtMs === null)) {
    return { run, why: 'interrupted', sinceMs: run.updatedAtMs };
  }
  if (status !== 'suspended') return undefined;
  const [signal] = run.signals.values();
  if (signal !== undefined) return { run, why: 'signalled', sinceMs: signal.atMs };
  return isDue ? { run, why: 'due', sinceMs: resumeAtMs } : undefined;
}

export function pruneRuns(data: StoreData, rule: Retention): number {
  checkRetention(rule);
  const { maxAgeMs = Infinity, maxRuns = Infinity } = rule;
  const oldestMs = data.nowMs() - maxAgeMs;
  const going = [...data.runs.values()]
    .filter((run) => ended.includes(run.listed.status) && !isHeld(data, run) && isTop(data, run))
    .toSorted((a, b) => b.updatedAtMs - a.updatedAtMs)
    .filter((run, index) => index >= maxRuns || run.updatedAtMs < oldestMs);
  for (const { runId } of going) removeRun(data, runId);
  return going.length;
}

/** With the runs below it. */
export function removeRun(data: StoreData, runId: string): boolean {
  const below = [...data.runs.values()].filter((run) => isBelow(run, runId));
  for (const run of below) removeAlone(data, run.runId);
  return removeAlone(data, runId);
}

/** Also takes the blobs that no other run needs. */
function removeAlone(data: StoreData, runId: string): boolean {
  for (const hash of data.blobsOfRun.get(runId) ?? []) {
    const blob = data.blobs.get(hash);
    blob?.runIds.delete(runId);
    if (blob?.runIds.size === 0) data.blobs.delete(hash);
  }
  data.blobsOfRun.delete(runId);
  return data.runs.delete(runId);
}

export function checkStore(data: StoreData, signal: AbortSignal | undefined): StoreCheck {
  let events = 0;
  const problems: StoreProblem[] = [];
  for (const run of data.runs.values()) {
    signal?.throwIfAborted();
    events += run.events.length;
    const problem = problemOf(run);
    if (problem !== undefined) problems.push(problem);
  }
  return { runs: data.runs.size, events, blobs: data.blobs.size, problems };
}

function problemOf(run: HeldRun): StoreProblem | undefined {
  const { runId, headSeq } = run;
  const kept = run.events.length;
  const seq = findChangedSeq(run, 1, kept);
  if (seq !== undefined) {
    return { code: 'STORAGE_CORRUPT', runId, seq, message: `Event ${seq} is not what was written` };
  }
  if (kept === headSeq) return undefined;
  const message = `Only ${kept} of ${headSeq} events are there`;
  return { code: 'STORAGE_DIVERGED', runId, seq: kept, message };
}
