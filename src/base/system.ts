import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assert } from './assert.ts';
import type { Cancel, Clock, Random } from './clock.ts';
import { createCoarseTimers } from './coarse-timers.ts';

// Node fires a timer of more than 31 bits after one millisecond; longer waits are made of several.
const maxTimerMs = 2 ** 31 - 1;
// From here on a tenth of a second more or less is nothing, and most such timers are timeouts that never fire.
const minCoarseMs = 5000;

/** The machine's own time. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, callback, { keepsProcess = true } = {}) => {
    assert(Number.isFinite(delayMs), `A timer needs a finite delay, got ${delayMs}`);
    const isCoarse = delayMs >= minCoarseMs && delayMs <= maxTimerMs && keepsProcess;
    return isCoarse ? coarseTimers.after(delayMs, callback) : startTimer(delayMs, { callback, keepsProcess });
  },
};

/** The machine's own randomness. Not for secrets. */
export const systemRandom: Random = () => Math.random();

/** A name that nobody else has. */
export const systemId = (): string => randomUUID();

/** What every tool in this process shares. */
export interface ProcessState {
  readonly cwd: string;
  readonly env: ReadonlyMap<string, string | undefined>;
  /** As Linux writes it; unknown elsewhere, where it cannot be read without setting it for a moment. */
  readonly umask: string | undefined;
}

/** Reads the process, at some cost. */
export const systemProcess = {
  read: (): ProcessState => ({
    cwd: readCwd(),
    env: new Map(Object.entries(process.env)),
    umask: readUmask(),
  }),
  nowMs: (): number => performance.now(),
  after: (delayMs: number, callback: () => void): void => {
    setTimeout(callback, delayMs).unref();
  },
} as const;

function readCwd(): string {
  try {
    return process.cwd();
  } catch {
    return '(removed)'; // The folder is gone: that is worth a word, and no reason to fail.
  }
}

function readUmask(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return /^Umask:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  } catch {
    return undefined; // Without /proc, as in some containers.
  }
}

const coarseTimers = createCoarseTimers({
  nowMs: () => performance.now(),
  startTicking: (everyMs, tick) => setInterval(tick, everyMs),
  stopTicking: (ticking) => clearInterval(ticking),
});

interface Timer {
  readonly callback: () => void;
  readonly keepsProcess: boolean;
}

function startTimer(delayMs: number, { callback, keepsProcess }: Timer): Cancel {
  const dueMs = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const leftMs = dueMs - performance.now();
    timer =
      leftMs > maxTimerMs
        ? setTimeout(arm, maxTimerMs)
        : setTimeout(callback, Math.max(0, Math.ceil(leftMs)));
    if (!keepsProcess) timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}
