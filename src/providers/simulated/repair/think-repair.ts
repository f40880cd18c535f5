import type { ToolDefinition } from '../../../model/request.ts';
import type { Conversation } from '../conversation.ts';
import type { MindCall } from '../mind-answer.ts';
import { changeBetween } from './changes.ts';
import { findHypotheses } from './hypotheses.ts';
import type { Hypothesis } from './hypotheses.ts';
import { findSuspects } from './localize.ts';
import { isTestFile, lookThrough } from './program.ts';
import type { Program } from './program.ts';
import { findRepairTools } from './repair-tools.ts';
import type { RepairTools } from './repair-tools.ts';
import { keyOf, readScene } from './scene.ts';
import type { Scene, TestRun } from './scene.ts';
import { lineChanges, tellFailures, tellGuess, tellMended } from './tell.ts';
import { unreadFiles } from './unread-files.ts';

/** The next step of somebody who mends a program: calls with a word about them, or how it went. */
export interface RepairThought {
  readonly text: string;
  readonly toolCalls: readonly MindCall[];
}

/** Edits that are tried before it gives up, and changes that may be refused. */
const maxAttempts = 8;
const maxRefusals = 3;
/** A change may make a program run for ever. */
const againTimeoutMs = 60_000;

const asksForIt =
  /\b(?:fix|mend|repair|debug|correct)\b[^\n]{0,80}\b(?:tests?|bugs?|fault|mistake|failure|program|code|project|it|them)\b|\btests?\b[^\n]{0,40}\b(?:fail|fails|failing|failed|broken|red)\b|\bmake\b[^\n]{0,40}\btests?\b[^\n]{0,20}\bpass\b/i;

/**
 * Mends a small program as an engineer would: runs the tests, reads what they name, changes one thing, runs them again, keeps
 * what helped and takes back what did not. It knows only the conversation, so that it goes on from any point of it. Nothing
 * where this is not what was asked for, or the tools are not there.
 */
export function thinkRepair(
  { lastUserText, calls }: Conversation,
  tools: readonly ToolDefinition[],
): RepairThought | undefined {
  if (!asksForIt.test(lastUserText)) return undefined;
  const found = findRepairTools(tools);
  if (found === undefined) return undefined;
  return nextStep(readScene(calls, found), { tools: found, wish: lastUserText });
}

interface Means {
  readonly tools: RepairTools;
  readonly wish: string;
}

function nextStep(scene: Scene, means: Means): RepairThought {
  const { tools } = means;
  const stuck = tellStuck(scene, tools);
  if (stuck !== undefined) return { text: stuck, toolCalls: [] };
  const run = scene.runs.at(-1);
  if (run === undefined) return firstRun(scene, means);
  const hasFailed = scene.runs.some(({ report }) => report.type === 'failed');
  if (run.report.type === 'not-run' && !hasFailed) return runOtherwise(scene, means);
  const isOver = scene.runs.length > maxAttempts && run.report.type !== 'passed';
  if (scene.isChanged && !isOver)
    return { text: 'Now the tests again.', toolCalls: [tools.shell(run.command, againTimeoutMs)] };
  if (run.report.type === 'passed') return { text: tellPassed(scene, run), toolCalls: [] };
  const unread = unreadFiles(scene);
  if (unread.length > 0) return readMore(scene, unread, tools);
  return tryNext(scene, tools);
}

/** What was refused for good, or once too often. */
function tellStuck({ failures }: Scene, { names }: RepairTools): string | undefined {
  const saidBy = (name: string): readonly string[] =>
    failures.filter((call) => call.name === name).map(({ result }) => result?.text.trim() ?? '');
  const [command] = saidBy(names.shell);
  if (command !== undefined)
    return `I cannot run the tests, so I have changed nothing more. The tool ${names.shell} said: ${command}`;
  const refusals = saidBy(names.edit);
  const final = refusals.find((said) => /\b(?:denied|rejected|not allowed|permission)\b/i.test(said));
  const said = final ?? (refusals.length < maxRefusals ? undefined : refusals.at(-1));
  return said === undefined
    ? undefined
    : `I cannot change the files, so the tests still fail. The tool ${names.edit} said: ${said}`;
}

const commands = ['npm test', 'node --test'] as const;

function firstRun({ listed }: Scene, { tools, wish }: Means): RepairThought {
  const list = listed.length === 0 ? tools.list : undefined;
  const toolCalls = [tools.shell(commandIn(wish) ?? commands[0]), ...(list === undefined ? [] : [list()])];
  return { text: 'I run the tests first, to see what fails.', toolCalls };
}

/** A command that the person named. */
function commandIn(wish: string): string | undefined {
  const quoted = [...wish.matchAll(/[`"]([^`"\n]{3,200})[`"]/g)].map(([, text = '']) => text);
  const isCommand = /^(?:npm|npx|node|pnpm|yarn|bun|deno|make|pytest|python3?|go|cargo)\b/;
  const named = quoted.find((text) => isCommand.test(text));
  return named ?? /\b(?:npm (?:run )?test\b(?::\w+)?|node --test\b(?: [\w./-]+)?)/.exec(wish)?.[0];
}

function runOtherwise({ runs }: Scene, { tools }: Means): RepairThought {
  const other = commands.find((command) => !runs.some((run) => run.command === command));
  const output = runs.at(-1)?.output.trim().slice(-500) ?? '';
  if (other === undefined)
    return {
      text: `I cannot find out how the tests are run. The last thing I was told is:\n\n${output}`,
      toolCalls: [],
    };
  return { text: `That did not run any test. I try \`${other}\`.`, toolCalls: [tools.shell(other)] };
}

function readMore({ runs, current }: Scene, unread: readonly string[], tools: RepairTools): RepairThought {
  const report = runs.at(-1)?.report;
  const seen = current.size === 0 && report !== undefined ? `${tellFailures(report)}. ` : '';
  return { text: `${seen}I read ${unread.join(', ')}.`, toolCalls: unread.map((path) => tools.read(path)) };
}

function tryNext(scene: Scene, tools: RepairTools): RepairThought {
  const base = bestRun(scene);
  const files = filesOf(scene, base);
  const guesses = findHypotheses(programOf(files), base.report);
  const next = scene.runs.length > maxAttempts ? undefined : guesses.find((guess) => !isTried(guess, scene));
  const target = next === undefined ? files : new Map(files).set(next.path, next.content);
  const edits = [...target].flatMap(([path, content]) => {
    const now = scene.current.get(path) ?? content;
    return now === content ? [] : [tools.edit(changeBetween(path, now, content))];
  });
  if (edits.length === 0) return { text: tellGivenUp(scene, base), toolCalls: [] };
  const then = next === undefined ? 'I take it back.' : tellGuess(next);
  return { text: `${tellLast(scene, base)}${then}`, toolCalls: edits };
}

function programOf(files: ReadonlyMap<string, string>): Program {
  return new Map([...files].map(([path, content]) => [path, lookThrough(path, content)]));
}

function isTried({ path, content }: Hypothesis, { tried }: Scene): boolean {
  return tried.has(keyOf(path, content));
}

/** The run with the fewest failures. One that mends some tests and breaks others is no step forward. */
function bestRun(scene: Scene): TestRun {
  const failed = scene.runs.filter(({ report }) => report.type === 'failed');
  return failed.reduce((best, run) => {
    const names = new Set(best.report.failing.map(({ name }) => name));
    const isFewer = run.report.failing.length > 0 && run.report.failing.length < names.size;
    const isSubset = run.report.failing.every(({ name }) => names.has(name));
    return isFewer && isSubset && !isStillSuspected(scene, best, run) ? run : best;
  });
}

/** A change to a function that tests still find fault with was probably the wrong one, even if it pleases some of them. */
function isStillSuspected(scene: Scene, before: TestRun, after: TestRun): boolean {
  const [was, is] = [filesOf(scene, before), filesOf(scene, after)];
  const changes = [...is].flatMap(([path, content]) => lineChanges(path, was.get(path) ?? content, content));
  return findSuspects(programOf(is), after.report).some(({ file, found }) => {
    const [first, last] = [file.tokens[found.first]?.line ?? 0, file.tokens[found.last]?.line ?? 0];
    return changes.some(({ path, line }) => path === file.path && line >= first && line <= last);
  });
}

/** Files as they were at a run; what was read later is as it was read. */
function filesOf({ original }: Scene, { files }: TestRun): ReadonlyMap<string, string> {
  return new Map([...original, ...files]);
}

function tellLast({ runs }: Scene, base: TestRun): string {
  if (runs.length < 2) return '';
  return runs.at(-1) === base ? 'That mended a part of it. ' : 'That was not it. ';
}

function tellPassed(scene: Scene, { report }: TestRun): string {
  const first = scene.runs.find((run) => run.report.type === 'failed');
  if (first === undefined) return 'The tests pass. There is nothing to mend, and I have changed nothing.';
  return tellMended(changesOf(scene, scene.current), { first: first.report, last: report });
}

function changesOf({ original }: Scene, now: ReadonlyMap<string, string>): ReturnType<typeof lineChanges> {
  return [...now].flatMap(([path, content]) => lineChanges(path, original.get(path) ?? content, content));
}

function tellGivenUp(scene: Scene, base: TestRun): string {
  const kept = changesOf(scene, scene.current);
  const attempts = scene.runs.slice(1).filter((run) => changesOf(scene, run.files).length > 0).length;
  const read = [...scene.current.keys()].filter((path) => !isTestFile(path));
  const looked =
    read.length === 0 ? 'I found no source file to look into' : `I looked into ${read.join(', ')}`;
  const tried =
    attempts === 0 ? 'had no change to try' : `tried ${attempts} small change${attempts === 1 ? '' : 's'}`;
  const state =
    kept.length === 0
      ? 'Everything is as it was'
      : `I kept what helped: ${kept.map(({ path, line, after }) => `${path}:${line} \`${after}\``).join(', ')}`;
  return `I could not mend it. ${looked} and ${tried}. ${state}. Still failing: ${tellFailures(base.report) || 'see the output of the tests'}. A person, or a real language model, has to look at it.`;
}
