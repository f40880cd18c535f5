import type { RunOutcome } from '../agent/run-outcome.ts';
import type { Json } from '../base/json.ts';

/** What a flow keeps of a run that went well: the `content` of its record, as JSON. */
export interface ChildRecord {
  readonly text: string;
  /** Where the agent has an output schema. */
  readonly output?: Json;
  /** It passes the conversation on instead of answering. */
  readonly handOff?: { readonly to: string; readonly reason: string };
}

/** Reads what `perform-child.ts` wrote. */
export function readChild(content: string | undefined): ChildRecord {
  return JSON.parse(content ?? '{"text":""}') as ChildRecord; // Written by ourselves.
}

/** What is kept of a run that went well. Its output is kept only where it is more than its text. */
export function keepOutcome({ text, output }: Extract<RunOutcome, { type: 'completed' }>): string {
  const record: ChildRecord = output === text ? { text } : { text, output: output as Json }; // Read from JSON.
  return JSON.stringify(record);
}
