import { changeState } from '../change-state.ts';
import type { Rung } from '../conducted.ts';
import type { RunRecovery } from '../run-outcome.ts';
import type { FailedCall, RunState } from '../state.ts';

const maxRecoveries = 100;
/** Failures that wait for an answer to show that they were overcome; of more only the last. */
export const maxPending = 100;

/** Failures that were overcome, at the end of those before. */
export function addRecoveries(state: RunState, overcome: readonly RunRecovery[]): RunState {
  if (overcome.length === 0) return state;
  return changeState(state, { recoveries: [...state.recoveries, ...overcome].slice(-maxRecoveries) });
}

/** What a flow or a plan went on after was overcome once it comes to an answer. */
export function awaitEnd(state: RunState, turn: number, rungs: readonly Rung[]): RunState {
  const { tallies } = state;
  const awaited = rungs.map(({ failure, recovery, lostMs = 0 }): RunRecovery => ({
    failure,
    recovery,
    attempts: 1,
    lostMs,
    lostTokens: 0,
    turn,
  }));
  const pending = [...tallies.pending, ...awaited].slice(-maxPending);
  return changeState(state, { tallies: { ...tallies, pending } });
}

/** The attempts at a call that failed before it was settled well. */
export function overcomeCalls(turn: number, attempts: readonly FailedCall[]): readonly RunRecovery[] {
  return attempts.map(({ failure, recovery, lostMs }, index) => ({
    failure,
    recovery,
    attempts: index + 1,
    lostMs,
    lostTokens: 0,
    turn,
  }));
}
