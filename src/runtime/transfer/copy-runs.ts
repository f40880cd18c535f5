import { systemId } from '../../base/system.ts';
import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import type { Failure } from '../../errors/failure.ts';
import { showValue } from '../../model/check/show-value.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import { sameStore } from './copy-failures.ts';
import { copyFamily } from './copy-family.ts';
import type { Copying } from './copy-family.ts';
import { copySessions, removeSessions } from './copy-sessions.ts';
import { aFlag, aFunction, aSignal, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';

export interface CopyOptions {
  /** Only these runs, each with those below it; all by default. */
  readonly runIds?: readonly string[];
  /**
   * Whether what was copied, and read again over there, is removed here: that is how a run moves. Without it only runs that have ended
   * are copied, for one that can continue at two places does everything twice.
   */
  readonly remove?: boolean;
  /**
   * Both stores are yours, and what is in the first one was written by programs of yours: approvals and answers in it count over there.
   * By default they do not, and what they were about is asked again.
   */
  readonly trusted?: boolean;
  /** Is informed of every run. */
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly signal?: AbortSignal;
}

/** What became of one run. */
export type CopyProgress =
  /** `there`: it had been copied before. */
  | { readonly type: 'copied' | 'there'; readonly runId: string }
  /** It was not copied, and stays where it was. */
  | { readonly type: 'left'; readonly runId: string; readonly failure: Failure };

/** What became of all. Runs below others are not counted. */
export interface CopiedRuns {
  readonly copied: number;
  readonly there: number;
  readonly removed: number;
  /** Conversations that were written, or added to. */
  readonly sessions: number;
  /** So many were not copied. */
  readonly leftCount: number;
  /** The first thousand of them, with why. */
  readonly left: readonly LeftRun[];
}

/** A run that was not copied. */
export interface LeftRun {
  readonly runId: string;
  readonly failure: Failure;
}

/**
 * Copies runs from one store to another as they are, to the hash: with their conversations, contents and signals, and with their child runs.
 * Rights stay behind unless `trusted` says otherwise. Only what no process runs. May be repeated after whatever went wrong; a run that is there with other events is left.
 *
 * @example await copyRuns(sqlite('runs.db'), postgres('postgres://db.internal/agents'), { remove: true });
 */
export async function copyRuns(from: Store, to: Store, options: CopyOptions = {}): Promise<CopiedRuns> {
  checkGiven(from, to, options);
  const { remove = false, trusted = false, signal } = options;
  const copying: Copying = { from, to, remove, trusted, signal, owner: { id: systemId(), leaseMs } };
  const sessions = await copySessions(copying, await sessionIdsOf(from, options));
  const counts = { copied: 0, there: 0, removed: 0, leftCount: 0 };
  const left: LeftRun[] = [];
  for await (const row of rowsOf(from, options)) {
    signal?.throwIfAborted();
    const { runId } = row;
    const failure = sessions.refused.get(row.sessionId ?? '');
    const end = failure === undefined ? await copyFamily(copying, row) : ({ type: 'left', failure } as const);
    if (end.type === 'left') {
      counts.leftCount += 1;
      if (left.length < maxNamed) left.push({ runId, failure: end.failure });
    } else {
      counts[end.type] += 1;
      counts.removed += remove ? 1 : 0;
    }
    options.onProgress?.({ ...end, runId });
  }
  if (remove) await removeSessions(copying, sessions.copies);
  return { ...counts, sessions: sessions.written, left };
}

/** Renewed before anything is removed: a process that dies meanwhile blocks a run no longer than this. */
const leaseMs = 600_000;
const maxNamed = 1000;

function checkGiven(from: unknown, to: unknown, options: CopyOptions): void {
  for (const [name, store] of Object.entries({ first: from, second: to })) {
    if (!isRecord(store) || !isRecord(store['runs']))
      throw configError(`copyRuns() takes two stores; its ${name} argument is ${showValue(store)}`);
  }
  if (from === to) throw sameStore();
  checkOptions({ of: 'copyRuns()', rules: optionRules }, options);
}

const optionRules: Readonly<Record<keyof CopyOptions, OptionRule>> = {
  runIds: {
    isLegal: (value) => Array.isArray(value) && value.every((id) => typeof id === 'string'),
    expected: 'a list of ids',
  },
  remove: aFlag,
  trusted: aFlag,
  onProgress: aFunction,
  signal: aSignal,
};

/** Page by page. Those below come with the ones above. */
async function* rowsOf(from: Store, { runIds, signal }: CopyOptions): AsyncGenerator<RunRow> {
  if (runIds !== undefined) {
    for (const runId of new Set(runIds)) {
      const row = await from.runs.find(runId);
      // One that was moved before is not here any more.
      if (row !== undefined) yield row;
    }
    return;
  }
  let cursor: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await from.runs.list({
      below: false,
      limit: pageRuns,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.runs;
    cursor = page.next;
  } while (cursor !== undefined);
}

const pageRuns = 100;

/** The conversations of the runs that were named; nothing means all. */
async function sessionIdsOf(from: Store, options: CopyOptions): Promise<ReadonlySet<string> | undefined> {
  if (options.runIds === undefined) return undefined;
  const ids = new Set<string>();
  for await (const { sessionId } of rowsOf(from, options)) if (sessionId !== undefined) ids.add(sessionId);
  return ids;
}
