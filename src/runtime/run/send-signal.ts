import type { NewSignal } from '../../model/store/store.ts';
import { engineError } from '../record/durable-errors.ts';
import type { RunKeeper } from '../record/run-keeper.ts';

/** Keeps a signal for a run that is not carried here. Rejects where it could not be kept: what is acknowledged is never lost. */
export async function sendSignal({ store }: RunKeeper, runId: string, signal: NewSignal): Promise<void> {
  const kept = await store.runs.signal(runId, signal);
  if (kept === 'added' || kept === 'duplicate') return;
  const why = kept === 'full' ? 'too many are waiting already' : 'it is no longer on record';
  throw engineError(`The run "${runId}" cannot take the signal "${signal.name}": ${why}`, {
    retryable: kept === 'full',
  });
}
