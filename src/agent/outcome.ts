import { unreachable } from '../base/assert.ts';
import { isRecord } from '../base/json.ts';
import { textOf } from '../model/message.ts';
import type { Message } from '../model/message.ts';
import { messagesOf } from './turn/history.ts';
import { buildReport } from './report/build-report.ts';
import { cancelRun } from './tools/cancel.ts';
import { readCalls } from './conducted.ts';
import type { ErrorReport } from './report/error-report.ts';
import type { Unhappy } from './report/explained.ts';
import type { RunLimits } from './limits.ts';
import type { ReportFacts } from './report/report-facts.ts';
import { own } from './report/report-words.ts';
import type { RunFacts, RunOutcome, RunUsage } from './run-outcome.ts';
import type { Ended, RunState } from './state.ts';

/** How the run ended or why it waits, or nothing while it continues. */
export function outcomeOf(state: RunState): RunOutcome | undefined {
  const { phase } = state;
  if (phase.type === 'suspended') {
    const { reason, resumeAt, request, failure } = phase;
    return {
      type: 'suspended',
      // What is asked about has no result yet; code that takes the conversation elsewhere needs a true one.
      ...factsOf(cancelRun(state)),
      reason,
      ...(resumeAt === undefined ? {} : { resumeAt }),
      ...(request === undefined ? {} : { request }),
      ...(failure === undefined ? {} : { failure }),
    };
  }
  return phase.type === 'ended' ? endedOutcome(state, phase) : undefined;
}

function endedOutcome(state: RunState, phase: Ended): RunOutcome {
  const facts = factsOf(state);
  const { partial } = state;
  switch (phase.end) {
    case 'completed': {
      // The usual end. Field by field and not by spreading, here and below, for which engines take ten times as long.
      const { runId, messages, usage, turns, recoveries } = facts;
      const { output, text } = phase;
      return { type: 'completed', runId, messages, usage, turns, recoveries, output, text };
    }
    case 'cancelled':
      return { type: 'cancelled', ...facts, partial };
    case 'stopped': {
      const { reason, failure } = phase;
      const stopped = { type: 'stopped', ...facts, reason, partial, report: reportOf(state, phase) } as const;
      return failure === undefined ? stopped : { ...stopped, failure };
    }
    case 'failed':
      return { type: 'failed', ...facts, failure: phase.failure, partial, report: reportOf(state, phase) };
    default:
      return unreachable(phase);
  }
}

function factsOf({ runId, history, ledger, toolCalls, elapsedMs, turn, recoveries }: RunState): RunFacts {
  const usage: RunUsage = {
    requests: ledger.requests,
    inputTokens: ledger.inputTokens,
    outputTokens: ledger.outputTokens,
    ...(ledger.cacheReadTokens === undefined ? {} : { cacheReadTokens: ledger.cacheReadTokens }),
    unknownUsage: ledger.unknownUsage,
    costUsd: ledger.costUsd,
    unknownCost: ledger.unknownCost,
    waitedMs: ledger.waitedMs,
    lostTokens: ledger.lostTokens,
    toolCalls,
    elapsedMs,
  };
  return { runId, messages: messagesOf(history), usage, turns: turn, recoveries };
}

function reportOf(state: RunState, phase: Unhappy): ErrorReport {
  return buildReport(reportFactsOf(state, phase), phase.explanation);
}

/** All that a report on this end is made of. */
export function reportFactsOf(state: RunState, phase: Unhappy): ReportFacts {
  const { runId, config, ledger, elapsedMs, turn, recoveries, records, partial, toolCalls } = state;
  const { failure } = phase;
  return {
    agent: config.agent,
    runId,
    asked: askedText(messagesOf(state.history)),
    ended:
      phase.end === 'stopped'
        ? { type: 'stopped', reason: phase.reason, failure }
        : { type: 'failed', failure },
    turns: turn,
    ...callsIn(state),
    effects: Object.fromEntries(Object.entries(config.tools).map(([name, { effect }]) => [name, effect])),
    toolCalls,
    attempts: records,
    recoveries,
    usage: ledger,
    elapsedMs: Math.round(elapsedMs),
    partial,
    limits: boundsOf(config.limits),
  };
}

type CallFacts = Pick<ReportFacts, 'succeeded' | 'toolFailures' | 'nodes'>;

/** A flow and a plan are counted when a caller asks, for their calls are all on record. */
function callsIn(state: RunState): CallFacts {
  const { tallies, config } = state;
  const nodes = Object.keys(config.tools).filter((name) => config.tools[name]?.isNode === true);
  const counted = config.isConducted === true ? countCalls(state, new Set(nodes)) : tallies;
  const facts = { succeeded: counted.succeeded, toolFailures: counted.toolFailures };
  return nodes.length === 0 ? facts : { ...facts, nodes };
}

function countCalls(
  { history, taskLength = 0, tallies }: RunState,
  nodes: ReadonlySet<string>,
): Pick<CallFacts, 'succeeded' | 'toolFailures'> {
  const succeeded: Record<string, number> = {};
  const toolFailures: Record<string, number> = { ...tallies.toolFailures };
  for (const { name, input, record } of readCalls(messagesOf(history), taskLength)) {
    const isNode = nodes.has(name);
    if (isNode && record?.status === 'failed') toolFailures[name] = (own(toolFailures, name) ?? 0) + 1;
    // A flow also writes down what it does not do.
    const isSkipped = isNode && isRecord(input) && input['do'] === 'skip';
    if (record?.status !== 'ok' || isSkipped) continue;
    succeeded[name] = (own(succeeded, name) ?? 0) + 1;
    delete toolFailures[name];
  }
  return { succeeded, toolFailures };
}

/** What the person asked first. */
function askedText(messages: readonly Message[]): string {
  const first = messages.find(({ role }) => role === 'user');
  if (first === undefined) return '';
  return typeof first.content === 'string' ? first.content : textOf(first.content);
}

/** What has no bound is not reported: the journal writes it as the largest number there is. */
function boundsOf(limits: RunLimits): Partial<RunLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== Number.MAX_SAFE_INTEGER));
}
