import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { hasAsked, openTools, whatBecame } from './cancel.ts';
import type { CallState, LeftOpen, Phase, ReadyCall, RunningTools } from '../state.ts';
import type { ToolEnd } from './tool-call.ts';

/** What stays open where a run is broken off: a turn with a call of which it is unknown whether it happened. */
export function leftOpen(phase: Phase): LeftOpen {
  const tools = openTools(phase);
  return tools?.calls.some(isDoubtful) === true ? { doubt: tools } : nothing;
}

const nothing: LeftOpen = {};

function isDoubtful(state: CallState): boolean {
  if (state.type === 'in-doubt' || state.type === 'verifying') return true;
  return state.type === 'running' && state.call.effect === 'once';
}

/** The calls of a turn that was broken off, as a process resumes them, and the failures that are news. */
export interface TakenUp {
  readonly tools: RunningTools;
  readonly failures: readonly Failure[];
}

/** What may have happened is in doubt. What was interrupted before it began is not begun: the model may ask for it again. */
export function takeUpCalls({ answer, calls }: RunningTools): TakenUp {
  const taken = calls.map(takeUp);
  const failures = taken.flatMap((state) =>
    state.type === 'in-doubt' && state.end.failure !== undefined ? [state.end.failure] : [],
  );
  return { tools: { type: 'running-tools', answer, calls: taken }, failures };
}

function takeUp(state: CallState): CallState {
  if (state.type === 'done' || state.type === 'in-doubt') return state;
  const { call, attempts } = state;
  if (state.type === 'verifying')
    return { type: 'in-doubt', call, attempts, end: state.end, isVerified: false };
  if (isDoubtful(state)) return { type: 'in-doubt', call, attempts, end: unseenEnd(call), isVerified: false };
  return { type: 'done', call, end: brokenOffEnd(call, state) };
}

function unseenEnd({ callId, name }: ReadyCall): ToolEnd {
  const failure = createFailure('UNKNOWN_OUTCOME', {
    origin: 'tool',
    message: `The run was interrupted while "${name}" was called, and the end of the call was not recorded`,
    sideEffect: 'possible',
    context: { tool: name },
  });
  const content = renderFailure(failure, 'model');
  return { callId, name, type: 'unknown', content, failure, resultHash: 'unknown', durationMs: 0 };
}

/** Of the type `denied`: it says nothing about the tool, which is not to be blamed for it. */
function brokenOffEnd({ callId, name }: ReadyCall, state: Exclude<CallState, { type: 'done' }>): ToolEnd {
  const isRunning = state.type === 'running';
  const failure = createFailure('CANCELLED', {
    origin: 'tool',
    message: `The run was interrupted ${isRunning ? 'while' : 'before'} "${name}" was called`,
    sideEffect: isRunning || hasAsked(state) ? 'possible' : 'none',
    context: { tool: name },
  });
  const content = whatBecame(state);
  return { callId, name, type: 'denied', content, failure, resultHash: 'broken-off', durationMs: 0 };
}
