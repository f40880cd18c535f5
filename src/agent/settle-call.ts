import type { CallProgress } from '../resilience/call-progress.ts';
import { noteResting } from './resting.ts';
import type { RunState } from './state.ts';

const maxRecords = 100;

/** The call of a model is over: its time, its costs and its attempts are the run's. */
export function settleCall(state: RunState, progress: CallProgress): RunState {
  const { elapsedMs, ledger, records } = progress;
  return {
    ...state,
    resting: noteResting(state, progress),
    elapsedMs: state.elapsedMs + elapsedMs,
    ledger,
    records: state.records.length === 0 ? records : [...state.records, ...records].slice(-maxRecords),
  };
}
