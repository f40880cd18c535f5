import { isRecord } from '../../base/json.ts';
import type { ToolResultPart } from '../../model/message.ts';

const maxCharacters = 200;

/** How tools say that there was nothing to be found, each with a sentence that was seen. */
const phrases: readonly { readonly pattern: RegExp; readonly example: string }[] = [
  {
    pattern: /^no (results?|match(es)?|hits?|entries|records?|data|documents?|files?)\b/i,
    example: 'No results found.',
  },
  { pattern: /^nothing( was)?( found| matched| to show)?\W*$/i, example: 'Nothing found' },
  {
    pattern: /^(0|zero) (results?|match(es)?|hits?|entries|records?|documents?|files?)\b/i,
    example: '0 results',
  },
  { pattern: /^(not found|none( found)?|empty)\W*$/i, example: 'Not found.' },
];

/** What the phrases begin with. */
const firstLetters = '0nzeNZE';

/**
 * Whether a result says that nothing was found. No text at all, `null` and `{}` do not: that is what a tool returns that
 * did its work and has nothing to say about it.
 */
export function looksEmpty(content: ToolResultPart['content']): boolean {
  if (typeof content !== 'string') {
    const [first, ...rest] = content;
    return first?.type === 'text' && rest.length === 0 && looksEmpty(first.text);
  }
  if (content.length === 0 || content.length > maxCharacters) return false;
  const text = content.trim();
  if (text.startsWith('[') || text.startsWith('{')) return isEmptyList(text);
  // Nearly every result goes through here, and nearly none begins like one of them.
  return firstLetters.includes(text.charAt(0)) && phrases.some(({ pattern }) => pattern.test(text));
}

/** `[]`, or an object in which a list is empty and nothing else is said: `{"results":[],"total":0}`. */
function isEmptyList(text: string): boolean {
  const value = parse(text);
  if (Array.isArray(value)) return value.length === 0;
  if (!isRecord(value)) return false;
  const members = Object.values(value);
  return (
    members.some((member) => Array.isArray(member)) &&
    members.every((member) => !member || (Array.isArray(member) && member.length === 0))
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A text that only looks like JSON says something else.
  }
}
