import { readCalls } from '../agent/conducted.ts';
import type { Answer, MachineEvent } from '../agent/event.ts';
import { messagesOf } from '../agent/history.ts';
import type { RunState } from '../agent/state.ts';
import { spentLimit } from '../agent/turn.ts';
import { unreachable } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import type { AssistantPart, Message, ToolCallPart } from '../model/message.ts';
import type { AgentParts } from './agent-parts.ts';
import type { ConductorStep, ConductorView } from './conductor.ts';
import type { EffectContext, EffectEnd } from './durable.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { readAnswer } from './model-effect.ts';

/** Asks the conductor what comes next. The answer takes the place of a model's, and stands in the journal like one. */
export async function performConductEffect(
  parts: AgentParts,
  live: LiveRun,
  { signal }: EffectContext,
): Promise<EffectEnd> {
  const state = live.state as RunState; // Only a run that has begun asks what to do.
  const view = viewOf(state, messagesOf(state.history));
  try {
    const step = await parts.conductor?.decide(view);
    if (signal.aborted || step === undefined) throw signal.reason;
    return done(spentBefore(state, step) ?? (await eventOf(parts, live, step)));
  } catch (error) {
    if (signal.aborted) throw error;
    return done({ type: 'broken', failure: classifyFailure(error, 'flow') });
  }
}

/** What is decided costs nothing, so that a run that is done may say so; what would be begun by it may cost more than is left. */
function spentBefore(state: RunState, step: ConductorStep): MachineEvent | undefined {
  const isForLack = step.type === 'fail' && lackCodes.has(step.failure.code);
  const stop = step.type === 'call' || isForLack ? spentLimit(state) : undefined;
  return stop === undefined ? undefined : { type: 'halted', ...stop };
}

/** Failures of a run below that ran out of what the one above had left. */
const lackCodes: ReadonlySet<string> = new Set(['BUDGET_EXCEEDED', 'TIMEOUT']);

/** A conversation as a conductor reads it. */
export function viewOf(
  { runId, taskLength = 0, resumes = 0 }: Pick<RunState, 'runId' | 'taskLength' | 'resumes'>,
  messages: readonly Message[],
): ConductorView {
  return {
    runId,
    task: messages.slice(0, taskLength),
    calls: readCalls(messages.slice(taskLength)),
    resumes,
  };
}

async function eventOf(parts: AgentParts, live: LiveRun, step: ConductorStep): Promise<MachineEvent> {
  switch (step.type) {
    case 'call':
      return { ...given(parts, step), answer: await callsOf(parts, live, step.calls) };
    case 'answer':
      return { ...given(parts, step), answer: answerOf(live, step) };
    case 'fail':
      return { type: 'broken', failure: step.failure };
    case 'stop':
      return { type: 'halted', failure: step.failure, reason: step.reason };
    default:
      return unreachable(step);
  }
}

/** What is known of an answer whatever it says. How long a question stands is counted from the time in it. */
function given(
  { clock }: AgentParts,
  { rungs = [] }: Extract<ConductorStep, { type: 'call' | 'answer' }>,
): Omit<Extract<MachineEvent, { type: 'answer-given' }>, 'answer'> {
  const event = { type: 'answer-given', wallMs: clock.wallMs() } as const;
  return rungs.length === 0 ? event : { ...event, rungs };
}

async function callsOf(
  parts: AgentParts,
  live: LiveRun,
  calls: Extract<ConductorStep, { type: 'call' }>['calls'],
): Promise<Answer> {
  const { turn } = live.state as RunState; // See above.
  const toolCalls = calls.map(({ name, input }, index): ToolCallPart => ({
    type: 'tool-call',
    callId: `node-${turn}-${index}`,
    name,
    argumentsText: JSON.stringify(input),
  }));
  if (toolCalls.length === 0) throw nothingToDo(live.runId);
  const content: readonly AssistantPart[] = toolCalls;
  // The rules are for tools: a node is a run, whose own calls are held to them; a step of a plan is a call itself.
  const areNodes = calls.every(({ name }) => parts.nodes?.has(name) === true);
  return readAnswer(areNodes ? { ...parts, rules: [] } : parts, live, {
    content,
    text: '',
    toolCalls,
    usage: {},
  });
}

function nothingToDo(runId: string): Error {
  return new Error(`The conductor of run "${runId}" wants to call nothing, and does not answer either`);
}

/** Whoever hears the run hears the answer as a text, as of any other. */
function answerOf(live: LiveRun, { text, output }: Extract<ConductorStep, { type: 'answer' }>): Answer {
  const { turn } = live.state as RunState; // See above.
  publish(live, { type: 'text-delta', turn, text });
  const answer: Answer = { content: [{ type: 'text', text }], text, toolCalls: [], usage: {} };
  return { ...answer, check: { type: 'valid', value: output ?? text } };
}

function done(event: MachineEvent): EffectEnd {
  return { type: 'done', value: event as unknown as Json }; // Events are JSON.
}
