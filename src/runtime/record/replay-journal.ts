import type { Json } from '../../base/json.ts';
import type { JournalEntry, RunEnd } from './journal.ts';
import { cancelledError } from './durable-errors.ts';
import { cancelGeneration, closeGeneration, createGeneration } from './memory-generation.ts';
import { createInbox } from './memory-inbox.ts';
import { judge, perform } from './memory-run.ts';
import type { Carrier } from './memory-run.ts';

/** A journal with what it was recorded from. A `RunSnapshot` is one. */
export interface Recording {
  readonly runId: string;
  readonly generation: number;
  readonly input: Json;
  readonly journal: readonly JournalEntry[];
  /** It was cancelled where the journal ends. */
  readonly cancelReason?: string;
}

/** What a program comes to by its journal alone. */
export type Replayed =
  | RunEnd
  /** It asks for something at this position that the journal does not hold. */
  | { readonly type: 'open'; readonly position: number }
  | { readonly type: 'restarted'; readonly state: Json };

/** Runs a program against a journal, wherever it was recorded: nothing is performed and no time passes. */
export function replayJournal(
  { program, host }: Pick<Carrier, 'program' | 'host'>,
  { runId, generation: number, input, journal, cancelReason }: Recording,
): Promise<Replayed> {
  const alone = { ...host, recorder: undefined };
  const generation = createGeneration(
    alone,
    { runId, number, isTakenUp: true, inbox: createInbox(0) },
    journal,
  );
  return new Promise((resolve) => {
    if (cancelReason === undefined)
      closeGeneration(generation, (position) => resolve({ type: 'open', position }));
    else cancelGeneration(generation, cancelledError(runId, cancelReason));
    void perform(program, generation, input).then((settled) => {
      const end = judge(generation, settled);
      if (end !== 'restart' && end !== 'let-go') return resolve(end);
      const { stop } = generation;
      return resolve({ type: 'restarted', state: stop?.type === 'restart' ? stop.state : null });
    });
  });
}
