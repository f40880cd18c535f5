import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system.ts';

/**
 * The machine's time, so many times as fast from `anchorMs` on, the same in all processes that name the same anchor. What
 * waits for minutes, such as a check that must outlive the deadline of a call, then waits for seconds, and nothing is left out.
 */
export function quickClock({
  anchorMs,
  speed,
}: {
  readonly anchorMs: number;
  readonly speed: number;
}): Clock {
  return {
    wallMs: () => anchorMs + (systemClock.wallMs() - anchorMs) * speed,
    monotonicMs: () => systemClock.monotonicMs() * speed,
    after: (delayMs, callback) => systemClock.after(delayMs / speed, callback),
  };
}
