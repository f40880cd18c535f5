import type { ErrorContext } from '../../agent/report/error-context.ts';
import { printable, printableJson } from '../../base/printable.ts';
import { redactJson } from '../../base/redact.ts';
import type { Json } from '../../base/json.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import type { Screen } from '../text/layout.ts';
import { systemSeam } from '../run-reading/agent-seam.ts';
import type { AgentSeam } from '../run-reading/agent-seam.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { askForExplanation } from '../run-reading/model-explanation.ts';
import type { Explained } from '../run-reading/model-explanation.ts';
import { nextSteps } from '../run-reading/next-steps.ts';
import type { NextStep, Typing } from '../run-reading/next-steps.ts';
import { findOptionsOf, readRunArgument, withRunStore } from '../run-reading/open-run-store.ts';
import { statusJson } from '../run-reading/reading-json.ts';
import { exitCodeOfReading, readRun } from '../run-reading/read-run.ts';
import { contextOfReading } from '../run-reading/reading-context.ts';
import type { RunReading } from '../run-reading/run-reading.ts';
import { staticReport } from '../run-reading/static-report.ts';
import type { StaticReport } from '../run-reading/static-report.ts';
import { stepLines } from '../run-reading/timeline.ts';
import { wrap } from '../text/wrap.ts';

/** Reports why a run failed, stopped or waits. */
export const runExplain: CommandRun = (given, io) => explainWith(systemSeam, given, io);

/** The same, with models that are handed in. */
export async function explainWith(seam: AgentSeam, given: Given, io: CliIo): Promise<number> {
  const { reading, next, typing } = await readGiven(given, io);
  const report = staticReport(reading, io.now());
  const context = contextOfReading(reading, typing);
  const screen = createScreen(io);
  const isJson = given.flags['json'] === true;
  const write = (lines: readonly string[]): void =>
    void io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  // What is known comes first, whatever becomes of the rest.
  if (!isJson) write(shownReport(report, { screen, isFull: given.flags['full'] === true }));
  const explained =
    explainedBefore(reading, context) ??
    (given.flags['static'] === true ? notAsked : await askForExplanation(context, { seam, given, io }));
  if (isJson) {
    const { type, ...words } = explained;
    const whole = {
      runId: reading.row.runId,
      ...statusJson(reading),
      report,
      next,
      explanation: { type, ...words },
    };
    io.stdout.write(`${printableJson(redactJson(whole as unknown as Json))}\n`); // All of it is JSON.
    return exitCodeOfReading(reading);
  }
  write([...explainedLines(explained, { next, screen }), ...stepLines(next, screen)]);
  io.stderr.write(unexplainedLine(explained, io));
  return exitCodeOfReading(reading);
}

const notAsked: Explained = { type: 'not-asked' };

/** The run may have asked for it itself: no model is asked a second time. What to type is typed as it is here. */
function explainedBefore({ outcome }: RunReading, { nextSteps: known }: ErrorContext): Explained | undefined {
  const explanation = outcome !== undefined && 'report' in outcome ? outcome.report.explanation : undefined;
  if (explanation === undefined) return undefined;
  const proposed = explanation.nextSteps.map(
    ({ id, text }) => known.find((step) => step.id === id) ?? { id, text },
  );
  return { type: 'recorded', ...explanation, nextSteps: proposed };
}

/** Why there are no words of a model, where that is not obvious. */
function unexplainedLine(explained: Explained, { command }: Pick<CliIo, 'command'>): string {
  const complete = 'the report above is complete without it';
  switch (explained.type) {
    case 'no-model':
      return `rerail: No model is available to put it in plain words; ${complete}. Name one with --model, or see: ${command} doctor\n`;
    case 'failed': {
      const who = explained.model === undefined ? 'No model' : printable(explained.model);
      return `rerail: ${who} could not put it in plain words (${printable(explained.code)}); ${complete}.\n`;
    }
    case 'refused':
      return `rerail: What ${printable(explained.model)} said is not shown, because the record does not support it; ${complete}.\n`;
    default:
      return '';
  }
}

interface ReadGiven {
  readonly reading: RunReading;
  readonly typing: Typing;
  readonly next: readonly NextStep[];
}

function readGiven(given: Given, io: CliIo): Promise<ReadGiven> {
  return withRunStore({ flags: given.flags, io }, async ({ store, flag }) => {
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    const reading = await readRun(store, runId);
    const typing = { command: io.command, storeFlag: flag, nowMs: io.now() };
    const steps = nextSteps(reading, typing);
    return { reading, typing, next: steps.filter(({ verb }) => verb !== 'explain') };
  });
}

interface ReportOptions {
  readonly screen: Screen;
  readonly isFull: boolean;
}

function shownReport(
  { person, developer }: StaticReport,
  { screen, isFull }: ReportOptions,
): readonly string[] {
  const [title = '', ...lines] = (isFull ? developer : person).split('\n');
  return [
    ...wrap(title, screen.width).map((line) => screen.paint('title', line)),
    ...lines.flatMap((line) => wrap(line, screen.width)),
  ];
}

interface WordsOptions {
  readonly next: readonly NextStep[];
  readonly screen: Screen;
}

function explainedLines(explained: Explained, { next, screen }: WordsOptions): readonly string[] {
  if (explained.type !== 'explained' && explained.type !== 'recorded') return [];
  const { model, summary, claims, nextSteps: proposed } = explained;
  const title = `In the words of ${printable(model)}, checked against the record`;
  const said = (text: string): readonly string[] => wrap(`  ${printable(text)}`, screen.width);
  // What can be typed in any case stands below.
  const others = proposed.filter(({ command }) => !next.some((step) => step.command === command));
  return [
    '',
    screen.paint('title', title),
    ...said(summary),
    ...claims.flatMap(({ text }) => said(`- ${text}`)),
    ...(others.length === 0 ? [] : ['', ...said('It proposes to')]),
    ...others.flatMap(({ text, command }) => [
      ...said(`- ${text}${command === undefined ? '' : ':'}`),
      // A command is never broken: it is copied.
      ...(command === undefined ? [] : [`      ${command}`]),
    ]),
    '',
    ...said('The report above is complete without it.'),
  ];
}
