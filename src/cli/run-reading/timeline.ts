import { amount, counted, money } from '../../agent/report/report-words.ts';
import { duration } from '../../base/duration.ts';
import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import { layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';
import { wrap } from '../text/wrap.ts';
import { failureText, itemWords } from './item-words.ts';
import { nextSteps } from './next-steps.ts';
import { nodeLine } from './node-words.ts';
import type { NextStep, Typing } from './next-steps.ts';
import type { ReadItem, RunReading } from './run-reading.ts';
import { eventsText, momentText, readingWords } from './run-words.ts';
import { originText } from './why-origin.ts';

export interface TimelineOptions {
  readonly screen: Screen;
  /** With the numbers of the stored events. */
  readonly withEvents: boolean;
  /** Only this one was asked for. */
  readonly turn: number | undefined;
  readonly typing: Typing;
}

const maxItems = 300;
const labelWidth = 10;

/** A run as lines: what it is, what happened turn by turn, and what to do now. */
export function layoutTimeline(reading: RunReading, options: TimelineOptions): readonly string[] {
  const { screen, turn, typing } = options;
  const { items } = reading;
  const left = items.slice(0, Math.max(0, items.length - maxItems));
  const cut =
    left.length === 0
      ? []
      : [
          '',
          `… ${left.length} earlier lines are left out. Any turn: ${typing.command} show ${printable(reading.row.runId)} --turn 1`,
        ];
  return [
    ...headLines(reading, screen),
    ...(turn === undefined ? nodeLines(reading, screen) : []),
    ...cut,
    ...turnLines(items.slice(left.length), {
      ...options,
      fromMs: beginningOf(reading),
      word: reading.isConducted ? 'Step' : 'Turn',
    }),
    ...(reading.trouble === undefined || turn !== undefined ? [] : troubleLines(reading, screen)),
    ...(turn === undefined ? stepLines(otherSteps(reading, typing), screen) : []),
  ];
}

/** Without the step to show it: the run is shown already. */
function otherSteps(reading: RunReading, typing: Typing): readonly NextStep[] {
  return nextSteps(reading, typing).filter(({ verb }) => verb !== 'show');
}

function beginningOf({ events, row }: RunReading): number {
  return events[0]?.atMs ?? row.createdAtMs;
}

const maxAsked = 300;

function headLines(reading: RunReading, screen: Screen): readonly string[] {
  const { row, asked, models, usage, turns, events } = reading;
  const status = readingWords(reading);
  const beganMs = beginningOf(reading);
  const lastMs = events.findLast(({ type }) => type !== 'imported')?.atMs ?? beganMs;
  const waited = usage.waitedMs >= 1 ? `, waited ${duration(usage.waitedMs)}` : '';
  const rows: readonly Row[] = [
    { label: 'run', text: `${printable(row.runId)} of agent ${printable(row.agent)}` },
    { label: 'status', ...status },
    ...(reading.origin === undefined
      ? []
      : [{ label: 'origin', text: originText(reading.origin), style: 'recovery' as const }]),
    { label: 'asked', text: `“${printable(boundText(asked, maxAsked))}”` },
    {
      label: 'began',
      text: `${momentText(beganMs)}; the last event came ${duration(lastMs - beganMs)} later`,
    },
    // Where a function decides, the models are those of the runs below.
    ...(reading.isConducted
      ? []
      : [{ label: 'models', text: models.map(printable).join(', then ') || 'unknown' }]),
    {
      label: 'used',
      text: `${counted(turns, reading.isConducted ? 'step' : 'turn')}, ${counted(usage.requests, 'request')}, ${counted(usage.toolCalls, reading.isConducted ? 'node call' : 'tool call')}, ${amount(usage.inputTokens + usage.outputTokens)} tokens, ${money(usage.costUsd, usage.unknownCost)}${waited}`,
    },
  ];
  return layoutRows(rows, { ...screen, indent: 0, labelWidth });
}

const widestName = 24;

/** What became of each node, by the name of its run: `show` takes that. */
function nodeLines({ nodes, isConducted }: RunReading, screen: Screen): readonly string[] {
  if (nodes.length === 0) return [];
  const rows = nodes.slice(0, maxNodes).map((node): Row => {
    const label = boundText(printable(node.name), widestName);
    return { label, ...nodeLine(node) };
  });
  const width = Math.max(labelWidth, ...rows.map(({ label }) => label.length)) + 2;
  const rest = nodes.length - rows.length;
  return [
    '',
    screen.paint('title', isConducted ? 'Nodes' : 'Jobs given to others'),
    ...layoutRows(rows, { ...screen, indent: 2, labelWidth: width }),
    ...(rest <= 0 ? [] : [`  … and ${rest} more`]),
  ];
}

const maxNodes = 100;

interface TurnOptions extends TimelineOptions {
  readonly fromMs: number;
  readonly word: 'Step' | 'Turn';
}

function turnLines(items: readonly ReadItem[], options: TurnOptions): readonly string[] {
  const { screen } = options;
  return items.flatMap((item, index) => {
    const isNewTurn = item.type === 'turn' || (index === 0 && item.type !== 'began');
    const name =
      item.type === 'turn' && item.purpose === 'salvage'
        ? 'The last turn, without tools'
        : `${options.word} ${item.turn}`;
    const heading = isNewTurn ? ['', screen.paint('title', name)] : [];
    return [...heading, ...itemLines(item, options)];
  });
}

function itemLines(item: ReadItem, { screen, withEvents, fromMs }: TurnOptions): readonly string[] {
  const rows = itemWords(item).map(({ text, style }, index): Row => {
    const numbers = withEvents ? ` [${eventsText(item.seqs)}]` : '';
    const label = index === 0 ? offsetText(item.atMs - fromMs) : '';
    return { label, text: `${text}${numbers}`, ...(style === undefined ? {} : { style }) };
  });
  return layoutRows(rows, { ...screen, indent: 0, labelWidth });
}

/** Since the beginning, short enough for its column: `+340 ms`, `+12.3 s`, `+5:03`, `+2:05:03`. */
export function offsetText(ms: number): string {
  const passed = Math.max(0, ms);
  if (passed < 1000) return `+${Math.round(passed)} ms`;
  if (passed < 60_000) return `+${(Math.floor(passed / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(passed / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)];
  if (hours === 0) return `+${minutes}:${two(seconds % 60)}`;
  if (hours < 100) return `+${hours}:${two(minutes)}:${two(seconds % 60)}`;
  return `+${Math.floor(hours / 24)} d`;
}

function troubleLines({ trouble, events }: RunReading, screen: Screen): readonly string[] {
  if (trouble === undefined) return [];
  const last = events.at(-1)?.seq ?? 0;
  const text = `From event ${last + 1} on the record cannot be read: ${failureText(trouble)}`;
  return ['', ...wrap(text, screen.width).map((line) => screen.paint('failure', line))];
}

/** What to do now, as commands to type. */
export function stepLines(steps: readonly NextStep[], screen: Screen): readonly string[] {
  if (steps.length === 0) return [];
  const lines = steps.flatMap(({ text, command }) => [
    ...wrap(`  ${text}:`, screen.width),
    // A command is never broken: it is copied.
    `    ${command}`,
  ]);
  return ['', screen.paint('title', 'What to do now'), ...lines];
}
