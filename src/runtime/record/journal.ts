import type { Provenance } from '../../agent/approval/provenance.ts';
import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Outcome, Signalled, SignalMessage } from './durable.ts';

/**
 * What a run remembers of one verb, at its position. All JSON.
 *
 * A call is written when its outcome is known. A sleep and a wait are written when they begin, with the time at which they
 * are due, so that a crash in the middle makes them neither longer nor shorter; and again when they are over.
 */
export type JournalEntry =
  | {
      readonly type: 'call';
      readonly position: number;
      readonly effect: string;
      readonly input: Json;
      readonly outcome: Outcome;
      /** Signals that the effect took in. */
      readonly took?: readonly string[];
    }
  | {
      readonly type: 'sleep';
      readonly position: number;
      readonly delayMs: number;
      /** Milliseconds since 1970. */
      readonly dueAtMs: number;
      readonly isOver: boolean;
    }
  | {
      readonly type: 'wait';
      readonly position: number;
      readonly signal: string;
      readonly timeoutMs?: number;
      /** Milliseconds since 1970. */
      readonly dueAtMs?: number;
      /** Absent while it waits. */
      readonly signalled?: Signalled;
    };

/** A signal with its name, as it waits to be taken. */
export interface NamedSignal extends SignalMessage {
  readonly name: string;
}

/** All that an engine must keep of a run, so that another one can carry it on. All JSON. */
export interface RunSnapshot {
  readonly runId: string;
  readonly version: string;
  readonly generation: number;
  /** The input of this generation. */
  readonly input: Json;
  /** Ordered by position; what was not finished is missing. */
  readonly journal: readonly JournalEntry[];
  /** Signals that are not taken yet, the oldest first. */
  readonly signals: readonly NamedSignal[];
  /** Ids of signals that came before, so that none is delivered twice. */
  readonly signalIds: readonly string[];
  readonly cancelReason?: string;
  /** Where the record came from, if it was not written where the run is. */
  readonly provenance?: Provenance;
  /** Absent while the run lives. */
  readonly end?: RunEnd;
}

/** How a run ended. */
export type RunEnd =
  { readonly type: 'ended'; readonly result: Json } | { readonly type: 'broken'; readonly failure: Failure };

/** The ids of the signals that an entry has used up. */
export function signalsTakenBy(entry: JournalEntry): readonly string[] {
  if (entry.type === 'call') return entry.took ?? [];
  return entry.type === 'wait' && entry.signalled?.type === 'signalled' ? [entry.signalled.id] : [];
}
