import { onAbort } from '../../base/abort.ts';
import type { Cancel } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { cancelledError, programChangedError } from '../../runtime/record/durable-errors.ts';
import type { EngineSetup, Signalled } from '../../runtime/record/durable.ts';
import type { Difference } from '../../runtime/record/memory-difference.ts';
import type { AskedWait } from '../../runtime/record/memory-generation.ts';
import { createInbox } from '../../runtime/record/memory-inbox.ts';
import type { Inbox } from '../../runtime/record/memory-inbox.ts';
import type { CarryMessage, GenerationLimits, ListenMessage, NoteMessage, WhyMessage } from './messages.ts';
import type { Names } from './names.ts';
import type { ResolvedOptions } from './options.ts';
import { graceName } from './record.ts';
import type { RestateContext, RestatePromise, RestateSdk } from './sdk.ts';
import { answering } from './serde.ts';
import type { AnswerSerde } from './serde.ts';

/** What all runs of an engine share. */
export interface Host {
  readonly sdk: RestateSdk;
  readonly names: Names;
  readonly options: ResolvedOptions;
  readonly setup: EngineSetup;
  /** The generations that this process runs, by run. */
  readonly live: Map<string, Generation>;
}

/** One generation of a run, in one attempt of Restate to carry it. */
export interface Generation {
  readonly host: Host;
  readonly context: RestateContext;
  readonly runId: string;
  readonly number: number;
  readonly limits: GenerationLimits;
  readonly inbox: Inbox;
  /** Aborted when the run is cancelled, and when this attempt is over: then another one may be at work. */
  readonly controller: AbortController;
  readonly stopListening: Cancel;
  /** What the journal may answer next. All of them are waited for together, so that their order is that of the journal. */
  readonly items: Set<Item>;
  /** The next mail from the desk. */
  mail: Item | undefined;
  /** Only calls that ignore cancellation are at work: the program does not listen for mail. */
  isDeaf: boolean;
  /** The program did not listen until now: the mail that comes first is not all that came meanwhile. */
  isBehind: boolean;
  /** The desk is asked for all the rest. Until it answers, only steps that ignore cancellation begin. */
  catchingUp: Promise<void> | undefined;
  /** Restate has reported here that the run is cancelled. That wait will report it for ever. */
  wasCancelled: boolean;
  /** Then the desk is asked why. Until it answers, no step begins. */
  why: Promise<void> | undefined;
  /** The desk has reported it in this process, and Restate not yet. No step begins any more. */
  cancelledHere: string | undefined;
  /** Another attempt has begun it: whether it was cancelled since is asked before the first step of this one. */
  mustAsk: boolean;
  /** The desk is asked. */
  asking: Promise<void> | undefined;
  readonly waits: Set<OpenWait>;
  next: number;
  /** Notes to the desk so far. */
  notes: number;
  journalBytes: number;
  stop: Stop | undefined;
  /** Signals that were taken and not yet reported to the desk. */
  took: string[];
  /** While it is being reported that the run waits: what is announced then goes with the same note. */
  isTelling: boolean;
  announced: { readonly value: Json } | undefined;
  /** Wakes the pump: there is something new to wait for. */
  nudge: () => void;
  /** Gives up the effects that are at work. */
  readonly atWork: Set<() => void>;
}

/** Why the program gets no further. */
export type Stop =
  | { readonly type: 'cancelled'; readonly error: RerailError }
  | { readonly type: 'changed'; readonly error: RerailError }
  | { readonly type: 'full'; readonly error: RerailError }
  | { readonly type: 'restart'; readonly error: RerailError; readonly state: Json };

/**
 * Something that the journal will answer, and then its own answer. The SDK holds it until the invocation ends, so it releases
 * the waiting code and the value as soon as they are not needed: what is held is what the collector of garbage copies.
 */
export interface Item extends AnswerSerde {
  /** Absent while nothing waits for it. */
  promise: RestatePromise<Item> | undefined;
  /** Undefined when it was reported, or has stopped waiting. */
  waiter: Waiter | undefined;
  value: unknown;
  /** What the value takes in the journal. */
  bytes: number;
}

/** Who waits for an item. */
export interface Waiter {
  readonly settle: (value: unknown, bytes: number) => void;
  readonly reject: (error: unknown) => void;
  /** What becomes of it when the run is cancelled: an effect in progress may still tell what came of it. */
  readonly onCancel: 'reject' | 'grace' | 'keep';
  /** Nothing depends on the mail that comes meanwhile. */
  readonly isDeaf?: boolean;
  /** What a step does: it gives its record as text, and never rejects. */
  readonly perform?: () => Promise<string>;
}

/** A wait for a signal. */
export interface OpenWait {
  readonly asked: AskedWait;
  readonly resolve: (signalled: Signalled) => void;
  readonly reject: (error: unknown) => void;
  timer: Item | undefined;
}

/** Begins a generation. Nothing of it has happened yet, as far as this attempt knows. */
export function createGeneration(host: Host, context: RestateContext, begun: CarryMessage): Generation {
  const { runId, generation: number, signals, limits } = begun;
  const controller = new AbortController();
  const { attemptCompletedSignal } = context.request();
  const isOver = (): void => {
    // One that is suspended never ends here.
    forget(generation);
    controller.abort(new DOMException(`This attempt at run "${runId}" is over`, 'AbortError'));
  };
  const history = { signals, signalIds: [], journal: [] };
  const generation: Generation = {
    host,
    context,
    runId,
    number,
    limits,
    inbox: createInbox(Number.MAX_SAFE_INTEGER, history),
    controller,
    stopListening: onAbort(attemptCompletedSignal, isOver),
    items: new Set(),
    mail: undefined,
    isDeaf: false,
    isBehind: false,
    catchingUp: undefined,
    wasCancelled: false,
    cancelledHere: undefined,
    // Before a step is on record there is nothing that could be done a second time.
    mustAsk: context.isProcessing?.() !== true,
    asking: undefined,
    why: undefined,
    waits: new Set(),
    next: 0,
    notes: 0,
    journalBytes: 0,
    stop: undefined,
    took: [],
    isTelling: false,
    announced: undefined,
    nudge: () => undefined,
    atWork: new Set(),
  };
  return generation;
}

/** It is no longer carried here. */
export function forget(generation: Generation): void {
  const { host, runId } = generation;
  if (host.live.get(runId) === generation) host.live.delete(runId);
}

/** Something that nothing waits for yet. It reads its own answer: it is the serde of its promise. */
export function createItem(waiter: Waiter): Item {
  const item = { __proto__: answering, promise: undefined, waiter, value: undefined, bytes: 0 };
  return item as unknown as Item; // The prototype brings the rest, which the compiler does not see.
}

/** Waits for an answer of the journal, together with all others. The promise gives the item itself, with its value. */
export function addItem(generation: Generation, item: Item, promise: RestatePromise<Item>): void {
  item.promise = promise;
  generation.items.add(item);
  generation.nudge();
}

/** The journal has answered: the code that still waits gets the answer. */
export function takeItem(generation: Generation, item: Item): void {
  const { waiter, value, bytes } = item;
  dropItem(generation, item);
  waiter?.settle(value, bytes);
}

/** Nothing waits for it any more. */
export function dropItem({ items }: Generation, item: Item): void {
  items.delete(item);
  item.waiter = undefined;
  item.value = undefined;
  item.promise = undefined;
}

/** Waits for Restate's own timer. Its name says in the journal what it is for: the step that it belongs to. */
export function addTimer(generation: Generation, timer: Timer, waiter: Waiter): Item {
  const { delayMs, name } = timer;
  const item = createItem(waiter);
  addItem(
    generation,
    item,
    generation.context.sleep(delayMs, name).map(() => item),
  );
  return item;
}

interface Timer {
  readonly delayMs: number;
  readonly name: string;
}

/** Cancellation was requested: waits end at once, effects in progress get the grace to report their outcome. */
export function cancelGeneration(generation: Generation, reason: string): void {
  if (generation.stop !== undefined) return;
  const { items, waits, host } = generation;
  const error = cancelledError(generation.runId, reason);
  generation.stop = { type: 'cancelled', error };
  generation.controller.abort(error);
  rejectWhere(generation, error, ({ onCancel }) => onCancel === 'reject');
  for (const wait of waits) wait.reject(error);
  waits.clear();
  if (![...items].some(({ waiter }) => waiter?.onCancel === 'grace')) return;
  const timer = { delayMs: host.options.limits.cancelGraceMs, name: graceName };
  addTimer(generation, timer, {
    onCancel: 'keep',
    reject: () => undefined,
    settle: () => rejectWhere(generation, error, ({ onCancel }) => onCancel === 'grace'),
  });
}

/** The program asks for something else than its journal holds. */
export function stopChanged(generation: Generation, difference: Difference): RerailError {
  const { runId, number } = generation;
  return stopAll(generation, 'changed', programChangedError({ runId, generation: number, ...difference }));
}

/** The journal holds as much as it may. */
export function stopFull(generation: Generation, what: string): RerailError {
  const failure = createFailure('HISTORY_LIMIT', {
    origin: 'durable',
    message: `Run "${generation.runId}" cannot continue: ${what}. A run leaves its journal behind by \`restart\``,
    context: { runId: generation.runId, generation: generation.number },
  });
  return stopAll(generation, 'full', RerailError.from(failure));
}

function stopAll(generation: Generation, type: 'changed' | 'full', error: RerailError): RerailError {
  generation.stop = { type, error };
  generation.controller.abort(error);
  rejectWhere(generation, error, () => true);
  for (const wait of generation.waits) wait.reject(error);
  generation.waits.clear();
  return error;
}

function rejectWhere(generation: Generation, error: unknown, isMeant: (waiter: Waiter) => boolean): void {
  for (const item of generation.items) {
    const { waiter } = item;
    if (waiter === undefined || !isMeant(waiter)) continue;
    dropItem(generation, item);
    waiter.reject(error);
  }
}

/** Says something to the desk of the run, as a step of the journal that nothing waits for. */
export function tellDesk(
  { context, host, runId }: Generation,
  method: 'listen' | 'why' | 'note' | 'settle',
  message: ListenMessage | WhyMessage | NoteMessage | object,
): void {
  const { names, sdk } = host;
  context.genericSend({
    service: names.desk,
    method,
    key: runId,
    parameter: message,
    inputSerde: sdk.serde.json,
  });
}
