/**
 * Makes a conversation shorter as a plan says. A plan is made for one list of messages and applied to that list, then or when the
 * journal is replayed; one that does not fit is a defect.
 *
 * - Calls and their results stay or go together.
 * - In the place of the first messages that went stands one message of the user's side, so that the side that began the conversation
 *   still does, and no two answers of the model become neighbours.
 * - What a provider signed, calls with their arguments, lists of effects and the system's words are never altered.
 * - Messages of which nothing changes stay the same objects.
 */
import { assert } from '../base/assert.ts';
import type { Compaction, ShortenedText } from './compaction.ts';
import { clearedNote, cutBefore, isNote, missingNote, shortenedNote } from './compaction-notes.ts';
import { splitNote } from './effects.ts';
import type { Message, TextPart, ToolResultPart } from './message.ts';

/** The conversation after a compaction. */
export function applyCompaction(messages: readonly Message[], compaction: Compaction): readonly Message[] {
  const misfit = misfitOf(messages, compaction);
  assert(misfit === undefined, misfit ?? '');
  const goes = markDropped(messages, compaction);
  const revisions = collectRevisions(compaction);
  const first = compaction.dropped[0]?.from;
  const shorter: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (index === first) shorter.push({ role: 'user', content: noteOf(compaction) });
    if (goes[index] === true) continue;
    const revision = revisions.get(index);
    shorter.push(revision === undefined ? message : reviseMessage(message, revision));
  }
  return shorter;
}

/** Why a plan cannot be applied to this list, if it cannot: it was made for another one. */
export function misfitOf(messages: readonly Message[], compaction: Compaction): string | undefined {
  const { dropped, cleared, shortened } = compaction;
  let end = 0;
  for (const { from, to } of dropped) {
    if (!(
      Number.isInteger(from) &&
      Number.isInteger(to) &&
      end <= from &&
      from < to &&
      to <= messages.length
    ))
      return `A compaction cannot drop the messages ${from} to ${to} of ${messages.length}, the range before ending at ${end}`;
    end = to;
  }
  const strange = [...cleared, ...shortened].find(({ message }) => messages[message] === undefined);
  if (strange !== undefined)
    return `A compaction names message ${strange.message}, but there are ${messages.length}`;
  const goes = markDropped(messages, compaction);
  let turnGoes = false;
  for (const [index, { role }] of messages.entries()) {
    if (role === 'system') continue;
    if (role === 'tool' && goes[index] !== turnGoes)
      return `A compaction must not part the results in message ${index} from their calls`;
    turnGoes = goes[index] === true;
  }
  return undefined;
}

/** What is to be changed in one message. */
export interface Revision {
  /** By call, how much of the beginning of its result stays. */
  readonly cleared: ReadonlyMap<string, number>;
  readonly shortened: ReadonlyMap<number, Pick<ShortenedText, 'headCharacters' | 'tailCharacters'>>;
}

/** One message with its results cleared and its texts shortened. The same object where nothing changes. */
export function reviseMessage(message: Message, revision: Revision): Message {
  if (message.role === 'system') return message;
  if (message.role === 'tool') {
    const content = mapChanged(message.content, (part, place) => reviseResult(part, place, revision));
    return content === message.content ? message : { ...message, content };
  }
  if (typeof message.content === 'string') {
    const cut = revision.shortened.get(0);
    const { text, list } = isNote(message) ? splitNote(message.content) : { text: message.content, list: '' };
    const content = cut === undefined ? message.content : shortenText(text, cut) + list;
    return content === message.content ? message : { ...message, content };
  }
  const change = <Part extends { readonly type: string }>(part: Part | TextPart, place: number) => {
    const cut = revision.shortened.get(place);
    return cut !== undefined && isText(part) ? shortenPart(part, cut) : part;
  };
  if (message.role === 'user') {
    const content = mapChanged(message.content, change);
    return content === message.content ? message : { ...message, content };
  }
  const content = mapChanged(message.content, change);
  return content === message.content ? message : { ...message, content };
}

type Cut = Pick<ShortenedText, 'headCharacters' | 'tailCharacters'>;

/** By message, whether it goes. */
function markDropped(messages: readonly Message[], { dropped }: Compaction): readonly boolean[] {
  const goes = messages.map(() => false);
  for (const { from, to } of dropped) goes.fill(true, from, to);
  return goes;
}

function collectRevisions({ cleared, shortened }: Compaction): ReadonlyMap<number, Revision> {
  const revisions = new Map<number, { cleared: Map<string, number>; shortened: Map<number, Cut> }>();
  const revisionOf = (index: number) => {
    const revision = revisions.get(index) ?? { cleared: new Map(), shortened: new Map() };
    revisions.set(index, revision);
    return revision;
  };
  for (const { message, callId, headCharacters = 0 } of cleared)
    revisionOf(message).cleared.set(callId, headCharacters);
  for (const { message, part, headCharacters, tailCharacters } of shortened)
    revisionOf(message).shortened.set(part, { headCharacters, tailCharacters });
  return revisions;
}

function noteOf({ summary, dropped }: Compaction): string {
  return summary ?? missingNote(dropped.reduce((sum, { from, to }) => sum + to - from, 0));
}

function reviseResult(part: ToolResultPart, place: number, revision: Revision): ToolResultPart {
  const headCharacters = revision.cleared.get(part.callId);
  if (headCharacters !== undefined) return { ...part, content: clearedNote(part, headCharacters) };
  const cut = revision.shortened.get(place);
  if (cut === undefined) return part;
  if (typeof part.content === 'string') {
    const content = shortenText(part.content, cut);
    return content === part.content ? part : { ...part, content };
  }
  const content = mapChanged(part.content, (inner) => (isText(inner) ? shortenPart(inner, cut) : inner));
  return content === part.content ? part : { ...part, content };
}

/** The same list where no part is changed. */
function mapChanged<Part>(
  parts: readonly Part[],
  change: (part: Part, place: number) => Part,
): readonly Part[] {
  const changed = parts.map(change);
  return changed.some((part, place) => part !== parts[place]) ? changed : parts;
}

function isText(part: { readonly type: string }): part is TextPart {
  return part.type === 'text';
}

/** A signature covers the very text. */
function shortenPart(part: TextPart, cut: Cut): TextPart {
  if (part.signature !== undefined) return part;
  const text = shortenText(part.text, cut);
  return text === part.text ? part : { ...part, text };
}

function shortenText(text: string, { headCharacters, tailCharacters }: Cut): string {
  const tailAt = text.length - tailCharacters;
  const headEnd = isLow(text.charCodeAt(headCharacters)) ? headCharacters - 1 : headCharacters;
  const tailStart = isLow(text.charCodeAt(tailAt)) ? tailAt + 1 : tailAt;
  const before = cutBefore(text);
  // What was cut before is cut around its note, which then counts for both.
  if (before !== undefined && (before.from < headEnd || before.to > tailStart)) return text;
  const earlier = before === undefined ? 0 : before.characters - (before.to - before.from);
  const note = shortenedNote(tailStart - headEnd + earlier);
  // A text that is hardly longer than what would be left of it stays whole.
  if (tailStart - headEnd <= note.length) return text;
  return text.slice(0, headEnd) + note + text.slice(tailStart);
}

/** The second half of a surrogate pair: a cut before it would leave two halves of nothing. */
function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
