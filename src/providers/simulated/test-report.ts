/** What the output of `node --test` says: TAP or the listing of a terminal. */
export interface TestReport {
  readonly type: 'passed' | 'failed' | 'not-run';
  /** Names of the tests that failed. */
  readonly failing: readonly string[];
  /** How many failed, where the output counts them. */
  readonly failedCount: number | undefined;
  readonly passedCount: number | undefined;
  /** What the first failed assertion compared: `5490 !== 5000`. */
  readonly difference: string | undefined;
}

const maxOutput = 20_000;
const maxFailing = 20;
const ansi = new RegExp(String.raw`${String.fromCodePoint(27)}\[[\d;]*m`, 'g');

/** Reads what a command printed. `exitCode` decides where the words do not. */
export function readTestReport(output: string, exitCode?: number): TestReport {
  const text = output.slice(0, maxOutput).replaceAll(ansi, '');
  const heads = [...text.matchAll(/^\s*(?:not ok \d+ -|✖)\s+(.+?)(?:\s+\([\d.]+ ?m?s\))?\s*$/gm)];
  const names = heads
    .map(([, name = '']) => name)
    .filter((name) => name !== 'failing tests:' && !isFile(name));
  const failing = [...new Set(names)].slice(0, maxFailing);
  const failedCount = countIn(text, /^\W*fail\s+(\d+)\s*$/im);
  const passedCount = countIn(text, /^\W*pass\s+(\d+)\s*$/im);
  const difference = /^\s*(\S.{0,100} !== \S.{0,100})$/m.exec(text)?.[1]?.trim();
  const isFailed = failing.length > 0 || (failedCount ?? 0) > 0;
  const type = isFailed ? 'failed' : typeWithoutFailures(text, exitCode);
  return { type, failing, failedCount, passedCount, difference };
}

/** A file that holds a failed test is listed like a test. */
function isFile(name: string): boolean {
  return /\.[cm]?[jt]s$/.test(name);
}

function countIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

function typeWithoutFailures(text: string, exitCode: number | undefined): TestReport['type'] {
  const isMissing = /\bnot found\b|Missing script|ENOENT|Could not find|Cannot find module/i.test(text);
  if (isMissing || /^\W*tests\s+0\s*$/im.test(text)) return 'not-run';
  if (exitCode === undefined) return /^\s*(?:ok \d+ -|✔)/m.test(text) ? 'passed' : 'not-run';
  return exitCode === 0 ? 'passed' : 'failed';
}
