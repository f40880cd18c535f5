import { Buffer } from 'node:buffer';
import { createBoundedText } from './bounded-text.ts';
import type { BoundedText } from './bounded-text.ts';
import { encodedText, encodeResult } from '../tool-result/encode-result.ts';
import type { Encoding, ResultBounds } from '../tool-result/encode-result.ts';
import { bytesOf } from '../tool-result/result-bytes.ts';
import { renderNotes, writeValue } from '../tool-result/result-writer.ts';
import type { Writing } from '../tool-result/result-writer.ts';

const maxItems = 100_000;
const maxStreamCharacters = 4_000_000;
const maxStreamBytes = 4_000_000;

export interface CollectOptions extends ResultBounds {
  /** Nothing waits any more: reading on would be useless. */
  readonly isOver: () => boolean;
}

/** Whether a result comes piece by piece. What refuses the question is taken as it is. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return typeof Reflect.get(value, Symbol.asyncIterator) === 'function';
  } catch {
    return false; // A getter or a Proxy threw; encoding meets it next, and says so.
  }
}

/**
 * Reads a result that comes piece by piece, with flat memory, and stops where no more would be shown. Texts are joined,
 * bytes too; anything else becomes one line of JSON each. Rejects with what the stream throws.
 */
export async function collectStream(
  stream: AsyncIterable<unknown>,
  { maxCharacters, isOver }: CollectOptions,
): Promise<Encoding> {
  const out = createBoundedText(maxCharacters);
  const writing: Writing = { out, maxCharacters, notes: new Set(), above: [] };
  const chunks: Chunks = { list: [], length: 0 };
  let items = 0;
  for await (const item of stream) {
    items += 1;
    writeItem(item, { writing, chunks });
    if (isOver() || isEnough({ items, out, chunks })) {
      // Leaving the loop closes the stream.
      writing.notes.add(`it was not read beyond ${items.toLocaleString('en-US')} pieces`);
      out.stop();
      break;
    }
  }
  if (chunks.length === 0) return encodedText(out.finish(), renderNotes(writing.notes));
  return encodeChunks(chunks, { writing, maxCharacters });
}

/** Bytes are kept, for what they are shows only when they are together. */
interface Chunks {
  readonly list: Buffer[];
  length: number;
}

function writeItem(
  item: unknown,
  { writing, chunks }: { readonly writing: Writing; readonly chunks: Chunks },
): void {
  const bytes = bytesOf(item);
  if (bytes !== undefined) {
    // A copy: a stream may fill the same memory again.
    chunks.list.push(Buffer.from(bytes.subarray(0, maxStreamBytes)));
    chunks.length += bytes.length;
    return;
  }
  if (typeof item === 'string') return writing.out.write(item);
  writeValue(item, writing);
  writing.out.write('\n');
  return undefined;
}

function isEnough({
  items,
  out,
  chunks,
}: {
  readonly items: number;
  readonly out: BoundedText;
  readonly chunks: Chunks;
}): boolean {
  return items >= maxItems || out.total() >= maxStreamCharacters || chunks.length >= maxStreamBytes;
}

function encodeChunks(
  chunks: Chunks,
  { writing, maxCharacters }: { readonly writing: Writing; readonly maxCharacters: number },
): Encoding {
  if (writing.out.total() > 0) writing.notes.add('texts between the bytes are left out');
  const encoded = encodeResult(Buffer.concat(chunks.list), { maxCharacters });
  if ('failure' in encoded || typeof encoded.content !== 'string') return encoded;
  return { ...encoded, content: encoded.content + renderNotes(writing.notes) };
}
