import type { Answer } from '../agent/event.ts';
import { decidePermission } from '../agent/permission.ts';
import type { Calling, RunState } from '../agent/state.ts';
import type { PreparedCall } from '../agent/tool-call.ts';
import type { Json } from '../base/json.ts';
import { defined } from '../base/defined.ts';
import type { Message } from '../model/message.ts';
import type { PartialResult } from '../model/model.ts';
import type { AttemptSituation, StepEnd } from '../resilience/call-progress.ts';
import type { AgentParts } from './agent-parts.ts';
import { performStep } from './attempt-step.ts';
import type { Attempted, CallTarget, LoopEvent, LoopOptions } from './call-target.ts';
import { checkOutput } from './check-output.ts';
import type { EffectContext, EffectEnd, SignalMessage } from './durable.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { createModelTurn } from './model-turn.ts';
import type { RequestChanges } from './model-turn.ts';
import { prepareCalls } from './prepare-calls.ts';
import { canBeRead, writeAsRead } from './repair-answer.ts';

/** What the effect is given: where the run stands. What is asked it reads from the run itself. */
export interface ModelEffectInput {
  readonly turn: number;
  readonly isFirst: boolean;
  readonly situation: AttemptSituation;
  readonly changes?: RequestChanges;
}

/** What the journal holds of one attempt. */
export interface ModelEffectValue {
  readonly step: StepEnd<Answer>;
  readonly injected?: readonly Message[];
}

/** One attempt at a model, with what its answer means to this agent. */
export async function performModelEffect(
  parts: AgentParts,
  live: LiveRun,
  { input, context }: { readonly input: ModelEffectInput; readonly context: EffectContext },
): Promise<EffectEnd> {
  const { turn, situation, isFirst } = input;
  const calling = live.state?.phase as Calling; // Only a run that is calling a model gets here.
  const taken = isFirst ? context.pending('message') : none;
  const injected = taken.map(({ payload }) => payload as unknown as Message); // Checked when they came in.
  if (isFirst || live.turn === undefined) {
    const changes = input.changes ?? {};
    live.turn = createModelTurn(parts, live, { calling, signal: context.signal, injected, changes });
  }
  if (injected.length > 0) publish(live, { type: 'messages-injected', turn, messages: injected });
  const asked = live.turn.targets[situation.target] as CallTarget<PartialResult>; // One per model.
  const target = repairing(parts, asked);
  const options = loopOptionsOf(parts, live, { turn, signal: context.signal });
  const step = await performStep(target, situation, options);
  if (step.type === 'failure') return endWith({ step, injected }, taken);
  const read = await readAnswer(parts, live, step.value);
  // What came while the model spoke must be heard, even where it thinks that it is done.
  const isOvertaken = read.toolCalls.length === 0 && context.pending('message').length > taken.length;
  const value: Answer = isOvertaken ? { ...read, isOvertaken } : read;
  tellFinished(live, { step, asked, input });
  return endWith({ step: { ...step, value }, injected }, taken);
}

const none: readonly SignalMessage[] = [];

function endWith(
  { step, injected }: ModelEffectValue & { readonly injected: readonly Message[] },
  taken: readonly SignalMessage[],
): EffectEnd {
  const value: ModelEffectValue = injected.length === 0 ? { step } : { step, injected };
  const end = { type: 'done', value: value as unknown as Json } as const; // JSON: see StepEnd.
  return taken.length === 0 ? end : { ...end, took: taken.map(({ id }) => id) };
}

/** Arguments that have one reading only are read so, before anybody calls the answer a failure. */
function repairing(parts: AgentParts, asked: CallTarget<PartialResult>): CallTarget<PartialResult> {
  if (parts.registry.names.length === 0) return asked;
  return {
    ...asked,
    attempt: async (context): Promise<Attempted<PartialResult>> => {
      const attempted = await asked.attempt(context);
      if (attempted.type === 'success' || attempted.failure.code !== 'TOOL_CALL_INVALID') return attempted;
      const { value, charge } = attempted;
      return canBeRead(value, parts.registry) ? { type: 'success', value, charge } : attempted;
    },
  };
}

function loopOptionsOf(
  parts: AgentParts,
  live: LiveRun,
  { turn, signal }: { readonly turn: number; readonly signal: AbortSignal },
): LoopOptions {
  const { limits } = parts.config;
  return {
    retry: parts.retry,
    fallBackOnFilter: parts.fallBackOnFilter,
    limits,
    clock: parts.clock,
    random: parts.random,
    gates: parts.gates,
    signal,
    onEvent: live.watchers.size === 0 ? undefined : (event) => tellLoopEvent(live, turn, event),
  };
}

function tellLoopEvent(live: LiveRun, turn: number, event: LoopEvent): void {
  switch (event.type) {
    case 'attempt-started':
      return publish(live, { ...event, turn });
    case 'failure':
      return publish(live, { type: 'failure', turn, failure: event.failure });
    case 'breaker-changed':
    case 'breaker-awaited':
      return publish(live, event);
    case 'recovery':
      return undefined; // The machine tells what was decided, once it stands in the journal.
  }
}

/** What the answer means: its calls looked at, or its form checked. */
async function readAnswer(parts: AgentParts, live: LiveRun, result: PartialResult): Promise<Answer> {
  if (result.toolCalls.length > 0) {
    const preparing = prepare(parts, live, result);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    return { ...writeAsRead(result, prepared), prepared };
  }
  if (parts.output === undefined) return result;
  const { base } = (live.state as RunState).phase as Calling; // Only a run that is calling a model gets an answer.
  const text = base + result.text;
  return { ...result, check: await checkOutput(text, parts.output) };
}

function prepare(
  parts: AgentParts,
  live: LiveRun,
  { toolCalls }: PartialResult,
): readonly PreparedCall[] | Promise<readonly PreparedCall[]> {
  const { registry, rules, config } = parts;
  const state = live.state as RunState; // A run that has an answer has begun.
  const { limits } = config;
  return prepareCalls(toolCalls, {
    registry,
    decidePermission: (tool, input) => decidePermission(tool, input, rules),
    withdrawn: new Map(Object.entries(state.withdrawn).map(([name, { reason }]) => [name, reason])),
    maxCallsPerTurn: limits.maxCallsPerTurn,
    callsLeft: Math.max(0, limits.maxToolCalls - state.toolCalls),
  });
}

interface Finished {
  readonly step: StepEnd<PartialResult> & { readonly type: 'success' };
  readonly asked: CallTarget<PartialResult>;
  readonly input: ModelEffectInput;
}

function tellFinished(live: LiveRun, { step, asked, input }: Finished): void {
  if (live.watchers.size === 0) return;
  const { finish, responseId, servedBy, usage, costUsd } = step.value;
  const { inputTokens, outputTokens } = usage;
  publish(live, {
    type: 'model-finished',
    turn: input.turn,
    attempt: input.situation.attempt,
    provider: asked.provider,
    model: asked.name,
    durationMs: step.durationMs,
    ...defined({ finishReason: finish?.reason, responseId, servedBy, inputTokens, outputTokens, costUsd }),
  });
}
