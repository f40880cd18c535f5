import { unreachable } from '../../base/assert.ts';
import { onAbort } from '../../base/abort.ts';
import type { Cancel } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import type { Failure } from '../../errors/failure.ts';
import { createAssembly } from '../../model/assembly.ts';
import type { AttemptOptions, ModelResponse } from '../../model/model.ts';
import type { Price } from '../../model/price.ts';
import { settle } from '../../model/settle.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { checkTimeouts, completeTimeouts, createStreamWatch } from '../../model/stream-watch.ts';
import { cancelledFailure, listenerFailure, timeoutFailure } from '../http/attempt-failures.ts';
import type { AttemptFacts } from '../http/attempt-failures.ts';

/** One thing that a model without a network does. Where the steps end without `finished`, the answer was cut off. */
export type Step =
  | { readonly type: 'part'; readonly part: StreamPart }
  /** An infinite wait is a model that never says more. */
  | { readonly type: 'wait'; readonly delayMs: number }
  | { readonly type: 'fail'; readonly failure: Failure };

/** Who answers. */
export interface Player {
  readonly provider: string;
  readonly model: string;
  readonly price?: Price | undefined;
}

/**
 * Plays one attempt from steps instead of bytes, under the rules of every model: it never rejects, ends when the signal
 * aborts or a timeout is over, awaits `onPart`, and sends no part after it has resolved.
 */
export async function playAttempt(
  steps: Iterable<Step>,
  player: Player,
  options: AttemptOptions = {},
): Promise<ModelResponse> {
  const assembly = createAssembly();
  const wrong = checkTimeouts(options.timeouts);
  if (wrong !== undefined) return settle(assembly.read(), { ...player, failure: wrong });
  const course = startCourse(player, options);
  try {
    for (const step of steps) {
      if (course.failure() !== undefined) break;
      if (step.type === 'part') assembly.push(step.part);
      await perform(step, course, options);
    }
    return settle(assembly.read(), { ...player, failure: course.failure() });
  } finally {
    course.stop();
  }
}

/** The way of one attempt, which may be ended from outside at any time: by the signal or a timeout. */
interface Course {
  readonly failure: () => Failure | undefined;
  readonly facts: () => AttemptFacts;
  readonly fail: (failure: Failure) => void;
  /** A part has come: the waits begin anew. */
  readonly progress: () => void;
  readonly wait: (delayMs: number) => Promise<void>;
  /** Waits for somebody else, who may take all the time that the attempt has. */
  readonly lend: (promise: PromiseLike<void>) => Promise<void>;
  readonly stop: () => void;
}

function startCourse(
  player: Player,
  { signal, clock = systemClock, timeouts: given }: AttemptOptions,
): Course {
  const timeouts = completeTimeouts(given);
  const sleeper = createSleeper();
  let failure: Failure | undefined;
  // What was called off before it began has reached nobody.
  let phase: AttemptFacts['phase'] = signal?.aborted === true ? 'connect' : 'headers';
  const facts = (): AttemptFacts => ({ ...player, phase, wallMs: clock.wallMs() });
  const fail = (reason: Failure): void => {
    failure ??= reason;
    sleeper.wake();
  };
  const watch = createStreamWatch(timeouts, {
    clock,
    onExpired: (kind) => fail(timeoutFailure(facts(), kind, timeouts[`${kind}Ms`])),
  });
  watch.connected();
  const stopListening = onAbort(signal, () => fail(cancelledFailure(facts(), signal?.reason)));

  return {
    failure: () => failure,
    facts,
    fail,
    progress: () => {
      phase = 'body';
      watch.headers();
      watch.progress();
    },
    wait: (delayMs) =>
      sleeper.sleep((wake) => (delayMs === Infinity ? () => undefined : clock.after(delayMs, wake))),
    lend: async (promise) => {
      const outcome = promise.then(undefined, (error: unknown) => fail(listenerFailure(facts(), error)));
      // The listener may have aborted before it returned: then nobody waits for it.
      if (failure !== undefined) return;
      watch.pause();
      await sleeper.sleep((wake) => {
        void outcome.then(wake);
        return () => undefined;
      });
      watch.resume();
    },
    stop: () => {
      watch.stop();
      stopListening();
    },
  };
}

/** One wait at a time, which somebody else can end. */
interface Sleeper {
  readonly wake: () => void;
  readonly sleep: (start: (wake: () => void) => Cancel) => Promise<void>;
}

function createSleeper(): Sleeper {
  let wake: () => void = () => undefined;
  return {
    wake: () => wake(),
    sleep: async (start) => {
      let cancel: Cancel | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        cancel = start(resolve);
      });
      cancel?.();
    },
  };
}

async function perform(step: Step, course: Course, { onPart }: AttemptOptions): Promise<void> {
  switch (step.type) {
    case 'wait':
      return course.wait(step.delayMs);
    case 'fail':
      return course.fail(step.failure);
    case 'part':
      course.progress();
      return hear(() => onPart?.(step.part), course);
    default:
      return unreachable(step);
  }
}

/** Lets the listener hear a part. One that throws ends the attempt: it is the caller's defect. */
async function hear(tell: () => void | Promise<void>, course: Course): Promise<void> {
  try {
    const heard = tell();
    if (heard !== undefined) await course.lend(heard);
  } catch (error) {
    course.fail(listenerFailure(course.facts(), error));
  }
}
