/** What the output of a test run says, read leniently: TAP, Node's own listing, and what looks like them. */
export interface TestReport {
  readonly type: 'passed' | 'failed' | 'not-run';
  readonly failing: readonly FailingTest[];
  /** Names of tests that passed, where they are listed. */
  readonly passing: readonly string[];
  /** How many failed, where the output counts them. */
  readonly failedCount: number | undefined;
  readonly passedCount: number | undefined;
}

export interface FailingTest {
  readonly name: string;
  readonly message: string;
  readonly actual: string | undefined;
  readonly expected: string | undefined;
  /** The innermost first; only those in files of the project. */
  readonly frames: readonly Frame[];
}

/** A place in a file. */
export interface Frame {
  readonly name: string | undefined;
  readonly file: string;
  readonly line: number;
}

const maxOutput = 20_000;
const maxFailing = 20;

/** Reads what a command printed. `exitCode` decides where the words do not. */
export function readTestReport(output: string, exitCode?: number): TestReport {
  const text = output.slice(0, maxOutput).replaceAll(ansi, '');
  const failing = mergeByName(blocksOf(text).flatMap(failingIn)).slice(0, maxFailing);
  const failedCount = countIn(text, /^\W*fail\s+(\d+)\s*$/im, /\b(\d+) (?:failed|failing)\b/);
  const passedCount = countIn(text, /^\W*pass\s+(\d+)\s*$/im, /\b(\d+) (?:passed|passing)\b/);
  const passing = [...text.matchAll(/^\s*(?:ok \d+ -|✔|✓|√)\s+(.+?)(?:\s+\([\d.]+ ?m?s\))?\s*$/gm)].map(
    ([, name = '']) => name,
  );
  const type = typeOf({ text, failing, failedCount, exitCode, passing });
  return { type, failing, passing, failedCount, passedCount };
}

function countIn(text: string, ...patterns: readonly RegExp[]): number | undefined {
  const found = patterns.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])[0];
  return found === undefined ? undefined : Number(found);
}

const ansi = new RegExp(String.raw`${String.fromCodePoint(27)}\[[\d;]*m`, 'g');

interface Signs {
  readonly text: string;
  readonly failing: readonly FailingTest[];
  readonly failedCount: number | undefined;
  readonly exitCode: number | undefined;
  readonly passing: readonly string[];
}

function typeOf({ text, failing, failedCount, exitCode, passing }: Signs): TestReport['type'] {
  if (failing.length > 0 || (failedCount ?? 0) > 0) return 'failed';
  if (
    /\bcommand not found\b|: not found\b|Missing script|ENOENT|Could not find|Cannot find module/i.test(text)
  )
    return 'not-run';
  if (/^\W*tests\s+0\s*$/im.test(text)) return 'not-run';
  if (exitCode !== undefined) return exitCode === 0 ? 'passed' : 'failed';
  return failedCount === 0 || passing.length > 0 ? 'passed' : 'not-run';
}

const head = /^(\s*)(?:not ok \d+ -|✖|×|✗|FAIL)\s+(.+?)(?:\s+\([\d.]+ ?m?s\))?\s*$/;
const otherHead = /^\s*(?:test at |ok \d+ -|✔|✓|▶|# Subtest|\d+\.\.\d+$|[ℹ#] (?:tests|suites|pass)\b)/;

interface Block {
  readonly name: string;
  readonly lines: readonly string[];
}

/** From the line that names a failed test up to the next test. */
function blocksOf(text: string): readonly Block[] {
  const blocks: { readonly name: string; readonly lines: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const found = head.exec(line);
    if (found !== null && found[2] !== 'failing tests:') {
      blocks.push({ name: found[2] ?? '', lines: [] });
      isOpen = true;
    } else if (found !== null || otherHead.test(line)) isOpen = false;
    else if (isOpen) blocks.at(-1)?.lines.push(line);
  }
  return blocks;
}

function failingIn({ name, lines }: Block): readonly FailingTest[] {
  const text = lines.join('\n');
  const frames = lines.flatMap(frameIn);
  const message = messageIn(lines);
  if ((message === '' && frames.length === 0) || /subtestsFailed|^\d+ subtests? failed/m.test(text))
    return [];
  const differing = differenceIn(lines);
  return [
    {
      name,
      message,
      actual: differing?.actual ?? valueOf('actual', text),
      expected: differing?.expected ?? valueOf('expected', text),
      frames,
    },
  ];
}

function messageIn(lines: readonly string[]): string {
  const first = lines.find((line) => /^\s*(?:error:|[A-Z]\w*Error\b)/.test(line)) ?? '';
  const said = first.replace(/^\s*error:\s*/, '').trim();
  // A message of several lines stands below its mark.
  const isBlock = said === '|-' || said === '';
  const text = isBlock ? (lines[lines.indexOf(first) + 1] ?? '').trim() : said;
  const name = /^\s*name: '(\w+Error)'/m.exec(lines.join('\n'))?.[1];
  const plain = text.replaceAll(/^['"]|['"]$/g, '');
  return name === undefined || plain.includes(name) || plain === '' ? plain : `${name}: ${plain}`;
}

/** `-1 !== 3`, a difference of `+` and `-` lines, or the sentence of another library. */
function differenceIn(
  lines: readonly string[],
): { readonly actual: string; readonly expected: string } | undefined {
  for (const line of lines) {
    const said =
      /^\s*(\S.*?) !==? (\S.*?)\s*$/.exec(line) ??
      /expected (\S.*?) to (?:be|equal|deeply equal|strictly equal) (\S.*?)(?: \/\/.*)?$/.exec(line);
    if (said !== null && !/assert/.test(line)) return { actual: said[1] ?? '', expected: said[2] ?? '' };
  }
  const start = lines.findIndex((line) => /\+ actual - expected/.test(line));
  if (start < 0) return undefined;
  const end = lines.findIndex((line, place) => place > start && /^\s*(?:at |code:|stack:)/.test(line));
  const body = lines.slice(start + 1, end < 0 ? undefined : end);
  const marked = (sign: string): string =>
    body
      .map((line) => line.trimStart())
      .filter((line) => line.startsWith(`${sign} `) || line === sign)
      .map((line) => line.slice(1).trim())
      .join(' ');
  const [actual, expected] = [marked('+'), marked('-')];
  return actual === '' && expected === '' ? undefined : { actual, expected };
}

function valueOf(name: 'actual' | 'expected', text: string): string | undefined {
  const other = name === 'actual' ? /^\s*Received:\s*(.+)$/m : /^\s*Expected:\s*(.+)$/m;
  const found = new RegExp(String.raw`^\s*${name}: (.+?),?$`, 'm').exec(text)?.[1] ?? other.exec(text)?.[1];
  return found?.trim();
}

function frameIn(line: string): readonly Frame[] {
  const found =
    /^\s*(?:at |❯ )?(?:async )?(?:(\S[^()]*?) )?\(?((?:file:\/\/)?[^\s():']*\.[cm]?[jt]sx?):(\d+)(?::\d+)?\)?\s*\{?$/.exec(
      line,
    ) ?? /^\s*(location): '(.+?):(\d+):\d+'/.exec(line);
  const file = found?.[2]?.replace(/^file:\/\//, '');
  if (file === undefined || file.includes('node_modules/') || file.startsWith('node:')) return [];
  const name = found?.[1]
    ?.split('.')
    .at(-1)
    ?.replace(/^(?:new )/, '');
  return [{ name: name === 'location' ? undefined : name, file, line: Number(found?.[3]) }];
}

/** Some listings tell a failure twice: the fuller one counts. */
function mergeByName(tests: readonly FailingTest[]): readonly FailingTest[] {
  const byName = new Map<string, FailingTest>();
  for (const test of tests) {
    const known = byName.get(test.name);
    const isFuller = known === undefined || test.frames.length > known.frames.length;
    if (isFuller) byName.set(test.name, test);
  }
  return [...byName.values()];
}
