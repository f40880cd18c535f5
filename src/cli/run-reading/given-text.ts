import type { Given } from '../specs/command-spec.ts';

/** What was typed for an option that takes one value. */
export function flagText(flags: Given['flags'], name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** What was typed for an option that may come more than once. */
export function flagTexts(flags: Given['flags'], name: string): readonly string[] {
  const value = flags[name];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === 'string');
}

/** What was typed at a place. */
export function argumentText({ args }: Given, index: number): string | undefined {
  const value = args[index];
  return typeof value === 'string' ? value : undefined;
}
