import type { Message } from '../message.ts';
import type { RunRow, SessionRow, StoredEvent, StoredSignal } from './store.ts';

/** All that is kept of a run: what another store needs to continue it as if it had always been there. */
export interface WholeRun {
  readonly row: RunRow;
  readonly events: readonly StoredEvent[];
  /** All that ever came, in their order: an id that was taken must not be taken again. */
  readonly signals: readonly WholeSignal[];
  /** The hashes of the contents that are kept for it. */
  readonly blobs: readonly string[];
}

/** A signal, taken or not. The payload of one that was taken is `null`. */
export interface WholeSignal extends StoredSignal {
  readonly isTaken: boolean;
}

/** All that is kept of a session. */
export interface WholeSession {
  readonly row: SessionRow;
  readonly messages: readonly WholeMessage[];
  /** The runs that have added to it, and do not add again. */
  readonly runIds: readonly string[];
}

/** A message with its time. */
export interface WholeMessage {
  readonly atMs: number;
  readonly message: Message;
}

/** What came of restoring: nothing is touched where there is one already. */
export type Restored = 'restored' | 'exists';

/**
 * Of each of these runs that has an event of one of these types, the number of the latest. A store may do without it: then all events
 * are read instead.
 */
export type LatestOf = (
  runIds: readonly string[],
  types: readonly string[],
) => Promise<ReadonlyMap<string, number>>;
