import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { EffectEnd } from '../../runtime/record/durable.ts';
import type { JournalEntry, NamedSignal } from '../../runtime/record/journal.ts';

// All of this is in Temporal's history: it is JSON, and its form is part of every record.

/** What a generation of a run begins with: the one argument of the workflow. */
export interface Begin {
  readonly runId: string;
  readonly version: string;
  readonly generation: number;
  readonly input: Json;
  /** What the driver asks of the agent besides its effects. */
  readonly facts: Json;
  readonly limits: CarryLimits;
  /** Signals of earlier generations that are not taken yet. */
  readonly signals: readonly NamedSignal[];
  readonly signalIds: readonly string[];
}

/** The bounds that the workflow goes by. They stand in its history, so that a replay goes by the same. */
export interface CarryLimits {
  /** How long an effect may take at most. */
  readonly effectTimeoutMs: number;
  /** A worker that is silent for so long is taken for dead. */
  readonly heartbeatTimeoutMs: number;
  /** How long the worker that knows the run is waited for before another one takes over. */
  readonly takeoverMs: number;
  /** How long an effect in progress may take to tell what came of it, once its run is cancelled. */
  readonly cancelGraceMs: number;
  /** How often the worker may die at one and the same effect before that is its outcome. */
  readonly maxLives: number;
  /** Untaken ones per run. */
  readonly maxSignals: number;
  /** Temporal ends a run of 51,200 events or 50 MB; the run is broken before that, with a name for it. */
  readonly maxHistoryEvents: number;
  readonly maxHistoryBytes: number;
  /** One input, outcome, signal or state: Temporal refuses more than 2 MB. */
  readonly maxValueBytes: number;
}

/** One attempt at one effect: the one argument of the activity. */
export interface EffectRequest {
  readonly runId: string;
  readonly version: string;
  readonly generation: number;
  readonly position: number;
  readonly effect: string;
  readonly input: Json;
  readonly timeoutMs?: number;
  /** The worker is held to know so many entries of the journal already. */
  readonly base: number;
  /** What came after them. */
  readonly fresh: readonly FreshEntry[];
  /** For a worker that may not know the run at all. */
  readonly begin?: { readonly input: Json };
  /** All of that would be too long to be sent: the worker asks the workflow itself for it. */
  readonly isRecalled?: true;
  /** Signals that are not taken yet. */
  readonly pending: readonly NamedSignal[];
}

/** What the worker has to learn of the journal. What it has given itself is only named. */
export type FreshEntry =
  | JournalEntry
  | { readonly type: 'kept'; readonly position: number; readonly token: string }
  | { readonly type: 'cancelled'; readonly reason: string };

/** What a worker answers. */
export type EffectReply =
  | {
      readonly type: 'outcome';
      readonly end: EffectEnd;
      /** Names this outcome to the worker that gave it. */
      readonly token: string;
      /** Where that worker can be found again. */
      readonly queue: string;
    }
  /** It does not know the run: nothing was done. */
  | { readonly type: 'need-state' }
  /** It was stopped in the middle, as by a crash: what came of the effect is not known. */
  | { readonly type: 'let-go' }
  /** Its code does something else than the workflow at this place: nothing was done. */
  | { readonly type: 'changed'; readonly asked: string };

/** What the workflow reports to its worker, past the history: it may be lost. */
export type News = {
  readonly runId: string;
  readonly generation: number;
} & (
  | {
      /** The run waits, or has ended: so the worker learns of it although no effect follows. */
      readonly type: 'stands' | 'ended';
      readonly base: number;
      readonly fresh: readonly FreshEntry[];
    }
  | { readonly type: 'signalled'; readonly signal: NamedSignal }
  | { readonly type: 'cancelled'; readonly reason: string }
);

/** What every end leaves to a generation that begins after it. */
export interface LeftBehind {
  readonly generation: number;
  readonly signals: readonly NamedSignal[];
  readonly signalIds: readonly string[];
}

/** What the workflow returns. */
export interface CarriedResult extends LeftBehind {
  readonly result: Json;
}

/** What a broken workflow leaves behind. */
export interface BrokenDetails extends LeftBehind {
  readonly failure: Failure;
}

/** What the workflow answers to the query. */
export interface CarriedStatus {
  readonly waiting?: string;
  readonly announced?: Json;
}

/** What the workflow answers to a request for its journal: a part of it, which fits into one answer. */
export interface JournalPage {
  readonly version: string;
  readonly generation: number;
  /** With the first part only. */
  readonly input?: Json;
  /** In the order in which they came about, from the one that was asked for. */
  readonly entries: readonly (JournalEntry | Extract<FreshEntry, { type: 'cancelled' }>)[];
  /** Sleeps, and waits with a time, that have begun. With the last part only, as what follows. */
  readonly begun: readonly JournalEntry[];
  readonly signals: readonly NamedSignal[];
  readonly signalIds: readonly string[];
  /** Where the next part begins. */
  readonly next?: number;
}

/** What is brought to a run by a signal. */
export type SignalPayload = NamedSignal;
