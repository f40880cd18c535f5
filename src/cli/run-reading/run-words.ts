import type { StopReason, SuspendReason } from '../../agent/run-outcome.ts';
import { duration } from '../../base/duration.ts';
import { escapeUnsafe, printable, visible } from '../../base/printable.ts';
import { readSalvageMark } from '../../model/store/proven.ts';
import type { RunRow } from '../../model/store/store.ts';
import type { Style } from '../text/paint.ts';
import type { RunReading } from './run-reading.ts';

/** A short text and the colour that it deserves. */
export interface Words {
  readonly text: string;
  readonly style?: Style;
}

/** What a run is doing or came to, in a few words. Gold is for what may still be recovered. */
export function statusWords(row: Pick<RunRow, 'status' | 'code' | 'reason' | 'owner'>): Words {
  const { status, code, reason, owner } = row;
  switch (status) {
    case 'running':
      return owner === undefined ? { text: 'interrupted', style: 'recovery' } : { text: 'at work' };
    case 'suspended':
      return { text: own(waitWords, reason) ?? 'waits', style: 'recovery' };
    case 'parked':
      return readSalvageMark(row) === undefined
        ? { text: 'parked', style: 'recovery' }
        : { text: 'damaged: its end is lost', style: 'failure' };
    case 'failed':
      return { text: code === undefined ? 'failed' : `failed: ${printable(code)}`, style: 'failure' };
    case 'stopped':
      return { text: `stopped: ${own(stopWords, reason) ?? 'a limit'}`, style: 'failure' };
    case 'completed':
      return { text: `completed${deniedWords(reason)}` };
    default:
      return { text: printable(status) };
  }
}

/** What is said of a run by its record: where that is damaged, the status in the list is no more than a claim. */
export function readingWords({ row, trouble }: Pick<RunReading, 'row' | 'trouble'>): Words {
  return trouble === undefined ? statusWords(row) : unprovenWords(row);
}

/** Of a run whose record was found damaged. A salvaged one says so itself. */
export function unprovenWords(row: RunRow): Words {
  const words = statusWords(row);
  if (readSalvageMark(row) !== undefined) return words;
  return { text: `damaged: says ${words.text}, not proven`, style: 'failure' };
}

/** The same for programs: the status is not given as one. */
export function unprovenRow(row: RunRow): Omit<RunRow, 'status'> & { status: 'damaged'; says: string } {
  return { ...row, status: 'damaged', says: row.status };
}

/** Written by the runtime; whatever else a store holds there says nothing. */
function deniedWords(reason: string | undefined): string {
  const [, count] = /^denied:([1-9][0-9]{0,5})$/.exec(reason ?? '') ?? [];
  return count === undefined ? '' : `, ${count} denied`;
}

const waitWords = {
  approval: 'waits for approval',
  'in-doubt': 'waits: in doubt',
  'long-wait': 'waits for its time',
  credit: 'waits for credit',
  credentials: 'waits for a key',
  clarification: 'waits for an answer',
  storage: 'waits: storage',
  released: 'released',
} as const satisfies Record<SuspendReason, string>;

const stopWords = {
  'max-turns': 'turns',
  budget: 'budget',
  deadline: 'time',
  loop: 'loop',
  rejected: 'rejected',
  guardrail: 'guardrail',
  refused: 'refused',
} as const satisfies Record<StopReason, string>;

function own(table: Readonly<Record<string, string>>, name: string | undefined): string | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The events behind a statement: `event 4`, `events 4-6`, `events 2, 5-6`. */
export function eventsText(seqs: readonly number[]): string {
  const sorted = [...new Set(seqs)].toSorted((one, other) => one - other);
  const ranges: [number, number][] = [];
  for (const seq of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && seq === last[1] + 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  const shown = ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
  const rest = shown.length - maxRanges;
  const text = rest > 0 ? `${shown.slice(0, maxRanges).join(', ')} and ${rest} more` : shown.join(', ');
  return `${sorted.length === 1 ? 'event' : 'events'} ${text}`;
}

const maxRanges = 12;

/** A record may hold any number; no date is after this one. */
const lastMs = 8.64e15;

/** A moment for people who may sit anywhere: `2026-01-31 03:00:00 UTC`. */
export function momentText(atMs: number): string {
  const iso = new Date(Math.max(-lastMs, Math.min(atMs, lastMs))).toISOString();
  return `${iso.slice(0, -5).replace('T', ' ')} UTC`;
}

/** How long ago: `just now`, `40 s ago`, `5 min ago`, `3 h ago`, `12 days ago`. */
export function agoText(atMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - atMs) / 1000);
  if (seconds < 1) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}

/** How long until then: `in 5 min 10 s`, or that it has passed. */
export function untilText(atMs: number, nowMs: number): string {
  return atMs > nowMs ? `in ${duration(atMs - nowMs)}` : `${duration(nowMs - atMs)} ago`;
}

/** A text as a shell takes it for one word. What a terminal would obey is written as bash and zsh read it: `$'a\u001b'`. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text.replaceAll(/['\\]/g, String.raw`\$&`);
  return `$'${escapeUnsafe(escaped)}'`;
}
