import type { CompactionMade, RefusedSize } from '../agent/event.ts';
import { messagesOf } from '../agent/history.ts';
import type { History } from '../agent/history.ts';
import { maxShortenings } from '../agent/overflow.ts';
import { isReadTool } from '../agent/read-tools.ts';
import type { RunState } from '../agent/state.ts';
import { defined } from '../base/defined.ts';
import type { SummaryReading, SummaryRequest } from '../context/ask-for-summary.ts';
import { readSummary } from '../context/ask-for-summary.ts';
import { estimateConversation, estimateTokens } from '../context/estimate-tokens.ts';
import { planCompaction, planSummary } from '../context/plan-compaction.ts';
import type { CompactionInput, CompactionReason, Overflow } from '../context/plan-compaction.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { Message } from '../model/message.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { AgentParts } from './agent-parts.ts';
import type { LiveRun } from './live-run.ts';
import { sideCall } from './side-call.ts';

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

function sum(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) tokens += estimateTokens(message);
  return tokens;
}

/** What instructions, tools and the schema of the answer take: no compaction saves them. */
export function fixedTokensOf({
  instructions,
  registry,
  output,
}: Pick<AgentParts, 'instructions' | 'registry' | 'output'>): number {
  const answer = output === undefined ? {} : { output: { name: 'answer', schema: output.json } };
  const tools = registry.definitions;
  return estimateConversation({ instructions, tools, messages: [], ...answer }).fixedTokens;
}

interface Wish {
  /** What the provider said where it refused the conversation; absent where the estimate says that it will be too long. */
  readonly refusal?: Failure;
  readonly signal: AbortSignal;
  /** No model may be asked for a summary. */
  readonly withoutModel?: boolean;
}

/** Plans a shorter conversation. A summary that cannot be had is told, and what it would have replaced is truncated. */
export async function makeCompaction(
  parts: AgentParts,
  live: LiveRun,
  { refusal, signal, withoutModel = false }: Wish,
): Promise<CompactionMade> {
  const { rules, fixedTokens } = parts.context;
  const state = live.state as RunState; // Only a run that has begun asks a model.
  const input: CompactionInput = {
    messages: messagesOf(state.history),
    fixedTokens: fixedTokens(),
    reason: reasonOf(parts, state, refusal),
    rules,
    isRead: (name) => isReadTool(state, name),
  };
  const refused = refusal === undefined ? {} : { refused: sizeOf(input, state) };
  const request = withoutModel ? undefined : planSummary(input);
  if (request === undefined) return { ...defined({ compaction: planCompaction(input) }), ...refused };
  const { reading, ledger, failure } = await askSummary(parts, live, { request, signal });
  const compaction = planCompaction({ ...input, summary: reading });
  return { ...defined({ compaction, failure }), charge: ledger, ...refused };
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

function sizeOf({ fixedTokens }: CompactionInput, { history }: RunState): RefusedSize {
  return { tokens: fixedTokens + tokensOf(history), fixedTokens };
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
