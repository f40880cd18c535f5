import type { Json } from '../../base/json.ts';
import { redactJson } from '../../base/redact.ts';
import { statusWords } from './run-words.ts';
import type { RunReading } from './run-reading.ts';

/** A reading as JSON for programs, without the conversation: `rerail export` has that. */
export function readingJson(reading: RunReading): Json {
  const { outcome, ...rest } = reading;
  const end = outcome === undefined ? {} : { outcome: { ...outcome, messages: undefined } };
  const words = statusWords(reading.row).text;
  // All of it is JSON but for what is undefined, which JSON leaves out.
  return redactJson(JSON.parse(JSON.stringify({ words, ...rest, ...end })) as Json);
}
