import type { Tool, ToolContext } from '../../model/tool.ts';
import { tool } from '../tool.ts';
import { readBounded, useInside } from './confine.ts';
import { hashBytes, noteSeen } from './memory.ts';
import { readContent, splitLines } from './text-file.ts';
import type { FileContent } from './text-file.ts';
import { showPath, workspaceError } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';

const maxLines = 2000;
const maxCharacters = 60_000;
const maxLineCharacters = 2000;

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'From the root of the workspace, such as src/app.ts' },
    fromLine: { type: 'integer', minimum: 1, description: 'The first line to show; 1 unless told' },
    lines: { type: 'integer', minimum: 1, maximum: maxLines, description: 'How many lines to show' },
  },
  required: ['path'],
  additionalProperties: false,
} as const;

/** A tool that shows the text of one file, line by line with numbers. */
export function readFileTool(workspace: Workspace): Tool {
  return tool({
    name: 'read_file',
    description: `Reads a text file of the workspace. Each line comes as its number, a tab and its text; the number and the tab are not part of the file. Shows at most ${maxLines} lines and ${maxCharacters} characters, and says how to read on. Read a file before you change it.`,
    input,
    effect: 'read',
    maxResultCharacters: maxCharacters + 2000,
    // The same file is read again after each change.
    repeats: 'any',
    execute: (given, context) => readLines(workspace, given as unknown as ReadInput, context), // As the schema says.
  });
}

interface ReadInput {
  readonly path: string;
  readonly fromLine?: number;
  readonly lines?: number;
}

async function readLines(
  workspace: Workspace,
  wanted: ReadInput,
  context: Pick<ToolContext, 'signal' | 'remember' | 'recall'>,
): Promise<string> {
  const { maxFileBytes } = workspace.options;
  const { path, bytes } = await useInside(workspace, { path: wanted.path, kind: 'file' }, async (file) => {
    const read = await readBounded(file, maxFileBytes, context.signal);
    if (read.isWhole) return { path: file.path, bytes: read.bytes };
    const says = `it has ${file.stats.size} bytes, and files of more than ${maxFileBytes} are not read (maxFileBytes)`;
    throw workspaceError('VALIDATION_ERROR', `Cannot read ${showPath(wanted.path)}: ${says}`, {
      hint: 'Look for what you need with search, or with a command such as head or tail.',
    });
  });
  noteSeen(workspace, context, { path, contentHash: hashBytes(bytes) });
  const content = readContent(bytes);
  if (content.type === 'binary') {
    return `${showPath(path)} is ${content.says}: ${bytes.length} bytes. Its contents are not shown.`;
  }
  return show(content, { ...wanted, path });
}

function show(
  { text, isDamaged }: FileContent & { readonly type: 'text' },
  { path, fromLine = 1, lines = maxLines }: ReadInput,
): string {
  const all = splitLines(text);
  if (all.length === 0) return `${showPath(path)} is empty.`;
  if (fromLine > all.length) {
    throw workspaceError(
      'VALIDATION_ERROR',
      `Cannot read ${showPath(path)} from line ${fromLine}: it has ${count(all.length, 'line')}`,
    );
  }
  const { shown, wasCut } = fit(all.slice(fromLine - 1, fromLine - 1 + lines), fromLine);
  const last = fromLine + shown.length - 1;
  const notes = [
    ...(last < all.length
      ? [`Lines ${fromLine} to ${last} of ${all.length}. Read on with fromLine: ${last + 1}.`]
      : []),
    ...(wasCut
      ? [`Lines of more than ${maxLineCharacters} characters were cut; search finds what is in them.`]
      : []),
    ...(isDamaged ? ['Some bytes are not UTF-8 and are shown as �. edit_file cannot change this file.'] : []),
    ...(text.endsWith('\n') || last < all.length ? [] : ['The last line has no line end.']),
  ];
  return [...shown, ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `(${note})`)])].join('\n');
}

/** As many numbered lines as there is room for, and at least one. */
function fit(
  lines: readonly string[],
  fromLine: number,
): { readonly shown: readonly string[]; readonly wasCut: boolean } {
  const shown: string[] = [];
  let characters = 0;
  let wasCut = false;
  for (const [index, line] of lines.entries()) {
    const isLong = line.length > maxLineCharacters;
    const numbered = `${fromLine + index}\t${isLong ? `${wholeBeginning(line)}…` : line}`;
    characters += numbered.length + 1;
    if (characters > maxCharacters && shown.length > 0) break;
    wasCut ||= isLong;
    shown.push(numbered);
  }
  return { shown, wasCut };
}

/** A cut through a character of two units would leave half of it, which no provider takes. */
function wholeBeginning(line: string): string {
  return line.slice(0, maxLineCharacters).replace(/[\uD800-\uDBFF]$/, '');
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
