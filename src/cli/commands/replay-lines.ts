import { printable } from '../../base/printable.ts';
import type { ReplayStep } from '../../runtime/transfer/replay-run.ts';
import { createTeller, outcomeRows } from '../demo/demo-lines.ts';
import { layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';

/** Makes a function that turns the steps of a replay into lines. It remembers the day, which is shown when it changes. */
export function createReplayTeller(screen: Screen): (step: ReplayStep) => string {
  const tell = createTeller();
  let day = '';
  return (step) => {
    const [date = '', time = ''] = timeOf(step.atMs).split('T');
    const isNewDay = date !== day;
    day = date;
    const head = layoutRows([stepRow(step, time)], { ...screen, indent: 0, labelWidth: headWidth });
    const rows = [...step.events.flatMap(tell), ...waitRows(step)];
    const body = layoutRows(rows, { ...screen, indent: headWidth, labelWidth: rowWidth });
    return linesOf([...(isNewDay ? [screen.paint('title', `${date}, in UTC`)] : []), ...head, ...body]);
  };
}

const numberWidth = 6;
/** The number, the time to the millisecond, and a gap after each. */
const headWidth = numberWidth + 16;
const rowWidth = 11;

/** A record may hold any number; no date is after this one. */
const lastMs = 8.64e15;

function timeOf(atMs: number): string {
  const time = new Date(Math.max(-lastMs, Math.min(atMs, lastMs))).toISOString();
  return time.replace('Z', '');
}

const waitTypes: ReadonlySet<string> = new Set(['sleep', 'wait', 'suspended', 'taken-over', 'parked']);

function stepRow({ seq, type, text, phase }: ReplayStep, time: string): Row {
  const label = `${String(seq).padStart(numberWidth)}  ${time}`;
  const row = { label, text: `${printable(text)} [${printable(phase)}]` };
  return waitTypes.has(type) ? { ...row, style: 'recovery' } : row;
}

/** What it waits for, where it has just come to wait. */
function waitRows({ outcome, events }: ReplayStep): readonly Row[] {
  const hasJustStopped = events.some(({ type }) => type === 'run-suspended');
  return outcome?.type === 'suspended' && hasJustStopped ? outcomeRows(outcome) : [];
}

/** The outcome, or where the record breaks off, and what the run has used. */
export function renderEnd(last: ReplayStep | undefined, screen: Screen): string {
  if (last === undefined) return 'Nothing was replayed.\n';
  const { seq, outcome, phase, usage, turn } = last;
  const rows: readonly Row[] = [
    ...(outcome === undefined
      ? [{ label: 'open', text: `the run has not ended here: ${phase}`, style: 'recovery' } as const]
      : outcomeRows(outcome)),
    {
      label: 'used',
      text: `turns ${turn}, requests ${usage.requests}, tool calls ${usage.toolCalls}, waited ${Math.round(usage.waitedMs)} ms`,
    },
    { label: 'replayed', text: `${seq} ${seq === 1 ? 'event' : 'events'}, without model, tools or network` },
  ];
  return linesOf(['', ...layoutRows(rows, { ...screen, indent: 0, labelWidth: rowWidth })]);
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
