import { duration } from '../../base/duration.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import type { Block } from './report-document.ts';
import type { ReportFacts } from './report-facts.ts';
import { amount, counted, excerpt, explainEnd, money, own, safely, section } from './report-words.ts';

/** For the engineer who must fix it: codes, causes, attempts, waits, the ledger, the limits, and how to resume it. */
export function describeForDeveloper(facts: ReportFacts): readonly Block[] {
  return [
    { type: 'title', text: safely(() => titleOf(facts), 'A run ended without an answer') },
    ...section('Summary', () => [{ type: 'paragraph', text: summaryOf(facts) }]),
    ...section('Next steps', () => [{ type: 'list', items: nextSteps(facts) }]),
    ...section('Failure', () => failureBlocks(facts)),
    ...section('Asked', () => [{ type: 'quote', text: excerpt(facts.asked, 2000) || 'nothing in words' }]),
    ...section('Latest attempts at models', () => attemptBlocks(facts)),
    ...section('Recoveries: failures that were overcome', () => recoveryBlocks(facts)),
    ...section(hasNodes(facts) ? 'Nodes and tools' : 'Tools', () => toolBlocks(facts)),
    ...section('Ledger', () => [{ type: 'list', items: ledgerItems(facts) }]),
    ...section('Limits', () => [{ type: 'list', items: limitItems(facts) }]),
    ...section('Partial answer', () => partialBlocks(facts)),
    { type: 'paragraph', text: `Run: ${idOf(facts)}` },
  ];
}

function idOf(facts: ReportFacts): string {
  return safely(() => excerpt(facts.runId, 200), '') || 'unknown';
}

function titleOf(facts: ReportFacts): string {
  const { ended, agent } = facts;
  const code = ended.failure?.code ?? 'no failure';
  const how = ended.type === 'stopped' ? `was stopped: ${ended.reason} (${code})` : `failed: ${code}`;
  return `Run ${idOf(facts)} of agent "${excerpt(agent, 100)}" ${how}`;
}

function summaryOf({ turns, toolCalls, elapsedMs, usage, recoveries }: ReportFacts): string {
  return [
    `After ${counted(turns, 'turn')} and ${counted(toolCalls, 'tool call')}`,
    `${duration(elapsedMs)} of active time, ${duration(usage.waitedMs)} of it waiting between attempts`,
    `${counted(recoveries.length, 'failure')} overcome on the way.`,
  ].join('; ');
}

function nextSteps(facts: ReportFacts): readonly string[] {
  const { ended } = facts;
  const id = JSON.stringify(idOf(facts));
  const goOn =
    ended.type === 'failed'
      ? `Once the cause is fixed: await agent.resume(${id}). It resumes after the last finished turn; a tool call that finished is not made again.`
      : 'A stopped run is not resumed. Run again with what it lacked; hand in outcome.messages to continue from there.';
  const inDoubt =
    ended.failure?.code === 'UNKNOWN_OUTCOME' || ended.failure?.sideEffect === 'possible'
      ? ['The last act may have taken effect. Check outside before it is repeated.']
      : [];
  return [explainEnd(facts).next, ...inDoubt, goOn];
}

function failureBlocks({ ended: { failure } }: ReportFacts): readonly Block[] {
  if (failure === undefined) return [{ type: 'paragraph', text: 'There is none: it ended by a decision.' }];
  const lines = renderFailure(printableFailure(failure), 'developer').split('\n');
  return [{ type: 'list', items: lines.map((line) => line.trim()) }];
}

const maxRows = 50;

function attemptBlocks({ attempts, usage }: ReportFacts): readonly Block[] {
  if (attempts.length === 0) return [{ type: 'paragraph', text: 'None is recorded.' }];
  const latest = attempts.slice(-maxRows);
  const hidden = usage.requests - latest.length;
  const rows = latest.map(({ attempt, provider, model, isProbe, durationMs, failure }) => [
    amount(attempt),
    excerpt(`${provider}/${model}`, 100),
    `${failure?.code ?? 'ok'}${isProbe ? ' (probe)' : ''}`,
    duration(durationMs),
    failure?.retryAfterMs === undefined ? '' : duration(failure.retryAfterMs),
    excerpt(failure?.message, 150),
  ]);
  return [
    ...(hidden > 0
      ? [{ type: 'paragraph' as const, text: `The latest ${rows.length} of ${amount(usage.requests)}.` }]
      : []),
    { type: 'table', head: ['attempt', 'model', 'result', 'took', 'asked to wait', 'message'], rows },
  ];
}

function recoveryBlocks({ recoveries }: ReportFacts): readonly Block[] {
  if (recoveries.length === 0) return [{ type: 'paragraph', text: 'None.' }];
  const rows = recoveries
    .slice(-maxRows)
    .map(({ turn, failure, recovery, attempts, lostMs, lostTokens }) => [
      amount(turn),
      failure.code,
      recovery,
      amount(attempts),
      duration(lostMs),
      amount(lostTokens),
      excerpt(failure.message, 150),
    ]);
  return [
    {
      type: 'table',
      head: ['turn', 'code', 'recovery', 'attempt', 'lost time', 'lost tokens', 'message'],
      rows,
    },
  ];
}

function hasNodes({ nodes }: ReportFacts): boolean {
  return Array.isArray(nodes) && nodes.length > 0;
}

function toolBlocks(facts: ReportFacts): readonly Block[] {
  const { succeeded, toolFailures, effects, nodes = [] } = facts;
  const names = [...new Set([...Object.keys(succeeded), ...Object.keys(toolFailures)])];
  if (names.length === 0) return [{ type: 'paragraph', text: 'None was called.' }];
  const rows = names
    .slice(0, maxRows)
    .map((name) => [
      excerpt(name, 100),
      nodes.includes(name) ? 'a node' : (own(effects, name) ?? 'unknown'),
      amount(own(succeeded, name) ?? 0),
      amount(own(toolFailures, name) ?? 0),
    ]);
  const first = hasNodes(facts) ? 'name' : 'tool';
  return [{ type: 'table', head: [first, 'effect', 'succeeded', 'failed in a row at the end'], rows }];
}

function ledgerItems({ usage }: ReportFacts): readonly string[] {
  return [
    `requests sent: ${amount(usage.requests)}`,
    `input tokens: ${amount(usage.inputTokens)}${usage.cacheReadTokens === undefined ? '' : `, ${amount(usage.cacheReadTokens)} of them from the cache`}`,
    `output tokens: ${amount(usage.outputTokens)}`,
    `requests whose tokens are not known: ${amount(usage.unknownUsage)}`,
    `cost: ${money(usage.costUsd, usage.unknownCost)}`,
    `tokens spent on failed attempts: ${amount(usage.lostTokens)}`,
    `waited between attempts: ${duration(usage.waitedMs)}`,
  ];
}

function limitItems(facts: ReportFacts): readonly string[] {
  const { usage, turns, toolCalls, elapsedMs } = facts;
  const used: Readonly<Record<string, number>> = {
    maxTurns: turns,
    maxTokens: usage.inputTokens + usage.outputTokens,
    maxCostUsd: usage.costUsd,
    maxRequests: usage.requests,
    maxToolCalls: toolCalls,
    timeoutMs: elapsedMs,
  };
  return Object.entries(facts.limits).map(([name, limit]: readonly [string, unknown]) => {
    // JSON has no Infinity: a limit that is absent or null is none.
    const bound = typeof limit === 'number' && Number.isFinite(limit) ? amount(limit) : 'none';
    const spent = own(used, name);
    return spent === undefined
      ? `${excerpt(name, 60)}: ${bound}`
      : `${name}: ${bound}, used ${amount(spent)}`;
  });
}

function partialBlocks({ partial }: ReportFacts): readonly Block[] {
  if (partial === '') return [{ type: 'paragraph', text: 'None.' }];
  return [
    { type: 'paragraph', text: `${counted(partial.length, 'character')}. It begins:` },
    { type: 'quote', text: excerpt(partial, 1000) },
  ];
}
