/**
 * Makes a conversation shorter without asking anybody: old results of tools are replaced by a note, very long old texts keep
 * their head and tail. Which messages there are, whose they are and which result belongs to which call stays as it was.
 *
 * Left whole: the system's words, the first message of the user, the last turns, calls with their arguments, and whatever a
 * provider signed. What was made shorter once is not touched again.
 */
import { unreachable } from '../base/assert.ts';
import { textOf } from '../model/message.ts';
import type { Message, TextPart, ToolResultPart } from '../model/message.ts';

export interface CompactOptions {
  /** So many messages at the end stay as they are, and more where the last two turns are longer. */
  readonly keepLastMessages: number;
}

/** A shorter conversation. */
export interface CompactedHistory {
  readonly messages: readonly Message[];
  readonly removedCharacters: number;
}

const keptTurns = 2;
/** A shorter result is hardly longer than the note that would replace it. */
const maxResultCharacters = 300;
const maxTextCharacters = 4000;
const headCharacters = 2000;
const tailCharacters = 1000;
/** Saving less does not pay for what is lost. */
const minSavedShare = 0.1;

/** Shortens what is old. Nothing where less than a tenth would be saved. */
export function compactHistory(
  messages: readonly Message[],
  { keepLastMessages }: CompactOptions,
): CompactedHistory | undefined {
  const end = Math.min(lastTurnsAt(messages), messages.length - Math.max(0, keepLastMessages));
  const firstUser = messages.findIndex(({ role }) => role === 'user');
  let removedCharacters = 0;
  const compacted = messages.map((message, index) => {
    if (index >= end || index === firstUser) return message;
    const shorter = shorten(message);
    if (shorter !== message) removedCharacters += sizeOf(message) - sizeOf(shorter);
    return shorter;
  });
  const total = messages.reduce((sum, message) => sum + sizeOf(message), 0);
  if (removedCharacters === 0 || removedCharacters < total * minSavedShare) return undefined;
  return { messages: compacted, removedCharacters };
}

/** Where the last turns of the model begin. */
function lastTurnsAt(messages: readonly Message[]): number {
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    if (messages[index]?.role === 'assistant') turns += 1;
    if (turns === keptTurns) return index;
  }
  return 0;
}

function shorten(message: Message): Message {
  if (message.role === 'system') return message;
  if (message.role === 'tool') {
    const results = mapChanged(message.content, clearResult);
    return results === message.content ? message : { role: 'tool', content: results };
  }
  if (typeof message.content === 'string') {
    const content = shortenText(message.content);
    return content === message.content ? message : { role: message.role, content };
  }
  if (message.role === 'user') {
    const content = mapChanged(message.content, (part) => (part.type === 'text' ? shortenPart(part) : part));
    return content === message.content ? message : { role: 'user', content };
  }
  const content = mapChanged(message.content, (part) => (part.type === 'text' ? shortenPart(part) : part));
  return content === message.content ? message : { role: 'assistant', content };
}

/** The same list where no part is changed. */
function mapChanged<Part>(parts: readonly Part[], change: (part: Part) => Part): readonly Part[] {
  const changed = parts.map(change);
  return changed.some((part, place) => part !== parts[place]) ? changed : parts;
}

function clearResult(part: ToolResultPart): ToolResultPart {
  const size = resultSize(part);
  if (size <= maxResultCharacters) return part;
  const images =
    typeof part.content === 'string' ? 0 : part.content.filter(({ type }) => type === 'image').length;
  const characters = typeof part.content === 'string' ? part.content.length : textOf(part.content).length;
  const withImages = images === 0 ? '' : ` and ${images} ${images === 1 ? 'image' : 'images'}`;
  return {
    ...part,
    content: `(This result was removed to save room: ${characters} characters${withImages}.)`,
  };
}

/** A signature covers the very text. */
function shortenPart(part: TextPart): TextPart {
  if (part.signature !== undefined) return part;
  const text = shortenText(part.text);
  return text === part.text ? part : { ...part, text };
}

function shortenText(text: string): string {
  if (text.length <= maxTextCharacters) return text;
  const headEnd = isLow(text.charCodeAt(headCharacters)) ? headCharacters - 1 : headCharacters;
  const tailAt = text.length - tailCharacters;
  const tailStart = isLow(text.charCodeAt(tailAt)) ? tailAt + 1 : tailAt;
  const note = `\n(${tailStart - headEnd} characters were removed here to save room.)\n`;
  return text.slice(0, headEnd) + note + text.slice(tailStart);
}

/** The second half of a surrogate pair: a cut before it would leave two halves of nothing. */
function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function sizeOf({ role, content }: Message): number {
  if (typeof content === 'string') return content.length;
  if (role === 'tool') return content.reduce((sum, part) => sum + resultSize(part), 0);
  return content.reduce((sum, part) => sum + partSize(part), 0);
}

function resultSize({ content }: ToolResultPart): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => sum + partSize(part), 0);
}

function partSize(part: Exclude<Message['content'], string>[number]): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length + (part.signature?.value.length ?? 0);
    case 'tool-call':
      return part.name.length + part.argumentsText.length;
    case 'tool-result':
      return resultSize(part);
    case 'image':
    case 'file':
      return part.source.type === 'base64' ? part.source.data.length : part.source.url.length;
    default:
      return unreachable(part);
  }
}
