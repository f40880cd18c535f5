import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Begun } from '../run/held-runs.ts';
import type { Watcher } from '../run/live-run.ts';
import { addEvent, createBacklog, takeEvent } from './event-backlog.ts';
import type { Backlog } from './event-backlog.ts';
import { withWholeText } from './so-far.ts';

/**
 * A run as it happens. To stop reading the stream that began a run is to stop the run, unless another caller waits for it; to stop
 * reading one that joined it is not. `outcome` is there in any case.
 */
export interface RunStream<Output = unknown> extends AsyncIterable<RunEvent<Output>> {
  readonly runId: string;
  readonly outcome: Promise<RunOutcome<Output>>;
}

/** What collects events until a caller reads them. */
export interface EventQueue {
  readonly watcher: Watcher;
  readonly iterate: (onAbandoned: () => void) => AsyncIterator<RunEvent>;
  /** Nothing more will come; the reader is informed why. */
  readonly fail: (error: unknown) => void;
}

/** A caller's side of a run as a stream. */
export function streamOf(queue: EventQueue, { runId, outcome, leave }: Begun): RunStream {
  // The events show their reader that the caller has left; it need not ask for the outcome as well.
  outcome.catch(queue.fail);
  return { runId, outcome, [Symbol.asyncIterator]: () => queue.iterate(leave) };
}

/** Keeps events for a reader who comes later or reads slowly, within bounds. */
export function createEventQueue(): EventQueue {
  const held: Held = { backlog: createBacklog(), isOver: false, failed: undefined, waiting: [] };
  return {
    watcher: {
      hear: withWholeText((event) => hear(held, event)),
      wantsDeltas: true,
      endsWithRun: true,
    },
    iterate: (onAbandoned) => ({
      next: () => next(held),
      return: () => {
        if (!held.isOver) onAbandoned();
        held.isOver = true;
        held.failed = undefined;
        held.backlog = createBacklog();
        endWaiting(held);
        return Promise.resolve(over);
      },
    }),
    fail: (error) => {
      if (held.isOver) return;
      held.isOver = true;
      const [first] = held.waiting.splice(0, 1);
      if (first === undefined) held.failed = { error };
      else first.reject(error);
      endWaiting(held);
    },
  };
}

interface Held {
  backlog: Backlog;
  isOver: boolean;
  /** Given to the reader once, after what came before it. */
  failed: { readonly error: unknown } | undefined;
  /** Readers for whom there is no event yet. While there is one, nothing is queued. */
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly give: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

type Result = IteratorResult<RunEvent, undefined>;

const over: Result = { done: true, value: undefined };

function hear(held: Held, event: RunEvent): void {
  if (held.isOver) return;
  const first = held.waiting.shift();
  if (first === undefined) addEvent(held.backlog, event);
  else first.give({ done: false, value: event });
  if (event.type !== 'run-finished') return;
  held.isOver = true;
  endWaiting(held);
}

/** Nothing more will come. */
function endWaiting({ waiting }: Held): void {
  for (const { give } of waiting.splice(0)) give(over);
}

/** One promise for each event, for there may be very many. A caller that waits learns it at the end of the run at the latest. */
function next(held: Held): Promise<Result> {
  const event = takeEvent(held.backlog);
  if (event !== undefined) return Promise.resolve({ done: false, value: event });
  const { failed } = held;
  held.failed = undefined;
  if (failed !== undefined) return Promise.reject(failed.error);
  if (held.isOver) return Promise.resolve(over);
  return new Promise((give, reject) => {
    held.waiting.push({ give, reject });
  });
}
