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

const ownerOf = Symbol('rerail.aborter');

interface OwnSignal extends AbortSignal {
  [ownerOf]?: Aborter;
}

/** A controller for what a run does at every step. */
export interface Aborter {
  /** The same one every time. */
  readonly signal: () => AbortSignal;
  /** Once: what is aborted stays so, for its first reason. */
  readonly abort: (reason?: unknown) => void;
  /** Calls `listener` once, at once where it has aborted; returns how to stop listening. */
  readonly listen: (listener: () => void) => Cancel;
}

/**
 * Nothing has aborted yet. A signal of the platform costs more than a step of a run, and on Node 20 it lives until a full collection,
 * with all that listens to it: so it is made only where somebody asks for it, and who listens is kept here.
 */
export function createAborter(): Aborter {
  let controller: AbortController | undefined;
  let listeners: Set<() => void> | undefined;
  let aborted: { readonly reason: unknown } | undefined;
  const aborter: Aborter = {
    signal: () => {
      if (controller === undefined) {
        controller = new AbortController();
        const made: OwnSignal = controller.signal;
        made[ownerOf] = aborter;
        if (aborted !== undefined) controller.abort(aborted.reason);
      }
      return controller.signal;
    },
    abort: (reason = new DOMException('This operation was aborted', 'AbortError')) => {
      if (aborted !== undefined) return;
      aborted = { reason };
      controller?.abort(reason);
      if (listeners !== undefined) tellAll(listeners);
    },
    listen: (listener) => {
      if (aborted !== undefined) {
        listener();
        return nothing;
      }
      const own = (): void => listener(); // Two who hand in the same function are two.
      const known = (listeners ??= new Set());
      known.add(own);
      return () => void known.delete(own);
    },
  };
  return aborter;
}

function nothing(): void {}

/** Whoever is called off meanwhile is taken out of the set before his turn. */
function tellAll(listeners: Set<() => void>): void {
  for (const listener of listeners) {
    listeners.delete(listener);
    listener();
  }
}

/** Calls `listener` once when the signal aborts, at once if it has; returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Cancel {
  if (signal === undefined) return nothing;
  const owner = (signal as OwnSignal)[ownerOf];
  if (owner !== undefined) return owner.listen(listener);
  if (signal.aborted) {
    listener();
    return nothing;
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
    tellAll(listeners);
  };
  const entry = { listeners, tell };
  listened.set(signal, entry);
  signal.addEventListener('abort', tell, { once: true });
  return entry;
}
