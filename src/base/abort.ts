import type { Cancel, Clock } from './clock.ts';

/** What an attempt to wait came to. An interruption is somebody's wish, so it is told and not thrown. */
export type WaitResult = 'elapsed' | 'aborted';

/** Waits, unless and until the signal says otherwise. Leaves neither timer nor listener behind. */
export function wait(
  delayMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<WaitResult> {
  if (signal?.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const cancelTimer = clock.after(delayMs, () => {
      stopListening();
      resolve('elapsed');
    });
    const stopListening = onAbort(signal, () => {
      cancelTimer();
      resolve('aborted');
    });
  });
}

// Node 20 and 22 warn of a leak from the eleventh listener on, and hundreds of calls may share a signal: so it has one of ours.
const listened = new WeakMap<AbortSignal, Listened>();

interface Listened {
  readonly listeners: Set<() => void>;
  readonly tell: () => void;
}

/** Calls `listener` once when the signal aborts, at once if it has; returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Cancel {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const { listeners, tell } = listened.get(signal) ?? listenTo(signal);
  const own = (): void => listener(); // Two who hand in the same function are two.
  listeners.add(own);
  return () => {
    if (!listeners.delete(own) || listeners.size > 0) return;
    listened.delete(signal);
    signal.removeEventListener('abort', tell);
  };
}

function listenTo(signal: AbortSignal): Listened {
  const listeners = new Set<() => void>();
  const tell = (): void => {
    listened.delete(signal);
    // Whoever is called off meanwhile is taken out of the set before his turn.
    for (const listener of listeners) {
      listeners.delete(listener);
      listener();
    }
  };
  const entry = { listeners, tell };
  listened.set(signal, entry);
  signal.addEventListener('abort', tell, { once: true });
  return entry;
}
