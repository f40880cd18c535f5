import { createAborter, onAbort } from '../base/abort.ts';
import type { Aborter } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Failure } from '../errors/failure.ts';
import { boundOf, createStreamWatch } from '../model/stream-watch.ts';
import type { StreamWatch, TimeoutKind } from '../model/stream-watch.ts';
import type { Timeouts } from '../model/timeouts.ts';
import { cancelledFailure, timeoutFailure } from './http/attempt-failures.ts';
import type { AttemptFacts } from './http/attempt-failures.ts';

/** What ended an attempt from outside: its caller, or one of its timeouts. */
export type End = 'aborted' | TimeoutKind;

/** What became of a wait: the value, what ended it first, or `late` where it took longer than it may. */
export type Waited<Value> =
  | { readonly type: 'value'; readonly value: Value }
  | { readonly type: 'ended'; readonly end: End }
  | { readonly type: 'late' };

/** Ends waits for somebody else's promises, whether they obey the signal or not. */
export interface Ending {
  /** To be handed to the model: aborts when the attempt ends from outside. */
  readonly signal: Aborter['signal'];
  readonly watch: StreamWatch;
  readonly read: () => End | undefined;
  /** Waits for the promise, but not longer than the attempt, nor than `maxMs`. Rejects as the promise does. */
  readonly wait: <Value>(promise: PromiseLike<Value>, maxMs?: number) => Promise<Waited<Value>>;
  /** Aborts the signal for what still runs after the attempt has ended by itself. */
  readonly abandon: () => void;
  /** Leaves neither timer nor listener behind. */
  readonly stop: () => void;
}

interface EndingOptions {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** Starts to watch an attempt. Waits are made one after the other, never two at once. */
export function startEnding({ timeouts, clock, signal }: EndingOptions): Ending {
  const controller = createAborter();
  let end: End | undefined;
  let onEnd: (() => void) | undefined;
  const finish = (reason: End): void => {
    if (end !== undefined) return;
    end = reason;
    watch.stop();
    // The wait ends first: what a listener of the signal throws or rejects with is late by then.
    onEnd?.();
    // Packages and middleware know a stop by the name of its reason.
    controller.abort(
      signal?.aborted ? signal.reason : new DOMException(`Timed out: ${reason}`, 'TimeoutError'),
    );
  };
  const watch = createStreamWatch(timeouts, { clock, onExpired: finish });
  const stopListening = onAbort(signal, () => finish('aborted'));

  function wait<Value>(promise: PromiseLike<Value>, maxMs?: number): Promise<Waited<Value>> {
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        onEnd = undefined;
        cancelTimer?.();
        settled();
      };
      const tellEnd = (): void => settle(() => resolve({ type: 'ended', end: end ?? 'aborted' }));
      const cancelTimer =
        maxMs === undefined ? undefined : clock.after(maxMs, () => settle(() => resolve({ type: 'late' })));
      onEnd = tellEnd;
      // What comes after the end is heard and dropped here, so that it is never an unhandled rejection.
      promise.then(
        (value) => onEnd === tellEnd && settle(() => resolve({ type: 'value', value })),
        (error: unknown) => onEnd === tellEnd && settle(() => reject(error)),
      );
      if (end !== undefined) tellEnd();
    });
  }

  return {
    signal: controller.signal,
    watch,
    read: () => end,
    wait,
    abandon: () => controller.abort(new DOMException('The answer is not read any further', 'AbortError')),
    stop: () => {
      watch.stop();
      stopListening();
    },
  };
}

interface EndedBy {
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal | undefined;
}

/** The failure of an attempt that was ended from outside. */
export function endFailure(end: End, facts: AttemptFacts, { timeouts, signal }: EndedBy): Failure {
  if (end === 'aborted') return cancelledFailure(facts, signal?.reason);
  return timeoutFailure(facts, end, boundOf(timeouts, end));
}
