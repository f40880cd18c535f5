import type { Cancel, Clock } from '../../base/clock.ts';
import { systemSignals } from '../../base/system-signals.ts';
import type { ProcessSignals, StopSignal } from '../../base/system-signals.ts';
import { systemClock } from '../../base/system.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { onReaderGone, readerGoneExitCode } from './reader-gone.ts';

/** What ends the work here. `SIGHUP`: the terminal is gone. `SIGPIPE`: the reader of the output is gone. */
export type EndSignal = StopSignal | 'SIGHUP' | 'SIGPIPE';

/** What came in from outside while something ran. */
export interface Interrupts {
  /** Aborts with the first of them. */
  readonly signal: AbortSignal;
  /** The first that came. */
  readonly came: () => EndSignal | undefined;
  /** Aborts as if Ctrl-C had been pressed, for callers that read the keys themselves. */
  readonly interrupt: () => void;
  readonly stop: () => void;
}

export interface InterruptOptions {
  /** Once, when the work is to end in order. */
  readonly onFirst?: (name: EndSignal) => void;
  /** Just before the process ends at once: the last chance to give the cursor back. */
  readonly onLast?: (name: EndSignal) => void;
  /** The terminal is gone: releases the current run as it is, before everything else is cancelled. */
  readonly onHangUp?: () => Promise<void>;
  readonly signals?: ProcessSignals;
  /** Listens for the loss of the terminal. Returns how to stop. */
  readonly hangUps?: (listen: () => void) => Cancel;
  /** Reports each write that no reader is left for. Returns how to stop. */
  readonly readersGone?: (listen: () => void) => Cancel;
  readonly clock?: Clock;
  /** Ends the process; handed in for tests. */
  readonly exit?: (exitCode: number) => void;
}

/** Two presses within this time mean: at once. */
const togetherMs = 2000;
/** After SIGTERM a kill follows; by then everything must be written. */
const patienceMs = 10_000;
const exitCodes = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGPIPE: readerGoneExitCode,
  SIGTERM: 143,
} as const satisfies Record<EndSignal, number>;

/** The exit code of a process that a signal ended. */
export function interruptedExitCode({ came }: Pick<Interrupts, 'came'>): number | undefined {
  const name = came();
  return name === undefined ? undefined : exitCodes[name];
}

interface Held {
  readonly options: InterruptOptions;
  readonly clock: Clock;
  readonly controller: AbortController;
  readonly exit: (exitCode: number) => void;
  first: EndSignal | undefined;
  lastAtMs: number;
  patience: Cancel | undefined;
}

/**
 * Listens for Ctrl-C and SIGTERM: the first asks for an end in order, a second Ctrl-C within two seconds ends the process with 130 at
 * once, and SIGTERM does so with 143 where the end in order takes more than ten seconds. Where the terminal is gone, it is 129; where
 * the reader of the output is gone, 141, however many writes fail after the first.
 */
export function listenForInterrupts(options: InterruptOptions = {}): Interrupts {
  const {
    signals = systemSignals,
    hangUps = systemHangUps,
    readersGone = onReaderGone,
    clock = systemClock,
    exit = (code: number) => process.exit(code),
  } = options;
  const held: Held = {
    options,
    clock,
    controller: new AbortController(),
    exit,
    first: undefined,
    lastAtMs: -Infinity,
    patience: undefined,
  };
  const stops = [
    signals.listen(({ name }) => hear(held, name)),
    hangUps(() => hear(held, 'SIGHUP')),
    readersGone(() => hear(held, 'SIGPIPE')),
  ];
  return {
    signal: held.controller.signal,
    came: () => held.first,
    interrupt: () => hear(held, 'SIGINT'),
    stop: () => {
      for (const stop of stops) stop();
      held.patience?.();
    },
  };
}

function systemHangUps(listen: () => void): Cancel {
  process.on('SIGHUP', listen);
  return () => void process.off('SIGHUP', listen);
}

function hear(held: Held, name: EndSignal): void {
  // Every further write fails too, and says nothing new.
  if (name === 'SIGPIPE' && held.first !== undefined) return;
  const nowMs = held.clock.monotonicMs();
  const isSecond = held.first !== undefined && name === 'SIGINT' && nowMs - held.lastAtMs <= togetherMs;
  // A Ctrl-C that follows a lost reader is the first one.
  if (name !== 'SIGPIPE') held.lastAtMs = nowMs;
  if (isSecond) return end(held, name);
  if (name !== 'SIGINT') held.patience ??= held.clock.after(patienceMs, () => end(held, name));
  if (held.first !== undefined) return;
  held.first = name;
  held.options.onFirst?.(name);
  if (name === 'SIGHUP') void letGo(held);
  else held.controller.abort(interruptedError(name));
}

async function letGo({ options, controller }: Held): Promise<void> {
  try {
    await options.onHangUp?.();
  } catch (error) {
    // It has just ended, or cannot be recorded: its record says which, and its lease expires.
    if (!RerailError.isInstance(error)) throw error;
  } finally {
    controller.abort(interruptedError('SIGHUP'));
  }
}

function end(held: Held, name: EndSignal): void {
  held.options.onLast?.(name);
  held.exit(exitCodes[name]);
}

const reasons = {
  SIGHUP: 'The terminal was closed (SIGHUP)',
  SIGINT: 'Ctrl-C was pressed',
  SIGPIPE: 'The reader of the output has gone (EPIPE)',
  SIGTERM: 'The process was asked to end (SIGTERM)',
} as const satisfies Record<EndSignal, string>;

function interruptedError(name: EndSignal): RerailError {
  return RerailError.from(createFailure('CANCELLED', { message: reasons[name] }));
}
