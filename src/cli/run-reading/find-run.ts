import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { parentIdOf } from '../../model/store/run-tree.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import { quote, usageError } from '../text/usage-error.ts';
import { agoText, momentText, shellWord, statusWords } from './run-words.ts';

/** What is needed to say what to type next. */
export interface FindOptions {
  readonly command: string;
  /** ` --store runs.db`, or nothing. */
  readonly storeFlag: string;
  readonly nowMs: number;
}

/**
 * Finds a run by its id or by the first letters of it. Rejects with `STORAGE_NOT_FOUND` (exit code 30) where there is none, and with
 * a `CONFIG_ERROR` (2) that lists them where there are several.
 */
export async function findRunByPrefix(store: Store, typed: string, options: FindOptions): Promise<RunRow> {
  const whole = typed === '' ? undefined : await store.runs.find(typed);
  if (whole !== undefined) return whole;
  const { found, isAll } = typed === '' ? { found: [], isAll: true } : await searchIds(store, typed);
  const [first, second] = found;
  if (first === undefined) throw unknownRun({ store, typed, isAll }, options);
  if (second === undefined) return first;
  throw ambiguous(typed, found, options);
}

/** The page of a store that is read at once, and how many of them a prefix is looked for in. */
const pageRuns = 1000;
const maxPages = 20;
/** Enough to see that it is ambiguous, and to choose. */
const maxFound = 6;

interface Found {
  readonly found: readonly RunRow[];
  /** Every run was looked at. */
  readonly isAll: boolean;
}

async function searchIds(store: Store, prefix: string): Promise<Found> {
  const found: RunRow[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { runs, next } = await store.runs.list({
      limit: pageRuns,
      // The first letters of a flow's name are also those of the runs below it: it is the flow that is meant.
      ...(prefix.includes('/') ? {} : { below: false }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...runs.filter(({ runId }) => runId.startsWith(prefix)));
    if (next === undefined) return { found, isAll: true };
    if (found.length >= maxFound) break;
    cursor = next;
  }
  return { found, isAll: false };
}

interface Missed {
  readonly store: Store;
  readonly typed: string;
  readonly isAll: boolean;
}

function unknownRun({ store, typed, isAll }: Missed, { command, storeFlag }: FindOptions): RerailError {
  const among = isAll
    ? ''
    : ` among the latest ${pageRuns * maxPages} runs; type its whole id to look further`;
  return RerailError.from(
    createFailure('STORAGE_NOT_FOUND', {
      origin: 'storage',
      message: `There is no run ${quote(typed)} in ${store.name}${among}`,
      hint: `List the runs that are there: ${command} runs${storeFlag}`,
      context: { runId: typed },
    }),
  );
}

function ambiguous(typed: string, found: readonly RunRow[], { nowMs }: FindOptions): RerailError {
  const shown = found.slice(0, maxFound - 1);
  const list = shown
    .map((row) => `${row.runId} (${statusWords(row).text}, ${agoText(row.createdAtMs, nowMs)})`)
    .join('; ');
  const more = found.length > shown.length ? '; and more' : '';
  return usageError({
    message: `Several runs begin with ${quote(typed)}: ${list}${more}`,
    hint: 'Type more letters of the one that you mean',
  });
}

/** A run that has ended in a way that cannot be resumed. */
export function finishedRun(row: RunRow, { command, storeFlag, nowMs }: FindOptions): RerailError {
  const { runId, updatedAtMs } = row;
  return RerailError.from(
    createFailure('INVALID_STATE', {
      origin: 'agent',
      message: `The run "${runId}" has ended (${statusWords(row).text}, ${agoText(updatedAtMs, nowMs)}): nothing was done`,
      hint: `See how it ended: ${command} show ${shellWord(runId)}${storeFlag}`,
      context: { runId },
    }),
  );
}

/** A run that another process runs: which, and until when. */
export function runInUse({ runId, owner }: RunRow, { command, storeFlag }: FindOptions): RerailError {
  const who = owner === undefined ? 'another process' : `another process (${owner.id})`;
  const untilMs = owner?.untilMs ?? 0;
  return RerailError.from(
    createFailure('STORAGE_LOCKED', {
      origin: 'storage',
      message: `The run "${runId}" is running in ${who}, until ${momentText(untilMs)} at least`,
      hint: `Wait for that process, or stop the run: ${command} cancel ${shellWord(runId)}${storeFlag}`,
      context: { runId, untilMs },
    }),
  );
}

const wholeIdLength = 24;
const leastLength = 8;
const leastAmongMany = 12;

/**
 * The shortest beginnings of ids that name one run only. Short ids are left whole; where a store holds more runs than are
 * looked at, a few letters more make a mistake improbable.
 */
export async function shortIdsOf(
  store: Store,
  runs: readonly RunRow[],
): Promise<ReadonlyMap<string, string>> {
  if (runs.every(({ runId }) => runId.length <= wholeIdLength))
    return new Map(runs.map(({ runId }) => [runId, runId]));
  const { runs: others, next } = await store.runs.list({ limit: pageRuns, below: false });
  const tops = runs.filter((row) => parentIdOf(row) === undefined);
  const ids = [...new Set([...tops, ...others].map(({ runId }) => runId))].toSorted();
  const least = next === undefined ? leastLength : leastAmongMany;
  const lengths = new Map(
    ids.map((id, index) => {
      const alike = Math.max(sharedLength(id, ids[index - 1]), sharedLength(id, ids[index + 1]));
      return [id, Math.max(least, alike + 1)] as const;
    }),
  );
  return new Map(
    runs.map(({ runId }) => {
      const isShort = runId.length <= wholeIdLength;
      return [runId, isShort ? runId : runId.slice(0, lengths.get(runId) ?? runId.length)];
    }),
  );
}

function sharedLength(one: string, other: string | undefined): number {
  if (other === undefined) return 0;
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}
