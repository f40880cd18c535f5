import { assert } from '../../base/assert.ts';
import type { Failure } from '../../errors/failure.ts';
import { askAbout } from '../approval/ask-person.ts';
import { changeState } from '../change-state.ts';
import { suspendRun } from '../turn/end.ts';
import { finishTools } from './finish-tools.ts';
import type { Moved } from '../moved.ts';
import { told } from '../moved.ts';
import type { RunEvent } from '../run-event.ts';
import type { CallState, RunningTools, RunState } from '../state.ts';
import type { CallWait } from './tool-call.ts';

/** What comes next of the turn's calls: what may run runs first, then what waits, then what is in doubt, then what is asked. */
export function nextStep(given: RunState, tools: RunningTools, events: readonly RunEvent[]): Moved {
  const ready = indexesOf(tools, 'ready');
  if (ready.length > 0) {
    const calls = ready.map((index) => ({ index, attempt: attemptsOf(tools, index) + 1 }));
    const phase = mark(tools, ready, 'running');
    return { state: changeState(given, { phase }), actions: told(events, { type: 'run-tools', calls }) };
  }
  const due = indexesOf(tools, 'due');
  if (due.length > 0) {
    const delayMs = Math.max(...due.map((index) => delayOf(tools.calls[index])));
    const phase = { type: 'waiting-for-tools', tools, delayMs } as const;
    return { state: changeState(given, { phase }), actions: told(events, { type: 'wait', delayMs }) };
  }
  const doubtful = tools.calls.findIndex((call) => call.type === 'in-doubt');
  if (doubtful >= 0) return settleDoubt(given, tools, { index: doubtful, events });
  const toAsk = tools.calls.findIndex((call) => call.type === 'to-ask');
  if (toAsk >= 0) return askAbout(given, tools, { index: toAsk, events });
  const held = firstWaiting(tools);
  if (held !== undefined) return holdOn(given, tools, { ...held, events });
  return finishTools(given, tools, events);
}

interface Waiting {
  readonly index: number;
  readonly wait: CallWait;
}

/** What a person is asked comes first: a moment comes by itself. */
function firstWaiting({ calls }: RunningTools): Waiting | undefined {
  let first: Waiting | undefined;
  for (const [index, call] of calls.entries()) {
    if (call.type !== 'waiting') continue;
    const isSooner =
      first === undefined || (first.wait.request === undefined && call.wait.request !== undefined);
    if (isSooner) first = { index, wait: call.wait };
  }
  return first;
}

/** A call is a run that waits outside the process, so this one does too: for the same, and with the same question. */
function holdOn(
  state: RunState,
  tools: RunningTools,
  { index, wait, events }: Waiting & { readonly events: readonly RunEvent[] },
): Moved {
  return suspendRun(state, { type: 'suspended', ...wait, back: { type: 'held', tools, index } }, events);
}

/** It is unknown whether it happened: the tool's own check first, then a person, then the truth to the model. */
function settleDoubt(
  state: RunState,
  tools: RunningTools,
  { index, events }: { readonly index: number; readonly events: readonly RunEvent[] },
): Moved {
  const doubtful = tools.calls[index];
  assert(doubtful?.type === 'in-doubt', `Call ${index} is not in doubt`);
  const { call, end, isVerified, attempts } = doubtful;
  const { turn, config } = state;
  const facts = config.tools[call.name];
  const failure = end.failure as Failure; // An end of the type `unknown` has one.
  if (!isVerified && facts?.canVerify === true) {
    const reason = 'the tool can check whether it happened';
    const phase = replaceCall(tools, index, { type: 'verifying', call, attempts, end });
    return {
      state: changeState(state, { phase }),
      actions: told([...events, { type: 'recovery', turn, failure, recovery: 'verify', reason }], {
        type: 'verify-tools',
        indexes: [index],
      }),
    };
  }
  if (config.inDoubt === 'ask') return askAbout(state, tools, { index, events });
  const done = replaceCall(tools, index, { type: 'done', call, end });
  if (config.isConducted === true) return nextStep(state, done, events);
  const reason = 'the model is told that its effect is unknown';
  return nextStep(state, done, [
    ...events,
    { type: 'recovery', turn, failure, recovery: 'tell-model', reason },
  ]);
}

/** One call of the turn is now this. */
export function replaceCall(tools: RunningTools, index: number, call: CallState): RunningTools {
  return { ...tools, calls: tools.calls.with(index, call) };
}

/** The places of the calls that are in this state. */
export function indexesOf({ calls }: RunningTools, type: CallState['type']): readonly number[] {
  const indexes: number[] = [];
  for (let index = 0; index < calls.length; index += 1) if (calls[index]?.type === type) indexes.push(index);
  return indexes;
}

function attemptsOf({ calls }: RunningTools, index: number): number {
  const call = calls[index];
  return call === undefined || call.type === 'done' ? 0 : call.attempts.length;
}

function delayOf(call: CallState | undefined): number {
  return call?.type === 'due' ? call.delayMs : 0;
}

/** Puts the calls at these places into another state. */
export function mark(
  tools: RunningTools,
  indexes: readonly number[],
  type: 'ready' | 'running',
): RunningTools {
  const calls = [...tools.calls];
  for (const index of indexes) {
    const call = calls[index];
    if (call === undefined || call.type === 'done') continue;
    const { call: tried, attempts, answer } = call;
    calls[index] =
      answer === undefined ? { type, call: tried, attempts } : { type, call: tried, attempts, answer };
  }
  return { type: 'running-tools', answer: tools.answer, calls };
}
