import type { RunEvent } from '../agent/run-event.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import type { Watcher } from './live-run.ts';

/** A run as it happens. To stop reading is to stop the run; `outcome` is there in any case. */
export interface RunStream<Output = unknown> extends AsyncIterable<RunEvent<Output>> {
  readonly runId: string;
  readonly outcome: Promise<RunOutcome<Output>>;
}

/** What collects events until somebody reads them. */
export interface EventQueue {
  readonly watcher: Watcher;
  readonly iterate: (onAbandoned: () => void) => AsyncIterator<RunEvent>;
}

/**
 * Keeps events for a reader who comes later or reads slowly. Text that nobody has read yet is put together, so that the queue
 * grows with what happened and not with the number of its pieces.
 */
export function createEventQueue(): EventQueue {
  const held: Held = { events: [], isOver: false, waiting: [] };
  return {
    watcher: { hear: (event) => hear(held, event), wantsDeltas: true },
    iterate: (onAbandoned) => ({
      next: () => next(held),
      return: () => {
        if (!held.isOver) onAbandoned();
        held.isOver = true;
        held.events.length = 0;
        wake(held);
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}

interface Held {
  readonly events: RunEvent[];
  isOver: boolean;
  /** Readers for whom there is no event yet. */
  readonly waiting: (() => void)[];
}

// Text that is read late is joined into pieces of at most this size.
const maxJoinedCharacters = 65_536;
// From here on events wait for a reader.
const minQueued = 64;

function hear(held: Held, event: RunEvent): void {
  if (held.isOver) return;
  const joined = held.events.length < minQueued ? undefined : join(held.events.at(-1), event);
  if (joined === undefined) held.events.push(event);
  else held.events[held.events.length - 1] = joined;
  if (event.type === 'run-finished') held.isOver = true;
  wake(held);
}

/** All of them look again: who finds nothing waits on. */
function wake({ waiting }: Held): void {
  for (const look of waiting.splice(0)) look();
}

/** Two pieces of the same text as one, or nothing. */
function join(last: RunEvent | undefined, event: RunEvent): RunEvent | undefined {
  if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') return undefined;
  if (last?.type !== event.type || last.turn !== event.turn) return undefined;
  return last.text.length < maxJoinedCharacters ? { ...last, text: last.text + event.text } : undefined;
}

async function next(held: Held): Promise<IteratorResult<RunEvent, undefined>> {
  for (;;) {
    // Ends with the run: its last event wakes the reader.
    const event = held.events.shift();
    if (event !== undefined) return { done: false, value: event };
    if (held.isOver) return { done: true, value: undefined };
    await new Promise<void>((resolve) => {
      held.waiting.push(resolve);
    });
  }
}
