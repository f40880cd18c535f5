import { cancelledError } from '../../runtime/record/durable-errors.ts';
import type { Effect, Outcome } from '../../runtime/record/durable.ts';
import { assert } from '../../base/assert.ts';
import type { Asked, AskedCall } from '../../runtime/record/memory-generation.ts';
import { askDesk } from './ask-desk.ts';
import { addItem, createItem, stopChanged, stopFull } from './generation.ts';
import type { Generation, Waiter } from './generation.ts';
import type { DeskStatus } from './messages.ts';
import { performEffect } from './perform-effect.ts';
import { isCall, readRecord, recordDiffers, stepName } from './record.ts';
import type { StepRecord } from './record.ts';

/** Performs an effect as a step of Restate, and gives what is on record of it. */
export function call(generation: Generation, asked: AskedCall, options: CallStep): Promise<Outcome> {
  // One promise for all of it: this is done for every step. Whatever is thrown within rejects it.
  return new Promise((resolve, reject) => {
    const { inputText, timeoutMs, isDeaf } = options;
    const work = effectOf(generation, asked.effect);
    step(generation, asked, {
      onCancel: 'grace',
      isDeaf,
      make: () => performEffect(generation, asked, { work, inputText, timeoutMs }),
      read: takeOutcome,
      resolve,
      reject,
    });
  });
}

interface CallStep {
  /** The input as it was written. */
  readonly inputText: string;
  readonly timeoutMs: number | undefined;
  readonly isDeaf: boolean;
}

function effectOf({ host, runId }: Generation, effect: string): Effect {
  const { effects } = host.setup;
  const work = Object.hasOwn(effects, effect) ? effects[effect] : undefined;
  assert(work !== undefined, `Run "${runId}" calls "${effect}", but no such effect was handed to the engine`);
  return work;
}

function takeOutcome(generation: Generation, record: StepRecord): Outcome {
  if (!isCall(record)) throw whyLeftOut(generation, record);
  const { took } = record;
  if (took !== undefined) {
    generation.inbox.remove(took);
    generation.took.push(...took);
  }
  return record.type === 'done'
    ? { type: 'done', value: record.value }
    : { type: 'failed', failure: record.failure };
}

/** Puts on record that a verb has begun that is not a call. */
export function recordStep(generation: Generation, asked: Asked, record: StepRecord): Promise<void> {
  return new Promise((resolve, reject) => {
    step(generation, asked, {
      onCancel: 'reject',
      make: () => Promise.resolve(JSON.stringify(record)),
      read: takeNothing,
      resolve,
      reject,
    });
  });
}

function takeNothing(generation: Generation, record: StepRecord): void {
  if (record.type === 'left-out') throw whyLeftOut(generation, record);
}

function whyLeftOut(generation: Generation, record: StepRecord): Error {
  const { stop, runId } = generation;
  const reason = record.type === 'left-out' ? record.reason : undefined;
  generation.cancelledHere ??= reason;
  return stop?.error ?? cancelledError(runId, reason ?? 'the step was left out');
}

/** What is on record where the program ends. */
export function recordEnd(generation: Generation): Promise<StepRecord> {
  const end: StepRecord = { type: 'end' };
  return new Promise((resolve, reject) => {
    addStep(generation, generation.next, {
      onCancel: 'keep',
      perform: () => Promise.resolve(JSON.stringify(end)),
      settle: (value) => resolve(readRecord(value)),
      reject,
    });
  });
}

interface Step<T> extends Pick<Waiter, 'onCancel' | 'reject' | 'isDeaf'> {
  /** The record as text. Never rejects. */
  readonly make: () => Promise<string>;
  /** What the caller that waits is given of the record. Throws where there is nothing to give. */
  readonly read: (generation: Generation, record: StepRecord) => T;
  readonly resolve: (given: T) => void;
}

/** Throws where there can be no further step. */
function step<T>(generation: Generation, asked: Asked, given: Step<T>): void {
  checkRoom(generation, asked.position);
  const { onCancel, isDeaf = false, reject } = given;
  let isNew = false;
  addStep(generation, asked.position, {
    onCancel,
    isDeaf,
    reject,
    perform: () => {
      isNew = true;
      return begin(generation, given);
    },
    settle: (value, bytes) => {
      const record = readRecord(value);
      generation.journalBytes += bytes;
      const difference = isNew || record.type === 'left-out' ? undefined : recordDiffers(record, asked);
      if (difference !== undefined) return reject(stopChanged(generation, difference));
      try {
        given.resolve(given.read(generation, record));
      } catch (error) {
        reject(error);
      }
    },
  });
}

/** Restate begins a step only when all that came before it is known: so also the cancel request. */
function begin(generation: Generation, given: Pick<Step<unknown>, 'isDeaf' | 'make'>): Promise<string> {
  const { stop, why, catchingUp } = generation;
  if (stop !== undefined) return Promise.resolve(leftOut);
  if (generation.cancelledHere !== undefined)
    return Promise.resolve(JSON.stringify({ type: 'left-out', reason: generation.cancelledHere }));
  if (generation.mustAsk) {
    generation.asking ??= askFirst(generation);
    return generation.asking.then(() => begin(generation, given));
  }
  // Its run is cancelled for certain: what is waited for is the reason.
  if (why !== undefined) return within(generation, why).then(() => leftOut);
  if (given.isDeaf === true || catchingUp === undefined) return given.make();
  return within(generation, catchingUp).then(() =>
    generation.stop === undefined && generation.why === undefined ? given.make() : leftOut,
  );
}

async function askFirst(generation: Generation): Promise<void> {
  await within(generation, askWhetherCancelled(generation));
  generation.mustAsk = false;
}

/**
 * A cancellation that was acknowledged may still be on its way to its run. What another attempt has begun must not be done again then:
 * so the desk is asked, outside the journal. Where it cannot be, the run continues; it learns of it soon.
 */
async function askWhetherCancelled(generation: Generation): Promise<void> {
  const { host, runId, number } = generation;
  try {
    const request = { handler: 'status', deed: `report whether run "${runId}" is cancelled` };
    const known = (await askDesk(host, runId, request)) as DeskStatus; // What the desk gives.
    if (known.generation === number) generation.cancelledHere ??= known.cancelReason;
  } catch {
    // The desk could not be asked.
  }
}

const maxHoldMs = 1000;

/**
 * Not for long: where the desk is slow, Restate takes the run for idle and wants it to leave, and until the step has ended nothing
 * more is heard.
 */
function within({ host }: Generation, hold: Promise<void>): Promise<void> {
  const { setup, options } = host;
  return new Promise((resolve) => {
    const overdue = setup.clock.after(Math.min(maxHoldMs, options.limits.inactivityTimeoutMs / 2), resolve);
    void hold.then(() => {
      overdue();
      return resolve();
    });
  });
}

function checkRoom(generation: Generation, position: number): void {
  const { stop, journalBytes } = generation;
  const { maxSteps, maxJournalBytes } = generation.limits;
  if (stop !== undefined) throw stop.error;
  if (position >= maxSteps)
    throw stopFull(generation, `it has made ${maxSteps} steps, the most that one journal takes`);
  if (journalBytes > maxJournalBytes)
    throw stopFull(
      generation,
      `its journal takes ${journalBytes} bytes, at most ${maxJournalBytes} are kept`,
    );
}

const leftOut = JSON.stringify({ type: 'left-out' } satisfies StepRecord);

function addStep(generation: Generation, position: number, waiter: Waiter): void {
  // The SDK holds these until the invocation ends: so they know the item alone, which releases what it was for.
  const item = createItem(waiter);
  const perform = (): Promise<string> => item.waiter?.perform?.() ?? Promise.resolve(leftOut);
  const options = { maxRetryAttempts: 1, serde: item };
  addItem(generation, item, generation.context.run(stepName(position), perform, options));
}
