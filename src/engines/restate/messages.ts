import type { Json } from '../../base/json.ts';
import type { RunStatus } from '../../runtime/record/durable.ts';
import type { NamedSignal, RunEnd } from '../../runtime/record/journal.ts';
import type { RestateLimits } from './options.ts';

// What the desk of a run, its program and its host say to each other. All JSON.

/** The host wants a run, or what comes after one of its generations. */
export interface StartMessage {
  readonly version: string;
  /** Absent for a run that is unknown. */
  readonly after?: number;
  readonly input: Json;
}

/** What came of a signal. */
export type SignalAnswer = 'added' | 'duplicate' | 'full' | 'unknown';

/** The program that runs a generation, as it begins. */
export interface CarryMessage {
  readonly runId: string;
  readonly generation: number;
  readonly input: Json;
  /** Those that are not taken yet. */
  readonly signals: readonly NamedSignal[];
  readonly cancelReason?: string;
  /** Those with which it began: they must not change under it, or it would leave its own journal. */
  readonly limits: GenerationLimits;
}

/** The bounds of one generation. */
export type GenerationLimits = Pick<RestateLimits, 'maxSteps' | 'maxJournalBytes' | 'maxValueBytes'>;

/** The program waits for mail under this id. */
export interface ListenMessage {
  readonly generation: number;
  readonly awakeableId: string;
  /** Signals that were taken since it last said so. */
  readonly took: readonly string[];
  /** It wants to be answered at once, also where there is nothing. */
  readonly isPrompt?: boolean;
}

/** What the program receives while it runs. */
export interface Mail {
  readonly signals: readonly NamedSignal[];
}

/** The program was cancelled, and waits under this id for the reason. */
export interface WhyMessage {
  readonly generation: number;
  readonly awakeableId: string;
}

/** Why. */
export interface WhyAnswer {
  readonly cancelReason: string;
}

/** How far the program says it is. A note with a lower `seq` came late. */
export interface NoteMessage {
  readonly generation: number;
  readonly seq: number;
  /** The signal that it waits for; null where it waits no more. */
  readonly waiting?: string | null;
  readonly announced?: Json;
  /** Signals that were taken since it last said so. */
  readonly took?: readonly string[];
}

/** How a generation ended. */
export interface SettleMessage {
  readonly generation: number;
  readonly took: readonly string[];
  readonly ending:
    | { readonly type: 'end'; readonly end: RunEnd }
    /** The next generation begins with this state. */
    | { readonly type: 'restart'; readonly state: Json };
}

/** What the desk reports of a run, and who runs it while it lives. */
export interface DeskStatus {
  readonly status: RunStatus;
  readonly generation?: number;
  readonly invocationId?: string;
  readonly cancelReason?: string;
}
