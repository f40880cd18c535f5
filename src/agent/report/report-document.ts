import { unreachable } from '../../base/assert.ts';
import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';

/** A report before it is laid out. Its texts are plain: whatever they hold is escaped when they are written. */
export type Block =
  | { readonly type: 'title' | 'heading' | 'paragraph' | 'quote'; readonly text: string }
  | { readonly type: 'list'; readonly items: readonly string[] }
  | {
      readonly type: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

/** How long the whole may be, and one text in it. */
export interface DocumentBounds {
  readonly maxLength: number;
  readonly maxTextLength: number;
}

/** Lays a document out as plain text. The last block is kept whatever must be left out. */
export function renderText(blocks: readonly Block[], bounds: DocumentBounds): string {
  return join(
    blocks.map((block) => linesOfText(block, (text) => fit(text, bounds, printable))),
    bounds,
  );
}

/** Lays a document out as Markdown in which nothing that came from outside has a meaning. */
export function renderMarkdown(blocks: readonly Block[], bounds: DocumentBounds): string {
  return join(
    blocks.map((block) => linesOfMarkdown(block, (text) => fit(text, bounds, escapeMarkdown))),
    bounds,
  );
}

/**
 * A text as one line of Markdown that shows it and does nothing else: no HTML, no link, no picture, no code, no table cell.
 * Underscores within words stay, so that codes and names can still be searched for.
 */
export function escapeMarkdown(text: string): string {
  if (plainWords.test(text)) return text;
  return printable(text)
    .replaceAll(/[\\`*[\]~|$@]/g, String.raw`\$&`)
    .replaceAll('_', escapeUnderscore)
    .replaceAll(/[&<>]/g, (found) => entities[found] ?? '')
    .replaceAll('://', String.raw`\://`)
    .replaceAll(/\bwww\./gi, (found) => `${found.slice(0, -1)}\\.`)
    .replace(/^(\d{1,9})([.)])(?= |$)/, String.raw`$1\$2`)
    .replace(/^[#+=:-]/, String.raw`\$&`);
}

/** Words that mean nothing in Markdown, the first of them no number, and none the beginning of an address. */
const plainWords = /^(?!.*www)[a-z][a-z0-9,;'"()!?.%/-]*(?: [a-z0-9,;'"()!?.%/-]+)*$/i;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escapeUnderscore(_found: string, at: number, whole: string): string {
  return isWordCharacter(whole[at - 1]) && isWordCharacter(whole[at + 1]) ? '_' : String.raw`\_`;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

type Write = (text: string) => string;

function linesOfText(block: Block, write: Write): readonly string[] {
  switch (block.type) {
    case 'title':
      return [write(block.text), ''];
    case 'heading':
      return [write(block.text)];
    case 'paragraph':
      return [`  ${write(block.text)}`, ''];
    case 'quote':
      return [`  "${write(block.text)}"`, ''];
    case 'list':
      return [...block.items.map((item) => `  - ${write(item)}`), ''];
    case 'table':
      return [...alignColumns([block.head, ...block.rows].map((row) => row.map(write))), ''];
    default:
      return unreachable(block);
  }
}

const maxColumnWidth = 40;

function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(maxColumnWidth, Math.max(...rows.map((row) => row[column]?.length ?? 0))),
  );
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

function linesOfMarkdown(block: Block, write: Write): readonly string[] {
  switch (block.type) {
    case 'title':
      return [`# ${write(block.text)}`, ''];
    case 'heading':
      return [`## ${write(block.text)}`, ''];
    case 'paragraph':
      return [write(block.text), ''];
    case 'quote':
      return [`> ${write(block.text)}`, ''];
    case 'list':
      return [...block.items.map((item) => `- ${write(item)}`), ''];
    case 'table': {
      const rows = [block.head, block.head.map(() => '---'), ...block.rows];
      return [...rows.map((row, index) => `| ${row.map(index === 1 ? String : write).join(' | ')} |`), ''];
    }
    default:
      return unreachable(block);
  }
}

const maxCuts = 20;

/** Writes a text so that it is no longer than its bound after it was escaped: no cut goes through an escape. */
function fit(text: string, { maxTextLength }: DocumentBounds, write: Write): string {
  // Far more than can be shown; what lies behind it need not be looked at.
  let plain = boundText(text, maxTextLength * 2);
  for (let cut = 0; cut < maxCuts; cut += 1) {
    const written = write(plain);
    if (written.length <= maxTextLength) return written;
    plain = boundText(plain, Math.floor((plain.length * 3) / 4));
  }
  return '';
}

const cutNote = '(What follows was left out: the report has reached its bound.)';

function join(blocks: readonly (readonly string[])[], { maxLength }: DocumentBounds): string {
  const last = (blocks.at(-1) ?? []).join('\n').trimEnd();
  const room = maxLength - last.length - cutNote.length - 4;
  const kept: string[] = [];
  let length = 0;
  const lines = blocks.slice(0, -1).flat();
  for (const line of lines) {
    length += line.length + 1;
    if (length > room) return [...kept, cutNote, '', last].join('\n');
    kept.push(line);
  }
  return [...kept, last].join('\n');
}
