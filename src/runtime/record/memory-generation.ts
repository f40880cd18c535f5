import { createAborter } from '../../base/abort.ts';
import type { Aborter } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import type { Effect, Outcome, Signalled } from './durable.ts';
import { programChangedError } from './durable-errors.ts';
import type { JournalEntry } from './journal.ts';
import { describe, whatDiffers } from './memory-difference.ts';
import type { Difference } from './memory-difference.ts';
import type { Inbox } from './memory-inbox.ts';
import type { Recorder } from './recorder.ts';

/** What all runs of an engine share. */
export interface Host {
  readonly isVolatile: boolean;
  readonly effects: ReadonlyMap<string, Effect>;
  readonly clock: Clock;
  readonly checkJson: boolean;
  readonly cancelGraceMs: number;
  /** Where runs outlive the process. */
  readonly recorder: Recorder | undefined;
}

/** One generation of a run while it is carried: its journal, and whatever its program waits for. */
export interface Generation {
  readonly host: Host;
  readonly runId: string;
  readonly number: number;
  /** Another process may have died of what comes next: it must be on record before it begins. */
  readonly isTakenUp: boolean;
  readonly inbox: Inbox;
  readonly controller: Aborter;
  /** By position. A hole is a verb that has no result yet. */
  readonly entries: (JournalEntry | undefined)[];
  /** Positions below it may be in the journal that this generation began with. */
  readonly replayEnd: number;
  next: number;
  /** What the program said last of how far it is. */
  announced: Json | undefined;
  stop: Stop | undefined;
  /** Settles when everything that has happened is on record; absent while it is. */
  unkept: Promise<void> | undefined;
  /** Its cancellation is requested, which is being written down: nothing begins until it is obeyed. */
  wish: Promise<void> | undefined;
  readonly calls: Set<Open<Outcome>>;
  readonly sleeps: Set<Open<void>>;
  /** In the order in which they began, which is the order in which signals are given out. */
  readonly waits: Set<OpenWait>;
  /** Calls off the timer of the grace, while it runs. */
  endGrace: Cancel | undefined;
}

/** Why the program gets no further. */
export type Stop =
  | { readonly type: 'cancelled'; readonly error: RerailError }
  | { readonly type: 'changed'; readonly error: RerailError }
  | { readonly type: 'restart'; readonly error: RerailError; readonly state: Json }
  /** What happened could not be written down. */
  | { readonly type: 'unrecorded'; readonly error: RerailError }
  /** Nothing waits for the program any more: beyond its journal it stands still. */
  | { readonly type: 'gone'; readonly onVerb?: (position: number) => void };

/** A verb that has not settled. The code that takes it out of its set settles it. */
export interface Open<T> {
  readonly resolve: (value: T | Promise<T>) => void;
  readonly reject: (error: unknown) => void;
  /** Calls off its timers. */
  release: Cancel | undefined;
  promise: Promise<T> | undefined;
}

/** A wait for a signal. */
export interface OpenWait extends Open<Signalled> {
  readonly asked: AskedWait;
}

/** A verb as the program makes it, at its position. */
export type Asked = AskedCall | AskedSleep | AskedWait;

export interface AskedCall {
  readonly type: 'call';
  readonly position: number;
  readonly effect: string;
  readonly input: Json;
  /** See `DurableCallOptions`. */
  readonly mayLag?: boolean;
}

export interface AskedSleep {
  readonly type: 'sleep';
  readonly position: number;
  readonly delayMs: number;
}

export interface AskedWait {
  readonly type: 'wait';
  readonly position: number;
  readonly signal: string;
  readonly timeoutMs: number | undefined;
  /** Notified when it really waits: nothing is on record, and nothing has come yet. */
  readonly onWaiting: (() => void) | undefined;
}

/** Begins a generation from what its journal holds: nothing, for a fresh one. */
export function createGeneration(
  host: Host,
  run: Pick<Generation, 'runId' | 'number' | 'isTakenUp' | 'inbox'>,
  journal: readonly JournalEntry[],
): Generation {
  const entries: (JournalEntry | undefined)[] = [];
  for (const entry of journal) entries[entry.position] = entry;
  return {
    host,
    runId: run.runId,
    number: run.number,
    isTakenUp: run.isTakenUp,
    inbox: run.inbox,
    controller: createAborter(),
    entries,
    replayEnd: entries.length,
    next: 0,
    announced: undefined,
    stop: undefined,
    unkept: undefined,
    wish: undefined,
    calls: new Set(),
    sleeps: new Set(),
    waits: new Set(),
    endGrace: undefined,
  };
}

/** What the journal and the state of the run say to a verb, before anything is done. */
export type Found<T> =
  | { readonly type: 'answer'; readonly promise: Promise<T> }
  | { readonly type: 'proceed'; readonly begun: JournalEntry | undefined };

/** Looks a verb up. `read` gives the result of an entry, or undefined where the entry has only begun. */
export function lookUp<T>(
  generation: Generation,
  asked: Asked,
  read: (entry: JournalEntry) => { readonly result: T } | undefined,
): Found<T> {
  const { stop } = generation;
  // A program that does not fit, or that has asked for its end, is not fed any further.
  if (stop?.type === 'changed' || stop?.type === 'restart' || stop?.type === 'unrecorded')
    return answer(rejected(stop.error));
  const entry = generation.entries[asked.position];
  if (entry !== undefined) {
    const recorded = whatDiffers(entry, asked);
    if (recorded !== undefined) return answer(rejected(changed(generation, recorded)));
    const found = read(entry);
    if (found !== undefined) return answer(Promise.resolve(found.result));
  }
  if (stop === undefined) return { type: 'proceed', begun: entry };
  if (stop.type === 'cancelled') return answer(rejected(stop.error));
  stop.onVerb?.(asked.position);
  return answer(new Promise<never>(() => undefined));
}

/** A promise that rejects and that need not be handled: the program may have begun a verb without waiting for it yet. */
export function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  hush(promise);
  return promise;
}

/** As a promise, without one more where there is one. */
export function settled<T>(result: T | Promise<T>): Promise<T> {
  return result instanceof Promise ? result : Promise.resolve(result);
}

/** Waits for something, until `settle` or a stop takes it out of its set. */
export function open<T, O extends Open<T>>(items: Set<O>, begin: (item: Open<T>) => O): Promise<T> {
  const held: { item?: O } = {};
  const promise = new Promise<T>((resolve, reject) => {
    held.item = begin({ resolve, reject, release: undefined, promise: undefined });
    items.add(held.item);
  });
  if (held.item !== undefined) held.item.promise = promise;
  return promise;
}

/** The program was cancelled: waits end at once, effects in progress get the grace to tell what came of them. */
export function cancelGeneration(generation: Generation, error: RerailError): void {
  // A program that restarts meets the cancellation in the next generation.
  if (generation.stop !== undefined) return;
  generation.stop = { type: 'cancelled', error };
  generation.controller.abort(error);
  rejectAll(generation.sleeps, error);
  rejectAll(generation.waits, error);
  if (generation.calls.size === 0) return;
  const { clock, cancelGraceMs } = generation.host;
  generation.endGrace = clock.after(cancelGraceMs, () => rejectAll(generation.calls, error));
}

/** Leaves no timer, no listener and no work behind; what settles later is not heard. */
export function closeGeneration(generation: Generation, onVerb?: (position: number) => void): void {
  generation.stop = onVerb === undefined ? { type: 'gone' } : { type: 'gone', onVerb };
  const hasWork = generation.calls.size > 0;
  releaseAll(generation.calls);
  releaseAll(generation.sleeps);
  releaseAll(generation.waits);
  generation.endGrace?.();
  if (hasWork) generation.controller.abort(gone(generation));
}

function releaseAll(items: OpenItems): void {
  // To clear a set is to make it a new table, also where it is empty, as it is at the end of nearly every run.
  if (items.size === 0) return;
  for (const item of items) item.release?.();
  items.clear();
}

/** The program ended or restarted although its journal holds more: the first entry that it did not come to, in words. */
export function findUnreached(generation: Generation): { readonly error: RerailError } | undefined {
  const { entries, next } = generation;
  const left = entries.slice(next).find((entry) => entry !== undefined);
  if (left === undefined) return undefined;
  return {
    error: changed(generation, {
      position: left.position,
      recorded: describe(left),
      asked: 'no further call',
    }),
  };
}

function answer<T>(promise: Promise<T>): Found<T> {
  return { type: 'answer', promise };
}

function changed(generation: Generation, difference: Difference): RerailError {
  const error = programChangedError({
    runId: generation.runId,
    generation: generation.number,
    ...difference,
  });
  generation.stop = { type: 'changed', error };
  for (const items of [generation.calls, generation.sleeps, generation.waits]) rejectAll(items, error);
  return error;
}

/** Any of the three sets of what is open. */
interface OpenItems extends Iterable<Pick<Open<unknown>, 'reject' | 'release' | 'promise'>> {
  readonly size: number;
  readonly clear: () => void;
}

/** Everything that is open ends so. */
export function rejectAll(items: OpenItems, error: RerailError): void {
  for (const item of items) {
    item.release?.();
    if (item.promise !== undefined) hush(item.promise);
    item.reject(error);
  }
  items.clear();
}

/** It need not be handled. */
export function hush(promise: Promise<unknown>): void {
  // The verb still rejects for the caller that awaits it; a program that awaits it later must not end the process meanwhile.
  promise.catch(() => undefined);
}

function gone({ runId }: Generation): DOMException {
  return new DOMException(`Run "${runId}" no longer waits for this effect`, 'AbortError');
}
