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

/** Calls `listener` once when the signal aborts, at once if it has; returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Cancel {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
