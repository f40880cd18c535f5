import { visible } from '../../../base/printable.ts';
import type { Tool, ToolContext } from '../../../model/tool.ts';
import { tool } from '../../tool.ts';
import { findCandidates, readGlob, whereNotTo } from './candidate-files.ts';
import { showPath } from '../workspace-error.ts';
import type { Workspace } from '../workspace.ts';

const maxResults = 500;
const maxMs = 10_000;
const maxResultCharacters = 45_000;

/** A tool that finds files by a pattern of their paths. */
export function findFilesTool(workspace: Workspace): Tool {
  return tool({
    name: 'find_files',
    description: `Finds files of the workspace by a pattern of their paths, sorted by path, at most ${maxResults}. In the pattern * stands for any characters of a name, ? for one, [a-z] for one of a range, {a,b} for either, ** for any folders; names that begin with a dot fit too. A pattern without a slash fits names in every folder. ${whereNotTo}`,
    input: {
      type: 'object',
      additionalProperties: false,
      required: ['pattern'],
      properties: {
        pattern: {
          type: 'string',
          description: 'Such as src/**/*.ts or *.{json,md}, from the folder in path',
        },
        path: { type: 'string', description: 'The folder to look through; the whole workspace unless given' },
      },
    },
    effect: 'read',
    repeats: 'any',
    maxResultCharacters: maxResultCharacters + 5000,
    execute: (input, context) => {
      const { pattern, path = '.' } = input as unknown as FindInput; // Checked by the schema above.
      return findFiles(workspace, { pattern, folder: path }, context);
    },
  });
}

interface FindInput {
  readonly pattern: string;
  readonly path?: string;
}

interface Wanted {
  readonly pattern: string;
  readonly folder: string;
}

async function findFiles(
  workspace: Workspace,
  { pattern, folder }: Wanted,
  { signal }: Pick<ToolContext, 'signal'>,
): Promise<string> {
  const isWanted = readGlob('pattern', pattern);
  const { paths, notes } = await findCandidates(workspace, {
    folder,
    isWanted,
    withLinks: true,
    signal,
    maxMs,
  });
  const shown = fit(paths);
  const left = paths.length - shown.length;
  const where = folder === '.' ? 'the workspace' : showPath(folder);
  const count =
    paths.length === 0
      ? 'No file matches'
      : `${paths.length} ${paths.length === 1 ? 'file matches' : 'files match'}`;
  const all = [
    ...(left > 0 ? [`${left} more are not shown. Narrow the pattern or the path.`] : []),
    ...notes,
  ];
  return [
    `${count} "${visible(pattern)}" in ${where}${paths.length === 0 ? '.' : ':'}`,
    ...shown,
    ...all.map((note) => `(${note})`),
  ].join('\n');
}

/** As many as may be shown, by number and by length. */
function fit(paths: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const path of paths.slice(0, maxResults)) {
    const line = visible(path);
    characters += line.length + 1;
    if (characters > maxResultCharacters) break;
    shown.push(line);
  }
  return shown;
}
