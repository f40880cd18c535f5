import { Buffer } from 'node:buffer';
import { isRecord } from '../../base/json.ts';
import type { ImagePart, TextPart } from '../../model/message.ts';
import { cutText } from '../watch/bounded-text.ts';
import { sniff } from './result-bytes.ts';

const maxParts = 100;
/** What providers take, as base64. */
const maxImageCharacters = 5_000_000;

/**
 * The parts of `{ content: [...] }` or of a list, where it is nothing else and each part is well-formed; `undefined` otherwise. The
 * texts are held to the bound together, and what an image says it is gives way to what it is.
 */
export function readContentParts(
  value: object,
  { maxCharacters }: { readonly maxCharacters: number },
): readonly (TextPart | ImagePart)[] | undefined {
  const content: unknown = Array.isArray(value) ? value : onlyContent(value);
  if (!Array.isArray(content) || content.length === 0 || content.length > maxParts) return undefined;
  // A list may be data that only looks like parts: nothing of it may be lost.
  if (content === value && !content.every(isExactPart)) return undefined;
  const parts = content.map(readPart);
  if (!parts.every((part) => part !== undefined)) return undefined;
  return boundTexts(parts, maxCharacters);
}

const members: ReadonlyMap<unknown, number> = new Map([
  ['text', 2],
  ['image', 3],
]);

function isExactPart(part: unknown): boolean {
  return isRecord(part) && Object.keys(part).length === members.get(part['type']);
}

function onlyContent(value: object): unknown {
  const names = Object.keys(value);
  return names.length === 1 && names[0] === 'content' ? Reflect.get(value, 'content') : undefined;
}

function readPart(part: unknown): TextPart | ImagePart | undefined {
  if (!isRecord(part)) return undefined;
  const { type, text } = part;
  if (type === 'text') return typeof text === 'string' ? { type, text } : undefined;
  return type === 'image' ? readImage(part) : undefined;
}

function readImage(part: Readonly<Record<string, unknown>>): TextPart | ImagePart | undefined {
  const { mediaType, source } = part;
  if (typeof mediaType !== 'string' || !isRecord(source)) return undefined;
  const { type, url, data } = source;
  if (type === 'url' && typeof url === 'string')
    return { type: 'image', mediaType, source: { type: 'url', url } };
  if (type !== 'base64' || typeof data !== 'string') return undefined;
  return checkImage(mediaType, data);
}

const sniffable = new Set(['image/png', 'image/jpeg', 'image/jpg', 'image/gif', 'image/webp']);
const base64Text = /^[A-Za-z0-9+/]+={0,2}$/;

/** An image that is none makes the provider refuse this request and every later one, so it is reported in words instead. */
function checkImage(claimed: string, data: string): TextPart | ImagePart {
  if (data.length > maxImageCharacters) {
    return told(`${claimed}, ${data.length.toLocaleString('en-US')} characters of base64: too large to show`);
  }
  if (!base64Text.test(data)) return told(`${claimed}: its data is not base64`);
  const sniffed = sniff(Buffer.from(data.slice(0, 64), 'base64'));
  if (sniffed.type === 'image') {
    return { type: 'image', mediaType: sniffed.mediaType, source: { type: 'base64', data } };
  }
  if (sniffable.has(claimed)) return told(`this was to be ${claimed}, but its bytes are not`);
  return { type: 'image', mediaType: claimed, source: { type: 'base64', data } };
}

function told(why: string): TextPart {
  return { type: 'text', text: `(an image is left out: ${why})` };
}

function boundTexts(
  parts: readonly (TextPart | ImagePart)[],
  maxCharacters: number,
): readonly (TextPart | ImagePart)[] {
  let left = maxCharacters;
  return parts.map((part) => {
    if (part.type !== 'text') return part;
    const { text } = cutText(part.text, Math.max(0, left));
    left -= text.length;
    return { type: 'text', text };
  });
}
