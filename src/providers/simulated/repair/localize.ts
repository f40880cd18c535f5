import type { FoundFunction } from './functions.ts';
import { isTestFile, testCasesIn } from './program.ts';
import type { Program, ProgramFile, TestCase } from './program.ts';
import type { FailingTest, TestReport } from './test-report.ts';

/** A function with how much speaks against it, from 0 to 1. */
export interface Suspect {
  readonly file: ProgramFile;
  readonly found: FoundFunction;
  readonly suspicion: number;
  /** The failing tests that reach it; all of them where that cannot be told. */
  readonly tests: readonly FailingTest[];
}

const maxDepth = 4;

/**
 * Functions that failing tests reach and passing ones do not are suspected most: the part of its tests that fail, weighed
 * by how many of the failing ones reach it. What stands in a stack is suspected in any case.
 */
export function findSuspects(program: Program, report: TestReport): readonly Suspect[] {
  const files = [...program.values()].filter(({ path }) => !isTestFile(path));
  const cases = [...program.values()].filter(({ path }) => isTestFile(path)).flatMap(testCasesIn);
  const isFailing = ({ name }: TestCase): boolean => report.failing.some((test) => test.name === name);
  const reached = cases.map((test) => ({
    name: test.name,
    isFailing: isFailing(test),
    names: reachedBy(test, files),
  }));
  const failing = reached.filter((test) => test.isFailing);
  return files
    .flatMap((file) =>
      file.functions.map((found) => {
        const hits = failing.filter(({ names }) => names.has(found.name));
        const all = reached.filter(({ names }) => names.has(found.name)).length;
        const share = hits.length === 0 ? 0 : hits.length / Math.sqrt(failing.length * all);
        const tests = report.failing.filter(({ name }) => hits.some((hit) => hit.name === name));
        const suspicion = Math.max(share, inStack(report, file, found) ? 0.9 : 0);
        return { file, found, suspicion, tests: tests.length === 0 ? report.failing : tests };
      }),
    )
    .filter(({ suspicion }) => suspicion > 0)
    .toSorted((one, other) => other.suspicion - one.suspicion);
}

/** The tests that failed, as they stand in the files that were read. */
export function failingCases(program: Program, report: TestReport): readonly TestCase[] {
  return [...program.values()]
    .filter(({ path }) => isTestFile(path))
    .flatMap(testCasesIn)
    .filter(({ name }) => report.failing.some((test) => test.name === name));
}

/** The functions that a test calls, and those that they call. */
function reachedBy(test: TestCase, files: readonly ProgramFile[]): ReadonlySet<string> {
  const known = files.flatMap((file) => file.functions.map((found) => ({ file, found })));
  let fresh = new Set(test.tokens.filter(({ type }) => type === 'word').map(({ text }) => text));
  const names = new Set<string>();
  for (let depth = 0; depth < maxDepth && fresh.size > 0; depth += 1) {
    const called = known.filter(({ found }) => fresh.has(found.name) && !names.has(found.name));
    for (const { found } of called) names.add(found.name);
    fresh = new Set(
      called.flatMap(({ file, found }) =>
        file.tokens
          .slice(found.body, found.last + 1)
          .filter(({ type }) => type === 'word')
          .map(({ text }) => text),
      ),
    );
  }
  return names;
}

function inStack(report: TestReport, { path, tokens }: ProgramFile, found: FoundFunction): boolean {
  const first = tokens[found.first]?.line ?? 0;
  const last = tokens[found.last]?.line ?? 0;
  return report.failing.some(({ frames }) =>
    frames.some(({ file, line }) => file.endsWith(path) && line >= first && line <= last),
  );
}
