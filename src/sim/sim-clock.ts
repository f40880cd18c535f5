import { setImmediate } from 'node:timers/promises';
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
  const settle = (): Promise<void> => setImmediate();
  return {
    wallMs: () => startWallMs + timers.nowMs(),
    monotonicMs: timers.nowMs,
    after: (delayMs, callback) => timers.add(Math.max(0, delayMs), callback),
    settle,
    runUntil: async (isDone, maxMs) => {
      const endMs = timers.nowMs() + maxMs;
      // Bounded by the time: every timer is due at some moment, and those that set themselves again have a delay.
      while (true) {
        await settle();
        if (isDone()) return 'done';
        if (timers.size() === 0) return 'stuck';
        if (timers.nextMs() > endMs) {
          timers.moveTo(endMs);
          return 'late';
        }
        timers.fireNext();
      }
    },
  };
}
