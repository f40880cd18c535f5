import type { Message, ToolResultPart, UserPart } from '../../../model/message.ts';

/** What a block carries that ends a cached prefix. */
export type CacheControl = { readonly cache_control?: { readonly type: 'ephemeral' } };

/** Anthropic refuses a request with more. */
const maxMarks = 4;

const marked: CacheControl = { cache_control: { type: 'ephemeral' } };
const unmarked: CacheControl = {};

type Markable = UserPart | ToolResultPart;

/**
 * Turns `cache` into marks, asked part by part in the order of the history. A growing history may carry more marks than
 * are allowed: the last ones stay, for each covers all that stands before it.
 */
export function createCacheMarks(messages: readonly Message[]): (part: Markable) => CacheControl {
  let surplus = messages.reduce((sum, message) => sum + countMarks(message), 0) - maxMarks;
  return (part) => {
    if (!isMarked(part)) return unmarked;
    surplus -= 1;
    return surplus >= 0 ? unmarked : marked;
  };
}

function countMarks({ role, content }: Message): number {
  if (role === 'assistant' || typeof content === 'string') return 0;
  return (content as readonly Markable[]).filter(isMarked).length; // What the other roles hold.
}

/** Inside a tool result nothing can be marked, so the result is. */
function isMarked(part: Markable): boolean {
  if (part.cache === true) return true;
  return (
    part.type === 'tool-result' &&
    typeof part.content !== 'string' &&
    part.content.some(({ cache }) => cache === true)
  );
}
