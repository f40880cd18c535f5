import type { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import type { Head, Held } from './held.ts';
import type { RunRecord } from './run-record.ts';

// Two records say how far a run has come: its row, and what this process has seen of it. A server that was set back, by an old
// backup or by a failover to a standby that lagged, has both tables as they once were; only a process that has seen more notices.

/** What is known of a run. To be asked before the database is: what is written meanwhile is only there. */
export function knownHead({ heads }: Held, runId: string): Head | undefined {
  return heads.get(runId);
}

/** A run as it was found. */
export interface FoundRun {
  readonly record: RunRecord;
  /** The number of the last event that is there. */
  readonly lastSeq: number;
  readonly known: Head | undefined;
}

/** Refuses a run of which there was more, or something else; else notes how far it has come. */
export function checkHead(held: Held, found: FoundRun): void {
  const failure = findDivergence(found);
  if (failure !== undefined) throw failure;
  noteHead(held, found.record);
}

/** The same as an answer. */
export function findDivergence({ record, lastSeq, known }: FoundRun): RerailError | undefined {
  const { runId, headSeq, headHash } = record;
  if (lastSeq < headSeq) return divergedError(runId, { headSeq, seq: lastSeq });
  if (known === undefined || known.number !== record.number) return undefined;
  const isOther = headSeq === known.seq && headHash !== known.hash;
  if (headSeq < known.seq || isOther) return divergedError(runId, { headSeq: known.seq, seq: headSeq });
  return undefined;
}

/** Keeps the furthest that was seen. */
export function noteHead({ heads }: Held, { runId, number, headSeq, headHash }: RunRecord): void {
  const known = heads.get(runId);
  if (known?.number === number && known.seq > headSeq) return;
  // Moved to the end, so that the one forgotten is the one longest unused.
  heads.delete(runId);
  heads.set(runId, { number, seq: headSeq, hash: headHash });
  if (heads.size > maxHeads) heads.delete(heads.keys().next().value ?? '');
}

const maxHeads = 10_000;

/** The failure of a run that is not as far as it was. */
export function divergedError(
  runId: string,
  { headSeq, seq }: { readonly headSeq: number; readonly seq: number },
): RerailError {
  const what =
    seq < headSeq
      ? `had ${headSeq} events, of which ${seq} are there: the latest are lost`
      : `is not the one that was written: event ${headSeq} has another hash than before`;
  return storageError('STORAGE_DIVERGED', {
    message: `The run "${runId}" ${what}`,
    hint: 'An older copy was restored, or a standby that lagged has become the primary. What the lost events did has happened: restore the right data, or look at what it did and accept what is there.',
    context: { runId, headSeq, seq },
  });
}
