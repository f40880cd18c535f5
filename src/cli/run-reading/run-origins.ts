import type { FailureCode } from '../../errors/codes.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import { arrivalTypes, provenanceIn } from '../../runtime/record/stored-run.ts';
import { toOrigin } from './read-run.ts';
import type { RunOrigin } from './run-reading.ts';

/**
 * Where listed runs came from; those that were created here are absent. Only events that say so are read, where the store finds them.
 * Runs that are found damaged by that are added to `damaged`.
 */
export async function readOrigins(
  { runs }: Store,
  rows: readonly RunRow[],
  damaged = new Set<string>(),
): Promise<ReadonlyMap<string, RunOrigin>> {
  const ids = rows.map(({ runId }) => runId);
  const found = await readIfWhole(async () => runs.latestOf?.(ids, arrivalTypes));
  const origins = new Map<string, RunOrigin>();
  for (const { runId, createdAtMs } of rows) {
    const seq = found?.get(runId);
    if (found !== undefined && seq === undefined) continue;
    const events = await readIfWhole(() =>
      runs.events(runId, seq === undefined ? {} : { from: seq, to: seq }),
    );
    if (events === undefined) damaged.add(runId);
    // An arrival that can no longer be read is still one: the strictest kind.
    const unreadable = found === undefined ? undefined : ({ type: 'imported', atMs: createdAtMs } as const);
    const origin = events === undefined ? unreadable : toOrigin(provenanceIn(events));
    if (origin !== undefined) origins.set(runId, origin);
  }
  return origins;
}

/** Which of them are damaged. Every event of each is read and held against its chain. */
export async function findDamaged({ runs }: Store, rows: readonly RunRow[]): Promise<Set<string>> {
  const damaged = new Set<string>();
  for (const { runId, headSeq } of rows)
    if ((await readIfWhole(() => runs.events(runId, { to: headSeq }))) === undefined) damaged.add(runId);
  return damaged;
}

/** A damaged run is listed as the others are. */
async function readIfWhole<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (RerailError.isInstance(error) && damages.includes(error.failure.code)) return undefined;
    throw error;
  }
}

const damages: readonly FailureCode[] = ['STORAGE_CORRUPT', 'STORAGE_DIVERGED'];
