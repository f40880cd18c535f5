import type { Clock } from '../../../base/clock.ts';
import { systemClock } from '../../../base/system.ts';
import { RerailError } from '../../../errors/rerail-error.ts';
import type { Tool } from '../../../model/tool.ts';
import { tool } from '../../tool.ts';
import { findCandidates, readGlob, whereNotTo } from './candidate-files.ts';
import type { Candidates } from './candidate-files.ts';
import { readBounded, useInside } from '../confine.ts';
import { readSearchPattern } from './search-pattern.ts';
import { reportSearch } from './search-report.ts';
import type { FileMatches } from './search-report.ts';
import { startSearcher } from './searcher.ts';
import type { SearchedFile, Searcher } from './searcher.ts';
import type { Workspace } from '../workspace.ts';

const maxMatches = 200;
const maxResultCharacters = 30_000;
const maxContextLines = 10;
const maxLineCharacters = 300;
// A pattern that takes longer than this for one batch will not get better.
const maxBatchMs = 2000;
const minBatchMs = 500;
const maxTotalMs = 5000;
const filesAtOnce = 8;
const batchBytes = 512 * 1024;
const batchFiles = 64;

/** A tool that finds lines by a text or a regular expression. The pattern is tried in a thread that can be ended. */
export function searchFilesTool(workspace: Workspace): Tool {
  return tool({
    name: 'search_files',
    description: `Finds lines of the workspace's text files that hold a text, or fit a JavaScript regular expression where isRegex is true. Shows file, line number and line, at most ${maxMatches} lines; long lines are cut around the match. Ends after ${maxTotalMs / 1000} s. ${whereNotTo}`,
    input: {
      type: 'object',
      additionalProperties: false,
      required: ['pattern'],
      properties: {
        pattern: {
          type: 'string',
          description: 'The text, or the regular expression without slashes; tried on each line',
        },
        isRegex: {
          type: 'boolean',
          description: 'Whether pattern is a regular expression; false unless given',
        },
        path: { type: 'string', description: 'A folder or a file; the whole workspace unless given' },
        glob: {
          type: 'string',
          description: 'Only files whose path from there fits, such as *.ts or src/**/*.{ts,tsx}',
        },
        ignoreCase: { type: 'boolean', description: 'Whether A and a are the same' },
        contextLines: {
          type: 'integer',
          minimum: 0,
          maximum: maxContextLines,
          description: 'How many lines to show before and after each match; 0 unless given',
        },
      },
    },
    effect: 'read',
    repeats: 'any',
    maxResultCharacters: maxResultCharacters + 5000,
    execute: (input, { signal }) => {
      const asked = input as unknown as SearchInput; // Checked by the schema above.
      return searchFiles(workspace, asked, { signal, clock: systemClock });
    },
  });
}

interface SearchInput {
  readonly pattern: string;
  readonly isRegex?: boolean;
  readonly path?: string;
  readonly glob?: string;
  readonly ignoreCase?: boolean;
  readonly contextLines?: number;
}

interface SearchDeps {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

async function searchFiles(workspace: Workspace, input: SearchInput, deps: SearchDeps): Promise<string> {
  const { isRegex = false, ignoreCase = false, contextLines = 0 } = input;
  const pattern = readSearchPattern(input.pattern, { isRegex, ignoreCase });
  const dueMs = deps.clock.monotonicMs() + maxTotalMs;
  const { paths, notes } = await listFiles(workspace, input, deps);
  const searcher = startSearcher(pattern, { contextLines, maxLineCharacters, ...deps });
  try {
    const search: Search = {
      workspace,
      deps,
      searcher,
      dueMs,
      found: [],
      matches: 0,
      kept: 0,
      skipped: noneSkipped(),
    };
    const searched = await searchAll(search, paths);
    return reportSearch(search.found, {
      pattern: input.pattern,
      isRegex,
      matches: search.matches,
      searched: searched - search.skipped.binary - search.skipped.tooLarge - search.skipped.unreadable,
      unsearched: paths.length - searched,
      skipped: search.skipped,
      maxTotalMs,
      maxCharacters: maxResultCharacters,
      notes,
    });
  } finally {
    await searcher.stop();
  }
}

/** The files to search: those of a folder, or the one that was named. */
async function listFiles(
  workspace: Workspace,
  { path = '.', glob }: SearchInput,
  { signal, clock }: SearchDeps,
): Promise<Candidates> {
  const isWanted = glob === undefined ? () => true : readGlob('glob', glob);
  const file = path === '.' ? undefined : await fileAt(workspace, path);
  if (file !== undefined) return { paths: [file], notes: [] };
  return findCandidates(workspace, {
    folder: path,
    isWanted,
    withLinks: false,
    signal,
    maxMs: maxTotalMs / 2,
    clock,
  });
}

/** Where the file lies that a path names; nothing where it names a folder. */
async function fileAt(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    return await useInside(workspace, { path, kind: 'file' }, (file) => Promise.resolve(file.path));
  } catch (error) {
    // Said of folders alone; whatever else is wrong with it goes on.
    if (RerailError.isInstance(error) && error.code === 'VALIDATION_ERROR') return undefined;
    throw error;
  }
}

/** Why files were not searched, and how many. */
interface Skipped {
  binary: number;
  tooLarge: number;
  unreadable: number;
}

function noneSkipped(): Skipped {
  return { binary: 0, tooLarge: 0, unreadable: 0 };
}

interface Search {
  readonly workspace: Workspace;
  readonly deps: SearchDeps;
  readonly searcher: Searcher;
  readonly dueMs: number;
  readonly found: FileMatches[];
  matches: number;
  kept: number;
  readonly skipped: Skipped;
}

/** How many files it came to. While the thread is at some files the next ones are read. */
async function searchAll(search: Search, paths: readonly string[]): Promise<number> {
  let next = 0;
  let batch = await readBatch(search, paths, next);
  while (batch.end > next && leftMs(search) > 0) {
    const searching = searchBatch(search, batch.files);
    const reading = readBatch(search, paths, batch.end);
    // Both are waited for, so that neither fails where nobody looks.
    const [searched, read] = await Promise.allSettled([searching, reading]);
    if (searched.status === 'rejected') throw searched.reason;
    if (read.status === 'rejected') throw read.reason;
    next = batch.end;
    batch = read.value;
  }
  return next;
}

function leftMs({ dueMs, deps }: Search): number {
  return dueMs - deps.clock.monotonicMs();
}

async function searchBatch(search: Search, files: readonly SearchedFile[]): Promise<void> {
  if (files.length === 0) return;
  const room = Math.max(0, maxMatches - search.kept);
  const maxMs = Math.round(Math.min(maxBatchMs, Math.max(minBatchMs, leftMs(search))));
  const found = await search.searcher.search(files, { room, maxMs });
  search.matches += found.matches;
  for (const { index, lines } of found.files) {
    search.kept += lines.filter(({ isMatch }) => isMatch).length;
    search.found.push({ path: files[index]?.path ?? '', lines });
  }
}

interface ReadBatch {
  readonly files: readonly SearchedFile[];
  /** Behind the last that was read. */
  readonly end: number;
}

async function readBatch(search: Search, paths: readonly string[], from: number): Promise<ReadBatch> {
  const files: SearchedFile[] = [];
  let bytes = 0;
  let end = from;
  while (end < paths.length && end - from < batchFiles && bytes < batchBytes && leftMs(search) > 0) {
    const read = await Promise.all(paths.slice(end, end + filesAtOnce).map((path) => readOne(search, path)));
    end = Math.min(end + filesAtOnce, paths.length);
    for (const file of read) {
      if (file === undefined) continue;
      bytes += file.bytes.length;
      files.push(file);
    }
  }
  return { files, end };
}

const headBytes = 8000;

async function readOne(
  { workspace, deps, skipped }: Search,
  path: string,
): Promise<SearchedFile | undefined> {
  const { maxFileBytes } = workspace.options;
  try {
    return await useInside(workspace, { path, kind: 'file' }, async (file) => {
      const isLarge = file.stats.size > maxFileBytes;
      const { bytes, isWhole } = await readBounded(file, isLarge ? 0 : maxFileBytes, deps.signal);
      if (isLarge || !isWhole) skipped.tooLarge += 1;
      else if (bytes.subarray(0, headBytes).includes(0)) skipped.binary += 1;
      else return { path, bytes };
      return undefined;
    });
  } catch (error) {
    // One that has gone, or that may not be opened, is counted; the others are searched all the same.
    if (!RerailError.isInstance(error)) throw error;
    skipped.unreadable += 1;
    return undefined;
  }
}
