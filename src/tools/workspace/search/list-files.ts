import type { Tool } from '../../../model/tool.ts';
import { tool } from '../../tool.ts';
import { walkInside } from './walk.ts';
import type { WalkEnd, WalkEntry } from './walk.ts';
import { showPath } from '../workspace-error.ts';
import type { Workspace } from '../workspace.ts';

const maxEntries = 1000;
const maxDepth = 20;
const defaultDepth = 2;
const maxNamed = 5;

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The folder, from the root of the workspace; the root unless told' },
    depth: {
      type: 'integer',
      minimum: 1,
      maximum: maxDepth,
      description: `How many levels to show; ${defaultDepth} unless told`,
    },
  },
  additionalProperties: false,
} as const;

/** A tool that lists what is in a folder. */
export function listFilesTool(workspace: Workspace): Tool {
  return tool({
    name: 'list_files',
    description: `Lists files and folders of the workspace by their paths, sorted, files with their sizes in bytes. Folders end with "/". Shows at most ${maxEntries} entries and says what was left out; .git and node_modules are named but not entered.`,
    input,
    effect: 'read',
    repeats: 'any',
    maxResultCharacters: 100_000,
    execute: (given, { signal }) => list(workspace, given as ListInput, signal), // As the schema says.
  });
}

interface ListInput {
  readonly path?: string;
  readonly depth?: number;
}

async function list(
  workspace: Workspace,
  { path = '.', depth = defaultDepth }: ListInput,
  signal: AbortSignal,
): Promise<string> {
  const rows: Row[] = [];
  const end = await walkInside(workspace, path, {
    signal,
    maxEntries,
    maxDepth: depth,
    onEntry: async (entry) => {
      rows.push({ path: entry.path, text: await toText(entry) });
      return undefined;
    },
  });
  if (rows.length === 0) return `${showPath(path)} is empty.`;
  const sorted = rows.toSorted((one, other) => (one.path < other.path ? -1 : 1)).map(({ text }) => text);
  const notes = notesOf(end, depth);
  return [...sorted, ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `(${note})`)])].join('\n');
}

interface Row {
  readonly path: string;
  readonly text: string;
}

async function toText(entry: WalkEntry): Promise<string> {
  const name = showPath(entry.path);
  if (entry.kind === 'folder') return `${name}/${entry.isSkipped ? ' (not entered)' : ''}`;
  if (entry.kind === 'link') return `${name} (link)`;
  if (entry.kind === 'other') return `${name} (pipe, socket or device)`;
  const stats = await entry.stat();
  return stats === undefined ? `${name} (gone meanwhile)` : `${name} ${stats.size}`;
}

function notesOf({ end, tooDeep, unreadable }: WalkEnd, depth: number): readonly string[] {
  const named = unreadable.slice(0, maxNamed).map(showPath).join(', ');
  return [
    ...(end === 'too-many'
      ? [
          `There are more than ${maxEntries} entries; the rest was left out, deeper ones first. List one of the folders.`,
        ]
      : []),
    ...(tooDeep > 0
      ? [
          `${tooDeep} folder${tooDeep === 1 ? '' : 's'} at level ${depth} not entered. Give a larger depth, or list one of them.`,
        ]
      : []),
    ...(unreadable.length > 0
      ? [`Could not be opened: ${named}${unreadable.length > maxNamed ? ', …' : ''}.`]
      : []),
  ];
}
