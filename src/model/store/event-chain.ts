import { hash } from 'node:crypto';

/** An event as it is hashed: its body is the very text that is kept. */
export interface ChainedEvent {
  readonly runId: string;
  readonly seq: number;
  readonly atMs: number;
  readonly type: string;
  readonly bodyText: string;
}

/** What the first event of a run is chained to. */
export const chainStart = '';

/** The hash of an event, over everything it says and the hash of the one before it. */
export function hashEvent(previousHash: string, { runId, seq, atMs, type, bodyText }: ChainedEvent): string {
  // Lengths in front, so that no text can pass for the end of one field and the beginning of the next.
  const head = `${previousHash}\n${runId.length}:${runId}\n${seq}\n${atMs}\n${type.length}:${type}\n`;
  return hash('sha256', head + bodyText, 'base64url');
}
