import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import type { Model } from '../../model/model.ts';
import { addLedgers, emptyLedger } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { AgentParts } from '../agent-parts.ts';
import { callModel } from './call-model.ts';
import type { LiveRun } from '../run/live-run.ts';

/** A question beside the conversation of the run, on its budget. */
export interface SideQuestion {
  /** Who asks, at the beginning of a sentence. */
  readonly who: string;
  readonly models: readonly Model[];
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
  /** What this asking has used up before, which the run does not know yet. */
  readonly spent?: Ledger;
}

/** What came of it, and what it used up. */
export type SideAnswer =
  | { readonly type: 'success'; readonly text: string; readonly ledger: Ledger }
  | { readonly type: 'failure'; readonly failure: Failure; readonly ledger: Ledger };

/** Asks a model as the run itself would: the same retries, the same gates, and never more than the run has left. */
export async function sideCall(
  parts: AgentParts,
  live: LiveRun,
  { who, models, messages, signal, spent = emptyLedger }: SideQuestion,
): Promise<SideAnswer> {
  const { limits } = parts.config;
  const used = addLedgers(live.state?.ledger ?? emptyLedger, spent);
  const left = {
    maxRequests: limits.maxRequests - used.requests,
    maxTokens: limits.maxTokens - used.inputTokens - used.outputTokens,
    maxCostUsd: limits.maxCostUsd - used.costUsd,
  };
  for (const [name, rest] of Object.entries(left)) {
    if (rest > 0) continue;
    const message = `${who} needs assistance, but the run has used up limits.${name}`;
    const failure = createFailure('BUDGET_EXCEEDED', { message, context: { limit: name } });
    return { type: 'failure', failure, ledger: emptyLedger };
  }
  const { retry, timeouts, fallBackOnFilter, gates, clock, random } = parts;
  const policy = { retry, timeouts, fallBackOnFilter, limits: left };
  const outcome = await callModel(models, { messages }, { policy, signal, gates, clock, random });
  const { ledger } = outcome.report;
  return outcome.type === 'failure'
    ? { type: 'failure', failure: outcome.failure, ledger }
    : { type: 'success', text: outcome.result.text, ledger };
}
