import { hash } from 'node:crypto';

// SQLite's texts end at a NUL for one of the drivers, and half a surrogate pair has no bytes in UTF-8. Whatever comes from
// outside and is not JSON text already passes through here.

/** A text as a column holds it: as it is, unless a column could not hold it. Different texts stay different. */
export function encodeText(text: string): string {
  return suspicious.test(text) && needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** The text that was encoded. */
export function decodeText(stored: string): string {
  return stored.includes('\\') ? String(JSON.parse(`"${stored}"`)) : stored;
}

/** A content as it is kept, and the hash by which it is known: of the very text that is kept. */
export function encodeContent(content: string): { readonly stored: string; readonly hash: string } {
  const isPlain = !unstorable.test(content);
  const stored = isPlain ? content : JSON.stringify(content);
  return { stored, hash: `${isPlain ? '' : jsonMark}${sha256(stored)}` };
}

/** The content behind a hash, or nothing where what is kept is not what was written. */
export function decodeContent(stored: string, contentHash: string): string | undefined {
  const isPlain = !contentHash.startsWith(jsonMark);
  if (contentHash !== `${isPlain ? '' : jsonMark}${sha256(stored)}`) return undefined;
  return isPlain ? stored : String(JSON.parse(stored));
}

/** A sum over the fields of a row, by which a flipped bit is noticed. */
export function checkOf(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values), 'base64url');
}

// Half or whole pairs alike: most texts have none, and this one is quick.
const suspicious = /[\\\0\ud800-\udfff]/;
const unstorable = /\0|\p{Surrogate}/u;
const needsEscape = /[\\\0]|\p{Surrogate}/u;
const jsonMark = 'json-';

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
