import type { RunEvent } from '../../agent/run-event.ts';
import { flat } from '../../base/growing-text.ts';

/**
 * Events that wait for a reader who comes later, reads slowly, or never reads. Bounded:
 *
 * - Neighbouring pieces of one text are put together; of the progress of a call the latest counts.
 * - Beyond the bounds the oldest events are dropped, and `events-dropped` replaces them.
 * - The text of the latest turn is never dropped, so the code that puts it together holds the answer at the end.
 */
export interface Backlog {
  /** The oldest first. */
  readonly entries: Entry[];
  characters: number;
  dropped: Dropped | undefined;
  /** The latest turn of the run itself. */
  turn: number;
  maxEvents: number;
  maxCharacters: number;
}

interface Entry {
  readonly event: RunEvent;
  readonly characters: number;
}

interface Dropped {
  readonly count: number;
  readonly characters: number;
}

// Pieces are put together from here on, so that a reader who keeps up is given them as they came.
const minQueued = 64;
const maxJoinedCharacters = 65_536;
// Of a sum of many pieces each takes memory until they are put together.
const chunkCharacters = 4096;
// Pieces of several texts come in turns: a node of a flow each, or text and reasoning.
const maxLookBack = 64;
const maxEvents = 4096;
const maxCharacters = 4_000_000;

/** Nothing waits. */
export function createBacklog(): Backlog {
  return { entries: [], characters: 0, dropped: undefined, turn: 0, maxEvents, maxCharacters };
}

/** The next event for the reader; nothing where none waits. */
export function takeEvent(backlog: Backlog): RunEvent | undefined {
  const { dropped } = backlog;
  backlog.dropped = undefined;
  if (dropped !== undefined) return { type: 'events-dropped', ...dropped };
  const entry = backlog.entries.shift();
  backlog.characters -= entry?.characters ?? 0;
  return entry?.event;
}

/** Keeps an event for the reader. */
export function addEvent(backlog: Backlog, event: RunEvent): void {
  const { entries } = backlog;
  if ('turn' in event) backlog.turn = Math.max(backlog.turn, event.turn);
  if (entries.length >= minQueued && joinsOne(backlog, event)) return;
  put(backlog, entries.length, event);
  if (entries.length > backlog.maxEvents || backlog.characters > backlog.maxCharacters) shrink(backlog);
}

function put(backlog: Backlog, index: number, event: RunEvent): void {
  const { entries } = backlog;
  const characters = charactersIn(event);
  backlog.characters += characters - (entries[index]?.characters ?? 0);
  entries[index] = { event, characters };
}

/** Puts a piece to the one before it of the same text, if there is one with nothing but pieces of others in between. */
function joinsOne(backlog: Backlog, event: RunEvent): boolean {
  const name = textOf(event);
  if (name === undefined) return false;
  const { entries } = backlog;
  const end = Math.max(0, entries.length - maxLookBack);
  for (let index = entries.length - 1; index >= end; index -= 1) {
    const entry = entries[index];
    const other = entry === undefined ? undefined : textOf(entry.event);
    if (entry === undefined || other === undefined) return false;
    if (other !== name) continue;
    if (entry.characters > maxJoinedCharacters) return false;
    put(backlog, index, joined(entry.event, event));
    return true;
  }
  return false;
}

/** Which text an event is a piece of, or which progress it reports; nothing for any other event. */
function textOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return `${event.type} ${event.turn}`;
    case 'tool-progress':
    case 'tool-call-delta':
      return `${event.type} ${event.callId}`;
    case 'child-event': {
      const inner = textOf(event.event);
      return inner === undefined ? undefined : `${event.runId} ${inner}`;
    }
    default:
      return undefined;
  }
}

type TextPiece = Extract<RunEvent, { type: 'text-delta' | 'reasoning-delta' | 'tool-call-delta' }>;

function isTextPiece(event: RunEvent): event is TextPiece {
  return ['text-delta', 'reasoning-delta', 'tool-call-delta'].includes(event.type);
}

/** Both are pieces of one text. */
function joined(first: RunEvent, second: RunEvent): RunEvent {
  if (first.type === 'child-event' && second.type === 'child-event')
    return { ...second, event: joined(first.event, second.event) };
  if (!isTextPiece(second) || !isTextPiece(first)) return second;
  const text = first.text + second.text;
  const isNextChunk =
    Math.floor(text.length / chunkCharacters) > Math.floor(first.text.length / chunkCharacters);
  return { ...second, text: isNextChunk ? flat(text) : text };
}

/** Drops the oldest half. What must stay is at most one answer; twice as much is allowed the next time, so that this is seldom done. */
function shrink(backlog: Backlog): void {
  const { entries, turn, dropped } = backlog;
  let { count, characters } = dropped ?? { count: 0, characters: 0 };
  const isEnough = (index: number): boolean =>
    entries.length - (index - kept.length) <= maxEvents / 2 && backlog.characters <= maxCharacters / 2;
  const kept: Entry[] = [];
  let index = 0;
  for (; index < entries.length && !isEnough(index); index += 1) {
    const entry = entries[index] as Entry; // Within the list.
    if (mustStay(entry.event, turn)) {
      kept.push(entry);
      continue;
    }
    count += 1;
    if (entry.event.type === 'text-delta') characters += entry.event.text.length;
    backlog.characters -= entry.characters;
  }
  entries.splice(0, index, ...kept);
  backlog.dropped = count === 0 ? undefined : { count, characters };
  backlog.maxEvents = Math.max(maxEvents, entries.length * 2);
  backlog.maxCharacters = Math.max(maxCharacters, backlog.characters * 2);
}

function mustStay(event: RunEvent, turn: number): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'text-retracted':
    case 'turn-started':
      return event.turn === turn;
    case 'run-finished':
      return true;
    default:
      return false;
  }
}

/** What every event takes besides its texts. */
const eventCharacters = 200;
const maxMembers = 1000;

/** About how large an event is. Of a wide one only the first members are counted. */
function charactersIn(event: RunEvent): number {
  if (isTextPiece(event)) return eventCharacters + event.text.length;
  let characters = eventCharacters;
  const open: unknown[] = [event];
  for (let members = 0; members < maxMembers && open.length > 0; members += 1) {
    const value = open.pop();
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value).slice(0, maxMembers) as readonly unknown[]) open.push(member);
  }
  return characters;
}
