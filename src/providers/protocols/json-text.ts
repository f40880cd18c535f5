import { writeExactly } from '../../model/check/exact-json.ts';
import { nestsTooDeeply } from '../../model/check/json-depth.ts';

/** The value as JSON, or nothing where it has none: too deep, or not a value of JSON at all. */
export function jsonText(value: unknown): string | undefined {
  try {
    const text = writeExactly(value);
    // Newer engines write what overflows the stack of older ones; the same must come of it everywhere.
    return text === undefined || nestsTooDeeply(text) ? undefined : text;
  } catch {
    // What was parsed from JSON fails here for its depth only, and the caller says what that means.
    return undefined;
  }
}
