import { randomUUID } from 'node:crypto';
import { assert } from './assert.ts';
import type { Cancel, Clock, Random } from './clock.ts';
import { createCoarseTimers } from './coarse-timers.ts';

// Node fires a timer of more than 31 bits after one millisecond; longer waits are made of several.
const maxTimerMs = 2 ** 31 - 1;
// From here on a tenth of a second more or less is nothing, and most such timers are timeouts that never fire.
const minCoarseMs = 5000;

/** The machine's own time. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, callback) => {
    assert(Number.isFinite(delayMs), `A timer needs a finite delay, got ${delayMs}`);
    if (delayMs >= minCoarseMs && delayMs <= maxTimerMs) return coarseTimers.after(delayMs, callback);
    return startTimer(delayMs, callback);
  },
};

/** The machine's own randomness. Not for secrets. */
export const systemRandom: Random = () => Math.random();

/** A name that nobody else has. */
export const systemId = (): string => randomUUID();

const coarseTimers = createCoarseTimers({
  nowMs: () => performance.now(),
  startTicking: (everyMs, tick) => setInterval(tick, everyMs),
  stopTicking: (ticking) => clearInterval(ticking),
});

function startTimer(delayMs: number, callback: () => void): Cancel {
  const dueMs = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const leftMs = dueMs - performance.now();
    timer =
      leftMs > maxTimerMs
        ? setTimeout(arm, maxTimerMs)
        : setTimeout(callback, Math.max(0, Math.ceil(leftMs)));
  };
  arm();
  return () => clearTimeout(timer);
}
