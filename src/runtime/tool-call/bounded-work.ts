import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';

/** How foreign work ended, as far as we waited for it. */
export type WorkEnd<Value> =
  | { readonly type: 'returned'; readonly value: Value }
  | { readonly type: 'threw'; readonly thrown: unknown }
  | {
      readonly type: 'timed-out';
      /** Nor did it end within its grace. */
      readonly isRunning: boolean;
    }
  | { readonly type: 'aborted' };

export interface WorkLimits<Value> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** `Infinity` for none. */
  readonly timeoutMs: number;
  /** How long the work may take to stop once it has timed out. The wait ends sooner where it stops sooner. */
  readonly graceMs?: number;
  /** Called once, when the wait ends before the work: tell the work to stop. */
  readonly onInterrupt: (why: 'timed-out' | 'aborted') => void;
  /** Called once, when abandoned work ends after all. */
  readonly onLate: (end: WorkEnd<Value>) => void;
}

/**
 * Runs foreign work and waits for it no longer than its limits: at the timeout and at the signal the wait ends at
 * once, whatever the work does. Never throws or rejects. Work that ends synchronously costs neither timer nor promise.
 */
export function runWithin<Value>(
  start: () => Value | PromiseLike<Value>,
  limits: WorkLimits<Value>,
): WorkEnd<Value> | Promise<WorkEnd<Value>> {
  try {
    const started = start();
    return isThenable(started) ? waitFor(started, limits) : { type: 'returned', value: started };
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

/** Whether something is still to come. What refuses the question is taken as it is. */
export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof readProperty(value, 'then') === 'function';
}

/** Whether a function that must answer at once gave a promise. What becomes of it is not waited for, nor left to the process. */
export function dropPromise(given: unknown): boolean {
  if (!isThenable(given)) return false;
  Promise.resolve(given).then(
    () => undefined,
    () => undefined, // The caller says what is wrong: that it is a promise at all.
  );
  return true;
}

interface Waiting<Value> {
  readonly limits: WorkLimits<Value>;
  readonly resolve: (end: WorkEnd<Value>) => void;
  isOver: boolean;
  stopWaiting: () => void;
  /** Ends the wait for work that has timed out. */
  endGrace: ((isRunning: boolean) => void) | undefined;
}

function waitFor<Value>(work: PromiseLike<Value>, limits: WorkLimits<Value>): Promise<WorkEnd<Value>> {
  return new Promise((resolve) => {
    const waiting: Waiting<Value> = {
      limits,
      resolve,
      isOver: false,
      stopWaiting: () => undefined,
      endGrace: undefined,
    };
    // Through a promise of our own: a thenable may call back twice, or throw.
    Promise.resolve(work).then(
      (value) => settle(waiting, { type: 'returned', value }),
      (thrown: unknown) => settle(waiting, { type: 'threw', thrown }),
    );
    const cancelTimer = Number.isFinite(limits.timeoutMs)
      ? limits.clock.after(limits.timeoutMs, () => interrupt(waiting, 'timed-out'))
      : undefined;
    const stopListening = onAbort(limits.signal, () => interrupt(waiting, 'aborted'));
    // Not written where it is assigned: V8 takes such a function for a method, and puts it where only a full collection comes by.
    const stopWaiting = (): void => {
      cancelTimer?.();
      stopListening();
    };
    waiting.stopWaiting = stopWaiting;
    // It may have been over before there was anything to call off.
    if (waiting.isOver) waiting.stopWaiting();
  });
}

function settle<Value>(waiting: Waiting<Value>, end: WorkEnd<Value>): void {
  if (waiting.isOver) {
    waiting.endGrace?.(false);
    waiting.limits.onLate(end);
    return;
  }
  waiting.isOver = true;
  waiting.stopWaiting();
  waiting.resolve(end);
}

function interrupt<Value>(waiting: Waiting<Value>, why: 'timed-out' | 'aborted'): void {
  if (waiting.isOver) return;
  waiting.isOver = true;
  waiting.stopWaiting();
  if (why === 'aborted') waiting.resolve({ type: why });
  else giveGrace(waiting);
  waiting.limits.onInterrupt(why);
}

/** Work that obeys ends in a moment; only then may it be done again. */
function giveGrace<Value>(waiting: Waiting<Value>): void {
  const { clock, signal, graceMs = 0 } = waiting.limits;
  if (graceMs === 0) return waiting.resolve({ type: 'timed-out', isRunning: true });
  const cancelTimer = clock.after(graceMs, () => waiting.endGrace?.(true));
  const stopListening = onAbort(signal, () => waiting.endGrace?.(true));
  waiting.endGrace = (isRunning) => {
    waiting.endGrace = undefined;
    cancelTimer();
    stopListening();
    waiting.resolve({ type: 'timed-out', isRunning });
  };
}
