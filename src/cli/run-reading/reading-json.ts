import type { Json } from '../../base/json.ts';
import { redactJson } from '../../base/redact.ts';
import { readingWords, unprovenRow } from './run-words.ts';
import type { RunReading } from './run-reading.ts';

/** A reading as JSON for programs, without the conversation: `rerail export` has that. */
export function readingJson(reading: RunReading): Json {
  const { outcome, row, ...rest } = reading;
  const end = outcome === undefined ? {} : { outcome: { ...outcome, messages: undefined } };
  const words = readingWords(reading).text;
  const listed = reading.trouble === undefined ? row : unprovenRow(row);
  // All of it is JSON but for what is undefined, which JSON leaves out.
  return redactJson(JSON.parse(JSON.stringify({ words, row: listed, ...rest, ...end })) as Json);
}

/** How a run stands, for programs: the status of a damaged one is only what the list says. */
export function statusJson({ row, trouble }: RunReading): object {
  return trouble === undefined ? { status: row.status } : { status: 'damaged', says: row.status, trouble };
}
