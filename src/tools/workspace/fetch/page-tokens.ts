import { decodeEntities } from './page-entities.ts';

/** A piece of a page: words, or a tag. */
export type PageToken =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'open';
      readonly name: string;
      readonly attributes: Readonly<Record<string, string>>;
      readonly isClosed: boolean;
    }
  | { readonly type: 'close'; readonly name: string };

/** Those whose content is no markup: everything up to their closing tag is passed over or is plain words. */
const rawNames: ReadonlySet<string> = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
]);
const silentNames: ReadonlySet<string> = new Set(['script', 'style', 'iframe', 'noembed', 'noframes']);

/**
 * Cuts a page into words and tags, as forgiving as a browser in what it meets and without its repairs. Each character is looked at
 * a fixed number of times: what is not closed ends the page.
 */
export function* readPage(html: string): Generator<PageToken> {
  let index = 0;
  while (index < html.length) {
    const next = html.indexOf('<', index);
    const end = next === -1 ? html.length : next;
    if (end > index) yield { type: 'text', text: decodeEntities(html.slice(index, end)) };
    if (next === -1) return;
    const read = readMarkup(html, next);
    yield* read.tokens;
    index = read.end;
  }
}

interface Read {
  readonly tokens: readonly PageToken[];
  readonly end: number;
}

function readMarkup(html: string, start: number): Read {
  if (html.startsWith('<!--', start)) return passOver(html, start + 4, '-->');
  if (html.startsWith('<![CDATA[', start)) return readCdata(html, start + 9);
  const sign = html[start + 1] ?? '';
  if (sign === '!' || sign === '?') return passOver(html, start + 2, '>');
  if (sign === '/') return readClose(html, start + 2);
  if (/[a-z]/i.test(sign)) return readOpen(html, start + 1);
  return { tokens: [{ type: 'text', text: '<' }], end: start + 1 };
}

function passOver(html: string, from: number, until: string): Read {
  const at = html.indexOf(until, from);
  return { tokens: [], end: at === -1 ? html.length : at + until.length };
}

function readCdata(html: string, from: number): Read {
  const at = html.indexOf(']]>', from);
  const end = at === -1 ? html.length : at;
  return { tokens: [{ type: 'text', text: html.slice(from, end) }], end: end + 3 };
}

function readClose(html: string, from: number): Read {
  const end = html.indexOf('>', from);
  if (end === -1) return { tokens: [], end: html.length };
  const name = nameAt(html, from);
  return { tokens: name === '' ? [] : [{ type: 'close', name }], end: end + 1 };
}

function nameAt(html: string, from: number): string {
  namePattern.lastIndex = from;
  return namePattern.exec(html)?.[0].toLowerCase() ?? '';
}

// Sticky, and of one repetition only: both take as long as what they find.
const namePattern = /[a-z][\w:-]{0,100}/iy;
const attributePattern = /[^\s=>"'/]{1,200}/y;

function readOpen(html: string, from: number): Read {
  const name = nameAt(html, from);
  const { attributes, end, isClosed } = readAttributes(html, from + name.length);
  const open: PageToken = { type: 'open', name, attributes, isClosed };
  if (!rawNames.has(name)) return { tokens: [open], end };
  const closing = new RegExp(`</${name}[\\s/>]`, 'gi');
  closing.lastIndex = end;
  const closed = closing.exec(html)?.index;
  // Only XML closes such a tag by its own slash, and there no closing tag need follow.
  if (closed === undefined && isClosed) return { tokens: [open], end };
  const found = closed ?? html.length;
  const text = silentNames.has(name) ? '' : decodeEntities(html.slice(end, found));
  return { tokens: [open, { type: 'text', text }], end: found };
}

interface Attributes {
  readonly attributes: Readonly<Record<string, string>>;
  readonly end: number;
  readonly isClosed: boolean;
}

/** Only those that anybody asks for are kept; a page may give a tag a million others. */
const wanted: ReadonlySet<string> = new Set(['href', 'alt', 'hidden', 'style', 'start', 'aria-hidden']);

function readAttributes(html: string, from: number): Attributes {
  const attributes: Record<string, string> = {};
  let index = from;
  while (index < html.length) {
    const character = html[index];
    if (character === '>') return { attributes, end: index + 1, isClosed: html[index - 1] === '/' };
    attributePattern.lastIndex = index;
    const name = attributePattern.exec(html)?.[0];
    if (name === undefined) {
      index += 1;
      continue;
    }
    const value = readValue(html, index + name.length);
    if (wanted.has(name.toLowerCase())) attributes[name.toLowerCase()] ??= decodeEntities(value.text);
    index = value.end;
  }
  return { attributes, end: html.length, isClosed: false };
}

function readValue(html: string, from: number): { readonly text: string; readonly end: number } {
  const equals = skipBlanks(html, from);
  if (html[equals] !== '=') return { text: '', end: from };
  const start = skipBlanks(html, equals + 1);
  const quote = html[start];
  if (quote === '"' || quote === "'") {
    const end = html.indexOf(quote, start + 1);
    return {
      text: html.slice(start + 1, end === -1 ? html.length : end),
      end: end === -1 ? html.length : end + 1,
    };
  }
  let end = start;
  while (end < html.length && !/[\s>]/.test(html[end] ?? '')) end += 1;
  return { text: html.slice(start, end), end };
}

function skipBlanks(html: string, from: number): number {
  let index = from;
  while (/\s/.test(html[index] ?? '')) index += 1;
  return index;
}
