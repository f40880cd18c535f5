import { onAbort } from '../../base/abort.ts';
import { assert } from '../../base/assert.ts';

/** Gives a slot back; further calls do nothing. */
export type Leave = () => void;

/** A number of places that are taken in the order of asking. */
export interface Slots {
  /** A place at once where one is free, else when one is. Rejects with the signal's reason when it aborts first. */
  readonly enter: (options: { readonly signal: AbortSignal }) => Promise<Leave> | Leave;
}

/** Lets at most `max` work at the same time. Who waits is as many as the caller asks for, and served in order. */
export function createSlots(max: number): Slots {
  assert(Number.isInteger(max) && max > 0, `Slots need a whole number from 1 on, got ${max}`);
  const held: Held = { free: max, waiting: new Set() };
  return {
    enter: ({ signal }) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      return held.free > 0 ? take(held) : queue(held, signal);
    },
  };
}

interface Held {
  free: number;
  /** In the order of asking. */
  readonly waiting: Set<() => void>;
}

function take(held: Held): Leave {
  held.free -= 1;
  let isGone = false;
  return () => {
    if (isGone) return;
    isGone = true;
    held.free += 1;
    const [next] = held.waiting;
    next?.();
  };
}

function queue(held: Held, signal: AbortSignal): Promise<Leave> {
  return new Promise((resolve, reject) => {
    const admit = (): void => {
      held.waiting.delete(admit);
      stopListening();
      resolve(take(held));
    };
    held.waiting.add(admit);
    const stopListening = onAbort(signal, () => {
      held.waiting.delete(admit);
      reject(signal.reason);
    });
  });
}
