import { assert } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import type { Json } from '../../base/json.ts';
import { deepFreeze } from '../../base/plain-copy.ts';
import { createFailure } from '../../errors/failure.ts';
import { countRejection, judgeApproval, judgeVerification, readAnswer, rejectionText } from './approval.ts';
import type { Asking } from './ask-person.ts';
import { callAgain } from '../tools/call-again.ts';
import { callHash } from './call-hash.ts';
import { callWarning } from './call-warning.ts';
import { changeState } from '../change-state.ts';
import { suspendRun } from '../turn/end.ts';
import type { PersonAnswer } from '../event.ts';
import type { Moved } from '../moved.ts';
import type { Provenance } from './provenance.ts';
import { nextStep, replaceCall } from '../tools/next-step.ts';
import { readFields, readReply } from './person-answer.ts';
import { changedField } from './run-answer.ts';
import { addRecoveries, overcomeCalls } from '../turn/overcome.ts';
import type { RunEvent } from '../run-event.ts';
import type { PersonRequest, SuspendReason } from '../run-outcome.ts';
import type { CallState, ReadyCall, RunState } from '../state.ts';
import type { ToolEnd } from '../tools/tool-call.ts';

/** No one can be asked here: the run is suspended. */
export function onAbsent(state: RunState, asking: Asking): Moved {
  const { request } = asking;
  return suspendRun(state, { type: 'suspended', reason: suspensionOf(request), request, back: asking }, []);
}

/** What a run waits for that puts this question. */
export function suspensionOf({ type }: PersonRequest): SuspendReason {
  return reasons[type];
}

const reasons = {
  approval: 'approval',
  'in-doubt': 'in-doubt',
  question: 'clarification',
  mend: 'approval',
} as const satisfies Record<PersonRequest['type'], SuspendReason>;

interface Answered {
  readonly answer: PersonAnswer;
  readonly wallMs: number;
  /** Of a run that came from elsewhere: it was answered here. */
  readonly provenance?: Provenance;
}

/** A person answered, or did not in time. No answer, a late one and an unreadable one are a no. */
export function onAnswered(given: RunState, asking: Asking, { answer, wallMs, provenance }: Answered): Moved {
  // The next question stands as long as any other, however long this one took.
  const state: RunState = changeState(given, { wallMs: Math.max(given.wallMs, wallMs) });
  const { tools, index, request } = asking;
  const asked = tools.calls[index];
  const value = answer.given ? answer.value : undefined;
  if (request.type === 'in-doubt') return onFoundOut(state, asking, { request, value });
  if (request.type === 'question') return onReplied(state, asking, { id: request.id, value, provenance });
  assert(request.type === 'approval' && asked?.type === 'to-ask', `No question is open about call ${index}`);
  // No person has answered: that is as late as an answer can be.
  const judged = judgeApproval(request, value, { atMs: answer.given ? wallMs : Infinity, call: asked.call });
  const { verdict, reason } = judged;
  const answered: RunEvent = { type: 'approval-answered', id: request.id, verdict, reason };
  const { attempts } = asked;
  const call = provenance === undefined ? asked.call : { ...asked.call, provenance };
  if (judged.verdict === 'yes') {
    const changed = readFields(value, [changedField])?.get(changedField);
    const approved = changed === undefined ? call : changeCall(state, call, changed as Json); // It was taken as JSON.
    const { input, hash, asked: before } = approved;
    const event = before === undefined ? answered : { ...answered, changed: { asked: before, input, hash } };
    const ready: CallState = { type: 'ready', call: approved, attempts };
    return nextStep(state, replaceCall(tools, index, ready), [event]);
  }
  const end = deniedEnd(call, rejectionText(call.name, judged), judged);
  const rejections = countRejection(state.tallies.rejections, { hash: call.hash, kind: judged.kind });
  const rejected = changeState(state, { tallies: { ...state.tallies, rejections } });
  const { callId, name } = call;
  const finished: RunEvent = { type: 'tool-finished', turn: state.turn, attempt: 0, end, callId, name };
  return nextStep(rejected, replaceCall(tools, index, { type: 'done', call, end }), [answered, finished]);
}

/** A person approved other arguments than the model gave. What was asked about stays on record beside them. */
function changeCall({ config }: RunState, call: ReadyCall, input: Json): ReadyCall {
  const { callId, type, name, hash, effect, permission, why, repeats, onError, replies, provenance } = call;
  return {
    callId,
    type,
    name,
    effect,
    permission,
    input: deepFreeze(input),
    hash: callHash({ name, input, level: config.tools[name]?.level }),
    asked: { input: call.input, hash },
    ...defined({ why, repeats, onError, replies, provenance, warning: callWarning(name, input) }),
  };
}

interface Replied {
  readonly id: string;
  readonly value: unknown;
  readonly provenance: Provenance | undefined;
}

/** A person has answered the question of a tool. Without readable words, the question stands. */
function onReplied(state: RunState, asking: Asking, { id, value, provenance }: Replied): Moved {
  const { tools, index } = asking;
  const asked = tools.calls[index];
  assert(asked?.type === 'to-ask' && asked.question !== undefined, `Call ${index} asks nothing`);
  const { call, attempts, question } = asked;
  const text = readReply(value);
  if (text !== undefined) {
    const reply = { ...question, text, ...defined({ provenance }) };
    const replied = { ...call, replies: [...(call.replies ?? []), reply] };
    const answered: RunEvent = {
      type: 'approval-answered',
      id,
      verdict: 'answered',
      reason: 'a person answered',
    };
    return nextStep(state, replaceCall(tools, index, { type: 'ready', call: replied, attempts }), [answered]);
  }
  const verdict = readAnswer(value);
  if (verdict.verdict !== 'no' || verdict.kind !== 'said-no') return onAbsent(state, asking);
  const { name, callId } = call;
  const content = `The tool "${name}" asked a person something, and the person declined to answer. ${verdict.reason}.`;
  const end = deniedEnd(call, content, verdict);
  const answered: RunEvent = { type: 'approval-answered', id, verdict: 'no', reason: verdict.reason };
  const finished: RunEvent = { type: 'tool-finished', turn: state.turn, attempt: 0, end, callId, name };
  return nextStep(state, replaceCall(tools, index, { type: 'done', call, end }), [answered, finished]);
}

/** A call that was not allowed, as the model reads it. */
function deniedEnd(
  { callId, name }: ReadyCall,
  content: string,
  { reason, comment }: { readonly reason: string; readonly comment?: string },
): ToolEnd {
  const failure = createFailure('PERMISSION_DENIED', {
    origin: 'tool',
    message: `The call of "${name}" was not approved: ${reason}`,
    sideEffect: 'none',
    context: comment === undefined ? { tool: name } : { tool: name, comment },
  });
  return { callId, name, type: 'denied', content, failure, resultHash: 'denied', durationMs: 0 };
}

interface FoundOut {
  readonly request: Extract<PersonRequest, { type: 'in-doubt' }>;
  readonly value: unknown;
}

/** A person looked whether it happened. */
function onFoundOut(given: RunState, { tools, index }: Asking, { request, value }: FoundOut): Moved {
  const asked = tools.calls[index];
  assert(asked?.type === 'in-doubt', `Call ${index} is not in doubt`);
  const found = judgeVerification(request, value);
  const reason = 'a person looked';
  const answered: RunEvent = { type: 'approval-answered', id: request.id, verdict: found.type, reason };
  const after = foundCall(given, asked, found);
  const moved = replaceCall(tools, index, after);
  if (after.type !== 'done') return nextStep(given, moved, [answered]);
  const { end } = after;
  const { callId, name } = end;
  const { turn } = given;
  const attempt = asked.attempts.length + 1;
  const state = end.type === 'ok' ? addRecoveries(given, overcomeCalls(turn, doubtsOf(asked))) : given;
  return nextStep(state, moved, [answered, { type: 'tool-finished', turn, attempt, end, callId, name }]);
}

type InDoubt = Extract<CallState, { type: 'in-doubt' }>;

function foundCall(state: RunState, asked: InDoubt, found: ReturnType<typeof judgeVerification>): CallState {
  const { call, end } = asked;
  if (found.type === 'did-not-happen') return callAgain(state, asked, { end, recovery: 'ask-person' });
  if (found.type === 'unknown') return { type: 'done', call, end };
  const { callId, name } = call;
  const content = happenedText(found.result);
  const happened = { callId, name, content, resultHash: `happened:${callId}`, durationMs: 0 };
  return { type: 'done', call, end: { ...happened, type: 'ok' } };
}

/** The attempts before, and the one that was in doubt. */
function doubtsOf({ attempts, end }: InDoubt): InDoubt['attempts'] {
  if (end.failure === undefined) return attempts;
  return [...attempts, { failure: end.failure, recovery: 'ask-person', lostMs: end.durationMs }];
}

function happenedText(result: unknown): string {
  if (result === undefined || result === null)
    return 'It happened: a person checked. Its result is not known.';
  return typeof result === 'string' ? result : JSON.stringify(result);
}
