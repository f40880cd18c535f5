import { errorContextOf } from '../../agent/report/error-context.ts';
import type { ErrorContext, ExplainedNode } from '../../agent/report/error-context.ts';
import { askForExplanation } from '../../agent/report/error-node.ts';
import { canExplain, isResting, isUnhappy } from '../../agent/report/explained.ts';
import type { ExplanationMade } from '../../agent/report/explained.ts';
import { outcomeOf, reportFactsOf } from '../../agent/outcome.ts';
import type { ReportFacts } from '../../agent/report/report-facts.ts';
import type { RunState } from '../../agent/state.ts';
import type { Model } from '../../model/model.ts';
import { emptyLedger, spentLimit } from '../../resilience/ledger.ts';
import type { AgentParts } from '../agent-parts.ts';
import { askExplanation, maxExplanationTokens } from './ask-explanation.ts';
import type { AskedExplanation } from './ask-explanation.ts';
import { viewOf } from '../children/conduct-effect.ts';
import type { LiveRun } from './live-run.ts';

/**
 * Asks one model once why the run ended as it did. Never rejects and reports no failure: the report stands without it, and
 * what goes wrong here is not itself explained.
 */
export async function makeExplanation(
  parts: AgentParts,
  live: LiveRun,
  { signal }: { readonly signal: AbortSignal },
): Promise<ExplanationMade> {
  const startMs = parts.clock.monotonicMs();
  const tookMs = (): number => parts.clock.monotonicMs() - startMs;
  try {
    const asked = await ask(parts, live, signal);
    const made = { charge: asked?.charge ?? emptyLedger, tookMs: tookMs() };
    return asked?.type === 'explained' ? { ...made, explanation: asked.explanation } : made;
  } catch {
    // A defect in the error path must not take the place of the failure that is reported.
    return { charge: emptyLedger, tookMs: tookMs() };
  }
}

async function ask(
  parts: AgentParts,
  live: LiveRun,
  signal: AbortSignal,
): Promise<AskedExplanation | undefined> {
  const { state } = live;
  if (live.isCancelled || signal.aborted || state === undefined || !isUnhappy(state.phase)) return undefined;
  const model = chooseModel(parts, state);
  if (model === undefined) return undefined;
  const facts = factsFor(parts, reportFactsOf(state, state.phase));
  const context = errorContextOf(facts, { typing: { runId: state.runId }, nodes: nodesOf(parts, state) });
  if (!hasRoom(state, context)) return undefined;
  const { gates, clock, random, timeouts } = parts;
  const timeoutMs = state.config.limits.modelTimeoutMs;
  return askExplanation(model, context, { gates, clock, random, timeouts, timeoutMs, signal });
}

/** Where hooks decide what a model is asked, what the person asked is not shown to it past them. */
function factsFor(parts: AgentParts, facts: ReportFacts): ReportFacts {
  return decidesInput(parts) ? { ...facts, asked: '' } : facts;
}

/** Its own hooks, or those of an agent below, whose model may be the one that is asked. Ends: no agent is below itself. */
function decidesInput({ hooks, nodes }: AgentParts): boolean {
  if (hooks.has('run-start') || hooks.has('before-model')) return true;
  return [...(nodes?.values() ?? [])].some(({ agent }) => agent !== undefined && decidesInput(agent));
}

/** The first that nothing speaks against; where an explanation is wanted always, one that may be asked at all. */
function chooseModel({ sideModels, gates }: AgentParts, state: RunState): Model | undefined {
  const open = sideModels.filter(({ quotaKey, name }) => gates.gateOf(quotaKey).breaker(name) === 'closed');
  const best = open.find((model) => canExplain(state, model));
  if (best !== undefined || state.config.explain !== 'always') return best;
  return open.find((model) => !isResting(state, model));
}

function nodesOf({ conductor }: AgentParts, state: RunState): readonly ExplainedNode[] {
  const outcome = conductor === undefined ? undefined : outcomeOf(state);
  if (conductor === undefined || outcome === undefined) return [];
  return conductor.report(viewOf(state, outcome.messages), outcome);
}

/** By a rough estimate, on the safe side. */
const charactersPerToken = 3;

/** Whether the run may use up as much as this takes at most: what explains its end must not break a bound of its own. */
function hasRoom({ ledger, config: { limits } }: RunState, context: ErrorContext): boolean {
  if (spentLimit(ledger, limits) !== undefined) return false;
  const { instructions, prompt } = askForExplanation(context);
  const tokens = Math.ceil((instructions.length + prompt.length) / charactersPerToken) + maxExplanationTokens;
  return ledger.inputTokens + ledger.outputTokens + tokens <= (limits.maxTokens ?? Infinity);
}
