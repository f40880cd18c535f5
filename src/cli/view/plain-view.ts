import type { RunEvent } from '../../agent/run-event.ts';
import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Clock } from '../../base/clock.ts';
import { approvalLines } from '../text/approval-lines.ts';
import type { CliIo, TextSink } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import type { Screen } from '../text/layout.ts';
import { createAnswerText } from './answer-text.ts';
import type { AnswerText } from './answer-text.ts';
import { questionOf } from './answer-words.ts';
import { callSummary } from './call-summary.ts';
import { eventLines } from './event-lines.ts';
import type { Said } from './event-lines.ts';
import { outcomeLines } from './outcome-lines.ts';
import { createRunFacts, modelName, noteEvent } from './run-facts.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunView } from './run-view.ts';
import { safeLine, safeQuote } from './safe-text.ts';
import { takenBackText } from './taken-back.ts';
import { endsText, isToldAlready } from './told-failures.ts';
import type { RunViewOptions } from './view-options.ts';

/** Shows runs in plain lines, one for each thing that happened; nothing is written twice or taken away. */
export function createPlainView(
  io: Pick<CliIo, 'stdout' | 'stderr' | 'columns' | 'env' | 'isTerminal'>,
  options: RunViewOptions,
  clock: Clock,
): RunView {
  const held: Held = {
    sink: options.plainTo === 'stderr' ? io.stderr : io.stdout,
    // Without colour, whatever the environment asks for: these are the plain lines.
    screen: { ...createScreen(io), paint: (_style, text) => text },
    options,
    clock,
    facts: createRunFacts(),
    answer: createAnswerText(),
    answerTurn: 0,
    lastTold: undefined,
    progressAtMs: new Map(),
  };
  return {
    hear: (event) => hear(held, event),
    ask: (request, signal) => ask(held, request, signal),
    close: () => endText(held),
  };
}

interface Held {
  readonly sink: TextSink;
  readonly screen: Screen;
  readonly options: RunViewOptions;
  readonly clock: Clock;
  facts: RunFacts;
  answer: AnswerText;
  answerTurn: number;
  lastTold: string | undefined;
  /** When each running tool last reported its progress. */
  readonly progressAtMs: Map<string, number>;
}

function hear(held: Held, event: RunEvent): void {
  if (event.type === 'run-started' || event.type === 'run-resumed') {
    held.facts = createRunFacts();
    held.answer = createAnswerText();
    held.answerTurn = 0;
  }
  if (event.type === 'text-delta') hearText(held, event);
  else if (event.type === 'text-retracted') takeBack(held, event.keep);
  else tell(held, event);
  noteEvent(held.facts, event, held.clock.monotonicMs());
}

function hearText(held: Held, { turn, text }: Extract<RunEvent, { type: 'text-delta' }>): void {
  if (turn !== held.answerTurn) {
    endText(held);
    held.answer = createAnswerText();
    held.answerTurn = turn;
  }
  sayText(held, held.answer.add(text));
}

function sayText(held: Held, lines: readonly string[]): void {
  if (held.options.withoutText !== true) writeLines(held, lines.map(safeLine));
}

function endText(held: Held): void {
  sayText(held, held.answer.finish());
}

function takeBack(held: Held, keep: number): void {
  const gone = held.answer.retract(keep);
  if (gone !== undefined && held.options.withoutText !== true)
    writeLines(held, [`recovery: ${takenBackText(gone)}`]);
}

function tell(held: Held, event: RunEvent): void {
  if (endsText(event)) endText(held);
  writeLines(held, passingLines(held, event));
  if (!isToldAlready(held, event)) writeLines(held, eventLines(event, held.facts).map(lineOf));
  if (event.type === 'run-finished') writeLines(held, outcomeLines(event.outcome, held).map(lineOf));
}

const minProgressMs = 1000;

/** What a live view shows only while it lasts. */
function passingLines(held: Held, event: RunEvent): readonly string[] {
  switch (event.type) {
    case 'attempt-started':
      return event.attempt === 1 ? [`turn ${event.turn}: ${safeQuote(modelName(event), 80)}`] : [];
    case 'tool-started':
      return [`tool: ${callSummary(event.name, event.input)}`];
    case 'tool-progress': {
      const nowMs = held.clock.monotonicMs();
      const lastMs = held.progressAtMs.get(event.callId) ?? -Infinity;
      if (nowMs - lastMs < minProgressMs) return [];
      held.progressAtMs.set(event.callId, nowMs);
      const count =
        event.done === undefined ? '' : ` (${event.done} of ${event.total ?? 'an unknown number'})`;
      return [`progress: ${safeQuote(event.name, 80)}: ${safeQuote(event.message, 160)}${count}`];
    }
    case 'tool-finished':
      held.progressAtMs.delete(event.callId);
      return [];
    case 'child-event': {
      const name = safeQuote(event.node, 80);
      return passingLines(held, event.event).map((line) => `${name}: ${line}`);
    }
    default:
      return [];
  }
}

const labels = { success: 'ok: ', failure: 'failure: ', recovery: 'recovery: ', dim: 'note: ' } as const;

function lineOf({ text, look }: Said): string {
  const label = look !== undefined && look in labels ? labels[look as keyof typeof labels] : '';
  return `${label}${text}`;
}

async function ask(held: Held, request: PersonRequest, signal: AbortSignal): Promise<RunAnswer | undefined> {
  endText(held);
  const preview = await held.options.preview?.(request, signal);
  writeLines(held, approvalLines(request, held.screen, preview));
  const { readLine } = held.options;
  if (readLine === undefined) {
    const isOpen = request.type === 'question';
    const what = isOpen
      ? 'not interactive, so the question stays open'
      : 'not interactive, so approval is denied';
    writeLines(held, [`note: ${what}`]);
    return undefined;
  }
  const question = questionOf(request);
  writeLines(held, [question.choices]);
  for (let round = 0; round < maxRounds; round += 1) {
    held.sink.write(question.prompt);
    const typed = await readLine(signal);
    // Cancelling the run is not an answer.
    if (typed === undefined) return signal.aborted ? undefined : question.refusal;
    const read = question.read(typed.trim());
    if (read !== undefined) return read.answer;
  }
  return question.refusal;
}

const maxRounds = 10;

function writeLines({ sink }: Held, lines: readonly string[]): void {
  if (lines.length > 0) sink.write(lines.map((line) => `${line}\n`).join(''));
}
