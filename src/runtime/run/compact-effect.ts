import type { CompactionMade, RefusedSize } from '../../agent/event.ts';
import { messagesOf } from '../../agent/turn/history.ts';
import type { History } from '../../agent/turn/history.ts';
import { maxShortenings } from '../../agent/turn/overflow.ts';
import { isReadTool } from '../../agent/tools/read-tools.ts';
import type { RunState } from '../../agent/state.ts';
import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import type { SummaryReading, SummaryRequest } from '../../context/ask-for-summary.ts';
import { readSummary } from '../../context/ask-for-summary.ts';
import { estimateConversation, estimateTokens } from '../../context/estimate-tokens.ts';
import type { EstimatedConversation } from '../../context/estimate-tokens.ts';
import { readChoice } from '../../context/own-strategy.ts';
import type { ChoiceReading, OwnStrategy } from '../../context/own-strategy.ts';
import { planCompaction, planQuestion } from '../../context/plan-compaction.ts';
import type {
  CompactionInput,
  CompactionReason,
  Overflow,
  PlanQuestion,
} from '../../context/plan-compaction.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import { showName } from '../../model/check/show-value.ts';
import { ownerNamed } from '../../model/stray-errors.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { AgentParts } from '../agent-parts.ts';
import { callHook } from '../hooks/hook-call.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { sideCall } from '../model-call/side-call.ts';

/** Whether what would be sent is estimated to leave too little room for an answer. The same state gives the same answer. */
export function isOverBudget({ context }: AgentParts, { history }: RunState): boolean {
  const { budget, fixedTokens } = context;
  if (budget === undefined) return false;
  return fixedTokens() + tokensOf(history) > budget.maxTokens - budget.reserveTokens;
}

/** The settled part is the same list for many turns: it is summed once. */
const settledTokens = new WeakMap<readonly Message[], number>();

function tokensOf({ settled, recent }: History): number {
  let tokens = settledTokens.get(settled);
  if (tokens === undefined) {
    tokens = sum(settled);
    settledTokens.set(settled, tokens);
  }
  return tokens + sum(recent);
}

function sum(messages: readonly Message[], count = estimateTokens): number {
  let tokens = 0;
  for (const message of messages) tokens += count(message);
  return tokens;
}

/** What instructions, tools and the schema of the answer take: no compaction saves them. */
export function fixedTokensOf(parts: FixedPart): number {
  return estimateConversation({ ...fixedPartOf(parts), messages: [] }).fixedTokens;
}

type FixedPart = Pick<AgentParts, 'instructions' | 'registry' | 'output'>;

/** What stands beside the messages in every request. */
export function fixedPartOf({
  instructions,
  registry,
  output,
}: FixedPart): Omit<EstimatedConversation, 'messages'> {
  const answer = output === undefined ? {} : { output: { name: 'answer', schema: output.json } };
  return { instructions, tools: registry.definitions, ...answer };
}

interface Wish {
  /** What the provider said where it refused the conversation; absent where the estimate says that it will be too long. */
  readonly refusal?: Failure;
  readonly signal: AbortSignal;
  /** No model may be asked for a summary. */
  readonly withoutModel?: boolean;
}

/** Plans a shorter conversation. A summary that is not available is reported, and what it would have replaced is truncated. */
export async function makeCompaction(
  parts: AgentParts,
  live: LiveRun,
  { refusal, signal, withoutModel = false }: Wish,
): Promise<CompactionMade> {
  const { rules, meter } = parts.context;
  const state = live.state as RunState; // Only a run that has begun asks a model.
  const messages = messagesOf(state.history);
  await meter?.measure(live, messages, { signal });
  const { fixedTokens } = meter ?? parts.context;
  const input: CompactionInput = {
    messages,
    fixedTokens: fixedTokens(),
    ...(meter === undefined ? {} : { tokensOf: meter.tokensOf }),
    reason: reasonOf(parts, state, refusal),
    rules,
    isRead: (name) => isReadTool(state, name),
  };
  const refused = refusal === undefined ? {} : { refused: sizeOf(input, state) };
  const { whole, charge, failures } = await askAll(parts, live, { input, signal, withoutModel });
  const compaction = planCompaction(whole);
  return { ...defined({ compaction, failure: failures[0], charge }), ...refused };
}

interface Asking {
  readonly input: CompactionInput;
  readonly signal: AbortSignal;
  readonly withoutModel: boolean;
}

/** What all questions of a plan came to. */
interface AskedPlan {
  readonly whole: CompactionInput;
  readonly charge?: Ledger;
  readonly failures: readonly Failure[];
}

/** Asks what the plan must know, one after the other: a strategy is asked only where those before it did not save enough. */
async function askAll(
  parts: AgentParts,
  live: LiveRun,
  { input, signal, withoutModel }: Asking,
): Promise<AskedPlan> {
  const choices = new Map<number, ChoiceReading>();
  const failures: Failure[] = [];
  let whole: CompactionInput = { ...input, choices };
  let charge: Ledger | undefined;
  // Bounded: each answer settles one of the strategies, which are named once each.
  for (let question = planQuestion(whole); question !== undefined; question = planQuestion(whole)) {
    if (question.type === 'own') {
      const reading = await askStrategy(parts, live, { question, signal });
      choices.set(question.place, reading);
      if (reading.type === 'failed') failures.push(strategyFailed(question.strategy, reading));
    } else if (withoutModel) whole = { ...whole, summary: { type: 'failed', why: 'No model may be asked.' } };
    else {
      const { reading, ledger, failure } = await askSummary(parts, live, {
        request: question.request,
        signal,
      });
      whole = { ...whole, summary: reading };
      charge = ledger;
      if (failure !== undefined) failures.push(failure);
    }
  }
  return { whole, failures, ...defined({ charge }) };
}

/** How long a function of the caller may take to choose. */
const maxStrategyMs = 10_000;

/** It gets a copy: whatever it does to that is not what the model sees. */
async function askStrategy(
  { clock, strayErrors }: AgentParts,
  live: LiveRun,
  {
    question: { strategy, view },
    signal,
  }: { readonly question: Extract<PlanQuestion, { type: 'own' }>; readonly signal: AbortSignal },
): Promise<ChoiceReading> {
  const report = (failure: Failure): void =>
    publish(live, { type: 'hook-failed', hook: 'context.strategy', point: 'before-model', failure });
  const owner = ownerNamed(`The context strategy ${nameOf(strategy)}`, { strayErrors, report });
  const copy = structuredClone(view);
  const timeoutMs = maxStrategyMs;
  const end = await callHook((context) => strategy(copy, context), { clock, timeoutMs, signal, owner });
  switch (end.type) {
    case 'answered':
      return readChoice(end.answer, view);
    case 'threw':
      return {
        type: 'failed',
        why: `it threw: ${classifyFailure(end.thrown, 'context').message}`,
        thrown: end.thrown,
      };
    case 'timed-out':
      return { type: 'failed', why: `it gave no answer within ${maxStrategyMs / 1000} s` };
    case 'aborted':
      return { type: 'failed', why: 'the run was cancelled' };
    default:
      return unreachable(end);
  }
}

function nameOf({ name }: OwnStrategy): string {
  return name === '' ? 'without a name' : showName(name);
}

function strategyFailed(
  strategy: OwnStrategy,
  { why, thrown: cause }: Extract<ChoiceReading, { type: 'failed' }>,
): Failure {
  return createFailure('COMPACTION_FAILED', {
    origin: 'context',
    message: `The context strategy ${nameOf(strategy)} could not be used, so the next one was: ${why}`,
    cause,
  });
}

function reasonOf(
  { context: { budget } }: AgentParts,
  { tallies }: RunState,
  refusal: Failure | undefined,
): CompactionReason {
  if (refusal === undefined && budget !== undefined) return { type: 'budget', ...budget };
  const { compactions } = tallies;
  const overflow: Overflow = {
    type: 'overflow',
    isAgain: compactions > 0,
    isLast: compactions >= maxShortenings - 1,
    ...defined({ budget }),
  };
  const { requestedTokens, maxTokens } = refusal?.context ?? {};
  if (typeof requestedTokens !== 'number' || typeof maxTokens !== 'number') return overflow;
  return { ...overflow, stated: { requestedTokens, maxTokens } };
}

function sizeOf(
  { fixedTokens, messages, tokensOf: count }: CompactionInput,
  { history }: RunState,
): RefusedSize {
  const counted = count === undefined ? tokensOf(history) : sum(messages, count);
  return { tokens: fixedTokens + counted, fixedTokens };
}

interface Summarised {
  readonly reading: SummaryReading;
  readonly ledger: Ledger;
  readonly failure?: Failure;
}

async function askSummary(
  parts: AgentParts,
  live: LiveRun,
  { request, signal }: { readonly request: SummaryRequest; readonly signal: AbortSignal },
): Promise<Summarised> {
  const { instructions, messages } = request;
  const models =
    parts.context.rules.summaryModel === undefined ? parts.models : [parts.context.rules.summaryModel];
  const answered = await sideCall(parts, live, {
    who: 'The summary of the conversation',
    models,
    messages: [{ role: 'system', content: instructions }, ...messages],
    signal,
  });
  const { ledger } = answered;
  const reading: SummaryReading =
    answered.type === 'success'
      ? readSummary(answered.text)
      : { type: 'failed', why: answered.failure.message };
  if (reading.type === 'ok') return { reading, ledger };
  const failure = createFailure('COMPACTION_FAILED', {
    origin: 'context',
    message: `The conversation could not be summarised, so its oldest part is left out: ${reading.why}`,
    causes:
      answered.type === 'failure' ? [{ name: answered.failure.code, message: answered.failure.message }] : [],
  });
  return { reading, ledger, failure };
}
