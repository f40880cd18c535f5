import { setImmediate, setTimeout } from 'node:timers/promises';
import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { createTimers } from './timers.ts';
import type { Timers } from './timers.ts';
import { checkOptions } from '../model/check/check-options.ts';

/**
 * A clock that a test moves by hand.
 *
 * Timers fire in the order of their time, those of the same time in the order in which they were set, and before the
 * clock moves on the code that they woke may run: a few turns of the event loop, in which every promise that waits for
 * nothing else settles. Sockets, files and child processes keep real time, which no turn can hurry; what waits for them
 * belongs under the system clock.
 */
export interface SimulatedClock extends Clock {
  /** Moves time by `ms`, firing what falls due on the way. */
  readonly advance: (ms: number) => Promise<void>;
  /**
   * Moves from timer to timer until the promise settles, and gives what it came to. Fails where nothing is pending and the
   * promise is still open, and where it takes more than `maxMs` (a year) of simulated time.
   */
  readonly runUntil: <T>(promise: PromiseLike<T>, options?: RunOptions) => Promise<T>;
  /** Moves from timer to timer until none is left. Fails where one is left after `maxMs` (a year) of simulated time. */
  readonly runAll: (options?: RunOptions) => Promise<void>;
  /** Moves the wall clock alone, as a correction of the machine's time does; negative goes back. No timer notices. */
  readonly jumpWall: (ms: number) => void;
  /** How many timers are waiting: 0 where nothing was left behind. */
  readonly pending: () => number;
}

/** How far a run of the clock may go. */
export interface RunOptions {
  readonly maxMs?: number;
}

const yearMs = 365 * 24 * 3_600_000;
/** A timer that sets itself again without a delay would keep the clock in one place for ever. */
const maxTimersPerMove = 1_000_000;
/** One turn settles every chain of promises; a few more serve code that itself waits for the next turn. */
const turnsBetweenTimers = 3;
/** Real milliseconds in which a file or a process may still answer before a promise counts as stuck. */
const stuckAfterMs = 500;

function maxMsOf(of: string, options: RunOptions = {}): number {
  checkOptions({ of, rules: ['maxMs'] }, options);
  return options.maxMs ?? yearMs;
}

/** Time that stands still until it is moved. Starts on 1 January 2026, or at `startWallMs`. */
export function simulatedClock(options: { readonly startWallMs?: number } = {}): SimulatedClock {
  checkOptions({ of: 'simulatedClock()', rules: ['startWallMs'] }, options);
  const { startWallMs = Date.UTC(2026, 0, 1) } = options;
  assert(Number.isFinite(startWallMs), `A clock needs a finite start, got ${startWallMs}`);
  const timers = createTimers();
  let wallOffsetMs = startWallMs;
  let isMoving = false;

  /** Two moves at once would fire timers in an order that depends on chance. */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    assert(!isMoving, 'The simulated clock is already being moved: await one move before the next');
    isMoving = true;
    try {
      return await work();
    } finally {
      isMoving = false;
    }
  }

  return {
    wallMs: () => timers.nowMs() + wallOffsetMs,
    monotonicMs: timers.nowMs,
    after: (delayMs, callback) => {
      assert(Number.isFinite(delayMs), `A timer needs a finite delay, got ${delayMs}`);
      return timers.add(Math.max(0, delayMs), callback);
    },
    advance: (ms) => alone(() => advance(timers, ms)),
    runUntil: (promise, bounds) => alone(() => runUntil(timers, promise, maxMsOf('runUntil()', bounds))),
    runAll: (bounds) => alone(() => runAll(timers, maxMsOf('runAll()', bounds))),
    jumpWall: (ms) => {
      assert(Number.isFinite(ms), `The wall clock jumps by a finite time, got ${ms}`);
      wallOffsetMs += ms;
    },
    pending: timers.size,
  };
}

async function advance(timers: Timers, ms: number): Promise<void> {
  checkSpan('The time to advance', ms);
  const targetMs = timers.nowMs() + ms;
  await move(timers, { targetMs, isDone: () => false });
  timers.moveTo(targetMs);
}

async function runAll(timers: Timers, maxMs: number): Promise<void> {
  checkSpan('maxMs', maxMs);
  await move(timers, { targetMs: timers.nowMs() + maxMs, isDone: () => false });
  const left = timers.size();
  if (left > 0) throw new Error(`${left} timers are still pending after ${maxMs} simulated ms`);
}

async function runUntil<T>(timers: Timers, promise: PromiseLike<T>, maxMs: number): Promise<T> {
  checkSpan('maxMs', maxMs);
  const { isSettled } = watch(promise);
  const targetMs = timers.nowMs() + maxMs;
  // Bounded: each round moves the clock, waits for real work once, or throws.
  while (!isSettled()) {
    await move(timers, { targetMs, isDone: isSettled });
    if (isSettled()) break;
    if (timers.size() > 0) throw new Error(`The promise is still open after ${maxMs} simulated ms`);
    await waitForRealWork(() => isSettled() || timers.size() > 0);
    if (!isSettled() && timers.size() === 0) {
      throw new Error(
        `The promise is still open at ${timers.nowMs()} simulated ms and no timer is pending: it waits for something that nothing will bring about`,
      );
    }
  }
  return promise;
}

interface Move {
  readonly targetMs: number;
  readonly isDone: () => boolean;
}

/** Fires what falls due until `targetMs`, or until `isDone`. */
async function move(timers: Timers, { targetMs, isDone }: Move): Promise<void> {
  for (let fired = 0; fired < maxTimersPerMove; fired += 1) {
    await settlePromises();
    if (isDone() || timers.nextMs() > targetMs) return;
    timers.fireNext();
  }
  throw new Error(
    `The simulated clock fired ${maxTimersPerMove} timers in one move and stands at ${timers.nowMs()} ms: a timer sets itself again without end`,
  );
}

function checkSpan(what: string, ms: number): void {
  assert(Number.isFinite(ms) && ms >= 0, `${what} must be a number of milliseconds from 0 on, got ${ms}`);
}

function watch(promise: PromiseLike<unknown>): { readonly isSettled: () => boolean } {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  // Its outcome reaches the caller by the promise itself; here only the fact that it settled matters.
  void promise.then(note, note);
  return { isSettled: () => settled };
}

async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < turnsBetweenTimers; turn += 1) await setImmediate();
}

async function waitForRealWork(isDone: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < stuckAfterMs && !isDone(); waitedMs += 1) await setTimeout(1);
}
