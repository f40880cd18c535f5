import type { RunOutcome } from '../agent/run-outcome.ts';
import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';

/** What a flow keeps of a run that went well: the `content` of its record, as JSON. */
export interface ChildRecord {
  readonly text: string;
  /** Where the agent has an output schema. */
  readonly output?: Json;
  /** It passes the conversation on instead of answering. */
  readonly handOff?: { readonly to: string; readonly reason: string };
}

/** Reads what `perform-child.ts` wrote. What a hook has put in its place is the text. */
export function readChild(content = ''): ChildRecord {
  const read = parse(content);
  if (!isRecord(read) || typeof read['text'] !== 'string') return { text: content };
  const { handOff, ...record } = read;
  const isPassedOn =
    isRecord(handOff) && typeof handOff['to'] === 'string' && typeof handOff['reason'] === 'string';
  return (isPassedOn ? read : record) as unknown as ChildRecord; // Else only its output is left, which is JSON.
}

function parse(content: string): unknown {
  if (!content.startsWith('{')) return undefined;
  try {
    return JSON.parse(content);
  } catch {
    return undefined; // A user's own words.
  }
}

/** What is kept of a run that went well. Its output is kept only where it is more than its text. */
export function keepOutcome({ text, output }: Extract<RunOutcome, { type: 'completed' }>): string {
  const record: ChildRecord = output === text ? { text } : { text, output: output as Json }; // Read from JSON.
  return JSON.stringify(record);
}
