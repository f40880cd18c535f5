import type { Lease, LeaseOwner, RunRow, Store } from '../../model/store/store.ts';
import { countEntriesBelow } from '../children/child-runs.ts';
import { foldRun, toEvent } from '../record/stored-run.ts';
import type { FoldedRun } from '../record/stored-run.ts';

/** What came of wanting to park a run. */
export type Parked =
  | { readonly type: 'parked'; readonly crashes: number }
  /** It has not crashed that often, or may only have stood beside one that did: it may continue. */
  | { readonly type: 'fit'; readonly crashes: number }
  | { readonly type: 'held'; readonly untilMs: number }
  /** It has ended meanwhile, is parked already, or was removed. */
  | { readonly type: 'gone' };

/** Who parks, and from how many crashes on. */
export interface ParkOptions {
  readonly owner: LeaseOwner;
  readonly maxCrashes: number;
  /** So many other runs are in the same hands. */
  readonly beside?: number;
}

/** A run that got so far since it was last taken over did not die of the same thing. */
export const entriesOfProgress = 10;

/** From here on it is parked also where another one may have been to blame. */
const maxSuspicions = 2;

/** How often its owner has vanished, this time counted. A flow gets on by what the runs below it do. */
export async function countCrash(
  store: Store,
  { runId, crashes }: Pick<RunRow, 'runId' | 'crashes'>,
  { entriesSinceTaken, takenAtMs }: Pick<FoldedRun, 'entriesSinceTaken' | 'takenAtMs'>,
): Promise<number> {
  const missing = entriesOfProgress - entriesSinceTaken;
  if (missing <= 0 || crashes === 0) return 1;
  const below = await countEntriesBelow(store, runId, { sinceMs: takenAtMs, atMost: missing });
  return below >= missing ? 1 : crashes + 1;
}

/**
 * Takes a run out of the line, if it has crashed its process `maxCrashes` times: no worker resumes it until a person does.
 *
 * A crash is counted by the process that claims the run next, so the latest one is not in the row yet; only the claim distinguishes it from a
 * run that was given back. Hence the decision is made here, under the lease, and a crash that is seen here is noted here.
 */
export async function parkRun(
  store: Store,
  runId: string,
  { owner, maxCrashes, beside = 0 }: ParkOptions,
): Promise<Parked> {
  const claimed = await store.runs.claim(runId, owner);
  if (claimed.type === 'unknown') return { type: 'gone' };
  if (claimed.type === 'held') return { type: 'held', untilMs: claimed.untilMs };
  const { lease, row, wasAbandoned } = claimed;
  try {
    if (row.status !== 'running' && row.status !== 'suspended') return { type: 'gone' };
    const hasCrashed = wasAbandoned && row.status === 'running';
    const { crashes, isToBlame } = hasCrashed ? await readCrashes(store, row) : { ...row, isToBlame: true };
    if (crashes >= maxCrashes + maxSuspicions || (crashes >= maxCrashes && isToBlame)) {
      const change = {
        status: 'parked',
        crashes,
        reason: whyParked(runId, crashes),
        resumeAtMs: null,
      } as const;
      const event = toEvent({ type: 'parked', body: { crashes } });
      await store.runs.append(lease, { events: [event], row: change });
      return { type: 'parked', crashes };
    }
    const event = toEvent({ type: 'taken-over', body: { crashes, beside } });
    if (hasCrashed) await store.runs.append(lease, { events: [event], row: { crashes } });
    return { type: 'fit', crashes };
  } finally {
    await giveBack(store, lease);
  }
}

interface Crashes {
  readonly crashes: number;
  /** It was carried alone, so nothing else can have ended the process. */
  readonly isToBlame: boolean;
}

async function readCrashes(store: Store, row: RunRow): Promise<Crashes> {
  const events = await store.runs.events(row.runId, { from: row.generationSeq });
  const folded = foldRun(row.runId, events, []);
  return { crashes: await countCrash(store, row, folded), isToBlame: folded.beside === 0 };
}

async function giveBack(store: Store, lease: Lease): Promise<void> {
  try {
    await store.runs.release(lease);
  } catch {
    // What was decided stands, and a lease that is not given back runs out by itself.
  }
}

function whyParked(runId: string, crashes: number): string {
  const times = crashes === 1 ? 'once' : `${crashes} times`;
  return `The process that ran "${runId}" ended ${times} before the run did. No worker resumes it: look at its last events, then resume it manually`;
}
