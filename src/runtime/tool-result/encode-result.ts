import { fingerprint } from '../../base/hash.ts';
import { isRecord } from '../../base/json.ts';
import { describeThrown } from '../../errors/classify/safe-read.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { ToolResultPart } from '../../model/message.ts';
import { createBoundedText, cutText } from '../watch/bounded-text.ts';
import type { CutText } from '../watch/bounded-text.ts';
import { bytesOf, headOf, sniff, tailOf } from './result-bytes.ts';
import { readContentParts } from './result-parts.ts';
import { isPlain, renderNotes, writeValue } from './result-writer.ts';

export interface ResultBounds {
  /** The longest text that is shown. */
  readonly maxCharacters: number;
}

/** A result as the model is shown it, and whether two of them are the same. */
export interface EncodedResult {
  readonly content: ToolResultPart['content'];
  readonly resultHash: string;
  /** Where the text was cut: how long it was, or at least was as far as anybody looked. */
  readonly totalCharacters?: number;
}

export type Encoding = EncodedResult | { readonly failure: Failure };

/**
 * Encodes whatever a tool returned. Never throws, and never holds more than a few times the bound: a value that is too
 * long is cut while it is written, with its head, its tail and its length.
 */
export function encodeResult(value: unknown, bounds: ResultBounds): Encoding {
  try {
    if (typeof value === 'string') return encodedText(cutText(value, bounds.maxCharacters));
    if (value === undefined) return encodedText({ text: '(no result)' });
    if (typeof value === 'function' || typeof value === 'symbol') {
      return { failure: notEncodable(`it is a ${typeof value}, which has no text`) };
    }
    if (typeof value !== 'object' || value === null) return encodeWritten(value, bounds);
    const bytes = bytesOf(value);
    if (bytes !== undefined) return encodeBytes(bytes, bounds);
    const parts = readContentParts(value, bounds);
    return parts === undefined
      ? encodeWritten(value, bounds)
      : { content: parts, resultHash: fingerprint(JSON.stringify(parts)) };
  } catch (thrown) {
    return { failure: notEncodable(describeThrown(thrown), thrown) };
  }
}

/** A text that was gathered elsewhere, with its hash. */
export function encodedText({ text, totalCharacters }: CutText, notes = ''): EncodedResult {
  const resultHash = fingerprint(totalCharacters === undefined ? text : `${totalCharacters}:${text}`);
  const content = text + notes;
  return totalCharacters === undefined ? { content, resultHash } : { content, resultHash, totalCharacters };
}

function notEncodable(why: string, cause?: unknown): Failure {
  return createFailure('SERIALIZATION_ERROR', {
    origin: 'tool',
    phase: 'execute',
    message: `Cannot encode what the tool returned: ${why}`,
    cause,
  });
}

function encodeWritten(value: unknown, { maxCharacters }: ResultBounds): EncodedResult {
  if (isPlain(value, maxCharacters)) return encodedText({ text: JSON.stringify(value) });
  const out = createBoundedText(maxCharacters);
  const notes = new Set<string>();
  writeValue(value, { out, maxCharacters, notes, above: [] });
  return encodedText(out.finish(), renderNotes(notes));
}

/** What providers take as an image; a larger one would be refused, and every later request with it. */
const maxImageBytes = 3_750_000;

function encodeBytes(bytes: Buffer, bounds: ResultBounds): EncodedResult {
  const sniffed = sniff(bytes);
  if (sniffed.type === 'text') return encodeUtf8(bytes, bounds);
  const about = `${sniffed.mediaType}, ${bytes.length.toLocaleString('en-US')} bytes`;
  if (sniffed.type === 'image' && bytes.length <= maxImageBytes) {
    const data = bytes.toString('base64');
    const content = [
      { type: 'image', mediaType: sniffed.mediaType, source: { type: 'base64', data } },
    ] as const;
    return { content, resultHash: fingerprint(data) };
  }
  if (sniffed.type === 'image') return encodedText({ text: `(${about}: too large to show)` });
  const out = createBoundedText(bounds.maxCharacters);
  // One triple of bytes makes four characters; the middle of a long one is only counted.
  const shown = bytes.subarray(0, 3 * bounds.maxCharacters);
  out.write(`(${about}, as base64)\n${shown.toString('base64')}`);
  out.skip(Math.ceil((bytes.length - shown.length) / 3) * 4);
  if (shown.length < bytes.length) out.write(bytes.subarray(-3 * bounds.maxCharacters).toString('base64'));
  return encodedText(out.finish());
}

function encodeUtf8(bytes: Buffer, { maxCharacters }: ResultBounds): EncodedResult {
  const maxBytes = 4 * maxCharacters;
  if (bytes.length <= 2 * maxBytes) return encodedText(cutText(bytes.toString('utf8'), maxCharacters));
  const out = createBoundedText(maxCharacters);
  const [head, tail] = [headOf(bytes, maxBytes), tailOf(bytes, maxBytes)];
  out.write(head.toString('utf8'));
  // Bytes, where characters are not worth counting: at least a quarter of them.
  out.skip(Math.ceil((bytes.length - head.length - tail.length) / 4));
  out.write(tail.toString('utf8'));
  out.stop();
  return encodedText(out.finish(), `\n[Note: ${bytes.length.toLocaleString('en-US')} bytes in all]`);
}

/** Whether a value came out well. */
export function isEncoded(encoding: Encoding): encoding is EncodedResult {
  return isRecord(encoding) && !('failure' in encoding);
}
