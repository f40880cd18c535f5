import type { RunRow } from './store.ts';
import type { WholeRun, WholeSession } from './whole-run.ts';

/**
 * What a store can still prove of its runs by their hashes, however damaged it is. Reading it changes nothing. Whatever cannot be read,
 * or does not fit its hash, is left out and reported; nothing is guessed.
 */
export interface ProvenRecords {
  /** Every run of which anything is known, in the order of their ids. */
  readonly runIds: () => Promise<readonly string[]>;
  readonly run: (runId: string) => Promise<ProvenRun>;
  /** A content that fits its hash. */
  readonly blob: (hash: string) => Promise<string | undefined>;
  readonly sessionIds: () => Promise<readonly string[]>;
  /** A conversation that is whole; nothing where it is not. */
  readonly session: (sessionId: string) => Promise<WholeSession | undefined>;
  readonly close: () => Promise<void>;
}

/** As much of a run as its chain proves. */
export interface ProvenRun {
  /** Its events up to the first that is missing or was changed. Absent where not even the first one is proven. */
  readonly run?: WholeRun;
  /** Absent where the run is whole. */
  readonly damage?: RunDamage;
}

/** What is wrong with a run. */
export interface RunDamage {
  /** Events 1 to this one are proven; 0 where none is. */
  readonly provenSeq: number;
  /** At least so many events were written, as far as anything that is left says so. */
  readonly knownSeq: number;
  /** In words. */
  readonly reasons: readonly string[];
}

const markStart = 'salvaged ';

/** What is listed as the reason of a run whose end is lost: it is parked, and is not resumed before a person has accepted that. */
export function salvageMark({ provenSeq, knownSeq }: RunDamage): string {
  return `${markStart}${JSON.stringify({ provenSeq, knownSeq })}`;
}

/** The mark of a run whose end is lost; nothing for any other run. */
export function readSalvageMark({
  status,
  reason,
}: Pick<RunRow, 'status' | 'reason'>): Pick<RunDamage, 'provenSeq' | 'knownSeq'> | undefined {
  if (status !== 'parked' || reason?.startsWith(markStart) !== true) return undefined;
  const [provenSeq = 0, knownSeq = 0] = (reason.match(/\d+/g) ?? []).map(Number);
  return { provenSeq, knownSeq };
}
