import { createErrorContext } from '../../agent/report/error-context.ts';
import type { CountedStep, ErrorContext } from '../../agent/report/error-context.ts';
import { stepsFor } from '../../agent/report/next-steps.ts';
import type { NextStep as ProposedStep } from '../../agent/report/next-steps.ts';
import { counted } from '../../agent/report/report-words.ts';
import { duration } from '../../base/duration.ts';
import { printable } from '../../base/printable.ts';
import { isElsewhere, nextSteps } from './next-steps.ts';
import type { Typing } from './next-steps.ts';
import { topRunId } from './read-nodes.ts';
import { allOf } from './run-reading.ts';
import type { RunReading } from './run-reading.ts';
import { shellWord, readingWords } from './run-words.ts';
import { whyAnswers } from './why-answers.ts';

/** The facts about a stored run for a model, however it ended: the same that `why` shows a person. */
export function contextOfReading(reading: RunReading, typing: Typing): ErrorContext {
  const { row, asked, outcome, usage, turns, models, items } = reading;
  const failure = outcome !== undefined && 'failure' in outcome ? outcome.failure : undefined;
  const reason = outcome !== undefined && 'reason' in outcome ? outcome.reason : undefined;
  const tools = countTools(reading);
  const attempts = allOf(items, 'attempt');
  const last = items.findLast((item) => item.type === 'attempt' || item.type === 'tool');
  const done =
    last?.type === 'tool' ? `a call of "${last.tool}"` : `an attempt at ${last?.model ?? 'no model'}`;
  return createErrorContext({
    task: asked,
    agent: row.agent,
    operation: `${done} in turn ${last?.turn ?? turns}`,
    ...(failure === undefined ? {} : { failure }),
    ...(reason === undefined ? {} : { reason }),
    succeeded: tools.succeeded,
    failed: tools.failed,
    operations: attempts.length + allOf(items, 'tool').length,
    elapsedMs: usage.elapsedMs,
    turns,
    lines: [...headLines(reading, typing.nowMs), ...toolLines(tools), ...pointLines(reading, typing.nowMs)],
    nextSteps: stepsOf(reading, typing),
    names: [
      row.agent,
      row.runId,
      ...models.flatMap((model) => [model, ...model.split(':')]),
      ...tools.succeeded.map(({ name }) => name),
      ...tools.failed.map(({ name }) => name),
    ],
  });
}

interface CountedTools {
  readonly succeeded: readonly CountedStep[];
  readonly failed: readonly CountedStep[];
}

function countTools({ items }: RunReading): CountedTools {
  const tools = allOf(items, 'tool');
  const count = (isOk: boolean): readonly CountedStep[] => {
    const counts = new Map<string, number>();
    for (const { tool, end } of tools)
      if ((end === 'ok') === isOk) counts.set(tool, (counts.get(tool) ?? 0) + 1);
    return [...counts].map(([name, times]) => ({ name, count: times }));
  };
  return { succeeded: count(true), failed: count(false) };
}

/** How it stands first: what the bound leaves out stands at the end. */
function headLines(reading: RunReading, nowMs: number): readonly string[] {
  const { outcome, usage, turns } = reading;
  const failure = outcome !== undefined && 'failure' in outcome ? outcome.failure : undefined;
  const why = failure === undefined ? '' : `; ${failure.code}: ${failure.message}`;
  const ends = pointsOf(reading, nowMs, ['stopped', 'waiting']);
  return [
    `The run: ${readingWords(reading).text}${why}`,
    ...ends,
    `In all: ${counted(turns, 'turn')}, ${counted(usage.requests, 'request')} to models, ${counted(usage.toolCalls, 'tool call')}, ${duration(usage.elapsedMs)}`,
  ];
}

function pointLines(reading: RunReading, nowMs: number): readonly string[] {
  return pointsOf(reading, nowMs, ['retried', 'model']);
}

function pointsOf(reading: RunReading, nowMs: number, topics: readonly string[]): readonly string[] {
  return whyAnswers(reading, { nowMs })
    .filter(({ topic }) => topics.includes(topic))
    .flatMap(({ points }) => points.map(({ text }) => text));
}

const maxTools = 8;

function toolLines({ succeeded, failed }: CountedTools): readonly string[] {
  const names = [...new Set([...failed, ...succeeded].map(({ name }) => name))];
  const countOf = (steps: readonly CountedStep[], name: string): number =>
    steps.find((step) => step.name === name)?.count ?? 0;
  return names
    .slice(0, maxTools)
    .map(
      (name) =>
        `The tool "${name}" succeeded ${counted(countOf(succeeded, name), 'time')} and failed ${counted(countOf(failed, name), 'time')}`,
    );
}

/** What can be done about the cause, where it ended by one; else what can be done about a run that waits. */
function stepsOf(reading: RunReading, typing: Typing): readonly ProposedStep[] {
  const { outcome, row } = reading;
  const name = shellWord(printable(row.runId));
  const shell = (words: string): string => {
    const typed = `${typing.command} ${words.replace('<run>', name)}`;
    return words.startsWith('run ') ? typed : `${typed}${typing.storeFlag}`;
  };
  const typed = isElsewhere(reading) ? { runId: topRunId(row) } : { runId: row.runId, shell };
  if (outcome?.type === 'failed') return stepsFor({ failure: outcome.failure }, typed);
  if (outcome?.type === 'stopped')
    return stepsFor({ failure: outcome.failure, reason: outcome.reason }, typed);
  return nextSteps(reading, typing).map(({ verb, text, command }, index) => ({
    id: index === 0 ? verb : `${verb}-${index + 1}`,
    text,
    command,
  }));
}
