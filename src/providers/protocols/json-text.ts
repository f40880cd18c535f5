import { nestsTooDeeply } from '../../model/json-depth.ts';

/** The value as JSON, or nothing where it has none: too deep, or not a value of JSON at all. */
export function jsonText(value: unknown): string | undefined {
  try {
    // Gives nothing for `undefined` and functions, whatever its type says.
    const text = JSON.stringify(value) as string | undefined;
    // Newer engines write what overflows the stack of older ones; the same must come of it everywhere.
    return text === undefined || nestsTooDeeply(text) ? undefined : text;
  } catch {
    // What was parsed from JSON fails here for its depth only, and the caller says what that means.
    return undefined;
  }
}
