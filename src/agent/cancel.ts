import { unreachable } from '../base/assert.ts';
import { renderFailure } from '../errors/render-failure.ts';
import type { ToolResultPart } from '../model/message.ts';
import { changeState } from './change-state.ts';
import { writeInterruption, writeRecord } from './conducted.ts';
import { addMessages } from './history.ts';
import { settleCall } from './settle-call.ts';
import type { Calling, CallState, Phase, RunningTools, RunState } from './state.ts';
import type { ToolEnd } from './tool-call.ts';

/**
 * Leaves a valid conversation and true counts behind, wherever the run is broken off: every call of the turn gets a truthful
 * result, and what the attempts of a call of a model used up is kept.
 */
export function cancelRun(state: RunState): RunState {
  const { phase } = state;
  if (phase.type === 'calling-model') return leaveCall(state, phase);
  if (phase.type === 'waiting') return leaveCall(state, phase.calling);
  const tools = openTools(phase);
  if (tools === undefined) return state;
  const content = tools.calls.map((call) => resultOf(state, call));
  return content.length === 0
    ? state
    : changeState(state, { history: addMessages(state.history, tools.answer, { role: 'tool', content }) });
}

/** Half an answer that was being continued is what there is of one. */
function leaveCall(state: RunState, { base, progress }: Calling): RunState {
  const settled = settleCall(state, progress);
  return base.trim() === '' ? settled : { ...settled, partial: base };
}

/** The calls of the turn that is under way, if there is one. */
export function openTools(phase: Phase): RunningTools | undefined {
  switch (phase.type) {
    case 'running-tools':
      return phase;
    case 'waiting-for-tools':
    case 'asking':
      return phase.tools;
    case 'suspended':
      return phase.back.type === 'calling-model' ? undefined : phase.back.tools;
    case 'calling-model':
    case 'waiting':
    case 'ended':
      return undefined;
    default:
      return unreachable(phase);
  }
}

const neverRan = 'This call was not run: the run was broken off before.';
const notAgain = 'It was not tried again: the run was broken off.';
const mayHaveRun =
  'The run was broken off while this call was under way. It may or may not have happened: check before you repeat it.';

function resultOf(run: RunState, state: CallState): ToolResultPart {
  if (state.type === 'done') return resultPart(run, state.end);
  const { callId, name } = state.call;
  const content = run.config.isConducted === true ? writeInterruption(run.resumes ?? 0) : whatBecame(state);
  return { type: 'tool-result', callId, name, content, isError: true };
}

/** The result of a call, as the conversation holds it. */
export function resultPart({ config, resumes = 0 }: RunState, end: ToolEnd): ToolResultPart {
  const { callId, name } = end;
  const content = config.isConducted === true ? writeRecord(end, resumes) : end.content;
  const part = { type: 'tool-result', callId, name, content } as const;
  return end.type === 'ok' ? part : { ...part, isError: true };
}

/** What the model is told of a call that was broken off. */
export function whatBecame({ type, attempts }: Exclude<CallState, { type: 'done' }>): string {
  if (type === 'running' || type === 'verifying' || type === 'in-doubt') return mayHaveRun;
  const last = attempts.at(-1);
  return last === undefined ? neverRan : `${renderFailure(last.failure, 'model')} ${notAgain}`;
}
