import { failingCases } from './localize.ts';
import type { Program } from './program.ts';
import { isTestFile } from './program.ts';
import { symptomOf } from './symptoms.ts';
import type { Symptom } from './symptoms.ts';
import type { FailingTest, TestReport } from './test-report.ts';
import type { Token } from './tokens.ts';

/** What is known beside the code itself, gathered once. */
export interface Clues {
  readonly tests: readonly FailingTest[];
  readonly symptoms: readonly Symptom[];
  /** Numbers and words that stand in the tests that fail. */
  readonly numbers: ReadonlySet<number>;
  readonly words: ReadonlySet<string>;
  /** Words of the program, the tests left out. */
  readonly used: ReadonlySet<string>;
  readonly asyncNames: ReadonlySet<string>;
  /** `const LIMIT = 50`, by name. */
  readonly constants: ReadonlyMap<string, number>;
  /** What the failing tests hand to functions, where it stands there plainly: `clamp(12, 1, 10)`. */
  readonly handed: readonly HandedIn[];
}

/** One call in a test. */
export interface HandedIn {
  readonly functionName: string;
  readonly values: readonly (string | undefined)[];
}

export function gatherClues(program: Program, report: TestReport): Clues {
  const cases = failingCases(program, report).flatMap(({ tokens }) => tokens);
  const files = [...program.values()].filter(({ path }) => !isTestFile(path));
  const tokens = files.flatMap((file) => file.tokens);
  const wordsOf = (list: typeof cases): ReadonlySet<string> =>
    new Set(list.filter(({ type }) => type === 'word').map(({ text }) => text));
  return {
    tests: report.failing,
    symptoms: report.failing.map(symptomOf),
    numbers: new Set(cases.filter(({ type }) => type === 'number').map(({ text }) => valueOf(text))),
    words: wordsOf(cases),
    used: wordsOf(tokens),
    asyncNames: new Set(
      files.flatMap(({ functions }) => functions.filter(({ isAsync }) => isAsync).map(({ name }) => name)),
    ),
    handed: handedIn(cases),
    constants: new Map(
      tokens.flatMap(({ type, text }, place) => {
        const [name, sign] = [tokens[place - 2], tokens[place - 1]];
        const isConstant = type === 'number' && sign?.text === '=' && tokens[place - 3]?.text === 'const';
        return isConstant && name !== undefined ? [[name.text, valueOf(text)] as const] : [];
      }),
    ),
  };
}

/** Looks at one function with the tests that reach it. */
export function narrowClues(clues: Clues, tests: readonly FailingTest[]): Clues {
  return { ...clues, tests, symptoms: tests.map(symptomOf) };
}

const maxValues = 10;

function handedIn(tokens: readonly Token[]): readonly HandedIn[] {
  return tokens.flatMap(({ type, text }, place) => {
    if (type !== 'word' || tokens[place + 1]?.text !== '(') return [];
    const values: (string | undefined)[] = [];
    for (let at = place + 2; values.length < maxValues; at += 2) {
      const [value, next] = [tokens[at], tokens[at + 1]?.text];
      if (value === undefined || (next !== ',' && next !== ')')) break;
      values.push(value.type === 'word' ? undefined : value.text);
      if (next === ')') break;
    }
    return values.length === 0 ? [] : [{ functionName: text, values }];
  });
}

/** What a number in a program is. */
export function valueOf(text: string): number {
  return Number(text.replaceAll('_', '').replace(/n$/, ''));
}
