import { unreachable } from '../../base/assert.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { clean } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import type { Message, ToolResultPart } from '../../model/message.ts';
import { changeState } from '../change-state.ts';
import { writeInterruption, writeRecord } from '../conducted.ts';
import { addMessages } from '../turn/history.ts';
import { didBeforeFailing } from '../run-effects.ts';
import { settleCall } from '../turn/settle-call.ts';
import type { Calling, CallState, Phase, RunningTools, RunState } from '../state.ts';
import type { PreparedCall, ToolEnd } from './tool-call.ts';

type DoneCall = Extract<CallState, { type: 'done' }>;

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
  if (content.length === 0) return state;
  const did = state.config.isConducted === true ? [] : didBeforeFailing(tools.calls.flatMap(endIn));
  const told: readonly Message[] = [{ role: 'tool', content }, ...did];
  return changeState(state, { history: addMessages(state.history, tools.answer, ...told) });
}

/** What is known of a call that is a run of its own. */
function endIn(call: CallState): readonly Pick<ToolEnd, 'type' | 'name' | 'child'>[] {
  if (call.type === 'done') return [call.end];
  if (call.type !== 'waiting' || call.child === undefined) return [];
  return [{ type: 'denied', name: call.call.name, child: call.child }];
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
const notAgain = 'It was not tried again: the run was interrupted.';
const hadAsked =
  'This call had started and asked a person something. The run was interrupted before it ended: check what it did before you repeat it.';
const hadWaited =
  'This call had started and waited for something outside. The run was interrupted before it ended: check what it did before you repeat it.';
const mayHaveRun =
  'The run was interrupted while this call was running. It may or may not have happened: check before you repeat it.';

function resultOf(run: RunState, state: CallState): ToolResultPart {
  if (state.type === 'done') return resultPart(run, state);
  const { callId, name } = state.call;
  const content =
    run.config.isConducted === true
      ? writeInterruption(run.resumes ?? 0, state.type === 'waiting' ? state.child : undefined)
      : withChange(state.call, { content: whatBecame(state) });
  return { type: 'tool-result', callId, name, content, isError: true };
}

/** The result of a call, as the conversation holds it. */
export function resultPart({ config, resumes = 0 }: RunState, { call, end }: DoneCall): ToolResultPart {
  const { callId, name } = end;
  const content = config.isConducted === true ? writeRecord(end, resumes) : withChange(call, end);
  const part = { type: 'tool-result', callId, name, content } as const;
  return end.type === 'ok' ? part : { ...part, isError: true };
}

/** The model is informed of arguments that a person changed, or it would take the result for that of its own. */
function withChange(call: PreparedCall, { content }: Pick<ToolEnd, 'content'>): ToolEnd['content'] {
  if (call.type !== 'ready' || call.asked === undefined) return content;
  const changed = clean(canonicalJson(call.input), maxChangeCharacters);
  const note = `A person changed the arguments of this call before approving it. It was called with ${changed}, and this is the result of that:`;
  return typeof content === 'string' ? `${note}\n${content}` : [{ type: 'text', text: note }, ...content];
}

const maxChangeCharacters = 4000;

/** Whether the tool of an open call has asked a person something: its code had begun. */
export function hasAsked(state: Exclude<CallState, { type: 'done' }>): boolean {
  return state.call.replies !== undefined || (state.type === 'to-ask' && state.question !== undefined);
}

/** What the model reads of an interrupted call. */
export function whatBecame(state: Exclude<CallState, { type: 'done' }>): string {
  const { type, attempts } = state;
  if (type === 'running' || type === 'verifying' || type === 'in-doubt') return mayHaveRun;
  if (hasAsked(state)) return hadAsked;
  if (type === 'waiting' && state.child !== undefined) return hadWaited;
  const last = attempts.at(-1);
  return last === undefined ? neverRan : `${renderFailure(last.failure, 'model')} ${notAgain}`;
}
