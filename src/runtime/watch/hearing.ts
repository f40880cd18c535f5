import { onAbort } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { runOwned, warningOwner } from '../../model/stray-errors.ts';
import type { CodeOwner } from '../../model/stray-errors.ts';

/** A listener that receives things, may take its time over each, and may throw. */
export interface Hearing<Event> {
  /** A promise where the listener wants more time. Never throws: see `settled`. */
  readonly tell: (event: Event) => void | Promise<void>;
  /** Whether the listener is still busy with something. */
  readonly isBehind: () => boolean;
  /** Nothing is in progress, and nothing was thrown: there is nothing to settle. */
  readonly isSettled: () => boolean;
  /** Waits for the listener, and throws what it threw. */
  readonly settled: (bound?: Bound) => Promise<void>;
}

/** How long a listener may take at the end. */
export interface Bound {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly maxMs: number;
}

/** Reports one after the other, and keeps what was thrown until a caller can throw it. */
export function createHearing<Event>(listener: (event: Event) => void | Promise<void>): Hearing<Event> {
  let open: Promise<void> | undefined;
  let unheard = 0;
  let thrown: { readonly error: unknown } | undefined;

  const note = (error: unknown): void => {
    thrown ??= { error };
  };

  // What it leaves to the process is thrown with the rest, and a warning says so where the call has ended already.
  const { onStray } = warningOwner('A listener of a model call');
  const owner: CodeOwner = {
    onStray: (error) => {
      note(error);
      return onStray(error);
    },
  };

  function tell(event: Event): void | Promise<void> {
    // After it has thrown, the listener gets no more events: its state is its own guess.
    if (thrown !== undefined) return undefined;
    try {
      const answer = runOwned(owner, () => listener(event));
      if (!isPromiseLike(answer)) return undefined;
      unheard += 1;
      open = Promise.all([open, answer])
        .then(() => undefined, note)
        .finally(() => {
          unheard -= 1;
        });
      return open;
    } catch (error) {
      return note(error);
    }
  }

  return {
    tell,
    isBehind: () => unheard > 0,
    isSettled: () => unheard === 0 && thrown === undefined,
    settled: async (bound) => {
      if (open !== undefined) await (bound === undefined ? open : within(open, bound));
      if (thrown !== undefined) throw thrown.error;
    },
  };
}

/** A listener that never comes back must not hold the call: it ends at its deadline, and at once when it is cancelled. */
function within(work: Promise<void>, { clock, signal, maxMs }: Bound): Promise<void> {
  return new Promise((resolve) => {
    let stopListening: Cancel = () => undefined;
    const end = (): void => {
      cancelTimer();
      stopListening();
      resolve();
    };
    const cancelTimer = clock.after(maxMs, end);
    stopListening = onAbort(signal, end);
    void work.then(end);
  });
}
