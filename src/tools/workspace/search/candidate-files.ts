import type { Clock } from '../../../base/clock.ts';
import { systemClock } from '../../../base/system.ts';
import { visible } from '../../../base/printable.ts';
import { compileGlob, matchesName } from './glob-pattern.ts';
import { readIgnoreRules } from './ignore-rules.ts';
import type { Ignores } from './ignore-rules.ts';
import { walkInside } from './walk.ts';
import type { WalkEnd, WalkEntry, WalkWish } from './walk.ts';
import { workspaceError } from '../workspace-error.ts';
import type { Workspace } from '../workspace.ts';

/** Which files are looked for. */
export interface CandidateQuery {
  /** From the root; `.` for all of it. */
  readonly folder: string;
  /** Whether a path from that folder is wanted. */
  readonly isWanted: (path: string) => boolean;
  readonly withLinks: boolean;
  readonly signal: AbortSignal;
  readonly maxMs: number;
  readonly clock?: Clock;
}

/** The files that were found, sorted by path from the root, and what was not seen on the way. */
export interface Candidates {
  readonly paths: readonly string[];
  readonly notes: readonly string[];
}

const maxEntries = 100_000;
const maxDepth = 50;

/** What the two tools that go through a workspace say of where they do not go. */
export const whereNotTo =
  'Never looks into .git and node_modules, nor at what the .gitignore at the root of the workspace leaves out (names, folders, *, ?, [a-z], **, ! and paths from the root; .gitignore files further down are not read). To look into such a folder, name it as path.';

/** Finds files below a folder. Follows no link. */
export async function findCandidates(workspace: Workspace, query: CandidateQuery): Promise<Candidates> {
  const { clock = systemClock, signal } = query;
  const search: Search = {
    query,
    ignores: await readIgnoreRules(workspace, signal),
    isLate: lateAfter(clock, query.maxMs),
    prefix: query.folder === '.' ? 0 : undefined,
    paths: [],
    ignored: 0,
    wasLate: false,
  };
  const onEntry = (entry: WalkEntry): WalkWish => look(search, entry);
  const end = await walkInside(workspace, query.folder, { signal, maxEntries, maxDepth, onEntry });
  return { paths: search.paths.toSorted(byUnits), notes: notesOf(search, end) };
}

/** The matcher of a pattern that the model wrote. One without a slash is for names in any folder. */
export function readGlob(field: string, pattern: string): (path: string) => boolean {
  const refuse = (problem: string): Error =>
    workspaceError(
      'VALIDATION_ERROR',
      `Cannot use the ${field} "${visible(pattern.slice(0, 100))}": ${problem}`,
      {
        hint: 'Such as "src/**/*.ts", "*.{json,md}" or "test-?.txt", with paths from the folder that is looked through.',
      },
    );
  const relative = pattern.replace(/^(\.\/)+/, '');
  if (relative === '') throw refuse('it is empty');
  if (relative.startsWith('/')) throw refuse('it begins with a slash, and paths here begin with a name');
  if (relative.split('/').includes('..')) throw refuse('".." leads nowhere; name another path instead');
  const glob = compileGlob(relative);
  if (glob.type === 'glob') return relative.includes('/') ? glob.matches : matchesName(glob);
  // Counted in what the model wrote.
  const at = glob.at + pattern.length - relative.length;
  throw refuse(at > pattern.length ? glob.problem : `${glob.problem} (character ${at})`);
}

interface Search {
  readonly query: CandidateQuery;
  readonly ignores: Ignores;
  readonly isLate: () => boolean;
  /** How much of a path from the root stands before the path from the folder; known with the first entry. */
  prefix: number | undefined;
  readonly paths: string[];
  ignored: number;
  wasLate: boolean;
}

function lateAfter(clock: Clock, maxMs: number): () => boolean {
  const dueMs = clock.monotonicMs() + maxMs;
  return () => clock.monotonicMs() > dueMs;
}

function look(search: Search, { path, name, kind, isSkipped, depth }: WalkEntry): WalkWish {
  if (search.isLate()) {
    search.wasLate = true;
    return 'stop';
  }
  if (isSkipped) return 'skip';
  if (search.ignores(path, kind === 'folder')) {
    search.ignored += 1;
    return 'skip';
  }
  // The folder may have been named through a link, so that only its entries tell where it lies.
  search.prefix ??= depth === 1 ? path.length - name.length : 0;
  const isFile = kind === 'file' || (kind === 'link' && search.query.withLinks);
  if (isFile && search.query.isWanted(path.slice(search.prefix))) search.paths.push(path);
  return undefined;
}

function notesOf(
  { ignored, wasLate, query }: Search,
  { end, tooDeep, unreadable }: WalkEnd,
): readonly string[] {
  return [
    ...(ignored > 0 ? [`The .gitignore left out ${ignored} ${ignored === 1 ? 'entry' : 'entries'}.`] : []),
    ...(wasLate
      ? [`Looking stopped after ${query.maxMs / 1000} s, so files are missing. Name a smaller path.`]
      : []),
    ...(end === 'too-many'
      ? [`There are more than ${maxEntries} files, and the rest was not seen. Name a smaller path.`]
      : []),
    ...(tooDeep > 0 ? [`${tooDeep} folders lie more than ${maxDepth} deep and were not looked into.`] : []),
    ...(unreadable.length > 0
      ? [
          `Not readable: ${unreadable.slice(0, 5).map(visible).join(', ')}${unreadable.length > 5 ? ' and others' : ''}.`,
        ]
      : []),
  ];
}

/** By code units and not by language, so that the order is the same on every machine. */
function byUnits(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
