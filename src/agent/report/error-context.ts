import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import type { Severity } from '../../errors/codes.ts';
import { clean, severityOf } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { factLines, failedCallOf } from './error-facts.ts';
import { stepsFor } from './next-steps.ts';
import type { NextStep, StepTyping } from './next-steps.ts';
import type { ReportFacts } from './report-facts.ts';
import { own } from './report-words.ts';

/** All that a model receives about a run that did not end as it should. Redacted and bounded: it may leave the process. */
export interface ErrorContext {
  readonly task: string;
  readonly agent: string;
  /** What was being done when it ended. */
  readonly operation: string;
  /** Absent where it ended by a decision. */
  readonly failure?: ExplainedFailure;
  /** `stopped`: the reason of it; else nothing. */
  readonly reason?: string;
  readonly succeeded: readonly CountedStep[];
  readonly failed: readonly CountedStep[];
  readonly operations: number;
  readonly elapsedMs: number;
  readonly turns: number;
  /** What a claim may rest on. */
  readonly facts: readonly Fact[];
  /** What may be proposed. */
  readonly nextSteps: readonly NextStep[];
  /** Names of tools, nodes, models, providers, limits, the agent and the run: any other name is invented. */
  readonly names: readonly string[];
}

/** The part of a failure that a model receives. */
export interface ExplainedFailure {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string;
  /** What its classifier added, as JSON. */
  readonly metadata?: string;
  readonly suggestions: readonly string[];
}

/** A tool or a node, and how often. */
export interface CountedStep {
  readonly name: string;
  readonly count: number;
}

/** One thing that happened, with the number by which it is cited. */
export interface Fact {
  readonly number: number;
  readonly text: string;
}

/** What became of a node of a flow or a plan. */
export interface ExplainedNode {
  readonly name: string;
  readonly status: string;
  readonly reason?: string;
  readonly failure?: Failure;
}

/** What is known besides the facts of the report. */
export interface ContextOptions {
  readonly typing: StepTyping;
  readonly nodes?: readonly ExplainedNode[];
}

/** Folds the facts of a report into the facts for a model. */
export function errorContextOf(facts: ReportFacts, { typing, nodes = [] }: ContextOptions): ErrorContext {
  const { ended, attempts, succeeded, toolFailures, limits, agent, runId } = facts;
  const { failure } = ended;
  const reason = ended.type === 'stopped' ? ended.reason : undefined;
  const tools = [...Object.keys(succeeded), ...Object.keys(toolFailures), ...nodes.map(({ name }) => name)];
  const failedCall = failedCallOf(facts);
  const models = attempts.flatMap(({ provider, model }) => [
    model,
    provider,
    `${provider}/${model}`,
    `${provider}:${model}`,
  ]);
  return createErrorContext({
    task: facts.asked,
    agent,
    operation: operationOf(facts, failure),
    ...(failure === undefined ? {} : { failure }),
    ...(reason === undefined ? {} : { reason }),
    succeeded: countsIn(succeeded),
    failed: countsIn(toolFailures),
    operations: attempts.length + facts.toolCalls,
    elapsedMs: facts.elapsedMs,
    turns: facts.turns,
    lines: factLines(facts, nodes),
    nextSteps: stepsFor({ failure, reason }, typing),
    names: [
      agent,
      runId,
      ...(failedCall === undefined ? [] : [failedCall]),
      ...tools,
      ...models,
      ...Object.keys(limits),
    ],
  });
}

/** What a context is made of, as it came. */
export interface GivenContext extends Omit<ErrorContext, 'failure' | 'facts'> {
  readonly failure?: Failure;
  /** The facts, the most important first. */
  readonly lines: readonly string[];
}

const maxFacts = 32;
const maxFactLength = 200;
const maxSteps = 8;
const maxNames = 200;
const maxCounted = 20;
const maxShownSteps = 6;

/** Redacts, bounds and numbers what is known. */
export function createErrorContext(given: GivenContext): ErrorContext {
  const { failure, lines, ...rest } = given;
  const counted = (counts: readonly CountedStep[]): readonly CountedStep[] =>
    counts.slice(0, maxCounted).map(({ name, count }) => ({ name: oneLine(name, 100), count }));
  return {
    ...rest,
    task: oneLine(given.task, 800),
    agent: oneLine(given.agent, 100),
    operation: oneLine(given.operation, 200),
    ...(failure === undefined ? {} : { failure: explainedFailure(failure) }),
    succeeded: counted(given.succeeded),
    failed: counted(given.failed),
    facts: lines
      .slice(0, maxFacts)
      .map((text, index) => ({ number: index + 1, text: oneLine(text, maxFactLength) })),
    nextSteps: given.nextSteps.slice(0, maxSteps),
    names: [...new Set(given.names.map((name) => oneLine(name, 200)).filter((name) => name !== ''))].slice(
      0,
      maxNames,
    ),
  };
}

/** A text from outside: without secrets, on one line, with nothing hidden in it, and bounded. */
export function oneLine(text: unknown, maxLength: number): string {
  return typeof text === 'string' ? boundText(printable(clean(text, maxLength)), maxLength) : '';
}

function explainedFailure(failure: Failure): ExplainedFailure {
  const { code, message, hint, context } = failure;
  const metadata = own(context, 'metadata');
  return {
    code,
    severity: severityOf(failure),
    message: oneLine(message, 700),
    ...(hint === undefined ? {} : { hint: oneLine(hint, 400) }),
    ...(metadata === undefined ? {} : { metadata: oneLine(JSON.stringify(metadata), 1000) }),
    suggestions: suggestionsIn(metadata),
  };
}

/** What its classifier proposes, wherever there is a list or a text of that name. */
function suggestionsIn(metadata: unknown): readonly string[] {
  if (typeof metadata !== 'object' || metadata === null || !('suggestions' in metadata)) return [];
  const { suggestions } = metadata;
  const list: readonly unknown[] = Array.isArray(suggestions) ? suggestions : [suggestions];
  return list
    .map((text) => oneLine(text, 200))
    .filter((text) => text !== '')
    .slice(0, maxShownSteps);
}

/** What was being done when it failed. */
function operationOf({ attempts, turns }: ReportFacts, failure: Failure | undefined): string {
  const tool = failure?.context['tool'] ?? failure?.context['node'];
  if (typeof tool === 'string') return `the call of "${tool}" in turn ${turns}`;
  const last = attempts.at(-1);
  if (last?.failure !== undefined && last.failure.code === failure?.code)
    return `attempt ${last.attempt} at the model ${last.provider}/${last.model} in turn ${turns}`;
  return turns === 0 ? 'the beginning of the run' : `turn ${turns}`;
}

function countsIn(counts: Readonly<Record<string, number>>): readonly CountedStep[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({ name, count }));
}
