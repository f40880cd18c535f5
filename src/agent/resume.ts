import { changeState } from './change-state.ts';
import { addMessages, lastMessage } from './history.ts';
import type { MachineEvent } from './event.ts';
import type { Moved } from './moved.ts';
import { noteMessage } from './notes.ts';
import { onAnswered } from './person.ts';
import { afterMending } from './resting.ts';
import type { RunEvent } from './run-event.ts';
import type { RunState, Suspended } from './state.ts';
import { beginTurn, callModel } from './turn.ts';
import { suspendRun } from './end.ts';

type Resumed = Extract<MachineEvent, { type: 'resumed' }>;

/** Goes on after a suspension, a failure or a cancellation. Nothing where there is nothing to go on with. */
export function resumeRun(given: RunState, event: Resumed): Moved | undefined {
  const { phase } = given;
  const { config, wallMs } = event;
  const state: RunState = changeState(given, { config, wallMs, resting: afterMending(given, config.models) });
  const resumed: RunEvent = { type: 'run-resumed', runId: state.runId, agent: event.config.agent };
  if (phase.type === 'ended') {
    return phase.end === 'failed' || phase.end === 'cancelled'
      ? beginTurn(freshStart(state), [resumed])
      : undefined;
  }
  if (phase.type !== 'suspended') return undefined;
  return fromSuspension(state, phase, { event, resumed });
}

/** What counted against the run before somebody decided to go on counts no more; what it used up does. */
function freshStart(state: RunState): RunState {
  // An answer that was not good enough is the last word where the run failed by it, and a model does not answer itself.
  const isAnswered = lastMessage(state.history)?.role === 'assistant';
  const history = isAnswered ? addMessages(state.history, noteMessage(goOn)) : state.history;
  return {
    ...state,
    history,
    tallies: { ...state.tallies, nudges: 0, reasks: 0, compactions: 0, failedTurns: 0, toolFailures: {} },
  };
}

const goOn = 'Your last answer could not be used, and the run goes on. Answer the request again.';

function fromSuspension(
  state: RunState,
  phase: Suspended,
  { event, resumed }: { readonly event: Resumed; readonly resumed: RunEvent },
): Moved {
  const { back, resumeAt } = phase;
  // Nobody may be asked before the moment that was asked for, whoever is in a hurry.
  if (resumeAt !== undefined && event.wallMs < resumeAt) return suspendRun(state, phase, []);
  if (back.type === 'calling-model') {
    const { turn, salvage, base, continuations } = back;
    const call =
      salvage === undefined ? { turn, base, continuations } : { turn, base, continuations, salvage };
    return callModel(state, call, [resumed]);
  }
  const { request } = back;
  const isExpired = request.type === 'approval' && event.wallMs >= request.expiresAt;
  if (!event.answer.given && !isExpired) return suspendRun(state, phase, []);
  const moved = onAnswered(changeState(state, { phase: back }), back, event);
  return { ...moved, actions: [{ type: 'tell', event: resumed }, ...moved.actions] };
}
