import type { ModelRequest } from '../../../model/request.ts';

type Fields = Readonly<Record<string, unknown>>;

const mark: Fields = { cache_control: { type: 'ephemeral' } };

/** Anthropic refuses a request with more. */
const maxMarks = 4;

/** The parts of a request in the order in which Anthropic caches them. */
interface Prompt {
  readonly tools: readonly Fields[] | undefined;
  readonly system: string | readonly Fields[] | undefined;
  readonly messages: readonly Fields[];
}

/** Whether the prompt is likely to be sent again with more behind it: writing to the cache costs more than it saves once. */
export function isAskedAgain({ tools, messages }: ModelRequest): boolean {
  return (tools !== undefined && tools.length > 0) || messages.some(({ role }) => role === 'assistant');
}

/**
 * Marks what the next request will begin with: the conversation so far, the instructions, the tools, and the conversation as the
 * request before had marked it. Marks of the caller count first, those in the options of the provider too; the rest gives way to them.
 */
export function markPrefix(prompt: Prompt, options: Fields = {}): Prompt {
  let left = maxMarks - countMarks(prompt) - marksIn(options);
  const take = (isThere: boolean): boolean => {
    if (!isThere || left <= 0) return false;
    left -= 1;
    return true;
  };
  const { tools, system, messages } = prompt;
  const [last, before] = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).toReversed();
  const isLastMarked = take(last !== undefined && !hasMark(messages[last]));
  const systemBlocks = typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  const isSystemMarked = take(
    systemBlocks !== undefined && systemBlocks.at(-1)?.['cache_control'] === undefined,
  );
  const areToolsMarked = take(tools !== undefined && tools.length > 0);
  const isBeforeMarked = take(before !== undefined && !hasMark(messages[before]));
  return {
    tools: areToolsMarked && tools !== undefined ? markLast(tools) : tools,
    system: isSystemMarked && systemBlocks !== undefined ? markLast(systemBlocks) : system,
    messages: messages.map((message, index) => {
      const isMarked = (isLastMarked && index === last) || (isBeforeMarked && index === before);
      return isMarked ? { ...message, content: markLast(message['content'] as readonly Fields[]) } : message; // Always blocks.
    }),
  };
}

function markLast(blocks: readonly Fields[]): readonly Fields[] {
  return blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...mark } : block));
}

function countMarks({ system, messages }: Prompt): number {
  const blocks = [system, ...messages.map(({ content }) => content)].flat() as readonly unknown[]; // Texts and blocks.
  return blocks.filter(isMarkedBlock).length;
}

/** Wherever they stand: what is in the options takes the place of the prompt's own. */
function marksIn(options: Fields): number {
  return JSON.stringify(options).split('"cache_control":').length - 1;
}

function hasMark(message: Fields | undefined): boolean {
  return isMarkedBlock((message?.['content'] as readonly unknown[] | undefined)?.at(-1)); // Always blocks.
}

function isMarkedBlock(block: unknown): boolean {
  return typeof block === 'object' && block !== null && 'cache_control' in block;
}
