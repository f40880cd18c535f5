/**
 * Keeps a result that is too long for the model outside the conversation. The model is shown its head, its tail and, between
 * them, how to read the rest by the tool `read_result`.
 */
import { Buffer } from 'node:buffer';
import type { Message, ToolResultPart } from '../../model/message.ts';
import { textOf } from '../../model/message.ts';
import { cutText } from '../watch/bounded-text.ts';

export interface SpillLimits {
  /** The longest text that the model is shown. */
  readonly maxCharacters: number;
  /** The longest text that is kept; of a longer one, head and tail. */
  readonly maxSpilledCharacters?: number;
}

/** A result in two: what is kept, and what is shown once it is kept. */
export interface SpillPlan {
  /** To be kept as a blob. */
  readonly spilled: string;
  /** What the model is shown, within the bound. `hash` is what the blob is found by: letters, digits, `-` and `_`. */
  readonly contentFor: (hash: string) => string;
}

/** By this name the model reads on. */
export const readResultName = 'read_result';

const defaultMaxSpilledCharacters = 4_000_000;
// The note is of some 400 characters; with less than that of the result beside it, it would not be worth its room.
const minShownCharacters = 1000;
/** What is shown of the head, against the tail. */
const headShare = 2 / 3;

/** How a text is kept and shown. Nothing where it is short enough, or the bound leaves no room for telling where the rest is. */
export function planSpill(
  text: string,
  { maxCharacters, maxSpilledCharacters = defaultMaxSpilledCharacters }: SpillLimits,
): SpillPlan | undefined {
  if (text.length <= maxCharacters || maxCharacters < minShownCharacters) return undefined;
  const bounded = cutText(text, Math.max(maxCharacters, maxSpilledCharacters)).text;
  // Stores keep UTF-8, which has no half pairs: what is read back must be what was shown, place by place.
  const spilled = Buffer.from(bounded, 'utf8').toString('utf8');
  return { spilled, contentFor: (hash) => contentOf(spilled, hash, maxCharacters) };
}

/** How the model names what was kept. */
export function refOf(hash: string): string {
  return `${refPrefix}${hash}`;
}

/** The hash that is meant. Nothing where the text cannot be a reference. */
export function hashOfRef(ref: string): string | undefined {
  return ref.length <= maxRefLength ? refShape.exec(ref)?.[1] : undefined;
}

/**
 * The hashes of what was spilled in a conversation: what its run may read. Only results of tools count, for what the model or the
 * user writes would open any door; and not those of `read_result`, which show the content of others.
 */
export function spilledHashes(messages: readonly Message[]): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const result of message.content) {
      for (const [, hash] of resultText(result).matchAll(noteShape)) if (hash !== undefined) hashes.add(hash);
    }
  }
  return hashes;
}

/** The place itself, or the one before where it lies within a surrogate pair. */
export function wholePlace(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return index;
  return isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index)) ? index - 1 : index;
}

const refPrefix = 'result_';
const maxRefLength = 135;
const refShape = /^result_([A-Za-z0-9_-]{16,128})$/;
const noteShape = /The whole result is kept: call read_result with \{"ref":"result_([A-Za-z0-9_-]{16,128})"/g;

function contentOf(spilled: string, hash: string, maxCharacters: number): string {
  const total = spilled.length;
  const room = Math.max(0, maxCharacters - noteOf({ hash, total, from: total, left: total }).length);
  const from = wholePlace(spilled, Math.ceil(room * headShare));
  const tailStart = wholeEnd(spilled, total - (room - Math.ceil(room * headShare)));
  const note = noteOf({ hash, total, from, left: tailStart - from });
  return spilled.slice(0, from) + note + spilled.slice(tailStart);
}

interface Note {
  readonly hash: string;
  readonly total: number;
  /** Where the head ends. */
  readonly from: number;
  readonly left: number;
}

/** Numbers without commas: the model copies them. */
function noteOf({ hash, total, from, left }: Note): string {
  return (
    `\n… [${left} of ${total} characters are left out here. ` +
    `The whole result is kept: call ${readResultName} with {"ref":"${refOf(hash)}","from":${from}} to read on from here, ` +
    `or with the same "ref" and "find":"some words" to search it.] …\n`
  );
}

/** The place itself, or the one after where it lies within a surrogate pair. */
function wholeEnd(text: string, index: number): number {
  return wholePlace(text, index) === index ? index : index + 1;
}

function resultText({ name, content }: ToolResultPart): string {
  if (name === readResultName) return '';
  return typeof content === 'string' ? content : textOf(content);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
