import type { Cancel } from '../base/clock.ts';

/** Timers on a time line of their own, which moves only by being told to. */
export interface Timers {
  readonly nowMs: () => number;
  readonly add: (delayMs: number, callback: () => void) => Cancel;
  /** When the next one is due; infinite where none is waiting. */
  readonly nextMs: () => number;
  /** Moves to the next one and fires it. */
  readonly fireNext: () => void;
  /** Moves on without firing anything. Never moves back. */
  readonly moveTo: (timeMs: number) => void;
  readonly size: () => number;
}

interface Timer {
  readonly dueMs: number;
  /** Those of the same time fire in the order in which they were set. */
  readonly order: number;
  readonly callback: () => void;
}

/** A time line at 0 without timers. */
export function createTimers(): Timers {
  // Last first, so that the next one is taken from the end without moving the others.
  const sorted: Timer[] = [];
  let nowMs = 0;
  let lastOrder = 0;

  function remove(timer: Timer): void {
    const place = placeOf(timer, sorted);
    if (sorted[place] === timer) sorted.splice(place, 1);
  }

  return {
    nowMs: () => nowMs,
    add: (delayMs, callback) => {
      lastOrder += 1;
      const timer: Timer = { dueMs: nowMs + delayMs, order: lastOrder, callback };
      sorted.splice(placeOf(timer, sorted), 0, timer);
      return () => remove(timer);
    },
    nextMs: () => sorted.at(-1)?.dueMs ?? Infinity,
    fireNext: () => {
      const timer = sorted.pop();
      if (timer === undefined) return;
      nowMs = Math.max(nowMs, timer.dueMs);
      timer.callback();
    },
    moveTo: (timeMs) => {
      nowMs = Math.max(nowMs, timeMs);
    },
    size: () => sorted.length,
  };
}

/** Where the timer stands, or would stand. */
function placeOf({ dueMs, order }: Timer, sorted: readonly Timer[]): number {
  let low = 0;
  let high = sorted.length;
  // Bounded: the span halves.
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle];
    const isLater =
      other !== undefined && (other.dueMs > dueMs || (other.dueMs === dueMs && other.order > order));
    if (isLater) low = middle + 1;
    else high = middle;
  }
  return low;
}
