import type { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import { encodeText } from '../common/stored-text.ts';
import { getRow } from './held.ts';
import type { Connection, Held } from './held.ts';
import type { RunRecord } from './run-record.ts';

/** Refuses a run whose record of the head says that there was more of it, or something else. */
export function checkHead(held: Held, connection: Connection, found: FoundRun): void {
  const failure = findDivergence(held, connection, found);
  if (failure !== undefined) throw failure;
}

/** A run that was looked for. */
export interface FoundRun {
  readonly runId: string;
  readonly record: RunRecord | undefined;
}

/** The same as an answer. The record must have been read before the row was. */
export function findDivergence(
  { heads }: Held,
  connection: Connection,
  { runId, record }: FoundRun,
): RerailError | undefined {
  const head = heads.known.get(runId);
  const seq = record?.headSeq ?? 0;
  if (head !== undefined && seq < head.seq) return divergedError(runId, head.seq, seq);
  if (record === undefined) return undefined;
  const lastSeq = readLastSeq(connection, runId);
  if (lastSeq < seq) return divergedError(runId, seq, lastSeq);
  if (head === undefined || head.seq === 0) return undefined;
  const hash = seq === head.seq ? record.headHash : readHash(connection, runId, head.seq);
  return hash === head.hash ? undefined : divergedError(runId, head.seq, seq);
}

/** The number of the last event that is there, 0 where there is none. */
export function readLastSeq(connection: Connection, runId: string): number {
  const row = getRow(connection, 'SELECT max(seq) AS last FROM events WHERE run_id = ?', [encodeText(runId)]);
  return Number(row?.['last'] ?? 0);
}

/** The hash of one event, as it is kept. */
export function readHash(connection: Connection, runId: string, seq: number): string | undefined {
  const row = getRow(connection, 'SELECT hash FROM events WHERE run_id = ? AND seq = ?', [
    encodeText(runId),
    seq,
  ]);
  return row === undefined ? undefined : String(row['hash']);
}

function divergedError(runId: string, headSeq: number, seq: number): RerailError {
  const what =
    seq < headSeq
      ? `had ${headSeq} events, of which ${seq} are there: the latest are lost`
      : `is not the one that was written: event ${headSeq} has another hash than its record says`;
  return storageError('STORAGE_DIVERGED', {
    message: `The run "${runId}" ${what}`,
    hint: 'An older copy was restored, or the -wal is missing or cut. What the lost events did has happened: restore the right files, or look at what it did and accept what is there.',
    context: { runId, headSeq, seq },
  });
}
