import { nearestNames } from '../../base/nearest.ts';
import { printable, printableJson } from '../../base/printable.ts';
import { redactJson } from '../../base/redact.ts';
import type { Json } from '../../base/json.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import { createScreen } from '../text/layout.ts';
import type { Screen } from '../text/layout.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { argumentText } from '../run-reading/given-text.ts';
import { nextSteps } from '../run-reading/next-steps.ts';
import { findOptionsOf, readRunArgument, readRunStore } from '../run-reading/open-run-store.ts';
import { exitCodeOfReading, readRun } from '../run-reading/read-run.ts';
import type { RunReading } from '../run-reading/run-reading.ts';
import { statusJson } from '../run-reading/reading-json.ts';
import { eventsText, readingWords } from '../run-reading/run-words.ts';
import { stepLines } from '../run-reading/timeline.ts';
import { whyAnswers, whyTopics } from '../run-reading/why-answers.ts';
import type { WhyAnswer, WhyTopic } from '../run-reading/why-answers.ts';
import { quote, usageError } from '../text/usage-error.ts';
import { wrap } from '../text/wrap.ts';

/** Answers why a run did what it did, each sentence with the events behind it. */
export const runWhy: CommandRun = (given, io) =>
  readRunStore({ flags: given.flags, io }, async ({ store, flag }) => {
    const topic = readTopic(given);
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    const reading = await readRun(store, runId);
    const exitCode = exitCodeOfReading(reading);
    const typing = { command: io.command, storeFlag: flag, nowMs: io.now() };
    const answers = whyAnswers(reading, { topic, nowMs: io.now() });
    const next = nextSteps(reading, typing);
    if (given.flags['json'] === true) {
      const whole = {
        runId,
        ...statusJson(reading),
        words: readingWords(reading).text,
        ...(reading.origin === undefined ? {} : { origin: reading.origin }),
        answers,
        next,
      };
      io.stdout.write(`${printableJson(redactJson(whole as unknown as Json))}\n`); // All of it is JSON.
      return exitCode;
    }
    const screen = createScreen(io);
    const lines = [
      ...headLines(reading, screen),
      ...layoutAnswers(answers, screen),
      ...stepLines(next, screen),
    ];
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return exitCode;
  });

function readTopic(given: Given): WhyTopic | undefined {
  const typed = argumentText(given, 1);
  if (typed === undefined) return undefined;
  const found = whyTopics.find((topic) => topic === typed);
  if (found !== undefined) return found;
  const [nearest = 'stopped'] = nearestNames(typed, whyTopics);
  throw usageError({
    message: `What can be asked is ${whyTopics.join(', ')}, got ${quote(typed)}`,
    hint: `Did you mean ${nearest}?`,
  });
}

function headLines(reading: RunReading, screen: Screen): readonly string[] {
  const { row } = reading;
  const { text, style } = readingWords(reading);
  const status = style === undefined ? text : screen.paint(style, text);
  return [`${printable(row.runId)}: ${status}`];
}

const titles = {
  origin: 'Where it came from',
  stopped: 'Why it stopped',
  waiting: 'What it waits for',
  retried: 'Why it tried again',
  model: 'Why this model',
} as const satisfies Record<WhyTopic, string>;

/** The answers under their questions. */
export function layoutAnswers(answers: readonly WhyAnswer[], screen: Screen): readonly string[] {
  return answers.flatMap(({ topic, points }) => [
    '',
    screen.paint('title', titles[topic]),
    ...points.flatMap(({ text, seqs }) => {
      const rests = seqs.length === 0 ? '' : ` [${eventsText(seqs)}]`;
      return wrap(`  ${text}${rests}`, screen.width);
    }),
  ]);
}
