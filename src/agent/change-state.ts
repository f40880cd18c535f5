import type { RunState } from './state.ts';

/**
 * The same run with some of it changed. Field by field and not by spreading, for which engines take ten times as long; and so
 * that all states have one shape, whatever was changed.
 */
export function changeState(state: RunState, changes: Partial<RunState>): RunState {
  const copy: { -readonly [Key in keyof RunState]: RunState[Key] } = {
    runId: state.runId,
    config: state.config,
    history: state.history,
    phase: state.phase,
    turn: state.turn,
    toolCalls: state.toolCalls,
    elapsedMs: state.elapsedMs,
    wallMs: state.wallMs,
    ledger: state.ledger,
    recoveries: state.recoveries,
    records: state.records,
    partial: state.partial,
    guard: state.guard,
    breakers: state.breakers,
    resting: state.resting,
    withdrawn: state.withdrawn,
    tallies: state.tallies,
  };
  // These are rare, and a state without them must stay one without them.
  if (state.taskLength !== undefined) copy.taskLength = state.taskLength;
  if (state.toolChoice !== undefined) copy.toolChoice = state.toolChoice;
  if (state.resumes !== undefined) copy.resumes = state.resumes;
  if (state.children !== undefined) copy.children = state.children;
  if (state.below !== undefined) copy.below = state.below;
  if (state.remembered !== undefined) copy.remembered = state.remembered;
  if (state.adopted !== undefined) copy.adopted = state.adopted;
  if (state.provenance !== undefined) copy.provenance = state.provenance;
  return Object.assign(copy, changes);
}
