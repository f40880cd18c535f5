import { onAbort } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import type { HookContext, ObserverHook } from '../../agent/hooks/hook.ts';
import type { CodeOwner } from '../../model/stray-errors.ts';
import { callHook } from '../hooks/hook-call.ts';
import type { HookCallEnd } from '../hooks/hook-call.ts';

/** Something an observer receives. */
export interface Telling {
  readonly handle: (context: HookContext) => unknown;
  /** At which it is reported, or `event`. */
  readonly point: string;
  /** Answers for the errors that it leaves to the process. */
  readonly owner: CodeOwner;
  /** Receives how it ended. Must not throw. */
  readonly onEnd: (end: HookCallEnd) => void;
}

/** Informs observers without ever waiting for them. */
export interface Observers {
  /** At once where the observer is free, else in its turn; dropped where too much is waiting already. */
  readonly tell: (hook: ObserverHook, telling: Telling) => void;
  /** Dropped for lack of room, over all observers. */
  readonly dropped: () => number;
  /**
   * A run has ended: an observer that is still busy gets a moment during which the process stays alive. One that hangs is reported once
   * and left behind, so that it does not keep the process.
   */
  readonly endRun: (onLeftBehind: OnLeftBehind) => void;
  /** Waits until every observer is done, but no longer than `maxMs`. */
  readonly drain: (options: {
    readonly maxMs: number;
    readonly signal?: AbortSignal | undefined;
  }) => Promise<void>;
}

/** Notified of an observer that hangs, and at which point. */
type OnLeftBehind = (hook: ObserverHook, point: string) => void;

export interface ObserversOptions {
  readonly clock: Clock;
  readonly defaultTimeoutMs: number;
}

/** How long the process stays alive for observers after a run. */
const maxAfterRunMs = 800;

/** A slow observer of a fast stream: enough for a burst, and small beside a conversation. */
export const maxQueuedTellings = 1000;

/** Each observer receives one thing after the other, in order; a slow one holds up no other. */
export function createObservers({ clock, defaultTimeoutMs }: ObserversOptions): Observers {
  const held: Held = {
    clock,
    defaultTimeoutMs,
    lines: new Map(),
    waiters: new Set(),
    dropped: 0,
    busy: 0,
    isEnding: false,
  };
  return {
    tell: (hook, telling) => tell(held, lineOf(held, hook), telling),
    dropped: () => held.dropped,
    endRun: (onLeftBehind) => endRun(held, onLeftBehind),
    drain: (options) => drain(held, options),
  };
}

interface Held extends ObserversOptions {
  readonly lines: Map<ObserverHook, Line>;
  readonly waiters: Set<() => void>;
  dropped: number;
  /** How many observers are at something. */
  busy: number;
  /** The moment after a run has begun. */
  isEnding: boolean;
}

/** What waits for one observer. */
interface Line {
  readonly queue: Telling[];
  readonly timeoutMs: number;
  isBusy: boolean;
  /** Things delivered so far. */
  told: number;
  /** Of what it receives now. */
  point: string;
  isReported: boolean;
}

function lineOf(held: Held, hook: ObserverHook): Line {
  const known = held.lines.get(hook);
  if (known !== undefined) return known;
  const line: Line = {
    queue: [],
    timeoutMs: hook.timeoutMs ?? held.defaultTimeoutMs,
    isBusy: false,
    told: 0,
    point: '',
    isReported: false,
  };
  held.lines.set(hook, line);
  return line;
}

function tell(held: Held, line: Line, telling: Telling): void {
  if (line.queue.length >= maxQueuedTellings) {
    held.dropped += 1;
    return;
  }
  line.queue.push(telling);
  if (line.isBusy) return;
  line.isBusy = true;
  held.busy += 1;
  goOn(held, line);
}

/** Delivers what waits until the observer takes its time over something, or nothing is left. */
function goOn(held: Held, line: Line): void {
  for (let telling = line.queue.shift(); telling !== undefined; telling = line.queue.shift()) {
    const { handle, onEnd, owner, point } = telling;
    line.point = point;
    const { timeoutMs } = line;
    line.told += 1;
    const end = callHook(handle, { clock: held.clock, timeoutMs, owner, keepsProcess: false });
    if (end instanceof Promise) {
      void end.then((ended) => {
        onEnd(ended);
        return goOn(held, line);
      });
      return;
    }
    onEnd(end);
  }
  line.isBusy = false;
  held.busy -= 1;
  if (held.busy === 0) for (const waiter of held.waiters) waiter();
}

function endRun(held: Held, onLeftBehind: OnLeftBehind): void {
  if (held.busy === 0 || held.isEnding) return;
  held.isEnding = true;
  const told = new Map([...held.lines].map(([hook, line]) => [hook, line.told]));
  const end = (): void => {
    held.isEnding = false;
    held.waiters.delete(end);
    cancelTimer();
    for (const [hook, line] of held.lines) {
      if (!line.isBusy || line.isReported || line.told !== told.get(hook)) continue;
      line.isReported = true;
      onLeftBehind(hook, line.point);
    }
  };
  const cancelTimer = held.clock.after(maxAfterRunMs, end);
  held.waiters.add(end);
}

function drain(
  held: Held,
  { maxMs, signal }: { readonly maxMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  if (held.busy === 0) return Promise.resolve();
  return new Promise((resolve) => {
    let stopListening: Cancel = () => undefined;
    const end = (): void => {
      held.waiters.delete(end);
      cancelTimer();
      stopListening();
      resolve();
    };
    const cancelTimer = held.clock.after(maxMs, end);
    held.waiters.add(end);
    stopListening = onAbort(signal, end);
  });
}
