import type { RerailError } from '../../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import type { WholeRun, WholeSession } from '../../model/store/whole-run.ts';
import { storageError } from './storage-error.ts';
import { hashEvents } from './text-addition.ts';
import type { ChainEnd, HashedEvent } from './text-addition.ts';

/** The events of a whole run as they are kept, each chained to the one before it: by the very hashes that it came with, or refused. */
export function chainOf({ row, events }: WholeRun): readonly HashedEvent[] {
  const { runId, headSeq, headHash } = row;
  let end: ChainEnd = { runId, headSeq: 0, headHash: chainStart };
  const chained = events.map(({ seq, atMs, type, body, hash }) => {
    const bodyText = JSON.stringify(body);
    const [hashed] = hashEvents(end, { events: [{ type, bodyText }] }, atMs);
    if (hashed === undefined || hashed.seq !== seq || hashed.hash !== hash) throw notWhole(runId, seq);
    end = { runId, headSeq: seq, headHash: hash };
    return hashed;
  });
  if (end.headSeq !== headSeq || end.headHash !== headHash) throw notWhole(runId, headSeq);
  return chained;
}

/** A message of a session as it is kept. */
export interface HashedMessage {
  readonly seq: number;
  readonly atMs: number;
  readonly bodyText: string;
  readonly hash: string;
}

/** What the events of sessions are called where they are hashed. */
export const messageType = 'message';

/** The messages of a whole session as they are kept. */
export function chainMessages({ row, messages }: WholeSession): readonly HashedMessage[] {
  let hash = chainStart;
  return messages.map(({ atMs, message }, index) => {
    const [seq, bodyText] = [index + 1, JSON.stringify(message)];
    hash = hashEvent(hash, { runId: row.sessionId, seq, atMs, type: messageType, bodyText });
    return { seq, atMs, bodyText, hash };
  });
}

function notWhole(runId: string, seq: number): RerailError {
  return storageError('STORAGE_CORRUPT', {
    message: `Cannot keep the run "${runId}": event ${seq} is missing or damaged, its hash does not match`,
    hint: 'Nothing was written. Read it again from its source, and check that store.',
    context: { runId, seq },
  });
}
