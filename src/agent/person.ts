import { assert } from '../base/assert.ts';
import { createFailure } from '../errors/failure.ts';
import { countRejection, judgeApproval, judgeVerification, rejectionText } from './approval.ts';
import type { Asking } from './ask-person.ts';
import { callAgain } from './call-again.ts';
import { changeState } from './change-state.ts';
import { suspendRun } from './end.ts';
import type { PersonAnswer } from './event.ts';
import type { Moved } from './moved.ts';
import type { Provenance } from './provenance.ts';
import { nextStep, replaceCall } from './next-step.ts';
import { addRecoveries, overcomeCalls } from './overcome.ts';
import type { RunEvent } from './run-event.ts';
import type { PersonRequest } from './run-outcome.ts';
import type { CallState, ReadyCall, RunState } from './state.ts';
import type { ToolEnd } from './tool-call.ts';

/** Nobody here can be asked: the run waits outside the process. */
export function onAbsent(state: RunState, asking: Asking): Moved {
  const { request } = asking;
  const reason = request.type === 'in-doubt' ? 'in-doubt' : 'approval';
  return suspendRun(state, { type: 'suspended', reason, request, back: asking }, []);
}

interface Answered {
  readonly answer: PersonAnswer;
  readonly wallMs: number;
  /** Of a run that came from elsewhere: it was answered here. */
  readonly provenance?: Provenance;
}

/** Somebody answered, or did not in time. No answer, a late one and an unreadable one are a no. */
export function onAnswered(given: RunState, asking: Asking, { answer, wallMs, provenance }: Answered): Moved {
  // The next question stands as long as any other, however long this one took.
  const state: RunState = changeState(given, { wallMs: Math.max(given.wallMs, wallMs) });
  const { tools, index, request } = asking;
  const asked = tools.calls[index];
  const value = answer.given ? answer.value : undefined;
  if (request.type === 'in-doubt') return onFoundOut(state, asking, { request, value });
  assert(request.type === 'approval' && asked?.type === 'to-ask', `Nobody asks about call ${index}`);
  // Nobody has answered: that is as late as an answer can be.
  const judged = judgeApproval(request, value, { atMs: answer.given ? wallMs : Infinity, call: asked.call });
  const { verdict, reason } = judged;
  const answered: RunEvent = { type: 'approval-answered', id: request.id, verdict, reason };
  const { attempts } = asked;
  const call = provenance === undefined ? asked.call : { ...asked.call, provenance };
  if (judged.verdict === 'yes') {
    return nextStep(state, replaceCall(tools, index, { type: 'ready', call, attempts }), [answered]);
  }
  const end = deniedEnd(call, rejectionText(call.name, judged), judged);
  const rejections = countRejection(state.tallies.rejections, { hash: call.hash, kind: judged.kind });
  const rejected = changeState(state, { tallies: { ...state.tallies, rejections } });
  const { callId, name } = call;
  const finished: RunEvent = { type: 'tool-finished', turn: state.turn, attempt: 0, end, callId, name };
  return nextStep(rejected, replaceCall(tools, index, { type: 'done', call, end }), [answered, finished]);
}

/** A call that was not allowed, as the model is told. */
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
