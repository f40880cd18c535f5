import { isRecord } from '../../base/json.ts';
import type { ToolDefinition } from '../../model/request.ts';
import type { Conversation, PastCall } from './conversation.ts';
import type { MindCall } from './mind-answer.ts';
import { readTestReport } from './test-report.ts';
import type { TestReport } from './test-report.ts';

/** The next step towards tests that pass: calls with a word about them, or how it went. */
export interface FixStep {
  readonly text: string;
  readonly toolCalls: readonly MindCall[];
}

const maxAttempts = 8;
const maxFiles = 8;
/** A change may make a program run for ever. */
const againTimeoutMs = 60_000;

const asksForIt =
  /\b(?:fix|mend|repair|debug|correct)\b[^\n]{0,80}\b(?:tests?|bugs?|program|code|project|it|them)\b|\btests?\b[^\n]{0,40}\b(?:fail|fails|failing|failed|broken|red)\b/i;

/**
 * Fixes one wrong operator with the tools of a workspace: runs the tests, reads the files that they name, tries one replacement
 * of the table after the other, and takes back what did not help. It knows only the conversation, so it continues from any
 * point of it. Nothing where this was not asked for, or a tool is missing.
 */
export function fixTests(
  { lastUserText, calls }: Conversation,
  tools: readonly ToolDefinition[],
): FixStep | undefined {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  if (!asksForIt.test(lastUserText) || !['shell', 'read_file', 'edit_file'].every(has)) return undefined;
  const scene = readScene(calls);
  const run = scene.runs.at(-1);
  if (scene.refusal !== undefined) return say(scene.refusal);
  if (run === undefined) return firstRun(lastUserText, has('list_files') && scene.listed.length === 0);
  if (run.report.type === 'not-run' && !scene.runs.some(({ report }) => report.type === 'failed')) {
    return runOtherwise(scene.runs);
  }
  if (scene.isChanged) {
    return { text: 'Now the tests again.', toolCalls: [shell(run.command, againTimeoutMs)] };
  }
  if (run.report.type === 'passed') return say(tellPassed(scene, run.report));
  const unread = unreadFiles(scene).slice(0, Math.max(0, maxFiles - scene.files.size));
  if (unread.length > 0) {
    const seen = scene.files.size === 0 ? `${tellFailure(run.report)}. ` : '';
    const toolCalls = unread.map((path) => ({ name: 'read_file', arguments: { path } }));
    return { text: `${seen}I read ${unread.join(', ')}.`, toolCalls };
  }
  return tryNext(scene, run.report);
}

interface TestRun {
  readonly command: string;
  readonly report: TestReport;
  readonly output: string;
}

/** A line that was replaced. */
interface LineEdit {
  readonly path: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** What was done and seen since the person asked: all of it read from the conversation. */
interface Scene {
  readonly runs: TestRun[];
  /** Lines of each file that was read, as they are now. */
  readonly files: Map<string, string[]>;
  readonly listed: string[];
  readonly unreadable: Set<string>;
  readonly tried: Set<string>;
  /** The change that is in the files now. */
  edit: LineEdit | undefined;
  /** Something was changed after the last run of the tests. */
  isChanged: boolean;
  /** A tool that is needed was refused. */
  refusal: string | undefined;
}

function readScene(calls: readonly PastCall[]): Scene {
  const scene: Scene = {
    runs: [],
    files: new Map(),
    listed: [],
    unreadable: new Set(),
    tried: new Set(),
    edit: undefined,
    isChanged: false,
    refusal: undefined,
  };
  for (const call of calls) if (call.result !== undefined) noteCall(scene, call, call.result);
  return scene;
}

function noteCall(scene: Scene, call: PastCall, { text, isError }: NonNullable<PastCall['result']>): void {
  const path = textOr(call.arguments['path']);
  switch (call.name) {
    case 'shell':
      return noteRun(scene, textOr(call.arguments['command']), { text, isError });
    case 'list_files':
      scene.listed.push(...(text.match(/[\w@.][\w@./-]*\.\w+/g) ?? []));
      return;
    case 'read_file':
      if (isError) scene.unreadable.add(path);
      else scene.files.set(path, readLines(text));
      return;
    case 'edit_file':
      if (isError)
        scene.refusal = `I cannot change the files, so the tests still fail. The tool edit_file said: ${text.trim()}`;
      else noteEdit(scene, path, call.arguments['edits']);
      return;
    default:
  }
}

function noteRun(scene: Scene, command: string, { text, isError }: NonNullable<PastCall['result']>): void {
  const said = /\bexit code:? ?(\d+)/.exec(text)?.[1];
  const report = readTestReport(text, said === undefined ? undefined : Number(said));
  if (isError && said === undefined && report.failing.length === 0) {
    scene.refusal = `I cannot run the tests, so I have changed nothing more. The tool shell said: ${text.trim()}`;
    return;
  }
  scene.refusal = undefined;
  scene.runs.push({ command, report, output: text });
  scene.isChanged = false;
}

/** Each line comes as its number, a tab and its text. */
function readLines(shown: string): string[] {
  const lines = shown.split('\n').flatMap((line) => /^\s*\d+\t(.*)$/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? shown.split('\n') : lines;
}

function noteEdit(scene: Scene, path: string, edits: unknown): void {
  const first: unknown = Array.isArray(edits) ? edits[0] : undefined;
  if (!isRecord(first) || typeof first['fromLine'] !== 'number') return;
  const line = first['fromLine'];
  const after = textOr(first['newText']);
  const lines = scene.files.get(path) ?? [];
  const before = lines[line - 1] ?? '';
  lines[line - 1] = after;
  const isTakenBack = scene.edit?.path === path && scene.edit.line === line && scene.edit.before === after;
  scene.edit = isTakenBack ? undefined : { path, line, before, after };
  scene.tried.add(keyOf({ path, line, after }));
  // The tests have seen the files as they were before.
  scene.isChanged = !isTakenBack;
}

function keyOf({ path, line, after }: Omit<LineEdit, 'before'>): string {
  return `${path}:${line}:${after}`;
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const say = (text: string): FixStep => ({ text, toolCalls: [] });

function shell(command: string, timeoutMs?: number): MindCall {
  return { name: 'shell', arguments: { command, ...(timeoutMs === undefined ? {} : { timeoutMs }) } };
}

const commands = ['npm test', 'node --test'] as const;

function firstRun(wish: string, canList: boolean): FixStep {
  const quoted = [...wish.matchAll(/[`"]([^`"\n]{3,200})[`"]/g)].map(([, text = '']) => text);
  const named = quoted.find((text) => /^(?:npm|npx|node|make)\b/.test(text));
  const command = named ?? /\b(?:npm (?:run )?test\b|node --test\b)/.exec(wish)?.[0] ?? commands[0];
  const list = canList ? [{ name: 'list_files', arguments: {} }] : [];
  return { text: 'I run the tests first, to see what fails.', toolCalls: [shell(command), ...list] };
}

function runOtherwise(runs: readonly TestRun[]): FixStep {
  const other = commands.find((command) => !runs.some((run) => run.command === command));
  const output = runs.at(-1)?.output.trim().slice(-500) ?? '';
  return other === undefined
    ? say(`I cannot find out how the tests are run. The last output was:\n\n${output}`)
    : { text: `That did not run any test. I try \`${other}\`.`, toolCalls: [shell(other)] };
}

/** Files that the failures name, then what those import. */
function unreadFiles({ runs, files, listed, unreadable }: Scene): readonly string[] {
  const output = runs.find(({ report }) => report.type === 'failed')?.output ?? '';
  const named = [...output.matchAll(/[\w@./-]+\.[cm]?[jt]s(?=:\d)/g)].map(([file]) => file);
  const known = named.flatMap(
    (file) => listed.find((path) => file === path || file.endsWith(`/${path}`)) ?? [],
  );
  const imported = [...files].flatMap(([path, lines]) => importsOf(path, lines.join('\n')));
  return [...new Set([...known, ...imported])].filter((path) => !files.has(path) && !unreadable.has(path));
}

/** `../src/a.js` in `test/a.test.js` is `src/a.js`. */
function importsOf(path: string, text: string): readonly string[] {
  const from = new URL(path, 'file:///');
  const names = [...text.matchAll(/(?:from|import) ?\(?["'](\.{1,2}\/[^"'\n]+)["']/g)].map(
    ([, name = '']) => name,
  );
  return names.map((name) => new URL(name, from).pathname.slice(1));
}

const replacements = [
  { from: ' > ', to: ' >= ', why: 'the boundary is off by one' },
  { from: ' < ', to: ' <= ', why: 'the boundary is off by one' },
  { from: ' - ', to: ' + ', why: 'the operator is the wrong one' },
  { from: ' + ', to: ' - ', why: 'the operator is the wrong one' },
  { from: ' >= ', to: ' > ', why: 'the boundary is off by one' },
  { from: ' <= ', to: ' < ', why: 'the boundary is off by one' },
  { from: ' === ', to: ' !== ', why: 'the condition is the wrong way round' },
  { from: ' && ', to: ' || ', why: 'the conditions are joined wrongly' },
] as const;

function tryNext(scene: Scene, report: TestReport): FixStep {
  if (scene.edit !== undefined) {
    const { path, line, before } = scene.edit;
    return { text: 'That was not it. I take it back.', toolCalls: [editLine({ path, line, after: before })] };
  }
  const attempts = scene.runs.length - 1;
  const next =
    attempts < maxAttempts ? candidates(scene).find((each) => !scene.tried.has(keyOf(each))) : undefined;
  if (next === undefined) {
    const tried =
      attempts === 0 ? 'had no change to try' : `tried ${attempts} small change${attempts === 1 ? '' : 's'}`;
    return say(
      `I could not fix it. I ${tried}. Everything is as it was. Still failing: ${tellFailure(report)}. A person, or a real language model, has to look at it.`,
    );
  }
  const text = `In ${next.path}:${next.line} ${next.why}, I think: \`${next.before.trim()}\` becomes \`${next.after.trim()}\`.`;
  return { text, toolCalls: [editLine(next)] };
}

function editLine({ path, line, after }: Omit<LineEdit, 'before'>): MindCall {
  return {
    name: 'edit_file',
    arguments: { path, edits: [{ fromLine: line, toLine: line, newText: after }] },
  };
}

function candidates({ files }: Scene): readonly (LineEdit & { readonly why: string })[] {
  const sources = [...files].filter(([path]) => !/(?:^|\/)tests?\/|[._-]test\.[cm]?[jt]s$/.test(path));
  return replacements.flatMap(({ from, to, why }) =>
    sources.flatMap(([path, lines]) =>
      lines.flatMap((before, index) => {
        const isCode = before.includes(from) && !/^\s*(?:\/\/|\/?\*)|=>/.test(before);
        return isCode ? [{ path, line: index + 1, before, after: before.replace(from, to), why }] : [];
      }),
    ),
  );
}

function tellFailure({ failing, difference }: TestReport): string {
  const names = failing.map((name) => `"${name}"`).join(', ') || 'a test';
  return difference === undefined ? `${names} fails` : `${names} fails: ${difference}`;
}

function tellPassed({ edit, runs }: Scene, { passedCount }: TestReport): string {
  const first = runs.find(({ report }) => report.type === 'failed');
  if (first === undefined || edit === undefined) {
    return 'The tests pass. There is nothing to fix, and I have changed nothing.';
  }
  const count = passedCount === undefined ? '' : ` (${passedCount} of ${passedCount})`;
  const { path, line, before, after } = edit;
  return `The tests pass now${count}. Before: ${tellFailure(first.report)}.\n\nWhat I changed:\n\n${path}:${line}\n\n\`\`\`diff\n- ${before.trim()}\n+ ${after.trim()}\n\`\`\``;
}
