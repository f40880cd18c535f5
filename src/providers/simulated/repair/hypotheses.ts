import { gatherClues, narrowClues } from './clues.ts';
import type { Clues } from './clues.ts';
import { likelihoods } from './edit-table.ts';
import type { EditKind } from './edit-table.ts';
import { findSuspects } from './localize.ts';
import type { Suspect } from './localize.ts';
import type { Program, ProgramFile } from './program.ts';
import { proposeAt, proposeReturn } from './propose.ts';
import type { Proposal } from './propose.ts';
import type { TestReport } from './test-report.ts';

/** A guess at the mistake: the file as it should be, and why. */
export interface Hypothesis {
  readonly path: string;
  readonly kind: EditKind;
  /** Counted from 1. */
  readonly line: number;
  readonly functionName: string;
  /** The line as it is, and as it should be. */
  readonly before: string;
  readonly after: string;
  readonly content: string;
  readonly score: number;
}

const maxHypotheses = 60;

/** Guesses, the likeliest first. The same program and the same report give the same ones. */
export function findHypotheses(program: Program, report: TestReport): readonly Hypothesis[] {
  const clues = gatherClues(program, report);
  const suspects = findSuspects(program, report);
  const guesses = [
    ...suspects.flatMap((suspect) => guessesIn(suspect, clues)),
    ...constantGuesses(suspects, clues),
  ];
  const seen = new Set<string>();
  return guesses
    .toSorted((one, other) => other.score - one.score)
    .filter(({ path, content }) => {
      const key = `${path}\n${content}`;
      return seen.has(key) ? false : seen.add(key) !== undefined;
    })
    .slice(0, maxHypotheses);
}

function guessesIn(suspect: Suspect, all: Clues): readonly Hypothesis[] {
  const { file, found, tests } = suspect;
  const clues = narrowClues(all, tests);
  const places = file.tokens.slice(found.body, found.last + 1).map((_token, step) => found.body + step);
  // What belongs to a function inside this one is looked at there.
  const inner = file.functions.filter(({ first, last }) => first > found.first && last <= found.last);
  const own = places.filter((place) => !inner.some(({ body, last }) => place >= body && place <= last));
  const proposals = own.flatMap((place) => proposalsAt(suspect, place, clues));
  return [...proposals, ...proposeReturn(suspect)].map((proposal) => toHypothesis(suspect, proposal, clues));
}

function proposalsAt({ file, found }: Suspect, place: number, clues: Clues): readonly Proposal[] {
  const token = file.tokens[place];
  return token === undefined ? [] : proposeAt({ file, found, place, token, clues });
}

/** Constants outside of functions, which those that are suspected use. */
function constantGuesses(suspects: readonly Suspect[], all: Clues): readonly Hypothesis[] {
  return suspects.flatMap((suspect) => {
    const { file, found, tests } = suspect;
    const clues = narrowClues(all, tests);
    const used = new Set(file.tokens.slice(found.body, found.last + 1).map(({ text }) => text));
    const isInside = (place: number): boolean =>
      file.functions.some(({ first, last }) => place >= first && place <= last);
    return file.tokens.flatMap(({ text }, place) => {
      const isConstant = file.tokens[place - 1]?.text === 'const' && file.tokens[place + 1]?.text === '=';
      if (!isConstant || !used.has(text) || isInside(place)) return [];
      return proposalsAt(suspect, place + 2, clues).map((proposal) =>
        toHypothesis({ ...suspect, suspicion: suspect.suspicion * 0.8 }, proposal, clues),
      );
    });
  });
}

function toHypothesis({ file, found, suspicion }: Suspect, proposal: Proposal, clues: Clues): Hypothesis {
  const { kind, start, end, text, fit } = proposal;
  const content = file.source.slice(0, start) + text + file.source.slice(end);
  const line = file.source.slice(0, start).split('\n').length;
  const lineOf = (source: string): string => (source.split('\n')[line - 1] ?? '').trim();
  const weight = Math.max(...clues.symptoms.map((symptom) => (likelihoods[symptom] as Weights)[kind] ?? 1));
  const isInStack = clues.tests.some(({ frames }) => frames.some((frame) => isAt(frame, file, line)));
  return {
    path: file.path,
    kind,
    line,
    functionName: found.name,
    before: lineOf(file.source),
    after: lineOf(content),
    content,
    score: suspicion * (weight + fit + (isInStack ? 4 : 0)),
  };
}

type Weights = Readonly<Partial<Record<EditKind, number>>>;

function isAt(
  frame: { readonly file: string; readonly line: number },
  { path }: ProgramFile,
  line: number,
): boolean {
  return frame.line === line && frame.file.endsWith(path);
}
