import { lazy } from '../../../base/lazy.ts';
import type { WordingRule } from '../verdict.ts';

/** Rules that are made with the first classification, for hundreds of patterns are a good part of what an import costs. */
export type Phrases = () => readonly WordingRule[];

/** Several phrases that mean the same, each with a sentence that holds it. */
export function phrases(
  meaning: Omit<WordingRule, 'pattern' | 'example'>,
  rows: () => readonly (readonly [pattern: RegExp, example: string])[],
): Phrases {
  return lazy(() => rows().map(([pattern, example]) => ({ ...meaning, pattern, example })));
}

/** Always the same objects for the same phrases. */
export function rulesOf(tables: readonly Phrases[]): readonly WordingRule[] {
  return tables.flatMap((table) => table());
}
