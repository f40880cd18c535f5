import type { Answer, CompactionMade } from '../../agent/event.ts';
import { isOverflow } from '../../agent/turn/overflow.ts';
import type { Calling, RunState } from '../../agent/state.ts';
import type { PreparedCall } from '../../agent/tools/tool-call.ts';
import type { Json } from '../../base/json.ts';
import { defined } from '../../base/defined.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import type { PartialResult } from '../../model/model.ts';
import type { AttemptSituation, StepEnd } from '../../resilience/call-progress.ts';
import type { AgentParts } from '../agent-parts.ts';
import { performStep } from './attempt-step.ts';
import type { CallTarget, LoopEvent, LoopOptions } from './call-target.ts';
import { checkOutput } from '../check-output.ts';
import { makeCompaction } from '../run/compact-effect.ts';
import type { EffectContext, EffectEnd, SignalMessage } from '../record/durable.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import { countAttempt } from '../run/family.ts';
import { overspentBy } from '../run/family-budget.ts';
import { addCallIds } from './distinct-call-ids.ts';
import { createModelTurn } from './model-turn.ts';
import { prepareCalls } from './prepare-calls.ts';
import { judgeCall } from '../tool-call/judge-call.ts';
import { writeAsRead } from './repair-answer.ts';
import { awaitSchema } from '../tool-call/schema-wait.ts';

/** What the effect is given: where the run stands. What is asked it reads from the run itself. */
export interface ModelEffectInput {
  readonly turn: number;
  readonly isFirst: boolean;
  readonly situation: AttemptSituation;
}

/** What the journal holds of one attempt. */
export interface ModelEffectValue {
  readonly step: StepEnd<Answer>;
  readonly injected?: readonly Message[];
  readonly made?: CompactionMade;
  /** Nothing was asked: the run and its relatives have used up together what they may. */
  readonly overspent?: Failure;
}

/** One attempt at a model, with what its answer means to this agent. */
export async function performModelEffect(
  parts: AgentParts,
  live: LiveRun,
  { input, context }: { readonly input: ModelEffectInput; readonly context: EffectContext },
): Promise<EffectEnd> {
  const { turn, situation, isFirst } = input;
  const overspent = live.family === undefined ? undefined : overspentBy(live, live.family);
  if (overspent !== undefined) return { type: 'done', value: { overspent } as unknown as Json }; // Plain data.
  const calling = live.state?.phase as Calling; // Only a run that is calling a model gets here.
  const taken = isFirst ? context.pending('message') : none;
  const injected =
    taken.length === 0 ? noMessages : taken.map(({ payload }) => payload as unknown as Message); // Checked when they came in.
  if (isFirst || live.turn === undefined) {
    const changes = live.changes ?? {};
    live.turn = createModelTurn(parts, live, { calling, signal: context.signal, injected, changes });
  }
  if (injected.length > 0) publish(live, { type: 'messages-injected', turn, messages: injected });
  const asked = live.turn.targetOf(situation.target);
  const options = loopOptionsOf(parts, live, { turn, signal: context.signal });
  const step = await performStep(asked, situation, options);
  if (live.family !== undefined) countAttempt(live.family, live.runId, step);
  tellNotes(live, { step, asked, input });
  if (step.type === 'failure') {
    const made = await roomFor(parts, live, { step, target: situation.target, signal: context.signal });
    return endWith({ step, injected, ...(made === undefined ? {} : { made }) }, taken);
  }
  const reading = readAnswer(parts, live, step.value);
  const { clock } = parts;
  const read =
    reading instanceof Promise ? await awaitSchema(reading, { clock, signal: context.signal }) : reading;
  // What came while the model spoke must be heard, even where it thinks that it is done.
  const isOvertaken = read.toolCalls.length === 0 && context.pending('message').length > taken.length;
  const value: Answer = isOvertaken ? { ...read, isOvertaken } : read;
  tellFinished(live, { step, asked, input });
  return endWith({ step: withValue(step, value), injected }, taken);
}

const none: readonly SignalMessage[] = [];
const noMessages: readonly Message[] = [];

type Success<Value> = Extract<StepEnd<Value>, { type: 'success' }>;

/** Field by field and not by spreading, for which engines take ten times as long. */
function withValue(step: Success<PartialResult>, value: Answer): Success<Answer> {
  const { charge, isProbe, waitedMs, durationMs, wallMs } = step;
  return { type: 'success', value, charge, isProbe, waitedMs, durationMs, wallMs };
}

function endWith(
  { step, injected, made }: ModelEffectValue & { readonly injected: readonly Message[] },
  taken: readonly SignalMessage[],
): EffectEnd {
  const plain: ModelEffectValue = injected.length === 0 ? { step } : { step, injected };
  const value = made === undefined ? plain : { ...plain, made };
  const end = { type: 'done', value: value as unknown as Json } as const; // JSON: see StepEnd.
  return taken.length === 0 ? end : { ...end, took: taken.map(({ id }) => id) };
}

interface Refused {
  readonly step: StepEnd<PartialResult> & { readonly type: 'failure' };
  readonly target: number;
  readonly signal: AbortSignal;
}

/**
 * A provider refused the conversation as too long: how it could be shorter. A model is asked for that only where no other is left.
 * A later model of the chain may have failed for another reason: then the one that refused can still be asked again.
 */
async function roomFor(
  parts: AgentParts,
  live: LiveRun,
  { step, target, signal }: Refused,
): Promise<CompactionMade | undefined> {
  const { failure, decision } = step;
  const isLast = target === parts.models.length - 1;
  if (isOverflow(failure))
    return makeCompaction(parts, live, { refusal: failure, signal, withoutModel: !isLast });
  if (decision.type === 'retry' || failure.code === 'CANCELLED') return undefined;
  const { progress } = (live.state as RunState).phase as Calling; // Only a run that is calling a model gets here.
  const refusal = progress.failures.findLast((earlier) => isOverflow(earlier.failure))?.failure;
  return refusal === undefined
    ? undefined
    : makeCompaction(parts, live, { refusal, signal, withoutModel: true });
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
    onEvent: (event) => tellLoopEvent(live, turn, event),
  };
}

function tellLoopEvent(live: LiveRun, turn: number, event: LoopEvent): void {
  switch (event.type) {
    case 'attempt-started': {
      const { type, attempt, provider, model, isProbe } = event;
      return publish(live, { type, attempt, provider, model, isProbe, turn });
    }
    case 'failure':
      return publish(live, { type: 'failure', turn, failure: event.failure });
    case 'breaker-changed':
    case 'breaker-awaited':
      return publish(live, event);
    case 'recovery':
      return undefined; // The machine reports what was decided, once it is in the journal.
  }
}

/** What the answer means: its calls looked at, or its form checked. A promise only where a schema asks for one. */
export function readAnswer(
  parts: AgentParts,
  live: LiveRun,
  result: PartialResult,
): Answer | Promise<Answer> {
  if (result.toolCalls.length > 0) {
    const preparing = prepare(parts, live, result);
    if (preparing instanceof Promise) return preparing.then((prepared) => withCalls(result, prepared));
    return withCalls(result, preparing);
  }
  if (parts.output === undefined) return result;
  const { base } = (live.state as RunState).phase as Calling; // Only a run that is calling a model gets an answer.
  const checking = checkOutput(base + result.text, parts.output);
  if (checking instanceof Promise) return checking.then((check) => ({ ...result, check }));
  return { ...result, check: checking };
}

function withCalls(result: PartialResult, prepared: readonly PreparedCall[]): Answer {
  // Not by spreading, for which engines take several times as long.
  return Object.assign({}, writeAsRead(result, prepared), { prepared });
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
    decidePermission: (tool, input) => judgeCall(tool, input, rules),
    withdrawn: withdrawnReasons(state),
    maxCallsPerTurn: limits.maxCallsPerTurn,
    callsLeft: Math.max(0, limits.maxToolCalls - state.toolCalls),
    // The calls of a flow or a plan have ids of its own, by which it knows them again.
    ...(state.config.isConducted === true ? {} : { takenIds: takenIds(live, state) }),
    provenance: live.provenance,
  });
}

/** The ids of the run's calls: those in the conversation, and those that this process has seen before it was made shorter. */
function takenIds(live: LiveRun, { history }: RunState): Set<string> {
  const { callIds } = live;
  const { settled } = history;
  const known = callIds.settled.length;
  // It mostly grows at its end, and a long one is not looked through again for that.
  const hasGrown = known > 0 && settled[known - 1] === callIds.settled[known - 1];
  if (callIds.settled !== settled) addCallIds(callIds.taken, hasGrown ? settled.slice(known) : settled);
  callIds.settled = settled;
  addCallIds(callIds.taken, history.recent);
  return callIds.taken;
}

const nothingWithdrawn: ReadonlyMap<string, string> = new Map();

function withdrawnReasons({ withdrawn }: RunState): ReadonlyMap<string, string> {
  const entries = Object.entries(withdrawn);
  return entries.length === 0
    ? nothingWithdrawn
    : new Map(entries.map(([name, { reason }]) => [name, reason]));
}

/** What was done about the request is reported once for each attempt; a tool that is left out, only in the first turn. */
function tellNotes(
  live: LiveRun,
  { step, asked, input }: Omit<Finished, 'step'> & { readonly step: StepEnd<PartialResult> },
): void {
  const { turn, situation } = input;
  for (const note of step.value?.notes ?? []) {
    if (note.type !== 'reconnected' && turn > 1) continue;
    const { provider, name: model } = asked;
    publish(live, { type: 'request-noted', turn, attempt: situation.attempt, provider, model, note });
  }
}

interface Finished {
  readonly step: StepEnd<PartialResult> & { readonly type: 'success' };
  readonly asked: CallTarget<PartialResult>;
  readonly input: ModelEffectInput;
}

function tellFinished(live: LiveRun, { step, asked, input }: Finished): void {
  if (live.watchers.size === 0) return;
  const { finish, responseId, servedBy, usage, costUsd } = step.value;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  publish(live, {
    type: 'model-finished',
    turn: input.turn,
    attempt: input.situation.attempt,
    provider: asked.provider,
    model: asked.name,
    durationMs: step.durationMs,
    ...defined({
      finishReason: finish?.reason,
      responseId,
      servedBy,
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      costUsd,
    }),
  });
}
