import { systemId } from '../../base/system.ts';
import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { ProvenRecords, RunDamage } from '../../model/store/proven.ts';
import { readSalvageMark } from '../../model/store/proven.ts';
import { showValue } from '../../model/check/show-value.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import { sameStore } from './copy-failures.ts';
import { aFunction, aSignal, checkOptions } from '../../model/check/check-options.ts';

export interface SalvageOptions {
  /** Is informed of every run. */
  readonly onProgress?: (run: SalvagedRun) => void;
  readonly signal?: AbortSignal;
}

/** What became of one run. */
export interface SalvagedRun {
  readonly runId: string;
  /**
   * `whole`: all that is known of it. `cut`: only the events that are proven; what followed may have been done, so it is parked until a
   * person accepts that. `lost`: nothing of it is proven. `there`: a run of this id is there already and was not touched.
   */
  readonly type: 'whole' | 'cut' | 'lost' | 'there';
  /** Of a run that is not whole. */
  readonly damage?: RunDamage;
}

/** What became of all. */
export interface SalvagedRuns {
  readonly whole: number;
  readonly cut: number;
  readonly lost: number;
  readonly there: number;
  readonly sessions: number;
  /** Conversations that are not whole; their messages are in the runs. */
  readonly lostSessions: number;
  /** The first thousand runs that are not whole. */
  readonly damaged: readonly SalvagedRun[];
}

/**
 * Copies every run out of a damaged store as far as its hash chain proves it, into another store. The damaged one is only read. No event
 * is changed or made up, and a run whose end is lost cannot be resumed before `acceptSalvaged`.
 *
 * @example const { whole, cut, lost } = await salvageRuns(sqlite('runs.db'), sqlite('saved.db'));
 */
export async function salvageRuns(
  from: Store,
  to: Store,
  options: SalvageOptions = {},
): Promise<SalvagedRuns> {
  const { onProgress, signal } = checkGiven(from, to, options);
  const proven = await openProven(from);
  try {
    const counts = { whole: 0, cut: 0, lost: 0, there: 0 };
    const damaged: SalvagedRun[] = [];
    for (const runId of await proven.runIds()) {
      signal?.throwIfAborted();
      const salvaged = await salvageRun(proven, to, runId);
      counts[salvaged.type] += 1;
      if (salvaged.damage !== undefined && damaged.length < maxNamed) damaged.push(salvaged);
      onProgress?.(salvaged);
    }
    return { ...counts, ...(await salvageSessions(proven, to, signal)), damaged };
  } finally {
    await proven.close();
  }
}

const maxNamed = 1000;

/** What a store can still prove. Rejects where it cannot be asked. */
export async function openProven(store: Store): Promise<ProvenRecords> {
  if (store.proven !== undefined) return store.proven();
  throw configError(`The store "${store.name}" cannot be read past damage`);
}

async function salvageRun(proven: ProvenRecords, to: Store, runId: string): Promise<SalvagedRun> {
  const { run, damage } = await proven.run(runId);
  const about = damage === undefined ? {} : { damage };
  if (run === undefined) return { runId, type: 'lost', ...about };
  for (const hash of run.blobs) {
    const content = await proven.blob(hash);
    if (content !== undefined) await to.blobs.put(content, runId);
  }
  const restored = await to.runs.restore(run);
  if (restored === 'exists') return { runId, type: 'there', ...about };
  return { runId, type: damage === undefined ? 'whole' : 'cut', ...about };
}

async function salvageSessions(
  proven: ProvenRecords,
  to: Store,
  signal: AbortSignal | undefined,
): Promise<Pick<SalvagedRuns, 'sessions' | 'lostSessions'>> {
  let [sessions, lostSessions] = [0, 0];
  for (const sessionId of await proven.sessionIds()) {
    signal?.throwIfAborted();
    const session = await proven.session(sessionId);
    if (session === undefined) lostSessions += 1;
    else if ((await to.sessions.restore(session)) === 'restored') sessions += 1;
  }
  return { sessions, lostSessions };
}

/**
 * Says that a person has looked at what a salvaged run may have done after its last proven event. From then on it can be resumed, and
 * continues from there: what was lost may be done a second time.
 */
export async function acceptSalvaged(store: Store, runId: string): Promise<void> {
  const row = await store.runs.find(runId);
  if (row === undefined) throw unknownRun(store, runId);
  if (readSalvageMark(row) === undefined)
    throw RerailError.from(
      createFailure('INVALID_STATE', {
        origin: 'storage',
        message: `The run "${runId}" was not salvaged, or was accepted before: there is nothing to accept`,
        context: { runId },
      }),
    );
  const claimed = await store.runs.claim(runId, { id: systemId(), leaseMs: 60_000 });
  if (claimed.type !== 'claimed') throw unknownRun(store, runId);
  await store.runs.append(claimed.lease, { events: [], row: { status: 'running', reason: null } });
  await store.runs.release(claimed.lease);
}

function unknownRun({ name }: Store, runId: string): RerailError {
  const message = `There is no run "${runId}" in ${name}`;
  return RerailError.from(
    createFailure('STORAGE_NOT_FOUND', { origin: 'storage', message, context: { runId } }),
  );
}

/** Refuses a run whose end is lost: what it did there cannot be known, so a person decides. */
export function refuseSalvaged(row: RunRow): void {
  const mark = readSalvageMark(row);
  if (mark === undefined) return;
  const { runId } = row;
  const { provenSeq, knownSeq } = mark;
  throw RerailError.from(
    createFailure('STORAGE_DIVERGED', {
      origin: 'storage',
      message: `The run "${runId}" was salvaged from a damaged store: events 1 to ${provenSeq} are proven, of at least ${knownSeq} that there were. What followed may have been done`,
      hint: `Look at what it did: rerail show ${runId}. If it may continue from there, accept that with acceptSalvaged(store, "${runId}") or: rerail store accept ${runId}`,
      context: { runId, provenSeq, knownSeq },
    }),
  );
}

function checkGiven(from: unknown, to: unknown, options: SalvageOptions): SalvageOptions {
  for (const [name, store] of Object.entries({ first: from, second: to })) {
    if (!isRecord(store) || !isRecord(store['runs']))
      throw configError(`salvageRuns() takes two stores; its ${name} argument is ${showValue(store)}`);
  }
  if (from === to) throw sameStore();
  checkOptions({ of: 'salvageRuns()', rules: { onProgress: aFunction, signal: aSignal } }, options);
  return options;
}
