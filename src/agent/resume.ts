import { assert } from '../base/assert.ts';
import { askAbout } from './approval/ask-person.ts';
import { changeState } from './change-state.ts';
import { addMessages, lastMessage, withoutLast } from './turn/history.ts';
import type { MachineEvent } from './event.ts';
import { takeUpCalls } from './tools/left-open.ts';
import type { Moved } from './moved.ts';
import { nextStep, replaceCall } from './tools/next-step.ts';
import { noteMessage } from './notes.ts';
import { onAnswered } from './approval/person.ts';
import { renewQuestion } from './approval/renew-question.ts';
import { afterMending } from './turn/resting.ts';
import type { RunEvent } from './run-event.ts';
import type { CallAnswer, CallState, Held, RunningTools, RunState, Suspended } from './state.ts';
import { beginTurn, callModel } from './turn/turn.ts';
import { suspendRun } from './turn/end.ts';

type Resumed = Extract<MachineEvent, { type: 'resumed' }>;

/** Continues after a suspension, a failure or a cancellation. Nothing where there is nothing to continue with. */
export function resumeRun(given: RunState, event: Resumed): Moved | undefined {
  const { phase } = given;
  const { config, wallMs } = event;
  const state: RunState = changeState(given, { config, wallMs, resting: afterMending(given, config.models) });
  const resumed: RunEvent = { type: 'run-resumed', runId: state.runId, agent: event.config.agent };
  if (phase.type === 'ended') {
    if (phase.end !== 'failed' && phase.end !== 'cancelled') return undefined;
    return phase.doubt === undefined
      ? beginTurn(freshStart(state), [resumed])
      : takeUpDoubt(state, phase.doubt, resumed);
  }
  if (phase.type !== 'suspended') return undefined;
  return fromSuspension(state, phase, { event, resumed });
}

/** What counted against the run before it was resumed counts no more; what it used up does. */
function freshStart(state: RunState): RunState {
  // An answer that was not good enough is the last word where the run failed by it, and a model does not answer itself.
  const isAnswered = lastMessage(state.history)?.role === 'assistant' && state.config.isConducted !== true;
  const history = isAnswered ? addMessages(state.history, noteMessage(goOn)) : state.history;
  return {
    ...state,
    resumes: (state.resumes ?? 0) + 1,
    history,
    tallies: {
      ...state.tallies,
      nudges: 0,
      reasks: 0,
      compactions: 0,
      repeats: 0,
      failedTurns: 0,
      toolFailures: {},
    },
  };
}

/** Whether a call happened is found out before anything else, as after a crash: the model reads what is known by then. */
function takeUpDoubt(given: RunState, doubt: RunningTools, resumed: RunEvent): Moved {
  const state = freshStart(changeState(given, { history: withoutLast(given.history, resultMessages) }));
  const { tools, failures } = takeUpCalls(doubt);
  const { turn } = state;
  const told = failures.map((failure): RunEvent => ({ type: 'failure', turn, failure }));
  return nextStep(state, tools, [resumed, ...told]);
}

/** The model's answer and the results of its calls: they join the conversation again once all is known. */
const resultMessages = 2;

const goOn = 'Your last answer could not be used, and the run continues. Answer the request again.';

function fromSuspension(
  state: RunState,
  phase: Suspended,
  { event, resumed }: { readonly event: Resumed; readonly resumed: RunEvent },
): Moved {
  const { back, resumeAt } = phase;
  // No model may be asked before the moment that it named, however urgent the run is.
  if (resumeAt !== undefined && event.wallMs < resumeAt) return suspendRun(state, phase, []);
  if (back.type === 'calling-model') {
    const { turn, salvage, base, continuations } = back;
    const call =
      salvage === undefined ? { turn, base, continuations } : { turn, base, continuations, salvage };
    return callModel(state, call, [resumed]);
  }
  if (back.type === 'held') return letOn(state, back, { event, resumed });
  const { provenance } = event;
  const renewed = provenance === undefined ? undefined : renewQuestion(state, back, provenance);
  if (renewed !== undefined)
    return askAbout(state, renewed, { index: back.index, events: [resumed], provenance });
  const { request } = back;
  const isExpired = request.type === 'approval' && event.wallMs >= request.expiresAt;
  if (!event.answer.given && !isExpired) return suspendRun(state, phase, []);
  const moved = onAnswered(changeState(state, { phase: back }), back, event);
  return { ...moved, actions: [{ type: 'tell', event: resumed }, ...moved.actions] };
}

/** The call continues with what was said, or looks whether it can continue by now. */
function letOn(
  state: RunState,
  { tools, index }: Held,
  { event, resumed }: { readonly event: Resumed; readonly resumed: RunEvent },
): Moved {
  const call = tools.calls[index];
  assert(call?.type === 'waiting', `Call ${index} waits for nothing`);
  const { request } = call.wait;
  const said = event.answer;
  const here = event.provenance === undefined ? {} : { provenance: event.provenance };
  const answer: CallAnswer =
    request === undefined ? (call.answer ?? { said, ...here }) : { said, about: request.id, ...here };
  const on: CallState = { type: 'ready', call: call.call, attempts: call.attempts, answer };
  return nextStep(state, replaceCall(tools, index, on), [resumed]);
}
