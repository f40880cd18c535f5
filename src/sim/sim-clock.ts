import type { Clock } from '../base/clock.ts';
import { createTimers } from '../testing/timers.ts';

/** A simulated clock that moves as fast as the code under it allows: nothing there waits for sockets or files. */
export interface SimClock extends Clock {
  /** Lets everything run that waits for nothing but promises. */
  readonly settle: () => Promise<void>;
  /** Moves from timer to timer until `isDone`, or until nothing is left, or the time is over. */
  readonly runUntil: (isDone: () => boolean, maxMs: number) => Promise<'done' | 'stuck' | 'late'>;
}

/** Starts on 1 January 2026. */
export function createSimClock(): SimClock {
  const timers = createTimers();
  const startWallMs = Date.UTC(2026, 0, 1);
  return {
    wallMs: () => startWallMs + timers.nowMs(),
    monotonicMs: timers.nowMs,
    after: (delayMs, callback) => timers.add(Math.max(0, delayMs), callback),
    settle: () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
    runUntil: (isDone, maxMs) =>
      new Promise((resolve) => {
        const endMs = timers.nowMs() + maxMs;
        // One turn of the event loop settles every chain of promises. Bounded by the time: every timer is due at some moment.
        const step = (): void => {
          if (isDone()) return resolve('done');
          if (timers.size() === 0) return resolve('stuck');
          if (timers.nextMs() > endMs) {
            timers.moveTo(endMs);
            return resolve('late');
          }
          timers.fireNext();
          setImmediate(step);
          return undefined;
        };
        setImmediate(step);
      }),
  };
}
