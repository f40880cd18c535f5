import { assert } from '../../base/assert.ts';
import type { Json } from '../../base/json.ts';

/** A value as it is read after it was written down. Throws where it cannot be written at all. */
export function written(value: Json, what: string): Json {
  return JSON.parse(writtenText(value, what)) as Json; // Just written.
}

/** A value as it is written down. Throws where it cannot be. */
export function writtenText(value: Json, what: string): string {
  // Undefined has no JSON, whatever the declared type says.
  const text = JSON.stringify(value) as string | undefined;
  assert(text !== undefined, `Only JSON crosses the durable port, but ${what} is a ${typeof value}`);
  return text;
}
