import type { PastCall } from '../conversation.ts';
import { readCommandOutput, readListing, readPaths } from './listing.ts';
import type { RepairTools } from './repair-tools.ts';
import { readTestReport } from './test-report.ts';
import type { TestReport } from './test-report.ts';

/** What has been done and seen since the person asked: all of it read from the conversation. */
export interface Scene {
  readonly runs: readonly TestRun[];
  /** Files as they were when they were first read, and as they are now. */
  readonly original: ReadonlyMap<string, string>;
  readonly current: ReadonlyMap<string, string>;
  readonly listed: readonly string[];
  /** What was asked for and could not be read. */
  readonly unreadable: ReadonlySet<string>;
  /** Every content that a file was given, as `path\ncontent`. */
  readonly tried: ReadonlySet<string>;
  /** Something was changed after the last run of the tests. */
  readonly isChanged: boolean;
  /** Calls that failed, the latest last; a command counts until one could be run. */
  readonly failures: readonly PastCall[];
}

export interface TestRun {
  readonly command: string;
  readonly report: TestReport;
  /** Files as they were then. */
  readonly files: ReadonlyMap<string, string>;
  readonly output: string;
}

interface Held {
  readonly runs: TestRun[];
  readonly original: Map<string, string>;
  readonly current: Map<string, string>;
  readonly listed: string[];
  readonly unreadable: Set<string>;
  readonly tried: Set<string>;
  isChanged: boolean;
  failures: PastCall[];
}

export function readScene(calls: readonly PastCall[], tools: RepairTools): Scene {
  const held: Held = {
    runs: [],
    original: new Map(),
    current: new Map(),
    listed: [],
    unreadable: new Set(),
    tried: new Set(),
    isChanged: false,
    failures: [],
  };
  for (const call of calls) note(held, call, tools);
  return held;
}

/** A name for one content of one file. */
export function keyOf(path: string, content: string): string {
  return `${path}\n${content}`;
}

function note(held: Held, call: PastCall, tools: RepairTools): void {
  const { names } = tools;
  const { name, result, arguments: given } = call;
  if (result === undefined) return;
  if (name === names.shell) return noteRun(held, call, tools);
  if (result.isError) {
    held.failures.push(call);
    if (name === names.read) held.unreadable.add(tools.pathOf(given));
    return;
  }
  if (name === names.list) held.listed.push(...readPaths(result.text));
  if (name === names.read) noteRead(held, tools.pathOf(given), readListing(result.text));
  if (name === names.edit) noteEdit(held, tools.changeOf(given));
}

/** Some shells call it an error where the command does not end with 0; what it printed is what counts. */
function noteRun(held: Held, call: PastCall, tools: RepairTools): void {
  const shown = call.result?.text ?? '';
  const { text, exitCode } = readCommandOutput(shown);
  const report = readTestReport(text, exitCode);
  if (call.result?.isError === true && report.failing.length === 0 && exitCode === undefined) {
    held.failures.push(call);
    return;
  }
  held.failures = held.failures.filter(({ name }) => name !== call.name);
  held.runs.push({
    command: tools.commandOf(call.arguments),
    report,
    files: new Map(held.current),
    output: text,
  });
  held.isChanged = false;
}

function noteRead(held: Held, path: string, content: string): void {
  if (!held.original.has(path)) held.original.set(path, content);
  held.current.set(path, content);
}

function noteEdit(held: Held, { path, before, after }: ReturnType<RepairTools['changeOf']>): void {
  const content = held.current.get(path);
  if (content === undefined) return;
  const changed = content.replace(before, () => after);
  held.current.set(path, changed);
  held.tried.add(keyOf(path, changed));
  held.isChanged = true;
}
