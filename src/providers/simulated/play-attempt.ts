import { unreachable } from '../../base/assert.ts';
import { systemClock } from '../../base/system.ts';
import type { Failure } from '../../errors/failure.ts';
import { createAssembly } from '../../model/assembly.ts';
import type { AttemptOptions, ModelResponse } from '../../model/model.ts';
import type { Price } from '../../model/price.ts';
import { settle } from '../../model/settle.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { checkTimeouts, completeTimeouts } from '../../model/stream-watch.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { endFailure, startEnding } from '../attempt-ending.ts';
import type { Ending } from '../attempt-ending.ts';
import { listenerFailure } from '../http/attempt-failures.ts';
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
    let failure: Failure | undefined;
    for (const step of steps) {
      failure = course.ended();
      if (failure !== undefined) break;
      if (step.type === 'part') assembly.push(step.part);
      failure = await perform(step, course, options);
      if (failure !== undefined) break;
    }
    return settle(assembly.read(), { ...player, failure: failure ?? course.ended() });
  } finally {
    course.ending.stop();
  }
}

/** The way of one attempt, which may be ended from outside at any time: by the signal or a timeout. */
interface Course {
  readonly ending: Ending;
  readonly facts: () => AttemptFacts;
  /** What ended it from outside, where something did. */
  readonly ended: () => Failure | undefined;
  /** A part has come: the waits begin anew. */
  readonly progress: () => void;
}

function startCourse(
  player: Player,
  { signal, clock = systemClock, timeouts: given }: AttemptOptions,
): Course {
  const timeouts = completeTimeouts(given);
  // What was called off before it began has reached nobody.
  let phase: AttemptFacts['phase'] = signal?.aborted === true ? 'connect' : 'headers';
  const facts = (): AttemptFacts => ({ ...player, phase, wallMs: clock.wallMs() });
  const ending = startEnding({ timeouts, clock, signal });
  const { watch } = ending;
  watch.connected();
  return {
    ending,
    facts,
    ended: () => {
      const end = ending.read();
      return end === undefined ? undefined : endFailure(end, facts(), { timeouts, signal });
    },
    progress: () => {
      phase = 'body';
      watch.headers();
      watch.progress();
    },
  };
}

async function perform(step: Step, course: Course, { onPart }: AttemptOptions): Promise<Failure | undefined> {
  switch (step.type) {
    case 'wait':
      await sleep(step.delayMs, course);
      return undefined;
    case 'fail':
      return step.failure;
    case 'part':
      course.progress();
      return hear(() => onPart?.(step.part), course);
    default:
      return unreachable(step);
  }
}

/** Waits for what never comes, so that only the delay or the end of the attempt ends it. */
function sleep(delayMs: number, { ending }: Course): Promise<unknown> {
  // A promise of its own: one that is shared would keep every wait for ever.
  return ending.wait(new Promise<never>(() => undefined), delayMs === Infinity ? undefined : delayMs);
}

/** Lets the listener hear a part; it may take all the time of the attempt. One that throws ends it: the caller's defect. */
async function hear(tell: () => void | Promise<void>, course: Course): Promise<Failure | undefined> {
  const { watch, wait } = course.ending;
  try {
    const heard = tell();
    if (!isPromiseLike(heard)) return undefined;
    watch.pause();
    await wait(heard);
    watch.resume();
    return undefined;
  } catch (error) {
    return course.ended() ?? listenerFailure(course.facts(), error);
  }
}
