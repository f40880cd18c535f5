import { assert } from '../../base/assert.ts';
import { createAborter, onAbort } from '../../base/abort.ts';
import type { Cancel } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { lazy } from '../../base/lazy.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { restartError } from './durable-errors.ts';
import type { Durable, DurableCallOptions, EffectEnd, Outcome } from './durable.ts';
import type { JournalEntry } from './journal.ts';
import { jsonFlaw, showJson } from '../model-call/json-compare.ts';
import { lookUp, open, rejected, settled } from './memory-generation.ts';
import type { AskedCall, Generation, Open } from './memory-generation.ts';
import { afterwards, whenKept, whenNoted, whenRecorded } from './memory-keeping.ts';
import { recordWait, signalledBy, sleep, waitFor } from './memory-waits.ts';

/** The four verbs over one generation. */
export function durableOf(generation: Generation): Durable {
  return {
    runId: generation.runId,
    generation: generation.number,
    isVolatile: generation.host.isVolatile,
    call: (effect, input, options) => {
      const position = takePosition(generation);
      const asked: AskedCall = { type: 'call', position, effect, input, mayLag: options?.mayLag === true };
      return call(generation, asked, options);
    },
    sleep: (delayMs) => sleep(generation, { type: 'sleep', position: takePosition(generation), delayMs }),
    waitFor: (signal, options) => {
      const timeoutMs = options?.timeoutMs === Infinity ? undefined : options?.timeoutMs;
      const position = takePosition(generation);
      const onWaiting = options?.onWaiting;
      return waitFor(generation, { type: 'wait', position, signal, timeoutMs, onWaiting });
    },
    restart: (state) => restart(generation, state),
    announce: (value) => {
      generation.announced = generation.host.checkJson ? copyJson(value, 'what is announced') : value;
    },
    behind: () => whenRecorded(generation),
    isReplaying: () => generation.next < generation.replayEnd,
    upcoming: () =>
      generation.next < generation.replayEnd ? generation.entries[generation.next] : undefined,
  };
}

/** Gives a signal that has just come to the oldest wait for one of this name. */
export function deliver(generation: Generation, name: string): void {
  for (const item of generation.waits) {
    if (item.asked.signal !== name) continue;
    const signal = generation.inbox.take(name);
    if (signal === undefined) return;
    generation.waits.delete(item);
    item.release?.();
    item.resolve(recordWait(generation, item.asked, signalledBy(signal)));
    return;
  }
}

/** A copy as another machine would get it. Throws, with the path, where JSON cannot hold the value. */
export function copyJson<T>(value: T, what: string): T {
  const flaw = jsonFlaw(value);
  assert(flaw === undefined, `Only JSON crosses the durable port, but in ${what} ${flaw}`);
  return JSON.parse(JSON.stringify(value)) as T; // The same value, as was just seen.
}

/** Taken before anything is awaited, so that parallel verbs have the order in which they were made. */
function takePosition(generation: Generation): number {
  const position = generation.next;
  generation.next += 1;
  return position;
}

// No hashing, comparing or copying on this way: a live call costs its promise and its entry.
function call(generation: Generation, asked: AskedCall, options?: DurableCallOptions): Promise<Outcome> {
  const mayLead = options?.isHarmless === true && !generation.isTakenUp;
  const first = generation.wish ?? (mayLead ? undefined : generation.unkept);
  if (first === undefined) return callNow(generation, asked, options);
  return afterwards(first, () => call(generation, asked, options));
}

function callNow(
  generation: Generation,
  asked: AskedCall,
  options: DurableCallOptions | undefined,
): Promise<Outcome> {
  if (asked.position < generation.replayEnd || generation.stop !== undefined) {
    const found = lookUp(generation, asked, outcomeIn);
    if (found.type === 'answer') return found.promise;
  }
  try {
    return options?.timeoutMs === undefined
      ? perform(generation, asked, undefined)
      : perform(generation, asked, createLimit(generation, asked, options.timeoutMs));
  } catch (defect) {
    return rejected(defect);
  }
}

function outcomeIn(entry: JournalEntry): { readonly result: Outcome } | undefined {
  return entry.type === 'call' ? { result: entry.outcome } : undefined;
}

/** The engine's own watch over one call. */
interface Limit {
  readonly signal: AbortSignal;
  readonly start: (onTime: (end: EffectEnd) => void) => Cancel;
}

function perform(generation: Generation, asked: AskedCall, limit: Limit | undefined): Promise<Outcome> {
  const { host, runId, inbox } = generation;
  const { effect, position } = asked;
  const work = host.effects.get(effect);
  assert(work !== undefined, `Run "${runId}" calls "${effect}", but no such effect was handed to the engine`);
  const input = host.checkJson ? copyJson(asked.input, `the input of "${effect}"`) : asked.input;
  const signal = limit === undefined ? generation.controller.signal() : limit.signal;
  let end: EffectEnd | Promise<EffectEnd>;
  try {
    end = work(input, { runId, position, signal, pending: inbox.pending });
  } catch (thrown) {
    return settled(recordCall(generation, asked, failedBy(thrown)));
  }
  if (!isPromiseLike(end)) return settled(recordCall(generation, asked, end));
  return track(generation, { asked, ending: end, limit });
}

interface Tracked {
  readonly asked: AskedCall;
  readonly ending: PromiseLike<EffectEnd>;
  readonly limit: Limit | undefined;
}

function track(generation: Generation, { asked, ending, limit }: Tracked): Promise<Outcome> {
  const { calls } = generation;
  return open<Outcome, Open<Outcome>>(calls, (item) => {
    const settle = (end: EffectEnd): void => {
      if (!calls.delete(item)) return; // No caller waits for it any more: what comes too late is not recorded.
      item.release?.();
      try {
        item.resolve(recordCall(generation, asked, end));
      } catch (defect) {
        item.reject(defect);
      }
    };
    item.release = limit?.start(settle);
    void Promise.resolve(ending).then(settle, (thrown: unknown) => settle(failedBy(thrown)));
    return item;
  });
}

function createLimit(generation: Generation, { effect }: AskedCall, timeoutMs: number): Limit {
  const controller = createAborter();
  const run = generation.controller.signal();
  return {
    signal: controller.signal(),
    start: (onTime) => {
      const stopListening = onAbort(run, () => controller.abort(run.reason));
      const stopTimer = generation.host.clock.after(timeoutMs, () => {
        const message = `Effect "${effect}" did not end within ${timeoutMs} ms; it may still be running`;
        const failure = createFailure('TIMEOUT', { origin: 'durable', message, sideEffect: 'possible' });
        onTime({ type: 'failed', failure });
        controller.abort(new DOMException(message, 'TimeoutError'));
      });
      return () => {
        stopTimer();
        stopListening();
      };
    },
  };
}

function failedBy(thrown: unknown): EffectEnd {
  return { type: 'failed', failure: classifyFailure(thrown, 'agent') };
}

function recordCall(generation: Generation, asked: AskedCall, given: EffectEnd): Outcome | Promise<Outcome> {
  const { effect, position, input } = asked;
  const sound = given?.type === 'done' || given?.type === 'failed' ? given : noOutcome(effect, given);
  const end = generation.host.checkJson ? copyJson(sound, `the outcome of "${effect}"`) : sound;
  const { took } = end;
  if (took === undefined) {
    const entry: JournalEntry = { type: 'call', position, effect, input, outcome: end };
    generation.entries[position] = entry;
    return asked.mayLag === true ? whenNoted(generation, entry, end) : whenKept(generation, entry, end);
  }
  const outcome: Outcome =
    end.type === 'done' ? { type: 'done', value: end.value } : { type: 'failed', failure: end.failure };
  generation.inbox.remove(took);
  const entry: JournalEntry = { type: 'call', position, effect, input, outcome, took };
  generation.entries[position] = entry;
  return asked.mayLag === true ? whenNoted(generation, entry, outcome) : whenKept(generation, entry, outcome);
}

function noOutcome(effect: string, given: unknown): EffectEnd {
  const message = `Effect "${effect}" gave ${jsonFlaw(given) === undefined ? showJson(given) : typeof given} instead of an outcome`;
  return { type: 'failed', failure: createFailure('INTERNAL', { message }) };
}

/** One for all: to make an error takes longer than ten steps, and the stack of this one is never read. */
const leaving = lazy(() => restartError());

function restart(generation: Generation, given: Json): never {
  const { host, stop } = generation;
  if (stop !== undefined && stop.type !== 'gone') throw stop.error;
  const state = host.checkJson ? copyJson(given, 'the state of a restart') : given;
  const error = leaving();
  generation.stop = { type: 'restart', error, state };
  throw error;
}
