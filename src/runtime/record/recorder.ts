import type { Json } from '../../base/json.ts';
import type { JournalEntry, NamedSignal, RunEnd } from './journal.ts';

/**
 * Writes down what happens to runs, before it is acted on. What rejects was not written: the engine then releases the run,
 * which can be resumed from what is on record.
 */
export interface Recorder {
  /** A generation is about to begin: the first, the next, or one after an end. */
  readonly begin: (run: BeginningRun) => Promise<void>;
  readonly keep: (runId: string, entry: JournalEntry) => Promise<void>;
  /**
   * Whether what is kept later is on record only where all that was kept before is. Then a program need not stop at every entry,
   * but only before it does what must not happen without a trace.
   */
  readonly isInOrder?: boolean;
  readonly cancel: (runId: string, reason: string) => Promise<void>;
  readonly end: (runId: string, end: RunEnd) => Promise<void>;
  readonly signal: (runId: string, signal: NamedSignal) => Promise<'added' | 'duplicate' | 'full'>;
}

export interface BeginningRun {
  readonly runId: string;
  readonly version: string;
  readonly generation: number;
  readonly input: Json;
  /** A caller has asked for its end already. */
  readonly cancelReason?: string;
}
