import { lazy } from '../../base/lazy.ts';
import { defineTool } from '../../model/define-tool.ts';
import type { BlobStore } from '../../model/store/store.ts';
import type { Tool, ToolContext } from '../../model/tool.ts';
import { hashOfRef, readResultName, wholePlace } from './spill-result.ts';

export interface ReadResultOptions {
  /** Whether this run may read it: whether it was spilled in the run's own conversation. See `spilledHashes`. */
  readonly canRead: (hash: string, runId: string) => boolean | Promise<boolean>;
}

const defaultLength = 10_000;
const maxLength = 20_000;
const maxFindLength = 200;
const maxMatches = 40;
/** Shown on either side of a match. */
const matchMargin = 120;
const timeoutMs = 10_000;

/** The tool by which a model reads on in a result that was too long to be shown. What it gives is short enough not to be spilled. */
export function readResultTool(blobs: Pick<BlobStore, 'get'>, { canRead }: ReadResultOptions): Tool {
  return {
    ...template(),
    execute: async (given, context) => {
      const input = given as ReadInput; // The schema has let it through.
      const hash = hashOfRef(input.ref);
      if (hash === undefined) return context.retry(badRef);
      // The same words for what is not there and what is not his: which results other runs hold is not to be found out.
      const text = (await canRead(hash, context.runId)) ? await blobs.get(hash) : undefined;
      if (text === undefined) return context.fail(unknownRef, { code: 'NOT_FOUND', sideEffect: 'none' });
      return input.find === undefined
        ? readOn(text, input, context)
        : search(text, { ...input, find: input.find }, context);
    },
  };
}

/** Made once, for to read its schema takes longer than all the rest of an agent. */
const template = lazy(() =>
  defineTool({
    name: readResultName,
    description:
      'Reads more of a tool result that was too long to be shown whole, or searches it. The shortened result names its "ref".',
    input: parameters,
    effect: 'read',
    timeoutMs,
    maxResultCharacters: 2 * maxLength,
    execute: () => undefined,
  }),
);

interface ReadInput {
  readonly ref: string;
  readonly from?: number;
  readonly length?: number;
  readonly find?: string;
}

const parameters = {
  type: 'object',
  properties: {
    ref: {
      type: 'string',
      description: 'Copied from the shortened result, character by character: "result_" and what follows it.',
    },
    from: {
      type: 'integer',
      minimum: 0,
      description: 'The first character to read, or to search from; 0 is the first of all, and the default.',
    },
    length: {
      type: 'integer',
      minimum: 1,
      description: `How many characters to read: ${defaultLength} by default, at most ${maxLength}. Not used with "find".`,
    },
    find: {
      type: 'string',
      minLength: 1,
      maxLength: maxFindLength,
      description:
        'Words to search for, as they are in the result; letter case does not matter. No patterns.',
    },
  },
  required: ['ref'],
  additionalProperties: false,
};

const badRef =
  'This is not a valid "ref". Copy it from the shortened result, character by character: it begins with "result_" and has no spaces.';
const unknownRef =
  'There is no kept result of this "ref" in this conversation. Copy the "ref" from the shortened result, or call the tool again that gave it';

function readOn(
  text: string,
  { ref, from = 0, length = defaultLength }: ReadInput,
  context: ToolContext,
): string {
  const total = text.length;
  if (from >= total) return context.retry(outOfRange(from, total));
  const start = wholePlace(text, from);
  const wanted = wholePlace(text, Math.min(total, start + Math.min(length, maxLength)));
  // A single pair is longer than a length of 1, and reading must get on.
  const end = wanted > start ? wanted : Math.min(total, start + 2);
  const next =
    end < total
      ? `\n[More: call ${readResultName} with ${JSON.stringify({ ref, from: end })}]`
      : '\n[This is the end of it.]';
  return `[Characters ${start} to ${end} of ${total}]\n${text.slice(start, end)}${next}`;
}

function outOfRange(from: number, total: number): string {
  return `"from" is ${from}, but the result has only ${total} characters: give a number from 0 to ${Math.max(0, total - 1)}.`;
}

type FindInput = ReadInput & { readonly find: string };

function search(text: string, { ref, find, from = 0 }: FindInput, context: ToolContext): string {
  const total = text.length;
  if (from >= total) return context.retry(outOfRange(from, total));
  const [folded, needle] = [fold(text), fold(find)];
  const lines: string[] = [];
  let place = folded.indexOf(needle, from);
  while (place >= 0 && lines.length < maxMatches) {
    const { start, end } = surroundings(text, { place, length: needle.length });
    lines.push(`[from ${start}] ${text.slice(start, end)}`);
    // What has been shown already is no news.
    place = folded.indexOf(needle, Math.max(end, place + needle.length));
  }
  const shown = JSON.stringify(find);
  if (lines.length === 0) {
    return `${shown} does not occur from character ${from} to the end at ${total}. Try fewer or other words.`;
  }
  const more =
    place < 0
      ? '[No more matches.]'
      : `[There are more: call ${readResultName} with ${JSON.stringify({ ref, find, from: place })}]`;
  const how = `Matches of ${shown} with their surroundings; to read on at a match, pass its number as "from".`;
  return `${how}\n${lines.join('\n')}\n${more}`;
}

/** Without letter case, and place by place as long as before: İ is the one letter that grows. */
function fold(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

/** What stands around a match in its line, bounded. */
function surroundings(
  text: string,
  { place, length }: { readonly place: number; readonly length: number },
): { readonly start: number; readonly end: number } {
  const after = place + length;
  const before = text.slice(Math.max(0, place - matchMargin), place);
  const behind = text.slice(after, after + matchMargin);
  const lineEnd = behind.indexOf('\n');
  const start = place - (before.length - 1 - before.lastIndexOf('\n'));
  const end = after + (lineEnd < 0 ? behind.length : lineEnd);
  const wholeEnd = wholePlace(text, end);
  return { start: wholePlace(text, start), end: wholeEnd === end ? end : end + 1 };
}
