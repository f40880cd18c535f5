import type { RerailError } from '../../errors/rerail-error.ts';
import type { Lease } from '../../model/store/store.ts';
import { storageError } from '../common/storage-error.ts';
import { noteHead } from './head-check.ts';
import type { Held } from './held.ts';
import type { RunRecord } from './run-record.ts';

/** Keeps the state of a run that this store has given the lease of. */
export function remember(held: Held, record: RunRecord): void {
  const { runId, owner, epoch } = record;
  noteHead(held, record);
  if (owner === null) return;
  const { records, believed } = held;
  // Moved to the end, so that the one forgotten is the one longest unused.
  records.delete(runId);
  records.set(runId, record);
  if (records.size > maxRecords) records.delete(records.keys().next().value ?? '');
  const own = believed.get(owner) ?? new Map<string, number>();
  if (own.get(runId) === epoch) return;
  believed.set(owner, own.set(runId, epoch));
}

const maxRecords = 10_000;

/** Whether a run is held by this very lease. */
export function isHeldBy({ epoch, owner }: RunRecord, lease: Lease): boolean {
  return epoch === lease.epoch && owner === lease.ownerId;
}

/** The failure of the process that writes by an old lease. */
export function leaseLost({ runId, ownerId, epoch }: Lease, current: RunRecord): RerailError {
  const holder =
    current.owner === null ? 'no process has it' : `"${current.owner}" has it by epoch ${current.epoch}`;
  return storageError('STORAGE_LOCKED', {
    message: `Cannot write to the run "${runId}": "${ownerId}" held it by epoch ${epoch}, and holds it no longer; ${holder}`,
    hint: 'Another process has taken the run over, or this one gave it back. Nothing was written; stop working on it here.',
    // The same lease never becomes the current one again.
    retryable: false,
    context: { runId, leaseLost: true, epoch, currentEpoch: current.epoch },
  });
}

/** The failure of the process that writes to a run that is not there. */
export function goneError(runId: string): RerailError {
  return storageError('STORAGE_NOT_FOUND', {
    message: `Cannot write to the run "${runId}": the store does not have it`,
    hint: 'It was never started here, or it has been removed. Look for it in the list of runs.',
    context: { runId },
  });
}
