import { printable, printableJson } from '../base/printable.ts';
import { redactJson } from '../base/redact.ts';
import type { Json } from '../base/json.ts';
import type { CommandRun, Given } from './command-spec.ts';
import type { CliIo } from './io.ts';
import { createScreen } from './layout.ts';
import type { Screen } from './layout.ts';
import { systemSeam } from './run-reading/agent-seam.ts';
import type { AgentSeam } from './run-reading/agent-seam.ts';
import { findRunByPrefix } from './run-reading/find-run.ts';
import { askForExplanation } from './run-reading/model-explanation.ts';
import type { Explained } from './run-reading/model-explanation.ts';
import { nextSteps } from './run-reading/next-steps.ts';
import type { NextStep } from './run-reading/next-steps.ts';
import { findOptionsOf, readRunArgument, withRunStore } from './run-reading/open-run-store.ts';
import { readRun } from './run-reading/read-run.ts';
import type { RunReading } from './run-reading/run-reading.ts';
import { staticReport } from './run-reading/static-report.ts';
import type { StaticReport } from './run-reading/static-report.ts';
import { stepLines } from './run-reading/timeline.ts';
import { wrap } from './wrap.ts';

/** Reports why a run failed, stopped or waits. */
export const runExplain: CommandRun = (given, io) => explainWith(systemSeam, given, io);

/** The same, with models that are handed in. */
export async function explainWith(seam: AgentSeam, given: Given, io: CliIo): Promise<number> {
  const { reading, next } = await readGiven(given, io);
  const report = staticReport(reading, io.now());
  const screen = createScreen(io);
  const isJson = given.flags['json'] === true;
  const write = (lines: readonly string[]): void =>
    void io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  // What is known comes first, whatever becomes of the rest.
  if (!isJson) write(shownReport(report, { screen, isFull: given.flags['full'] === true }));
  const explained =
    given.flags['static'] === true ? nobody : await askForExplanation(report, { seam, given, io });
  if (isJson) {
    const { type, ...words } = explained;
    const whole = {
      runId: reading.row.runId,
      status: reading.row.status,
      report,
      next,
      explanation: { type, ...words },
    };
    io.stdout.write(`${printableJson(redactJson(whole as unknown as Json))}\n`); // All of it is JSON.
    return 0;
  }
  write([...explainedLines(explained, screen), ...stepLines(next, screen)]);
  if (explained.type === 'failed')
    io.stderr.write(
      `rerail: No model could put it in plain words (${printable(explained.code)}); the report above is complete.\n`,
    );
  return 0;
}

const nobody: Explained = { type: 'not-asked' };

interface ReadGiven {
  readonly reading: RunReading;
  readonly next: readonly NextStep[];
}

function readGiven(given: Given, io: CliIo): Promise<ReadGiven> {
  return withRunStore({ flags: given.flags, io }, async ({ store, flag }) => {
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    const reading = await readRun(store, runId);
    const steps = nextSteps(reading, { command: io.command, storeFlag: flag, nowMs: io.now() });
    return { reading, next: steps.filter(({ verb }) => verb !== 'explain') };
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

function explainedLines(explained: Explained, screen: Screen): readonly string[] {
  if (explained.type !== 'explained') return [];
  const title = `In the words of ${printable(explained.model)}, which saw only this report`;
  const words = explained.text.split('\n').flatMap((line) => wrap(`  ${printable(line)}`, screen.width));
  return ['', screen.paint('title', title), ...words];
}
