import { readCalls } from '../../agent/conducted.ts';
import type { Answer, MachineEvent } from '../../agent/event.ts';
import { messagesOf } from '../../agent/turn/history.ts';
import type { ReadyCall, RunState } from '../../agent/state.ts';
import { spentLimit } from '../../agent/turn/turn.ts';
import { assert, unreachable } from '../../base/assert.ts';
import { beside } from '../../base/beside.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import type { AssistantPart, Message, ToolCallPart } from '../../model/message.ts';
import type { PartialResult } from '../../model/model.ts';
import type { AgentParts } from '../agent-parts.ts';
import { runWithin } from '../tool-call/bounded-work.ts';
import type { ConductorCall, ConductorStep, ConductorView } from './conductor.ts';
import type { EffectContext, EffectEnd } from '../record/durable.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import { readAnswer } from '../model-call/model-effect.ts';

/**
 * Asks the conductor what comes next. The answer takes the place of a model's, and is in the journal like one. A promise only
 * where functions of the caller take part: each costs as much as the decision.
 */
export function performConductEffect(
  parts: AgentParts,
  live: LiveRun,
  { signal }: EffectContext,
): EffectEnd | Promise<EffectEnd> {
  const state = live.state as RunState; // Only a run that has begun asks what to do.
  const broken = (error: unknown): EffectEnd => {
    if (signal.aborted) throw error;
    return ended({ type: 'broken', failure: classifyFailure(error, 'flow') });
  };
  try {
    const deciding = decide(parts, state, signal);
    const event =
      deciding instanceof Promise
        ? deciding.then((step) => {
            if (signal.aborted) throw signal.reason;
            return step === 'too-late' ? overdue(state) : follow(parts, live, step);
          })
        : follow(parts, live, deciding);
    return event instanceof Promise ? event.then((told) => ended(told), broken) : ended(event);
  } catch (error) {
    return broken(error);
  }
}

function follow(parts: AgentParts, live: LiveRun, step: ConductorStep): MachineEvent | Promise<MachineEvent> {
  return spentBefore(live.state as RunState, step) ?? eventOf(parts, live, step); // See above.
}

/** Functions of the caller take part in it: one that never comes to an end must not hold the run. */
function decide(
  { conductor, clock, strayErrors }: AgentParts,
  state: RunState,
  signal: AbortSignal,
): ConductorStep | Promise<ConductorStep | 'too-late'> {
  assert(conductor !== undefined, 'A run without a conductor was asked to decide');
  const view = viewOf(state, messagesOf(state.history));
  const deciding = conductor.decide(view, { clock, signal, strayErrors });
  if (!(deciding instanceof Promise)) return deciding;
  return within(deciding, { clock, state, signal });
}

interface Bounds {
  readonly clock: AgentParts['clock'];
  readonly state: RunState;
  readonly signal: AbortSignal;
}

async function within(
  deciding: Promise<ConductorStep>,
  { clock, state, signal }: Bounds,
): Promise<ConductorStep | 'too-late'> {
  const nothing = (): undefined => undefined;
  const end = await runWithin(() => deciding, {
    clock,
    signal,
    timeoutMs: Math.max(1, state.config.limits.timeoutMs - state.elapsedMs),
    onInterrupt: nothing,
    onLate: nothing,
  });
  if (end.type === 'returned') return end.value;
  if (end.type === 'timed-out') return 'too-late';
  throw end.type === 'threw' ? end.thrown : signal.reason;
}

function overdue(state: RunState): MachineEvent {
  const stop = spentLimit({ ...state, elapsedMs: Infinity });
  assert(stop !== undefined, 'A run that has no time left is not over');
  return { type: 'halted', ...stop };
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
    calls: readCalls(messages, taskLength),
    resumes,
  };
}

function eventOf(
  parts: AgentParts,
  live: LiveRun,
  step: ConductorStep,
): MachineEvent | Promise<MachineEvent> {
  switch (step.type) {
    case 'call': {
      const answer = callsOf(parts, live, step.calls);
      const about = given(parts, step);
      return answer instanceof Promise
        ? answer.then((read) => ({ ...about, answer: read }))
        : { ...about, answer };
    }
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

function callsOf(
  parts: AgentParts,
  live: LiveRun,
  calls: Extract<ConductorStep, { type: 'call' }>['calls'],
): Answer | Promise<Answer> {
  const { turn, config, toolCalls: used } = live.state as RunState; // See above.
  const { maxCallsPerTurn, maxToolCalls } = config.limits;
  // What finds no room now is wanted again by the next decision. That there is room at all was seen before.
  const room = Math.max(1, Math.min(maxCallsPerTurn, maxToolCalls - used));
  const toolCalls = calls.slice(0, room).map(({ name, input }, index): ToolCallPart => ({
    type: 'tool-call',
    callId: `node-${turn}-${index}`,
    name,
    argumentsText: JSON.stringify(input),
  }));
  if (toolCalls.length === 0) throw nothingToDo(live.runId);
  const content: readonly AssistantPart[] = toolCalls;
  const result = { content, text: '', toolCalls, usage: {} };
  // The rules are for tools: a node is a run, whose own calls are held to them; a step of a plan is a call itself.
  const areNodes = calls.every(({ name }) => parts.nodes?.has(name) === true);
  return areNodes ? nodeCalls(parts, live, { result, calls }) : readAnswer(parts, live, result);
}

interface NodeCalls {
  readonly result: PartialResult;
  readonly calls: readonly ConductorCall[];
}

/** What a call of a node with the very same input came to, but for its id: a flow asks most of its nodes the same, at every run. */
const preparedBefore = beside(
  (_parts: AgentParts) => new Map<string, { readonly input: Json; readonly ready: ReadyCall }>(),
);

function nodeCalls(parts: AgentParts, live: LiveRun, { result, calls }: NodeCalls): Answer | Promise<Answer> {
  const before = preparedBefore(parts);
  const only = calls.length > 1 ? undefined : calls[0];
  const known = only === undefined ? undefined : before.get(only.name);
  const { withdrawn } = live.state as RunState; // See above.
  if (known !== undefined && known.input === only?.input && !Object.hasOwn(withdrawn, only.name)) {
    const callId = result.toolCalls[0]?.callId ?? '';
    // Not by spreading, for which engines take several times as long.
    return Object.assign(result, { prepared: [Object.assign({}, known.ready, { callId })] });
  }
  const answer = readAnswer(withoutRules(parts), live, result);
  const prepared = answer instanceof Promise ? undefined : answer.prepared?.[0];
  if (only !== undefined && prepared?.type === 'ready' && prepared.provenance === undefined)
    before.set(only.name, { input: only.input, ready: prepared });
  return answer;
}

/** The same parts each time: a copy of them is dear. */
const withoutRules = beside((parts: AgentParts): AgentParts => ({ ...parts, rules: [] }));

function nothingToDo(runId: string): Error {
  return new Error(`The conductor of run "${runId}" calls nothing and gives no answer`);
}

/** A caller that receives the run receives the answer as a text, as of any other. */
function answerOf(live: LiveRun, { text, output }: Extract<ConductorStep, { type: 'answer' }>): Answer {
  const { turn } = live.state as RunState; // See above.
  publish(live, { type: 'text-delta', turn, text });
  const answer: Answer = { content: [{ type: 'text', text }], text, toolCalls: [], usage: {} };
  return { ...answer, check: { type: 'valid', value: output ?? text } };
}

function ended(event: MachineEvent): EffectEnd {
  return { type: 'done', value: event as unknown as Json }; // Events are JSON.
}
