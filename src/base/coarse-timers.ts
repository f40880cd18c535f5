import type { Cancel } from './clock.ts';

/** Something that ticks, and can be told whether it alone should keep the process alive. */
interface Ticking {
  readonly ref: () => unknown;
  readonly unref: () => unknown;
}

interface Deps<Ticker extends Ticking> {
  readonly nowMs: () => number;
  readonly startTicking: (everyMs: number, tick: () => void) => Ticker;
  readonly stopTicking: (ticking: Ticker) => void;
}

interface Entry {
  readonly dueMs: number;
  /** Absent when nobody waits any more. */
  callback: (() => void) | undefined;
}

const tickMs = 100;
// A program that calls a model every now and then should not start and stop the ticking each time.
const maxIdleTicks = 10;

/**
 * Timers that share one ticking: never early, and late by a tick at most. To set one and call it off again, which is what
 * happens to nearly every timeout, costs a tenth of a timer of the platform's own.
 */
export function createCoarseTimers<Ticker extends Ticking>(
  deps: Deps<Ticker>,
): { readonly after: (delayMs: number, callback: () => void) => Cancel } {
  const entries = new Set<Entry>();
  let ticking: Ticker | undefined;
  let idleTicks = 0;

  function tick(): void {
    idleTicks = entries.size === 0 ? idleTicks + 1 : 0;
    if (idleTicks > maxIdleTicks && ticking !== undefined) {
      deps.stopTicking(ticking);
      ticking = undefined;
      return;
    }
    const nowMs = deps.nowMs();
    for (const entry of entries) {
      if (entry.dueMs > nowMs) continue;
      const { callback } = entry;
      remove(entry);
      callback?.();
    }
  }

  /** Nobody waits any more: the ticking must not keep the process alive. */
  function remove(entry: Entry): void {
    // A set that lives long leaves old tables behind, which keep what was in them until a full collection.
    entry.callback = undefined;
    if (entries.delete(entry) && entries.size === 0) ticking?.unref();
  }

  return {
    after: (delayMs, callback) => {
      const entry: Entry = { dueMs: deps.nowMs() + delayMs, callback };
      entries.add(entry);
      ticking ??= deps.startTicking(tickMs, tick);
      if (entries.size === 1) ticking.ref();
      return () => remove(entry);
    },
  };
}
