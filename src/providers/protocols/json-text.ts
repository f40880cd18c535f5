/** The value as JSON, or nothing where it has none: too deep for the stack, or not a value of JSON at all. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value); // Gives nothing for `undefined` and functions, whatever its type says.
  } catch {
    // What was parsed from JSON fails here for its depth only, and the caller says what that means.
    return undefined;
  }
}
