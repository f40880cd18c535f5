import { assert } from '../base/assert.ts';
import { onAbort } from '../base/abort.ts';
import type { Cancel } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { isPromiseLike } from '../base/promise-like.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import { restartError } from './durable-errors.ts';
import type { Durable, DurableCallOptions, EffectEnd, Outcome, Signalled } from './durable.ts';
import type { JournalEntry, NamedSignal } from './journal.ts';
import { jsonFlaw, showJson } from './json-compare.ts';
import { lookUp, open, rejected } from './memory-generation.ts';
import type { AskedCall, AskedSleep, AskedWait, Generation, Open } from './memory-generation.ts';

/** The four verbs over one generation. */
export function durableOf(generation: Generation): Durable {
  return {
    runId: generation.runId,
    generation: generation.number,
    isVolatile: generation.host.isVolatile,
    call: (effect, input, options) => {
      const asked: AskedCall = { type: 'call', position: takePosition(generation), effect, input };
      return call(generation, asked, options);
    },
    sleep: (delayMs) => sleep(generation, { type: 'sleep', position: takePosition(generation), delayMs }),
    waitFor: (signal, options) => {
      const timeoutMs = options?.timeoutMs === Infinity ? undefined : options?.timeoutMs;
      const position = takePosition(generation);
      return waitFor(generation, { type: 'wait', position, signal, timeoutMs });
    },
    restart: (state) => restart(generation, state),
  };
}

/** Gives a signal that has just come to whoever has waited longest for one of this name. */
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
  const signal = limit === undefined ? generation.controller.signal : limit.signal;
  let end: EffectEnd | Promise<EffectEnd>;
  try {
    end = work(input, { runId, position, signal, pending: inbox.pending });
  } catch (thrown) {
    return Promise.resolve(recordCall(generation, asked, failedBy(thrown)));
  }
  if (!isPromiseLike(end)) return Promise.resolve(recordCall(generation, asked, end));
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
      if (!calls.delete(item)) return; // Nobody waits for it any more: what comes too late is not recorded.
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
  const controller = new AbortController();
  const run = generation.controller.signal;
  return {
    signal: controller.signal,
    start: (onTime) => {
      const stopListening = onAbort(run, () => controller.abort(run.reason));
      const stopTimer = generation.host.clock.after(timeoutMs, () => {
        const message = `Effect "${effect}" did not end within ${timeoutMs} ms; it may still be at work`;
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

function recordCall(generation: Generation, asked: AskedCall, given: EffectEnd): Outcome {
  const { effect, position, input } = asked;
  const sound = given?.type === 'done' || given?.type === 'failed' ? given : noOutcome(effect, given);
  const end = generation.host.checkJson ? copyJson(sound, `the outcome of "${effect}"`) : sound;
  const { took } = end;
  if (took === undefined) {
    generation.entries[position] = { type: 'call', position, effect, input, outcome: end };
    return end;
  }
  const outcome: Outcome =
    end.type === 'done' ? { type: 'done', value: end.value } : { type: 'failed', failure: end.failure };
  generation.inbox.remove(took);
  generation.entries[position] = { type: 'call', position, effect, input, outcome, took };
  return outcome;
}

function noOutcome(effect: string, given: unknown): EffectEnd {
  const message = `Effect "${effect}" gave ${jsonFlaw(given) === undefined ? showJson(given) : typeof given} instead of an outcome`;
  return { type: 'failed', failure: createFailure('INTERNAL', { message }) };
}

function sleep(generation: Generation, asked: AskedSleep): Promise<void> {
  const { clock } = generation.host;
  const { position, delayMs } = asked;
  checkTime(generation, 'sleeps', delayMs);
  const found = lookUp(generation, asked, (entry) =>
    entry.type === 'sleep' && entry.isOver ? { result: undefined } : undefined,
  );
  if (found.type === 'answer') return found.promise;
  const begun = found.begun?.type === 'sleep' ? found.begun.dueAtMs : undefined;
  const dueAtMs = begun ?? clock.wallMs() + Math.max(0, delayMs);
  const finish = (): void => {
    generation.entries[position] = { type: 'sleep', position, delayMs, dueAtMs, isOver: true };
  };
  const leftMs = leftOf(delayMs, dueAtMs - clock.wallMs());
  if (leftMs <= 0) return Promise.resolve(finish());
  generation.entries[position] = { type: 'sleep', position, delayMs, dueAtMs, isOver: false };
  return open<void, Open<void>>(generation.sleeps, (item) => {
    item.release = clock.after(leftMs, () => {
      generation.sleeps.delete(item);
      item.resolve(finish());
    });
    return item;
  });
}

/** What is left of a wait that may have begun before a crash. A wall clock that was set back must not lengthen it. */
function leftOf(wholeMs: number, leftMs: number): number {
  return Math.min(wholeMs, leftMs);
}

function checkTime(generation: Generation, verb: string, givenMs: number): void {
  const { runId } = generation;
  assert(Number.isFinite(givenMs), `Run "${runId}" ${verb} for ${givenMs} ms; it must be a finite number`);
}

function waitFor(generation: Generation, asked: AskedWait): Promise<Signalled> {
  const { clock } = generation.host;
  const { signal, timeoutMs } = asked;
  if (timeoutMs !== undefined) checkTime(generation, `waits for "${signal}"`, timeoutMs);
  const found = lookUp(generation, asked, signalledIn);
  if (found.type === 'answer') return found.promise;
  const arrived = generation.inbox.take(signal);
  if (arrived !== undefined) return Promise.resolve(recordWait(generation, asked, signalledBy(arrived)));
  const begun = found.begun?.type === 'wait' ? found.begun.dueAtMs : undefined;
  const dueAtMs = begun ?? (timeoutMs === undefined ? undefined : clock.wallMs() + timeoutMs);
  generation.entries[asked.position] = waitEntry(asked, { dueAtMs });
  return open(generation.waits, (item) => {
    const wait = { ...item, asked };
    if (timeoutMs === undefined || dueAtMs === undefined) return wait;
    wait.release = clock.after(Math.max(0, leftOf(timeoutMs, dueAtMs - clock.wallMs())), () => {
      generation.waits.delete(wait);
      wait.resolve(recordWait(generation, asked, { type: 'timed-out' }));
    });
    return wait;
  });
}

function signalledIn(entry: JournalEntry): { readonly result: Signalled } | undefined {
  return entry.type === 'wait' && entry.signalled !== undefined ? { result: entry.signalled } : undefined;
}

function signalledBy({ id, payload }: NamedSignal): Signalled {
  return { type: 'signalled', id, payload };
}

function recordWait(generation: Generation, asked: AskedWait, signalled: Signalled): Signalled {
  generation.entries[asked.position] = waitEntry(asked, { signalled });
  return signalled;
}

function waitEntry(
  { position, signal, timeoutMs }: AskedWait,
  { dueAtMs, signalled }: { readonly dueAtMs?: number | undefined; readonly signalled?: Signalled },
): JournalEntry {
  return {
    type: 'wait',
    position,
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(dueAtMs === undefined ? {} : { dueAtMs }),
    ...(signalled === undefined ? {} : { signalled }),
  };
}

function restart(generation: Generation, given: Json): never {
  const { host, stop, runId } = generation;
  if (stop?.type === 'cancelled' || stop?.type === 'changed' || stop?.type === 'restart') throw stop.error;
  const state = host.checkJson ? copyJson(given, 'the state of a restart') : given;
  const error = restartError(runId);
  generation.stop = { type: 'restart', error, state };
  throw error;
}
