import type { RunOutcome, RunUsage } from '../agent/run-outcome.ts';
import { effectsOfRun } from '../agent/run-effects.ts';
import type { ChildUse } from '../agent/tools/tool-call.ts';
import { defined } from '../base/defined.ts';
import { countEffects, effectsIn, withoutOldest, writeEffects } from '../model/effects.ts';
import { addLedgers, emptyLedger, subtractLedgers } from '../resilience/ledger.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { RunBounds } from '../runtime/run/live-run.ts';
import type { NodeCall } from '../runtime/children/node.ts';
import type { Child } from './perform-child.ts';

/** What the run above has left, counted on from what this one has used up. */
export function boundsOf(
  { state, leftMs }: NodeCall,
  runId: string,
  begun: RunOutcome | undefined,
): RunBounds {
  const { limits } = state.config;
  const own = state.children?.[runId];
  const above = own === undefined ? state.ledger : subtractLedgers(state.ledger, own);
  return {
    timeoutMs: (begun?.usage.elapsedMs ?? 0) + leftMs,
    maxTokens: left(limits.maxTokens, above.inputTokens + above.outputTokens, 1),
    maxCostUsd: left(limits.maxCostUsd, above.costUsd, Number.MIN_VALUE),
    maxRequests: left(limits.maxRequests, above.requests, 1),
  };
}

/** What has no bound is written as the largest number there is. */
function left(limit: number, used: number, least: number): number {
  return limit === Number.MAX_SAFE_INTEGER ? limit : Math.max(least, limit - used);
}

/** What a run has used up, and what it did. */
export function childUse(
  { runs, runId, handed, told }: Pick<Child, 'runs' | 'runId' | 'handed' | 'told'>,
  outcome: RunOutcome,
): ChildUse {
  const use = { runId, ledger: ledgerOf(outcome.usage) };
  // What others did is before all else, and is on their records.
  const foreign = countEffects(effectsIn(told?.(runId) ?? [], () => true));
  const effects = writeEffects(withoutOldest(effectsOfRun(runs.parts, outcome.messages), foreign));
  return effects === '' ? use : { ...use, effects, ...defined({ handed }) };
}

/** What a run has used up, without what is not added up over runs. */
function ledgerOf(usage: RunUsage): Ledger {
  return addLedgers(emptyLedger, usage);
}
