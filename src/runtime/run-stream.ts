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
        endWaiting(held);
        return Promise.resolve(over);
      },
    }),
  };
}

interface Held {
  readonly events: RunEvent[];
  isOver: boolean;
  /** Readers for whom there is no event yet. While there is one, nothing is queued. */
  readonly waiting: ((result: Result) => void)[];
}

type Result = IteratorResult<RunEvent, undefined>;

const over: Result = { done: true, value: undefined };

// Text that is read late is joined into pieces of at most this size.
const maxJoinedCharacters = 65_536;
// From here on events wait for a reader.
const minQueued = 64;

function hear(held: Held, event: RunEvent): void {
  if (held.isOver) return;
  const give = held.waiting.shift();
  if (give === undefined) queue(held.events, event);
  else give({ done: false, value: event });
  if (event.type !== 'run-finished') return;
  held.isOver = true;
  endWaiting(held);
}

/** Nothing more will come. */
function endWaiting({ waiting }: Held): void {
  for (const give of waiting.splice(0)) give(over);
}

function queue(events: RunEvent[], event: RunEvent): void {
  const joined = events.length < minQueued ? undefined : join(events.at(-1), event);
  if (joined === undefined) events.push(event);
  else events[events.length - 1] = joined;
}

/** Two pieces of the same text as one, or nothing. */
function join(last: RunEvent | undefined, event: RunEvent): RunEvent | undefined {
  if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') return undefined;
  if (last?.type !== event.type || last.turn !== event.turn) return undefined;
  return last.text.length < maxJoinedCharacters ? { ...last, text: last.text + event.text } : undefined;
}

/** One promise for each event, for there may be very many. Whoever waits is told at the end of the run at the latest. */
function next(held: Held): Promise<Result> {
  const event = held.events.shift();
  if (event !== undefined) return Promise.resolve({ done: false, value: event });
  if (held.isOver) return Promise.resolve(over);
  return new Promise((resolve) => {
    held.waiting.push(resolve);
  });
}
