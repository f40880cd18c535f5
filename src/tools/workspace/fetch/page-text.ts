import { readPage } from './page-tokens.ts';
import type { PageToken } from './page-tokens.ts';

/**
 * A page of HTML as plain text: its title, headings marked by `#`, paragraphs, lists, tables by line, and links as `text (address)`.
 * Nothing of it is run, and what a reader would not see is left out.
 */
export function pageText(html: string, address: URL): string {
  const page: Page = {
    address,
    lines: [],
    line: '',
    breaks: 0,
    title: '',
    isInTitle: false,
    preformatted: 0,
    lists: [],
    links: [],
    hidden: undefined,
  };
  for (const token of readPage(html)) take(page, token);
  endLine(page);
  const title = collapse(page.title).trim();
  const heading = title === '' ? [] : [`Title: ${title}`, ''];
  return [...heading, ...page.lines].join('\n').trim();
}

/** What has been read. It changes in place. */
interface Page {
  readonly address: URL;
  readonly lines: string[];
  line: string;
  /** How many line breaks stand before the next words. */
  breaks: number;
  title: string;
  isInTitle: boolean;
  preformatted: number;
  /** The number of the next item of each list that is open; nothing where it has none. */
  readonly lists: (number | undefined)[];
  readonly links: Link[];
  /** What is not shown, and how many of its name are open. */
  hidden: { readonly name: string; depth: number } | undefined;
}

interface Link {
  readonly href: string | undefined;
  /** Where its words begin. */
  readonly lineCount: number;
  readonly from: number;
}

const maxOpen = 200;
// A line is looked at again for each tag in it, so that a page of one line would take the square of its length.
const maxLineCharacters = 4000;

function take(page: Page, token: PageToken): void {
  if (page.hidden !== undefined) passHidden(page, page.hidden, token);
  else if (token.type === 'text') addText(page, token.text);
  else if (token.type === 'open') open(page, token);
  else close(page, token.name);
}

function passHidden(page: Page, hidden: NonNullable<Page['hidden']>, token: PageToken): void {
  if (token.type === 'text' || token.name !== hidden.name) return;
  if (token.type === 'close') hidden.depth -= 1;
  else if (!token.isClosed) hidden.depth += 1;
  if (hidden.depth === 0) page.hidden = undefined;
}

function addText(page: Page, text: string): void {
  if (page.isInTitle) {
    page.title += text;
    return;
  }
  if (page.preformatted > 0) {
    addPreformatted(page, text);
    return;
  }
  const words = collapse(text);
  if (words.trim() === '') {
    if (words !== '' && page.line !== '' && page.breaks === 0 && !page.line.endsWith(' ')) page.line += ' ';
    return;
  }
  breakLine(page);
  const isAtBlank = page.line === '' || page.line.endsWith(' ');
  page.line += isAtBlank ? words.trimStart() : words;
  if (page.line.length > maxLineCharacters) endLine(page);
}

function addPreformatted(page: Page, text: string): void {
  breakLine(page);
  const [first = '', ...others] = text.replaceAll(/\r\n?/g, '\n').split('\n');
  page.line += first;
  for (const line of others) {
    page.lines.push(page.line.trimEnd());
    page.line = line;
  }
  if (page.line.length > maxLineCharacters) endLine(page);
}

function collapse(text: string): string {
  return text.replaceAll(/[\t\n\f\r \u00a0]+/g, ' ');
}

/** Sets the words that follow apart by at least so many line breaks. */
function wantBreaks(page: Page, breaks: number): void {
  page.breaks = Math.max(page.breaks, breaks);
}

function breakLine(page: Page): void {
  if (page.breaks === 0) return;
  endLine(page);
  if (page.breaks > 1 && page.lines.length > 0 && page.lines.at(-1) !== '') page.lines.push('');
  page.breaks = 0;
}

function endLine(page: Page): void {
  const line = page.line.trimEnd();
  if (line !== '') page.lines.push(line);
  page.line = '';
}

const breaksAround: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ['p', 'blockquote', 'pre', 'table', 'ul', 'ol', 'dl', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'figure'].map(
      (name) => [name, 2],
    ),
  ),
  ...Object.fromEntries(
    // prettier-ignore
    ['div', 'section', 'article', 'header', 'footer', 'main', 'nav', 'aside', 'address', 'form', 'fieldset', 'li', 'dt',
      'dd', 'tr', 'figcaption', 'summary', 'details', 'option', 'body', 'legend', 'caption', 'center', 'br'].map((name) => [name, 1]),
  ),
};

/** Never shown, whatever stands in them. */
const unseen: ReadonlySet<string> = new Set(['template', 'svg', 'math', 'canvas', 'object', 'datalist']);
/** Those that a page may leave open, or that never hold anything: hiding one of them must not hide the rest of the page. */
const unclosed: ReadonlySet<string> = new Set(
  // prettier-ignore
  ['p', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'option', 'tbody', 'thead', 'tfoot', 'html', 'body', 'head', 'br', 'hr', 'img', 'input',
    'meta', 'link', 'source', 'track', 'wbr', 'area', 'base', 'col', 'embed', 'param'],
);

function open(page: Page, token: Extract<PageToken, { type: 'open' }>): void {
  const { name, attributes, isClosed } = token;
  if (isHidden(token)) {
    page.hidden = { name, depth: 1 };
    return;
  }
  if (Object.hasOwn(breaksAround, name)) wantBreaks(page, breaksOf(page, name));
  if (name === 'title') page.isInTitle = page.title === '' && !isClosed;
  else if (name === 'pre') page.preformatted += 1;
  else if (name === 'hr') addRule(page);
  else if (name === 'img') addImage(page, attributes['alt']);
  else if (name === 'a') openLink(page, attributes['href']);
  else if (name === 'ul' || name === 'ol') openList(page, name, attributes['start']);
  else if (name === 'li') addMark(page, itemMark(page));
  else if (name === 'td' || name === 'th') addCellMark(page);
  else if (/^h[1-6]$/.test(name)) addMark(page, `${'#'.repeat(Number(name[1]))} `);
}

/** A list in a list stands close to its item. */
function breaksOf(page: Page, name: string): number {
  const isInner = (name === 'ul' || name === 'ol') && page.lists.length > 0;
  return isInner ? 1 : (breaksAround[name] ?? 0);
}

function isHidden({ name, attributes, isClosed }: Extract<PageToken, { type: 'open' }>): boolean {
  if (isClosed || unclosed.has(name)) return false;
  if (unseen.has(name) || attributes['hidden'] !== undefined) return true;
  const style = attributes['style'] ?? '';
  return /display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden/i.test(style);
}

function addRule(page: Page): void {
  wantBreaks(page, 2);
  breakLine(page);
  page.line = '---';
  wantBreaks(page, 2);
}

function addImage(page: Page, alternative: string | undefined): void {
  const words = collapse(alternative ?? '').trim();
  if (words !== '') addText(page, `[image: ${words}] `);
}

/** What stands before the words of a line; it keeps its blanks. */
function addMark(page: Page, mark: string): void {
  breakLine(page);
  page.line += mark;
}

function openList(page: Page, name: 'ul' | 'ol', start: string | undefined): void {
  if (page.lists.length >= maxOpen) return;
  const first = Number.parseInt(start ?? '1', 10);
  page.lists.push(name === 'ol' ? first || 1 : undefined);
}

function itemMark(page: Page): string {
  const depth = Math.min(Math.max(page.lists.length - 1, 0), 10);
  const number = page.lists.at(-1);
  if (number !== undefined) page.lists[page.lists.length - 1] = number + 1;
  return `${'  '.repeat(depth)}${number === undefined ? '-' : `${number}.`} `;
}

function addCellMark(page: Page): void {
  if (page.breaks === 0 && page.line.trim() !== '') page.line = `${page.line.trimEnd()} | `;
}

function close(page: Page, name: string): void {
  if (name === 'ul' || name === 'ol') page.lists.pop();
  if (Object.hasOwn(breaksAround, name) && name !== 'br') wantBreaks(page, breaksOf(page, name));
  if (name === 'title') page.isInTitle = false;
  else if (name === 'pre') page.preformatted = Math.max(0, page.preformatted - 1);
  else if (name === 'a') closeLink(page);
}

function openLink(page: Page, href: string | undefined): void {
  if (page.links.length >= maxOpen) return;
  const from = page.breaks > 0 ? 0 : page.line.length;
  page.links.push({ href, lineCount: page.lines.length, from });
}

const maxLinkCharacters = 500;

function closeLink(page: Page): void {
  const link = page.links.pop();
  const address = link === undefined ? undefined : addressOf(page, link.href);
  if (link === undefined || address === undefined) return;
  const words = page.lines.length === link.lineCount ? page.line.slice(link.from).trim() : page.line.trim();
  if (words === address || page.isInTitle) return;
  const hasBlank = page.line.endsWith(' ') || page.line === '';
  page.line = `${page.line.trimEnd()}${page.line.trim() === '' ? '' : ' '}(${address})${hasBlank ? ' ' : ''}`;
}

/** Where a link leads, for those that lead to another page. */
function addressOf({ address }: Page, href: string | undefined): string | undefined {
  if (href === undefined || href.trim() === '' || href.startsWith('#')) return undefined;
  if (!URL.canParse(href, address.href)) return undefined;
  const url = new URL(href, address);
  const isPage = url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'mailto:';
  return isPage && url.href.length <= maxLinkCharacters ? url.href : undefined;
}
