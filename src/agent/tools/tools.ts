import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import type { Message } from '../../model/message.ts';
import { decideNext } from '../../resilience/decide.ts';
import { kindOf } from '../../resilience/failure-kind.ts';
import { callAgain } from './call-again.ts';
import { changeState } from '../change-state.ts';
import { chargeCall } from '../turn/charge-call.ts';
import type { AttemptedCall, VerifiedCall } from '../event.ts';
import type { Moved } from '../moved.ts';
import { indexesOf, mark, nextStep, replaceCall } from './next-step.ts';
import { addRecoveries, overcomeCalls } from '../turn/overcome.ts';
import { remember } from './remember.ts';
import type { RunEvent } from '../run-event.ts';
import type { CallState, FailedCall, ReadyCall, RunningTools, RunState, Tried } from '../state.ts';
import type { PreparedCall, QuestionEnd, ToolEnd, ToolQuestion, WaitingEnd } from './tool-call.ts';

/** A turn of tool calls begins. What was refused is settled already; the rest runs, or is asked first. */
export function beginTools(
  state: RunState,
  { answer, prepared }: { readonly answer: Message; readonly prepared: readonly PreparedCall[] },
  tellings: readonly RunEvent[],
): Moved {
  const { turn } = state;
  const events: RunEvent[] = [...tellings];
  let toolCalls = state.toolCalls;
  const calls = prepared.map((call): CallState => {
    if (call.type === 'refused') {
      events.push(...refusalOf(state, call.end));
      return { type: 'done', call, end: call.end };
    }
    toolCalls += 1;
    if (call.isRepaired === true) {
      const { callId, name, input } = call;
      events.push({ type: 'arguments-repaired', turn, callId, name, input });
    }
    return { type: call.permission === 'ask' ? 'to-ask' : 'ready', call, attempts: [] };
  });
  return nextStep(changeState(state, { toolCalls }), { type: 'running-tools', answer, calls }, events);
}

function refusalOf({ turn, config }: RunState, end: ToolEnd): readonly RunEvent[] {
  const { callId, name, failure } = end;
  const finished: RunEvent = { type: 'tool-finished', turn, attempt: 0, end, callId, name };
  if (failure === undefined) return [finished];
  const failed: RunEvent = { type: 'failure', turn, failure };
  if (config.isConducted === true) return [failed, finished];
  const reason = 'the model gets the reason why its call was wrong';
  return [failed, { type: 'recovery', turn, failure, recovery: 'tell-model', reason }, finished];
}

/** The wait is over: what was due runs again. */
export function afterWait(state: RunState, tools: RunningTools): Moved {
  return nextStep(state, mark(tools, indexesOf(tools, 'due'), 'ready'), []);
}

/** Whether every call in this state is spoken of, and there is one. */
export function isAbout(
  tools: RunningTools,
  type: 'running' | 'verifying',
  ends: readonly { readonly index: number }[],
): boolean {
  const open = indexesOf(tools, type);
  return open.length > 0 && open.every((index) => ends.some((end) => end.index === index));
}

/** Attempts at calls have ended. */
export function onToolsFinished(given: RunState, tools: RunningTools, ends: readonly AttemptedCall[]): Moved {
  let state = given;
  const calls = [...tools.calls];
  const events: RunEvent[] = [];
  for (const { index, end, drawn } of ends) {
    const call = calls[index];
    if (call === undefined || call.type !== 'running') continue;
    if (end.type === 'ask-first') {
      calls[index] = { type: 'to-ask', call: end.call, attempts: call.attempts };
      state = changeState(state, { wallMs: Math.max(state.wallMs, end.wallMs) });
      continue;
    }
    state = chargeCall(state, end);
    if (end.type === 'asks') {
      calls[index] = askingCall(call, end);
      state = remember(state, end);
      continue;
    }
    if (end.type === 'waiting') {
      calls[index] = waitingCall(call, end);
      continue;
    }
    const settled = settleAttempt(state, call, { end, drawn });
    calls[index] = settled.call;
    events.push(...settled.events);
    state = remember(state, end);
    if (end.type === 'ok') state = addRecoveries(state, overcomeCalls(state.turn, call.attempts));
  }
  return nextStep(state, { type: 'running-tools', answer: tools.answer, calls }, events);
}

/** What a person said is kept until another question is asked: the disk may have failed before it came to where it was to go. */
function waitingCall({ call, attempts, answer }: Tried, { wait, child }: WaitingEnd): CallState {
  const isKept = wait.request === undefined && answer?.said.given === true;
  // Older records do not say what it did, and replay as they were.
  const did = child?.effects === undefined ? {} : { child };
  return { type: 'waiting', call, attempts, wait, ...(isKept ? { answer } : {}), ...did };
}

function askingCall({ call, attempts }: Tried, { question, isResult }: QuestionEnd): CallState {
  const asked: ToolQuestion = isResult === true ? { question, isResult } : { question };
  return { type: 'to-ask', call, attempts, question: asked };
}

interface Settled {
  readonly call: CallState;
  readonly events: readonly RunEvent[];
}

function settleAttempt(
  state: RunState,
  { call, attempts }: Tried,
  { end, drawn }: { readonly end: ToolEnd; readonly drawn: number },
): Settled {
  const { failure } = end;
  if (failure === undefined) return { call: { type: 'done', call, end }, events: [] };
  const { turn } = state;
  const failed: RunEvent = { type: 'failure', turn, failure };
  if (end.type === 'unknown') {
    return { call: { type: 'in-doubt', call, attempts, end, isVerified: false }, events: [failed] };
  }
  const decision = decideAgain(state, call, { failure, before: attempts, drawn });
  if (decision?.type === 'retry') {
    const { delayMs, reason } = decision;
    const again: FailedCall = { failure, recovery: 'retry', lostMs: end.durationMs + delayMs };
    return {
      call: { type: 'due', call, attempts: [...attempts, again], delayMs },
      events: [failed, { type: 'recovery', turn, failure, recovery: 'retry', reason, delayMs }],
    };
  }
  const done: CallState = { type: 'done', call, end };
  // A flow or a plan decides what is done about it, and says so then.
  if (state.config.isConducted === true) return { call: done, events: [failed] };
  const reason = `the model is notified; ${decision?.reason ?? `a tool with the effect "${call.effect}" is not called again automatically`}`;
  return {
    call: done,
    events: [failed, { type: 'recovery', turn, failure, recovery: 'tell-model', reason }],
  };
}

interface Attempted {
  readonly failure: Failure;
  readonly before: readonly FailedCall[];
  readonly drawn: number;
}

/** The one decision about retries, asked for a tool: only where to call again is harmless. */
function decideAgain(
  { config, elapsedMs }: RunState,
  call: ReadyCall,
  { failure, before, drawn }: Attempted,
): ReturnType<typeof decideNext> | undefined {
  // What certainly did not happen may be tried again where nothing else would; a model is informed instead.
  const isSafe = call.effect !== 'once' || (config.isConducted === true && failure.sideEffect === 'none');
  if (!isSafe) return undefined;
  const { limits } = config;
  const { retry: own } = config.tools[call.name] ?? {};
  const retry = own ?? {
    ...config.retry,
    maxAttempts: Math.min(config.retry.maxAttempts, limits.maxToolAttempts),
  };
  return decideNext(
    {
      failure,
      attempts: before.length + 1,
      sameKindBefore: before.filter((one) => kindOf(one.failure) === kindOf(failure)).length,
      leftMs: limits.timeoutMs - elapsedMs,
      drawn,
      spendRetry: () => true,
      hasNextModel: false,
      isAlone: true,
      isByOwnPolicy: own !== undefined,
    },
    { retry, fallBackOnFilter: false },
  );
}

/** The tools' own checks have ended. */
export function onToolsVerified(given: RunState, tools: RunningTools, found: readonly VerifiedCall[]): Moved {
  let state = given;
  let current = tools;
  const events: RunEvent[] = [];
  for (const { index, found: verified } of found) {
    const before = current.calls[index];
    if (before?.type !== 'verifying') continue;
    const after = verifiedCall(state, before, verified);
    current = replaceCall(current, index, after);
    if (after.type !== 'done') continue;
    const { end } = after;
    const { callId, name } = end;
    const attempt = before.attempts.length + 1;
    state = remember(chargeCall(state, end), end);
    if (end.type === 'ok') state = addRecoveries(state, overcomeCalls(state.turn, doubtsOf(before)));
    events.push({ type: 'tool-finished', turn: state.turn, attempt, end, callId, name });
  }
  return nextStep(state, current, events);
}

type Verifying = Extract<CallState, { type: 'verifying' }>;

/** The attempts before, and the one that was in doubt. */
function doubtsOf({ attempts, end }: Verifying): readonly FailedCall[] {
  if (end.failure === undefined) return attempts;
  return [...attempts, { failure: end.failure, recovery: 'verify', lostMs: end.durationMs }];
}

function verifiedCall(state: RunState, before: Verifying, found: VerifiedCall['found']): CallState {
  const { call, attempts } = before;
  if (found.type === 'happened') return { type: 'done', call, end: found.end };
  if (found.type === 'did-not-happen')
    return callAgain(state, before, { end: before.end, recovery: 'verify' });
  const { callId, name } = call;
  const { failure } = found;
  const end: ToolEnd = {
    callId,
    name,
    type: 'unknown',
    content: renderFailure(failure, 'model'),
    failure,
    resultHash: 'unknown',
    durationMs: 0,
  };
  return { type: 'in-doubt', call, attempts, end, isVerified: true };
}
