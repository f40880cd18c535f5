import type { NewEvent, RunRow, Store, StoredEvent } from '../../model/store/store.ts';
import { at } from '../record/run-blobs.ts';

/** As many as a family may have: see `family.ts`. */
const maxChildren = 1000;

/** All runs below a run, at every depth, in the order of their names. At most a thousand. */
export async function readBelow(store: Store, runId: string): Promise<readonly RunRow[]> {
  const { runs } = await store.runs.list({ below: runId, limit: maxChildren });
  return runs.toSorted((one, other) => (one.runId < other.runId ? -1 : 1));
}

/** How many entries the runs below have written since then; no further than is asked for. */
export async function countEntriesBelow(
  store: Store,
  runId: string,
  { sinceMs, atMost }: { readonly sinceMs: number; readonly atMost: number },
): Promise<number> {
  let count = 0;
  for (const child of await readBelow(store, runId)) {
    if (child.updatedAtMs < sinceMs) continue;
    const events = await store.runs.events(child.runId, { from: child.generationSeq });
    count += events.filter(({ type, atMs }) => entryTypes.has(type) && atMs > sinceMs).length;
    if (count >= atMost) break;
  }
  return count;
}

const entryTypes: ReadonlySet<string> = new Set(['call', 'sleep', 'wait']);

/** What a record says of a run below it. */
export interface ChildMention {
  /** How often it says how that run ended or what it waits for. */
  readonly times: number;
  /** When it said so last. Milliseconds since 1970. */
  readonly atMs: number;
}

/** The runs directly below, by their names, as far as the events tell of them. */
export function childrenIn(events: readonly StoredEvent[]): ReadonlyMap<string, ChildMention> {
  const found = new Map<string, ChildMention>();
  for (const event of events) {
    const runId = childIdIn(event);
    if (runId === undefined) continue;
    found.set(runId, { times: (found.get(runId)?.times ?? 0) + 1, atMs: event.atMs });
  }
  return found;
}

/** The run that a call was, where the event is the end of such a call. */
function childIdIn({ type, body }: NewEvent): string | undefined {
  const runId = type === 'call' ? at(body, ['outcome', 'value', 'end', 'child', 'runId']) : undefined;
  return typeof runId === 'string' ? runId : undefined;
}

/**
 * A run's events as they were when the one above was informed of it: up to that end or wait. By the time, and by the count where all of
 * it happened in the same millisecond.
 */
export function eventsAsTold(
  events: readonly StoredEvent[],
  { times, atMs }: ChildMention,
): readonly StoredEvent[] {
  const ends = events.filter((event) => outcomeTypes.has(event.type) && event.atMs <= atMs);
  const last = ends[Math.min(times, ends.length) - 1];
  return last === undefined ? [] : events.slice(0, last.seq);
}

const outcomeTypes: ReadonlySet<string> = new Set(['ended', 'suspended']);
