import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { cancelledError, restartError } from '../../runtime/record/durable-errors.ts';
import type { Durable } from '../../runtime/record/durable.ts';
import type { RunEnd } from '../../runtime/record/journal.ts';
import { cancelGeneration, createGeneration, forget, stopChanged, stopFull, tellDesk } from './generation.ts';
import type { Generation, Host } from './generation.ts';
import type { CarryMessage, SettleMessage } from './messages.ts';
import { listen, pump } from './pump.ts';
import { describeRecord } from './record.ts';
import type { RestateContext } from './sdk.ts';
import { call, recordEnd } from './steps.ts';
import { announce, sleep, waitFor } from './waits.ts';
import { written, writtenText } from './written.ts';

/** How a generation ended. */
export type Carried =
  | { readonly type: 'settled' }
  /** It no longer fits its journal, in which nothing more can be written. */
  | { readonly type: 'changed'; readonly settle: SettleMessage };

/** Runs one generation of a run: an invocation of Restate, which may take several attempts. */
export async function carry(host: Host, context: RestateContext, begun: CarryMessage): Promise<Carried> {
  const generation = createGeneration(host, context, begun);
  host.live.set(begun.runId, generation);
  try {
    listen(generation);
    if (begun.cancelReason !== undefined) cancelGeneration(generation, begun.cancelReason);
    const settled = await perform(generation, begun.input);
    const ending = await judge(generation, settled);
    const settle = { generation: generation.number, took: generation.took, ending };
    if (generation.stop?.type === 'changed') return { type: 'changed', settle };
    tellDesk(generation, 'settle', settle);
    return { type: 'settled' };
  } finally {
    generation.controller.abort(
      new DOMException(`Run "${begun.runId}" has left this generation`, 'AbortError'),
    );
    generation.stopListening();
    forget(generation);
  }
}

/**
 * Cancels the effects of a run that are at work in this process where Restate does not report the cancellation: it reaches no
 * run whose step has been at work for so long that Restate takes it for idle.
 */
export function abortEffects({ live, setup, options }: Host, runId: string, reason: string): void {
  const generation = live.get(runId);
  if (generation === undefined) return;
  setup.clock.after(tellsWithinMs, () => {
    if (live.get(runId) !== generation || generation.stop !== undefined) return;
    generation.cancelledHere = reason;
    generation.controller.abort(cancelledError(runId, reason));
    setup.clock.after(options.limits.cancelGraceMs, () => {
      for (const giveUp of generation.atWork) giveUp();
    });
  });
}

const tellsWithinMs = 1000;

type Settled =
  { readonly type: 'returned'; readonly result: Json } | { readonly type: 'threw'; readonly error: unknown };

async function perform(generation: Generation, input: Json): Promise<Settled> {
  let isOver = false;
  const running = run(generation, input).finally(() => {
    isOver = true;
    generation.nudge();
  });
  await pump(generation, () => isOver);
  return running;
}

async function run(generation: Generation, input: Json): Promise<Settled> {
  try {
    const result = await generation.host.setup.program(durableOf(generation), input);
    return { type: 'returned', result: written(result, 'the result of the program') };
  } catch (error) {
    return { type: 'threw', error };
  }
}

function durableOf(generation: Generation): Durable {
  const { runId, number, context } = generation;
  // Taken before anything is awaited, so that parallel verbs have the order in which they were made.
  const position = (): number => (generation.next += 1) - 1;
  const { isProcessing } = context;
  return {
    runId,
    generation: number,
    call: (effect, given, options) => {
      const at = position();
      return hushed(() => {
        const inputText = writtenText(given, `the input of "${effect}"`);
        checkInput(generation, effect, inputText);
        const input = JSON.parse(inputText) as Json; // Just written.
        const asked = { type: 'call', position: at, effect, input } as const;
        const { timeoutMs, isDeaf = false } = options ?? {};
        return call(generation, asked, { inputText, timeoutMs, isDeaf });
      });
    },
    sleep: (delayMs) => {
      const asked = { type: 'sleep', position: position(), delayMs } as const;
      return hushed(() => sleep(generation, asked));
    },
    waitFor: (signal, options) => {
      const timeoutMs = options?.timeoutMs === Infinity ? undefined : options?.timeoutMs;
      const onWaiting = options?.onWaiting;
      const asked = { type: 'wait', position: position(), signal, timeoutMs, onWaiting } as const;
      return hushed(() => waitFor(generation, asked));
    },
    restart: (state) => restart(generation, state),
    announce: (value) => announce(generation, { announced: written(value, 'what is announced') }),
    ...(isProcessing === undefined ? {} : { isReplaying: () => !isProcessing.call(context) }),
  };
}

/** The journal must hold what was asked, or it would be unknown whether the program still asks the same. */
function checkInput(generation: Generation, effect: string, text: string): void {
  const { maxValueBytes } = generation.limits;
  // A character takes at most three bytes.
  if (text.length * 3 <= maxValueBytes || generation.stop !== undefined) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxValueBytes) return;
  throw stopFull(
    generation,
    `the input of "${effect}" takes ${bytes} bytes, at most ${maxValueBytes} are kept`,
  );
}

/** The verb still rejects for the caller that awaits it; a program that awaits it later must not end the process meanwhile. */
function hushed<T>(verb: () => Promise<T>): Promise<T> {
  let promise: Promise<T>;
  try {
    promise = verb();
  } catch (error) {
    promise = Promise.reject(error);
  }
  promise.catch(silence);
  return promise;
}

const silence = (): void => undefined;

function restart(generation: Generation, given: Json): never {
  const { stop, runId } = generation;
  if (stop !== undefined) throw stop.error;
  const state = written(given, 'the state of a restart');
  const error = restartError(runId);
  generation.stop = { type: 'restart', error, state };
  throw error;
}

/** How a generation ends. A program that catches a control error does not get round it. */
async function judge(generation: Generation, settled: Settled): Promise<SettleMessage['ending']> {
  const { stop } = generation;
  if (stop?.type === 'changed' || stop?.type === 'full') return broken(stop.error);
  // A cancelled program may take a shorter way.
  if (stop?.type !== 'cancelled') {
    const unreached = await findUnreached(generation);
    if (unreached !== undefined) return broken(unreached);
  }
  if (stop?.type === 'restart') return bounded(generation, { type: 'restart', state: stop.state });
  if (settled.type === 'threw') return broken(settled.error);
  return bounded(generation, { type: 'end', end: { type: 'ended', result: settled.result } });
}

async function findUnreached(generation: Generation): Promise<RerailError | undefined> {
  const position = generation.next;
  let isOver = false;
  const found = recordEnd(generation).then((record) => {
    isOver = true;
    return record;
  });
  await pump(generation, () => isOver);
  const record = await found;
  if (record.type === 'end') return undefined;
  return stopChanged(generation, {
    position,
    recorded: describeRecord(record),
    asked: 'no further call',
  });
}

function bounded(generation: Generation, ending: SettleMessage['ending']): SettleMessage['ending'] {
  const { maxValueBytes } = generation.limits;
  const bytes = Buffer.byteLength(JSON.stringify(ending));
  if (bytes <= maxValueBytes) return ending;
  const what = ending.type === 'restart' ? 'The state for the next generation' : 'The result';
  const message = `${what} of run "${generation.runId}" takes ${bytes} bytes, but at most ${maxValueBytes} are kept`;
  return broken(RerailError.from(createFailure('HISTORY_LIMIT', { origin: 'durable', message })));
}

function broken(error: unknown): SettleMessage['ending'] {
  const end: RunEnd = { type: 'broken', failure: classifyFailure(error, 'agent') };
  return { type: 'end', end };
}
