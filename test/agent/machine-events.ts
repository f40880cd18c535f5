import { lastMessage } from '../../src/agent/turn/history.ts';
import type { RunConfig } from '../../src/agent/config.ts';
import type { Answer, MachineEvent } from '../../src/agent/event.ts';
import type { Moved } from '../../src/agent/moved.ts';
import type { RunEvent } from '../../src/agent/run-event.ts';
import type { RunState } from '../../src/agent/state.ts';
import type { PreparedCall, ToolEnd } from '../../src/agent/tools/tool-call.ts';
import { transition } from '../../src/agent/transition.ts';
import type { Json } from '../../src/base/json.ts';
import type { FailureCode } from '../../src/errors/codes.ts';
import { createFailure } from '../../src/errors/failure.ts';
import type { FailureDetails } from '../../src/errors/failure.ts';
import { smallConfig, textAnswer } from './random-run.ts';

/** When the events of these tests happen, in milliseconds since 1970. */
export const wallMs = 1_800_000_000_000;

/** The first event of a run. */
export function started(config: RunConfig = smallConfig()): MachineEvent {
  const messages = [{ role: 'user', content: 'Do it.' }] as const;
  return { type: 'run-started', runId: 'run', config, messages, repairs: [] };
}

/** Plays events from the start of a run and gives where the last one led. */
export function play(config: RunConfig, events: readonly MachineEvent[]): Moved {
  let moved = transition(undefined, started(config));
  for (const event of events) moved = follow(moved.state, event);
  return moved;
}

/** The next transition, which must have a meaning. */
export function follow(state: RunState, event: MachineEvent): Moved {
  const moved = transition(state, event);
  if (moved.invalid !== undefined) throw new Error(moved.invalid.message);
  return moved;
}

const times = {
  charge: { inputTokens: 10, outputTokens: 5 },
  isProbe: false,
  waitedMs: 0,
  durationMs: 20,
  wallMs,
};

/** A whole answer. */
export function answered(answer: string | Answer): MachineEvent {
  const value = typeof answer === 'string' ? textAnswer(answer) : answer;
  return { type: 'attempt-finished', step: { ...times, type: 'success', value } };
}

/** An attempt after which the call gives up, with what there was of an answer. */
export function gaveUp(
  code: FailureCode,
  {
    text = '',
    resumeAfterMs,
    ...details
  }: Partial<FailureDetails> & { text?: string; resumeAfterMs?: number } = {},
): MachineEvent {
  const failure = createFailure(code, { message: `It failed with ${code}`, ...details });
  const decision = { type: 'give-up', reason: 'enough' } as const;
  return {
    type: 'attempt-finished',
    step: {
      ...times,
      type: 'failure',
      failure,
      value: textAnswer(text),
      canSplice: false,
      wasAdmitted: true,
      decision: resumeAfterMs === undefined ? decision : { ...decision, resumeAfterMs },
    },
  };
}

/** An attempt that is made again after a wait. */
export function toRetry(code: FailureCode, delayMs = 100): MachineEvent {
  const failure = createFailure(code, { message: `It failed with ${code}` });
  const decision = { type: 'retry', delayMs, reason: 'once more' } as const;
  return {
    type: 'attempt-finished',
    step: { ...times, type: 'failure', failure, canSplice: false, wasAdmitted: true, decision },
  };
}

/** What a test says of a call; the rest follows from the name of the tool. */
export interface SomeCall {
  readonly name: 'look' | 'put' | 'pay' | 'send' | 'drop';
  readonly input?: Json;
}

const effects = { look: 'read', put: 'idempotent', pay: 'once', send: 'once', drop: 'once' } as const;

/** An answer that calls tools. The first has the id `call-0`. */
export function called(...calls: readonly SomeCall[]): MachineEvent {
  const prepared = calls.map(({ name, input = {} }, index): PreparedCall => ({
    type: 'ready',
    callId: `call-${index}`,
    name,
    input,
    effect: effects[name],
    permission: name === 'send' ? 'ask' : 'allow',
    hash: `${name}:${JSON.stringify(input)}`,
  }));
  const toolCalls = prepared.map(
    ({ callId, name }) => ({ type: 'tool-call', callId, name, argumentsText: '{}' }) as const,
  );
  return answered({ content: toolCalls, text: '', toolCalls, usage: {}, prepared });
}

/** How a call ends: well, with a hint, or with a failure of this code. */
export type SomeEnd = 'ok' | 'retry' | FailureCode;

/** The attempts at these calls have ended. */
export function ranTools(
  state: RunState,
  ends: Readonly<Record<number, SomeEnd>>,
  tookMs = 10,
): MachineEvent {
  const calls = state.phase.type === 'running-tools' ? state.phase.calls : [];
  return {
    type: 'tools-finished',
    tookMs,
    ends: Object.entries(ends).map(([place, some]) => {
      const { callId = '', name = '' } = calls[Number(place)]?.call ?? {};
      return { index: Number(place), drawn: 0.5, end: endOf({ callId, name }, some) };
    }),
  };
}

function endOf(call: Pick<ToolEnd, 'callId' | 'name'>, some: SomeEnd): ToolEnd {
  const end = { ...call, content: `${some} of ${call.callId}`, resultHash: some, durationMs: 7 };
  if (some === 'ok' || some === 'retry') return { ...end, type: some };
  const failure = createFailure(some, { message: `It failed with ${some}` });
  return { ...end, type: some === 'UNKNOWN_OUTCOME' ? 'unknown' : 'failed', failure };
}

/** A person, or somebody in his place, answers. */
export function said(value: Json, atMs = wallMs): MachineEvent {
  return { type: 'person-answered', answer: { given: true, value }, wallMs: atMs };
}

/** What was told, by type. */
export function toldOf<Type extends RunEvent['type']>(
  { actions }: Moved,
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return actions.flatMap((action) =>
    action.type === 'tell' && action.event.type === type
      ? [action.event as Extract<RunEvent, { type: Type }>] // The type was just looked at.
      : [],
  );
}

/** The text of a message. */
export function lastText({ history }: RunState): string {
  return JSON.stringify(lastMessage(history)?.content ?? '');
}
