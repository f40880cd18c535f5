import type { WordingRule } from './verdict.ts';

/** Several phrases that mean the same, each with a sentence that holds it. */
export function phrases(
  meaning: Omit<WordingRule, 'pattern' | 'example'>,
  rows: readonly (readonly [pattern: RegExp, example: string])[],
): readonly WordingRule[] {
  return rows.map(([pattern, example]) => ({ ...meaning, pattern, example }));
}
