import { duration } from '../../base/duration.ts';
import type { AttemptRecord } from '../../resilience/call-report.ts';
import type { ExplainedNode } from './error-context.ts';
import type { ReportFacts } from './report-facts.ts';
import { amount, counted, money, own } from './report-words.ts';
import type { RunRecovery } from '../run-outcome.ts';

/** What happened in a run, one line each, the most important first: what is left out by a bound stands at the end. */
export function factLines(facts: ReportFacts, nodes: readonly ExplainedNode[]): readonly string[] {
  return [
    endLine(facts),
    ...callLines(facts),
    ...causeLines(facts),
    totalsLine(facts),
    costLine(facts),
    ...nodes.slice(0, maxNodes).map(nodeLine),
    ...toolLines(facts, nodes),
    ...attemptLines(facts.attempts),
    ...recoveryLines(facts.recoveries),
    ...partialLines(facts),
  ];
}

/** The tool, node or capability of the run whose call ended it: failures in a row do not count every failure of a call. */
export function failedCallOf({ ended: { failure }, effects }: ReportFacts): string | undefined {
  const named = ['tool', 'node', 'capability'].map((field) => failure?.context[field]);
  return named.find((name) => typeof name === 'string' && own(effects, name) !== undefined) as  // A string, then.
    string | undefined;
}

const maxNodes = 12;
const maxTools = 8;
const maxAttempts = 6;
const maxRecoveries = 5;
const maxCauses = 2;

function endLine({ ended }: ReportFacts): string {
  const { failure } = ended;
  const why = failure === undefined ? 'by a decision' : `with ${failure.code}: ${failure.message}`;
  return ended.type === 'stopped' ? `The run was stopped (${ended.reason}), ${why}` : `The run failed ${why}`;
}

function callLines(facts: ReportFacts): readonly string[] {
  const name = failedCallOf(facts);
  return name === undefined ? [] : [`It was a call of "${name}" that failed`];
}

function causeLines({ ended: { failure } }: ReportFacts): readonly string[] {
  if (failure === undefined) return [];
  const causes = failure.causes.slice(0, maxCauses).map(({ name, message, code }) => {
    const named = code === undefined ? name : `${name} (${code})`;
    return `A cause of the failure: ${named}: ${message}`;
  });
  const doubt =
    failure.sideEffect === 'possible' ? ['It is not known whether the last act took effect outside'] : [];
  const wait =
    failure.retryAfterMs === undefined
      ? []
      : [`The other side asked for a wait of ${duration(failure.retryAfterMs)}`];
  return [...doubt, ...wait, ...causes];
}

function totalsLine({ turns, toolCalls, elapsedMs, usage, recoveries }: ReportFacts): string {
  return `In all: ${counted(turns, 'turn')}, ${counted(usage.requests, 'request')} to models, ${counted(toolCalls, 'tool call')}, ${counted(recoveries.length, 'failure')} overcome, ${duration(elapsedMs)}`;
}

function costLine({ usage }: ReportFacts): string {
  const tokens = amount(usage.inputTokens + usage.outputTokens);
  const cost = money(usage.costUsd, usage.unknownCost);
  // Where nothing of it is known, the words for it are a sentence of their own.
  const isKnown = usage.unknownCost === 0 || usage.costUsd > 0;
  return `It used ${tokens} tokens${isKnown ? ` and cost ${cost}` : `; ${cost}`}`;
}

function nodeLine({ name, status, reason, failure }: ExplainedNode): string {
  const why = failure === undefined ? (reason ?? '') : `${failure.code}: ${failure.message}`;
  return `The step "${name}": ${status}${why === '' ? '' : `; ${why}`}`;
}

/** Nodes of a flow or a plan have lines of their own; agents that a lead gave jobs to have none but these. */
function toolLines(facts: ReportFacts, shown: readonly ExplainedNode[]): readonly string[] {
  const { succeeded, toolFailures, effects, nodes = [] } = facts;
  const called = new Set([...Object.keys(toolFailures), ...Object.keys(succeeded)]);
  const names = [...called].filter((name) => shown.length === 0 || !nodes.includes(name));
  return names.slice(0, maxTools).map((name) => {
    const failures = own(toolFailures, name) ?? 0;
    const failed = failures === 0 ? '' : `, then failed ${counted(failures, 'time')} in a row`;
    const effect = own(effects, name) === 'read' ? '; it only reads' : '';
    const kind = nodes.includes(name) ? 'agent' : 'tool';
    return `The ${kind} "${name}" succeeded ${counted(own(succeeded, name) ?? 0, 'time')}${failed}${effect}`;
  });
}

/** The latest last, as they were made. */
function attemptLines(attempts: readonly AttemptRecord[]): readonly string[] {
  return attempts.slice(-maxAttempts).map(({ attempt, provider, model, durationMs, failure }) => {
    const end = failure === undefined ? 'was answered' : `failed with ${failure.code}`;
    return `Attempt ${attempt} at the model ${provider}/${model} ${end} after ${duration(durationMs)}`;
  });
}

function recoveryLines(recoveries: readonly RunRecovery[]): readonly string[] {
  return recoveries
    .slice(-maxRecoveries)
    .map(
      ({ turn, failure, recovery, lostMs }) =>
        `In turn ${turn} ${failure.code} was overcome by ${recovery}, which took ${duration(lostMs)}`,
    );
}

function partialLines({ partial }: ReportFacts): readonly string[] {
  return partial === '' ? [] : [`There is an unfinished answer of ${counted(partial.length, 'character')}`];
}
