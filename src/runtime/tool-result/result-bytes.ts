import { Buffer, isUtf8 } from 'node:buffer';
import { types } from 'node:util';

/** Bytes, of whatever class they came in. */
export function bytesOf(value: unknown): Buffer | undefined {
  if (types.isUint8Array(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (types.isAnyArrayBuffer(value)) return Buffer.from(value);
  if (types.isDataView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return undefined;
}

/** What bytes are: an image that models take, text, or something that only a program can read. */
export type Sniffed =
  | { readonly type: 'image'; readonly mediaType: string }
  | { readonly type: 'text' }
  | { readonly type: 'binary'; readonly mediaType: string };

/** Beyond this, only both ends are looked at: the middle is not shown. */
const maxCheckedBytes = 1_000_000;

/** Tells by the bytes alone, for what is claimed about them may be wrong. */
export function sniff(bytes: Buffer): Sniffed {
  const found = signatures.find(({ matches }) => matches(bytes));
  if (found !== undefined)
    return { type: found.mediaType.startsWith('image/') ? 'image' : 'binary', mediaType: found.mediaType };
  const isText =
    bytes.length <= maxCheckedBytes
      ? isUtf8(bytes)
      : isUtf8(headOf(bytes, maxCheckedBytes / 2)) && isUtf8(tailOf(bytes, maxCheckedBytes / 2));
  return isText ? { type: 'text' } : { type: 'binary', mediaType: 'application/octet-stream' };
}

/** The first bytes, without a character that the cut goes through. */
export function headOf(bytes: Buffer, maxBytes: number): Buffer {
  let end = Math.min(bytes.length, maxBytes);
  for (let back = 0; back < 3 && end > 0 && end < bytes.length && isContinuation(bytes[end]); back += 1)
    end -= 1;
  return bytes.subarray(0, end);
}

/** The last bytes, likewise. */
export function tailOf(bytes: Buffer, maxBytes: number): Buffer {
  let start = Math.max(0, bytes.length - maxBytes);
  for (let ahead = 0; ahead < 3 && start > 0 && isContinuation(bytes[start]); ahead += 1) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

interface MediaSignature {
  readonly mediaType: string;
  readonly matches: (bytes: Buffer) => boolean;
}

const signatures: readonly MediaSignature[] = [
  { mediaType: 'image/png', matches: (bytes) => startsWith(bytes, '\u0089PNG\r\n\u001a\n') },
  { mediaType: 'image/jpeg', matches: (bytes) => startsWith(bytes, '\u00ff\u00d8\u00ff') },
  { mediaType: 'image/gif', matches: (bytes) => startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a') },
  {
    mediaType: 'image/webp',
    matches: (bytes) => startsWith(bytes, 'RIFF') && bytes.toString('latin1', 8, 12) === 'WEBP',
  },
  { mediaType: 'application/pdf', matches: (bytes) => startsWith(bytes, '%PDF-') },
  { mediaType: 'application/zip', matches: (bytes) => startsWith(bytes, 'PK\u0003\u0004') },
  { mediaType: 'application/gzip', matches: (bytes) => startsWith(bytes, '\u001f\u008b\u0008') },
];

/** `text` is read as Latin-1: one character, one byte. */
function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.length >= text.length && bytes.toString('latin1', 0, text.length) === text;
}
