import type { RunEvent } from '../../agent/run-event.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import { approvalLines } from '../text/approval-lines.ts';
import type { CliIo } from '../start/io.ts';
import { createPaint } from '../text/paint.ts';
import { createAnswerText } from './answer-text.ts';
import type { AnswerText } from './answer-text.ts';
import { askLive } from './ask-live.ts';
import { eventLines } from './event-lines.ts';
import type { Said } from './event-lines.ts';
import { partOrder } from './live-screen.ts';
import { markdownStateAfter, noMarkdown, renderMarkdown } from './markdown.ts';
import type { MarkdownState } from './markdown.ts';
import { outcomeLines } from './outcome-lines.ts';
import { regionLines } from './region-lines.ts';
import { createRunFacts, noteEvent } from './run-facts.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunView } from './run-view.ts';
import { takenBackText } from './taken-back.ts';
import { endsText, isToldAlready } from './told-failures.ts';
import type { RunViewOptions, Stage } from './view-options.ts';
import { createViewPaint } from './view-paint.ts';
import type { ViewPaint } from './view-paint.ts';
import { wrapSpans } from './wrap-spans.ts';

export interface LiveViewParts {
  readonly stage: Stage;
  /** Releases the terminal, where it is this view's own. */
  readonly release: () => void;
  readonly clock: Clock;
}

/** Shows runs on a terminal: what is finished scrolls up, what is in progress is redrawn below it. */
export function createLiveView(
  io: Pick<CliIo, 'env' | 'isTerminal'>,
  options: RunViewOptions,
  { stage, release, clock }: LiveViewParts,
): RunView {
  const held: Held = {
    options,
    clock,
    screen: stage.screen,
    ...createViewPaint(io),
    facts: createRunFacts(),
    answer: createAnswerText(),
    answerTurn: 0,
    markdown: noMarkdown,
    block: options.stage === undefined ? 'none' : 'shared',
    isGapOpen: false,
    lastTold: undefined,
    tick: undefined,
    removePart: undefined,
  };
  return {
    hear: (event) => hear(held, event),
    ask: async (request, signal) => {
      endText(held);
      const preview = await options.preview?.(request, signal);
      const screen = { width: columnsOf(held), paint: createPaint(held.isColoured) };
      sayLines(held, 'question', approvalLines(request, screen, preview));
      const onInterrupt = options.onInterrupt ?? (() => 'no');
      return askLive(stage, { request, signal, paint: held.paint, onInterrupt });
    },
    close: () => {
      endText(held);
      stopTicking(held);
      stage.screen.flush();
      release();
    },
  };
}

interface Held extends ViewPaint {
  readonly options: RunViewOptions;
  readonly clock: Clock;
  readonly screen: Stage['screen'];
  facts: RunFacts;
  answer: AnswerText;
  answerTurn: number;
  markdown: MarkdownState;
  /** What was printed last: different things stand apart. */
  block: 'none' | 'text' | 'event' | 'question' | 'shared';
  /** The last line that was printed is empty. */
  isGapOpen: boolean;
  /** The failure that a tool's end has reported already. */
  lastTold: string | undefined;
  tick: Cancel | undefined;
  removePart: (() => void) | undefined;
}

function hear(held: Held, event: RunEvent): void {
  const nowMs = held.clock.monotonicMs();
  if (event.type === 'run-started' || event.type === 'run-resumed') startRun(held);
  if (event.type === 'text-delta') hearText(held, event);
  else if (event.type === 'text-retracted') takeBack(held, event.keep);
  else tell(held, event);
  noteEvent(held.facts, event, nowMs);
  if (event.type === 'run-finished') stopTicking(held);
  held.screen.refresh();
}

function startRun(held: Held): void {
  held.facts = createRunFacts();
  held.answer = createAnswerText();
  held.answerTurn = 0;
  held.markdown = noMarkdown;
  held.removePart ??= held.screen.addPart(({ columns }) => drawRun(held, columns), partOrder.run);
  if (held.tick === undefined) keepTicking(held);
}

// Often enough for a countdown in seconds; what has not changed is not drawn.
const tickMs = 200;

function keepTicking(held: Held): void {
  held.tick = held.clock.after(tickMs, () => {
    held.screen.refresh();
    keepTicking(held);
  });
}

function stopTicking(held: Held): void {
  held.tick?.();
  held.tick = undefined;
  held.removePart?.();
  held.removePart = undefined;
  // The owner of the screen writes something before the next run begins.
  if (held.options.stage !== undefined) held.block = 'shared';
}

function drawRun(held: Held, columns: number): { readonly lines: readonly string[] } {
  const { facts, answer, paint, clock, options } = held;
  const nowMs = clock.monotonicMs();
  const region = regionLines(facts, { columns, nowMs, paint, maxAttempts: options.maxAttempts });
  const tail = options.withoutText === true ? '' : wholeCharacters(answer.tail());
  if (tail === '') return { lines: apart(held, region) };
  const shown = renderMarkdown(tail, held.markdown, { columns, paint, isColoured: held.isColoured }).lines;
  const first = held.block === 'text' || held.block === 'none' || held.isGapOpen ? [] : [''];
  return { lines: [...first, ...shown, '', ...region] };
}

/** An empty line between the finished output and the work in progress. */
function apart({ block, isGapOpen }: Held, region: readonly string[]): readonly string[] {
  return block === 'none' || isGapOpen ? region : ['', ...region];
}

/** The second half of the last character may be on its way. */
function wholeCharacters(text: string): string {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? text.slice(0, -1) : text;
}

function hearText(held: Held, { turn, text }: Extract<RunEvent, { type: 'text-delta' }>): void {
  if (turn !== held.answerTurn) {
    endText(held);
    held.answer = createAnswerText();
    held.answerTurn = turn;
    held.markdown = noMarkdown;
  }
  sayText(held, held.answer.add(text));
}

function sayText(held: Held, sources: readonly string[]): void {
  if (held.options.withoutText === true) return;
  const screen = { columns: columnsOf(held), paint: held.paint, isColoured: held.isColoured };
  for (const source of sources) {
    const { lines, state } = renderMarkdown(source, held.markdown, screen);
    held.markdown = state;
    // An answer that begins with empty lines says nothing by them.
    const isEmptyStart = held.block !== 'text' && lines.every((line) => line === '');
    if (!isEmptyStart) sayLines(held, 'text', lines);
  }
}

/** What was incomplete is complete: something else comes now. */
function endText(held: Held): void {
  sayText(held, held.answer.finish());
}

function takeBack(held: Held, keep: number): void {
  const gone = held.answer.retract(keep);
  held.markdown = markdownStateAfter(held.answer.given());
  if (gone !== undefined && held.options.withoutText !== true)
    say(held, { sign: '✗', text: takenBackText(gone), look: 'recovery' });
}

function tell(held: Held, event: RunEvent): void {
  if (endsText(event)) endText(held);
  if (!isToldAlready(held, event)) for (const said of eventLines(event, held.facts)) say(held, said);
  if (event.type !== 'run-finished') return;
  for (const said of outcomeLines(event.outcome, held)) say(held, said);
}

function say(held: Held, { sign, text, look }: Said): void {
  const { paint } = held;
  const isLoud = look !== 'success';
  const spans = [
    { text: sign, ...(look === undefined ? {} : { look }) },
    { text: ` ${text}`, ...(look === undefined || !isLoud ? {} : { look }) },
  ];
  sayLines(held, 'event', wrapSpans(spans, { columns: columnsOf(held), paint, rest: '  ' }));
}

function sayLines(held: Held, block: Held['block'], lines: readonly string[]): void {
  if (lines.length === 0) return;
  const isOther = held.block !== 'none' && (held.block !== block || block === 'question');
  const gap = isOther && !held.isGapOpen ? [''] : [];
  held.block = block;
  held.isGapOpen = lines.at(-1) === '';
  held.screen.print([...gap, ...lines]);
}

/** One less, for a line that fills the last column is broken by some terminals. */
function columnsOf({ screen }: Held): number {
  return Math.max(1, screen.columns() - 1);
}
