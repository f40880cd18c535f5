import type { CallProgress } from '../../resilience/call-progress.ts';
import { changeState } from '../change-state.ts';
import { noteResting } from './resting.ts';
import type { RunState } from '../state.ts';

const maxRecords = 100;

/** The call of a model is over: its time, its costs and its attempts are the run's. */
export function settleCall(state: RunState, progress: CallProgress): RunState {
  const { elapsedMs, ledger, records } = progress;
  return changeState(state, {
    resting: noteResting(state, progress),
    elapsedMs: state.elapsedMs + elapsedMs,
    ledger,
    records: append(state.records, records),
  });
}

function append(records: RunState['records'], latest: RunState['records']): RunState['records'] {
  if (records.length === 0) return latest;
  const surplus = records.length + latest.length - maxRecords;
  return surplus <= 0 ? records.concat(latest) : records.slice(surplus).concat(latest);
}
