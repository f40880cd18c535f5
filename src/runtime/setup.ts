import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { causesOf } from '../errors/classify/causes.ts';
import { describeThrown } from '../errors/classify/safe-read.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { ownerNamed, runOwned, warnProcess } from '../model/stray-errors.ts';
import { runWithin } from './tool-call/bounded-work.ts';

/** What an agent needs before its first run takes its first step. */
export interface Setup {
  readonly isReady: () => boolean;
  /** To be asked while it is not ready. Gives the failure where it cannot be made so; the next caller has it tried again. Rejects with the signal's reason. */
  readonly prepare: (waiter: Waiter) => Promise<Failure | undefined>;
}

/** A run that needs it: the clock of the first one measures the time that it takes. */
export interface Waiter {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface SetupOptions {
  readonly agent: string;
  readonly timeoutMs: number;
}

/** The caller's function. Its signal says that no caller waits for it any more. */
export type SetUp = (context: { readonly signal: AbortSignal }) => void | Promise<void>;

/** Runs the function once for all who ask at the same time, and no more once it has succeeded. */
export function createSetup(setUp: SetUp, options: SetupOptions): Setup {
  const held: Held = { setUp, options, isReady: false, attempt: undefined };
  return { isReady: () => held.isReady, prepare: (waiter) => prepare(held, waiter) };
}

interface Held {
  readonly setUp: SetUp;
  readonly options: SetupOptions;
  isReady: boolean;
  /** The one that is under way. */
  attempt: Attempt | undefined;
}

interface Attempt {
  readonly controller: AbortController;
  readonly end: Promise<Failure | undefined>;
  /** How many runs wait for it. */
  waiting: number;
}

async function prepare(held: Held, { signal, clock }: Waiter): Promise<Failure | undefined> {
  const attempt = (held.attempt ??= begin(held, clock));
  attempt.waiting += 1;
  try {
    return await untilAborted(attempt.end, signal);
  } finally {
    attempt.waiting -= 1;
    if (attempt.waiting === 0) leave(held, attempt, signal.reason);
  }
}

function begin(held: Held, clock: Clock): Attempt {
  const controller = new AbortController();
  return { controller, end: attemptOnce(held, controller, clock), waiting: 0 };
}

async function attemptOnce(
  held: Held,
  controller: AbortController,
  clock: Clock,
): Promise<Failure | undefined> {
  const { agent, timeoutMs } = held.options;
  const { signal } = controller;
  const tooLong = `The setup of agent "${agent}" did not end within ${timeoutMs} ms`;
  const owner = ownerNamed(`The setup of agent "${agent}"`, { strayErrors: 'report', report: warnProcess });
  const end = await runWithin(() => runOwned(owner, () => held.setUp({ signal })), {
    clock,
    signal,
    timeoutMs,
    onInterrupt: () => controller.abort(new DOMException(tooLong, 'TimeoutError')),
    // What comes too late was asked to stop, and the next run begins afresh.
    onLate: () => undefined,
  });
  if (held.attempt?.controller === controller) held.attempt = undefined;
  if (end.type === 'threw') return thrownFailure(agent, end.thrown);
  if (end.type === 'timed-out') return lateFailure(agent, tooLong, timeoutMs);
  held.isReady = end.type === 'returned';
  return undefined; // Where it was aborted, no caller is left.
}

/** No caller waits for it any more: what it has not done by now is not done. */
function leave(held: Held, attempt: Attempt, reason: unknown): void {
  if (held.attempt !== attempt) return;
  held.attempt = undefined;
  attempt.controller.abort(reason);
}

/** One run that is cancelled does not end what others wait for. */
async function untilAborted<Value>(end: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stopListening = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stopListening = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([end, aborted]);
  } finally {
    stopListening();
  }
}

function thrownFailure(agent: string, thrown: unknown): Failure {
  const { code, retryable, retryAfterMs, hint } = classifyFailure(thrown, 'agent');
  return createFailure(
    'INITIALIZATION_ERROR',
    defined({
      origin: 'agent',
      message: `The setup of agent "${agent}" failed: ${describeThrown(thrown)}`,
      retryable,
      retryAfterMs,
      hint: `${hint ?? 'Fix what the "setup" function of the agent needs.'} Then resume the run: setup is tried again.`,
      context: { agent, because: code },
      causes: causesOf(thrown),
    } as const),
  );
}

function lateFailure(agent: string, message: string, timeoutMs: number): Failure {
  return createFailure('INITIALIZATION_ERROR', {
    origin: 'agent',
    message,
    retryable: true,
    hint: 'Check what the "setup" function of the agent waits for, or raise "setupTimeoutMs". Then resume the run: setup is tried again.',
    context: { agent, because: 'TIMEOUT', timeoutMs },
  });
}
