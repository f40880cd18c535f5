import { cancelledError } from '../../runtime/durable-errors.ts';
import type { Effect, Outcome } from '../../runtime/durable.ts';
import { assert } from '../../base/assert.ts';
import type { Asked, AskedCall } from '../../runtime/memory-generation.ts';
import { addItem, stopChanged, stopFull } from './generation.ts';
import type { Generation } from './generation.ts';
import { performEffect } from './perform-effect.ts';
import { isCall, recordDiffers, stepName } from './record.ts';
import type { CallRecord, StepRecord } from './record.ts';
import { measuringSerde } from './serde.ts';

/** Performs an effect as a step of Restate, and gives what is on record of it. */
export function call(
  generation: Generation,
  asked: AskedCall,
  timeoutMs: number | undefined,
): Promise<Outcome> {
  // One promise for all of it: this is done for every step. Whatever is thrown within rejects it.
  return new Promise((resolve, reject) => {
    const work = effectOf(generation, asked.effect);
    step(generation, asked, {
      onCancel: 'grace',
      make: () => performEffect(generation, asked, { work, timeoutMs }),
      resolve: (record) =>
        isCall(record) ? resolve(takeOutcome(generation, record)) : reject(whyLeftOut(generation)),
      reject,
    });
  });
}

function effectOf({ host, runId }: Generation, effect: string): Effect {
  const { effects } = host.setup;
  const work = Object.hasOwn(effects, effect) ? effects[effect] : undefined;
  assert(work !== undefined, `Run "${runId}" calls "${effect}", but no such effect was handed to the engine`);
  return work;
}

function takeOutcome({ inbox, took: taken }: Generation, record: CallRecord): Outcome {
  const { took } = record;
  if (took !== undefined) {
    inbox.remove(took);
    taken.push(...took);
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
      resolve: (kept) => (kept.type === 'left-out' ? reject(whyLeftOut(generation)) : resolve()),
      reject,
    });
  });
}

function whyLeftOut({ stop, runId }: Generation): Error {
  return stop?.error ?? cancelledError(runId, 'the step was left out');
}

/** What is on record where the program ends. */
export function recordEnd(generation: Generation): Promise<StepRecord> {
  const end: StepRecord = { type: 'end' };
  return new Promise((resolve, reject) => {
    addStep(generation, generation.next, {
      onCancel: 'keep',
      make: () => Promise.resolve(JSON.stringify(end)),
      resolve,
      reject,
    });
  });
}

interface Step {
  readonly onCancel: 'grace' | 'reject' | 'keep';
  /** The record as text. Never rejects. */
  readonly make: () => Promise<string>;
  readonly resolve: (record: StepRecord) => void;
  readonly reject: (error: unknown) => void;
}

/** Throws where there can be no further step. */
function step(generation: Generation, asked: Asked, { onCancel, make, resolve, reject }: Step): void {
  const { stop, journalBytes } = generation;
  const { maxSteps, maxJournalBytes } = generation.limits;
  if (stop !== undefined) throw stop.error;
  if (asked.position >= maxSteps)
    throw stopFull(generation, `it has made ${maxSteps} steps, the most that one journal takes`);
  if (journalBytes > maxJournalBytes)
    throw stopFull(
      generation,
      `its journal takes ${journalBytes} bytes, at most ${maxJournalBytes} are kept`,
    );
  let isNew = false;
  addStep(generation, asked.position, {
    onCancel,
    reject,
    make: () => {
      isNew = true;
      // Restate begins a step only when all that came before it is known: so also the wish to end.
      return generation.stop === undefined ? make() : Promise.resolve(leftOut);
    },
    resolve: (record) => {
      const difference = isNew || record.type === 'left-out' ? undefined : recordDiffers(record, asked);
      if (difference === undefined) resolve(record);
      else reject(stopChanged(generation, difference));
    },
  });
}

const leftOut = JSON.stringify({ type: 'left-out' } satisfies StepRecord);

function addStep(generation: Generation, position: number, added: Step): void {
  const { onCancel, make, resolve, reject } = added;
  const settle = (value: unknown): void => {
    const { record, bytes } = value as KeptRecord; // As it is read below.
    generation.items.delete(item);
    generation.journalBytes += bytes;
    resolve(record);
  };
  const item = addItem(generation, { onCancel, reject, settle }, (answer) => {
    const serde = measuringSerde((record, bytes) => answer({ record, bytes }));
    return generation.context.run(stepName(position), make, { maxRetryAttempts: 1, serde });
  });
}

interface KeptRecord {
  readonly record: StepRecord;
  readonly bytes: number;
}
