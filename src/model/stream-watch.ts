import { unreachable } from '../base/assert.ts';
import type { Cancel, Clock } from '../base/clock.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { defaultTimeouts, fallbackFirstTokenMs } from './timeouts.ts';
import type { Timeouts } from './timeouts.ts';

/** One of the waits of an attempt: `connect`, `headers`, `firstToken`, `idle`, `progress` or `total`. */
export type TimeoutKind = keyof Timeouts extends `${infer Kind}Ms` ? Kind : never;

/** How long this wait may be. */
export function boundOf(timeouts: Timeouts, kind: TimeoutKind): number {
  return timeouts[`${kind}Ms`] ?? timeouts.totalMs;
}

/** Watches one attempt. It learns how far the attempt has come, and says which wait was too long. */
export interface StreamWatch {
  /** The connection stands: waits for headers from now on. */
  readonly connected: () => void;
  /** Status and headers are there: waits for events from now on. */
  readonly headers: () => void;
  /** A whole event came. */
  readonly event: () => void;
  /** An event came that contains part of the answer; counts as an event too. */
  readonly progress: () => void;
  /** The answer has said why it ends, or is likely to have. Waits a short time for what may follow; another call begins that time again. */
  readonly closing: (ending: keyof typeof quietMs) => void;
  /** The answer continues all the same: waits for events as before. */
  readonly reading: () => void;
  /** The listener takes its time: until `resume`, only the whole attempt is bounded. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the watch. Nothing is reported after it, and no timer is left. */
  readonly stop: () => void;
}

interface WatchOptions {
  readonly clock: Clock;
  /** Called at most once, with the wait that was too long. */
  readonly onExpired: (kind: TimeoutKind) => void;
}

type Stage = 'connecting' | 'waiting' | 'reading' | 'closing' | 'paused' | 'stopped';

/** Counts come within milliseconds of the reason; a server that says nothing for so long will say nothing more. */
const quietMs = { said: 2000, likely: 5000 } as const;

interface Deadline {
  readonly kind: TimeoutKind;
  readonly dueMs: number;
}

/**
 * Starts watching. An event costs one look at the clock: there is one timer, it runs to the earliest end that was known
 * when it was set, and when it fires it looks whether that end has moved.
 */
export function createStreamWatch(timeouts: Timeouts, { clock, onExpired }: WatchOptions): StreamWatch {
  const state: WatchState = startState(clock.monotonicMs());
  const timer = createLazyTimer(clock, {
    dueMs: () => deadlineOf(state, timeouts).dueMs,
    onDue: () => {
      const { kind } = deadlineOf(state, timeouts);
      state.stage = 'stopped';
      onExpired(kind);
    },
  });

  const enter = (next: Stage): void => timer.arm(enterStage(state, next, clock.monotonicMs()));

  timer.arm(state.startMs);
  return {
    connected: () => {
      if (state.stage === 'connecting') enter('waiting');
    },
    headers: () => {
      if (state.stage === 'connecting' || state.stage === 'waiting') enter('reading');
    },
    event: () => {
      state.eventMs = clock.monotonicMs();
      state.aliveMs = state.eventMs;
    },
    progress: () => {
      state.progressMs = clock.monotonicMs();
      state.eventMs = state.progressMs;
      state.hasToken = true;
    },
    closing: (ending) => {
      if (isReading(state)) timer.arm(enterClosing(state, ending, clock.monotonicMs()));
    },
    reading: () => {
      if (state.stage === 'closing') state.stage = 'reading';
    },
    pause: () => {
      if (!isReading(state)) return;
      Object.assign(state, { stage: 'paused', pausedIn: state.stage, stageMs: clock.monotonicMs() });
    },
    resume: () => {
      if (state.stage !== 'paused') return;
      const nowMs = clock.monotonicMs();
      goOn(state, nowMs);
      timer.arm(nowMs);
    },
    stop: () => {
      state.stage = 'stopped';
      timer.stop();
    },
  };
}

/** Changed in place, for it is written once per event. */
interface WatchState {
  stage: Stage;
  pausedIn: 'reading' | 'closing';
  quietMs: number;
  readonly startMs: number;
  stageMs: number;
  eventMs: number;
  progressMs: number;
  /** Something of the answer has come. */
  hasToken: boolean;
  /** The last sign of life before that. */
  aliveMs: number;
}

function isReading({ stage }: WatchState): boolean {
  return stage === 'reading' || stage === 'closing';
}

function enterStage(state: WatchState, next: Stage, nowMs: number): number {
  state.stage = next;
  state.stageMs = nowMs;
  state.eventMs = nowMs;
  state.progressMs = nowMs;
  return nowMs;
}

function enterClosing(state: WatchState, ending: keyof typeof quietMs, nowMs: number): number {
  state.stage = 'closing';
  state.quietMs = quietMs[ending];
  state.stageMs = nowMs;
  return nowMs;
}

function startState(startMs: number): WatchState {
  return {
    stage: 'connecting',
    pausedIn: 'reading',
    quietMs: quietMs.said,
    startMs,
    stageMs: startMs,
    eventMs: startMs,
    progressMs: startMs,
    hasToken: false,
    aliveMs: startMs,
  };
}

/** The pause counts for no wait, and ends none: a listener that is informed of keep-alives must not make them progress. */
function goOn(state: WatchState, nowMs: number): void {
  const pausedMs = nowMs - state.stageMs;
  state.stage = state.pausedIn;
  state.stageMs = nowMs;
  state.eventMs = Math.min(nowMs, state.eventMs + pausedMs);
  state.progressMs = Math.min(nowMs, state.progressMs + pausedMs);
  state.aliveMs = Math.min(nowMs, state.aliveMs + pausedMs);
}

function deadlineOf(state: WatchState, timeouts: Timeouts): Deadline {
  const total: Deadline = { kind: 'total', dueMs: state.startMs + timeouts.totalMs };
  const silentMs = state.hasToken ? Infinity : (timeouts.firstTokenMs ?? Infinity);
  const bound = earlier({ kind: 'firstToken', dueMs: state.aliveMs + silentMs }, total);
  switch (state.stage) {
    case 'connecting':
      return earlier({ kind: 'connect', dueMs: state.stageMs + timeouts.connectMs }, bound);
    case 'waiting':
      return earlier({ kind: 'headers', dueMs: state.stageMs + timeouts.headersMs }, bound);
    case 'reading': {
      const idle: Deadline = { kind: 'idle', dueMs: state.eventMs + timeouts.idleMs };
      const progress: Deadline = { kind: 'progress', dueMs: state.progressMs + timeouts.progressMs };
      return earlier(idle, earlier(progress, bound));
    }
    case 'closing':
      return earlier(
        { kind: 'idle', dueMs: state.stageMs + Math.min(state.quietMs, timeouts.idleMs) },
        total,
      );
    case 'paused':
    case 'stopped':
      return total;
    default:
      return unreachable(state.stage);
  }
}

interface LazyTimer {
  /** Makes sure that a timer fires when it is due, or before. */
  readonly arm: (nowMs: number) => void;
  readonly stop: () => void;
}

function createLazyTimer(
  clock: Clock,
  { dueMs, onDue }: { readonly dueMs: () => number; readonly onDue: () => void },
): LazyTimer {
  let timerMs = Infinity;
  let cancel: Cancel | undefined;

  function arm(nowMs: number): void {
    const nextMs = dueMs();
    if (nextMs >= timerMs) return; // The timer that runs will look again.
    cancel?.();
    timerMs = nextMs;
    cancel = clock.after(Math.max(0, nextMs - nowMs), onTimer);
  }

  function onTimer(): void {
    if (cancel === undefined) return; // Called off while it was on its way.
    cancel = undefined;
    timerMs = Infinity;
    const nowMs = clock.monotonicMs();
    if (dueMs() > nowMs) return arm(nowMs);
    return onDue();
  }

  return {
    arm,
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
  };
}

function earlier(first: Deadline, second: Deadline): Deadline {
  return first.dueMs <= second.dueMs ? first : second;
}

const examples: Timeouts = { ...defaultTimeouts, firstTokenMs: fallbackFirstTokenMs };
/** Every timeout there is. */
export const timeoutNames = Object.keys(examples) as readonly (keyof Timeouts)[]; // Object.keys loses the key type.

/** The failure of timeouts that bound nothing or make no sense; nothing where they are in order. */
export function checkTimeouts(given: Partial<Timeouts> | undefined): Failure | undefined {
  if (given === undefined) return undefined;
  const wrong = timeoutNames.find((name) => given[name] !== undefined && !isDuration(given[name]));
  if (wrong === undefined) return undefined;
  return createFailure('CONFIG_ERROR', {
    origin: 'config',
    message: `The timeout ${wrong} must be a finite number of milliseconds of at least 0, got ${String(given[wrong])}`,
    hint: `Give ${wrong} a number such as ${examples[wrong]}, or leave it out for that default. There is no "never".`,
    context: { field: `timeouts.${wrong}` },
  });
}

/** What was given, and the defaults for the rest. Ask `checkTimeouts` first. */
export function completeTimeouts(given: Partial<Timeouts> | undefined): Timeouts {
  if (given === undefined) return defaultTimeouts;
  return {
    connectMs: given.connectMs ?? defaultTimeouts.connectMs,
    headersMs: given.headersMs ?? defaultTimeouts.headersMs,
    idleMs: given.idleMs ?? defaultTimeouts.idleMs,
    progressMs: given.progressMs ?? defaultTimeouts.progressMs,
    totalMs: given.totalMs ?? defaultTimeouts.totalMs,
    ...(given.firstTokenMs !== undefined && { firstTokenMs: given.firstTokenMs }),
  };
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
