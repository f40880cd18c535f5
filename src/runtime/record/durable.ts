import type { Provenance } from '../../agent/approval/provenance.ts';
import type { Clock } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RunSnapshot } from './journal.ts';

/**
 * What a run needs to be run by an engine: deterministic code against four verbs.
 *
 * - Only names and JSON cross it. Clock, randomness and ids are effects.
 * - Failures cross as values. Only control errors (cancelled, changed program, restart) leave a verb as exceptions.
 * - Retry is above it: each attempt is its own call.
 * - A call's identity is run, generation and position; the position is taken synchronously, so parallel calls are joined in
 *   the order in which they were made.
 */
export interface Durable {
  readonly runId: string;
  readonly generation: number;
  /** Nothing outlives the process, so there is nothing that an intent could protect from. */
  readonly isVolatile?: boolean;
  /** The run is carried elsewhere, and this program only comes after it: it must decide nothing by what it knows besides the verbs. */
  readonly isCopy?: boolean;
  /** Performs an effect once and remembers its outcome. Never rejects for an effect's failure. */
  readonly call: (effect: string, input: Json, options?: DurableCallOptions) => Promise<Outcome>;
  readonly sleep: (delayMs: number) => Promise<void>;
  /** Waits for an outside caller. Signals that came before are kept, each is delivered once. */
  readonly waitFor: (signal: string, options?: WaitOptions) => Promise<Signalled>;
  /** Begins a new journal with this state, for the same run: the next generation. */
  readonly restart: (state: Json) => never;
  /**
   * Says what the run has come to so far, for callers of `status` from outside: the latest counts. It is no step. An engine
   * whose runs are carried in other processes than the one that asks must have it.
   */
  readonly announce?: (value: Json) => void | Promise<void>;
  /** Settles when everything that has happened is on record: whatever is reported outside waits for it. Absent where it is. */
  readonly behind?: () => Promise<void> | undefined;
  /** Whether the next verb was answered in a previous process of the run, so that whatever follows from it was reported before. */
  readonly isReplaying?: () => boolean;
  /** Where the record that the run continues from came from, if it was handed to this engine. */
  readonly provenance?: Provenance;
  /** What was recorded where the next verb will stand. A program that has changed since asks it what it did there. */
  readonly upcoming?: () => RecordedVerb | undefined;
}

/** A verb on record, as far as a program may want to know. */
export interface RecordedVerb {
  readonly type: 'call' | 'sleep' | 'wait';
  readonly effect?: string;
  readonly input?: Json;
}

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** Notified once it really waits: nothing has come yet. An engine that does not know calls it always, before it waits. */
  readonly onWaiting?: () => void;
}

export interface DurableCallOptions {
  /** At most so long, by the engine's own watch; an effect has its own deadline besides. */
  readonly timeoutMs?: number;
  /**
   * To do it again is harmless, so it may begin before what led to it is on record: a crash then loses both. An engine that has
   * everything on record before it continues need not look at it.
   */
  readonly isHarmless?: boolean;
  /**
   * The program may continue from its outcome before that is on record: whatever comes next waits for it unless that is harmless, and
   * so does the end. Likewise for engines that can.
   */
  readonly mayLag?: boolean;
  /**
   * Its effect reads no signals: `pending` may lack what has come since an effect last read any. A cancellation reaches it all the
   * same. A replay must make the call with the same word. Likewise for engines to which it makes a difference.
   */
  readonly isDeaf?: boolean;
}

/** A call of an effect that reads no signals. */
export const deaf: DurableCallOptions = { isDeaf: true };

/** What came of an effect. */
export type Outcome =
  { readonly type: 'done'; readonly value: Json } | { readonly type: 'failed'; readonly failure: Failure };

/** What came of waiting. */
export type Signalled =
  | { readonly type: 'signalled'; readonly id: string; readonly payload: Json }
  | { readonly type: 'timed-out' };

/** The five verbs of the process that hosts runs. */
export interface Engine {
  /**
   * Begins a run, or its next generation. Idempotent by run id and generation: a generation that has begun, or has ended, is never
   * begun again, whatever the input is, however many callers ask at the same time and from whichever process.
   */
  readonly start: (input: Json, options: StartOptions) => Promise<Started>;
  /** Delivered once per `id`, also while no caller waits. */
  readonly signal: (runId: string, name: string, message: SignalMessage) => Promise<void>;
  readonly cancel: (runId: string, reason: string) => Promise<void>;
  readonly status: (runId: string) => Promise<RunStatus>;
  /**
   * What is on record of a run, in the port's own form: its latest generation, with which any engine can continue. Of a run that has
   * ended it holds the end. Resolves to nothing where the run is unknown.
   */
  readonly journal?: (runId: string) => Promise<RunSnapshot | undefined>;
  readonly close: () => Promise<void>;
}

export interface StartOptions {
  readonly runId: string;
  /** Of the program. */
  readonly version: string;
  /** The generation that has ended, by its status: the one after it begins. 0, the default, begins a run that is unknown. */
  readonly after?: number;
}

/** Whether this very call began it. Where an engine cannot tell, it says `begun`. */
export type Started = 'begun' | 'known';

export interface SignalMessage {
  readonly id: string;
  readonly payload: Json;
}

export type RunStatus =
  | { readonly type: 'unknown' }
  | { readonly type: 'running'; readonly announced?: Json }
  /** At a `waitFor`. */
  | { readonly type: 'waiting'; readonly signal: string; readonly announced?: Json }
  /** By its number the generation that follows is begun: see `StartOptions`. */
  | { readonly type: 'ended'; readonly result: Json; readonly generation: number }
  /** The program itself is broken: a defect, or it no longer fits its journal. */
  | { readonly type: 'broken'; readonly failure: Failure };

/** What an engine is made for: one program, with what it does to the world. */
export interface EngineSetup {
  /** Of the agent: 1 to 64 letters, digits, `_` and `-`, and `/` between the names of agents above. Unique per backend. */
  readonly name: string;
  readonly program: DurableProgram;
  readonly effects: Readonly<Record<string, Effect>>;
  /** Of the program. A start that names another one is refused. */
  readonly version: string;
  readonly clock: Clock;
  /**
   * What the program asks of the agent besides its effects, as JSON: for an engine that runs it where no function can be taken
   * along. Absent where there is no agent.
   */
  readonly facts?: () => Json;
}

/** Makes the engine of an agent: what `restate()`, `dbos()` and `temporal()` give for the option `engine`. */
export type CreateEngine = (setup: EngineSetup) => Engine | Promise<Engine>;

/** A program that an engine runs: deterministic, given the outcomes of its effects. */
export type DurableProgram = (durable: Durable, input: Json) => Promise<Json>;

/** Something that touches the world. Whatever it throws becomes a failure. */
export type Effect = (input: Json, context: EffectContext) => Promise<EffectEnd> | EffectEnd;

export type EffectEnd = Outcome & {
  /** Signals that this effect has taken in: they are gone as soon as its outcome is remembered. */
  readonly took?: readonly string[];
};

export interface EffectContext {
  readonly runId: string;
  readonly position: number;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Signals of this name that are not taken yet, the oldest first. */
  readonly pending: (name: string) => readonly SignalMessage[];
}
