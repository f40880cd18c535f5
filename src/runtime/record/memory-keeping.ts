import { classifyFailure } from '../../errors/classify-failure.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { unrecordedError } from './durable-errors.ts';
import type { JournalEntry } from './journal.ts';
import { hush, rejectAll } from './memory-generation.ts';
import type { Generation } from './memory-generation.ts';

/** Gives the result once the entry is written down. What cannot be written down stops the run: nothing follows from it. */
export function whenKept<T>(generation: Generation, entry: JournalEntry, result: T): T | Promise<T> {
  const { host, runId } = generation;
  if (host.recorder === undefined) return result;
  return host.recorder.keep(runId, entry).then(
    // Nothing waits for a program that was released: it stands still where it is.
    () => (generation.stop?.type === 'gone' ? new Promise<T>(() => undefined) : result),
    (error: unknown) => {
      throw stopUnrecorded(generation, error);
    },
  );
}

/**
 * Gives what came of a call, and has it written down. Where the record is in order, the program continues meanwhile: whatever must
 * not happen without a trace waits for it, and so does the end.
 */
export function whenNoted<T>(generation: Generation, entry: JournalEntry, result: T): T | Promise<T> {
  const { recorder } = generation.host;
  if (recorder?.isInOrder !== true) return whenKept(generation, entry, result);
  const kept = recorder.keep(generation.runId, entry);
  // Several entries may be written together.
  if (kept === generation.unkept) return result;
  generation.unkept = kept;
  void kept.then(
    () => caughtUp(generation, kept),
    (error: unknown) => {
      stopUnrecorded(generation, error);
      caughtUp(generation, kept);
    },
  );
  return result;
}

/** A verb that begins when something is on record. What could not be written down has stopped the run, and the verb meets the stop. */
export function afterwards<T>(first: Promise<void>, begin: () => Promise<T>): Promise<T> {
  const begun = first.then(begin, begin);
  hush(begun);
  return begun;
}

/** Settles when everything that has happened is on record and obeyed, or with what stops the run. Absent where it is. */
export function whenRecorded(generation: Generation): Promise<void> | undefined {
  const first = generation.wish ?? generation.unkept;
  if (first === undefined) return undefined;
  return first.then(
    // Nothing waits for a program that was released: it stands still where it is.
    () => (generation.stop?.type === 'gone' ? new Promise(() => undefined) : whenRecorded(generation)),
    (error: unknown) => {
      throw stopUnrecorded(generation, error);
    },
  );
}

/** Has nothing begin until this is done, which never fails. */
export function obeyFirst(generation: Generation | undefined, wish: Promise<void>): Promise<void> {
  if (generation === undefined) return wish;
  generation.wish = wish;
  return wish.then(() => {
    generation.wish = undefined;
    return undefined;
  });
}

function caughtUp(generation: Generation, kept: Promise<void>): void {
  if (generation.unkept === kept) generation.unkept = undefined;
}

/** Nothing more may happen in this generation, since it could not be written down. */
function stopUnrecorded(generation: Generation, cause: unknown): RerailError {
  const { stop } = generation;
  if (stop?.type === 'unrecorded') return stop.error;
  const error = unrecordedError(classifyFailure(cause, 'storage'));
  if (stop?.type === 'gone') return error;
  generation.stop = { type: 'unrecorded', error };
  generation.controller.abort(error);
  for (const items of [generation.calls, generation.sleeps, generation.waits]) rejectAll(items, error);
  return error;
}
