import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Addition } from '../../model/store/store.ts';
import { put } from './kept-runs.ts';
import type { Gathered, Keeping, KeptRun } from './kept-runs.ts';

// What happens to a run in one go is written in one go, and one run has one write under way: whatever comes meanwhile goes with the
// next. So nothing is on record without what it depends on, although each entry is not waited for.

/** An entry of the journal: written when the present callback, and whatever it sets off, has run. */
export function writeSoon(held: Keeping, runId: string, addition: Addition): Promise<void> {
  const run = held.runs.get(runId);
  // Without a lease it was never on record: `begin` has reported so.
  if (run?.lease === undefined) return Promise.resolve();
  if (run.refusal !== undefined) return Promise.reject(run.refusal.error);
  const isScheduled = run.gathered !== undefined || run.writing !== undefined;
  const gathered = gather(run, addition);
  gathered.hasEntries = true;
  if (!isScheduled) process.nextTick(flush, held, runId, run);
  return gathered.whenWritten;
}

/** Written at once, or as soon as nothing else of the run is being written. */
export function write(held: Keeping, runId: string, addition: Addition): Promise<void> {
  const run = held.runs.get(runId);
  if (run?.lease === undefined) return Promise.resolve();
  if (run.refusal !== undefined) return Promise.reject(run.refusal.error);
  const { whenWritten } = gather(run, addition);
  flush(held, runId, run);
  return whenWritten;
}

/** Settles when everything that was to be written is handed to the store. Does not tell what came of it. */
export async function handedOver(held: Keeping, runId: string, run: KeptRun): Promise<void> {
  flush(held, runId, run);
  while (run.gathered !== undefined) {
    try {
      await run.gathered.whenWritten;
    } catch {
      // The caller of the write gets the failure.
    }
  }
}

/** Settles when everything that was to be written is on record. */
export async function drained(held: Keeping, runId: string, run: KeptRun): Promise<void> {
  flush(held, runId, run);
  for (let last = lastOf(run); last !== undefined; last = lastOf(run)) await last;
}

/** Settles when what is written last of all is on record: everything else is, then. Absent where it is already. */
export function lastOf({ gathered, writing, refusal }: KeptRun): Promise<void> | undefined {
  return refusal === undefined ? (gathered ?? writing)?.whenWritten : Promise.reject(refusal.error);
}

function gather(run: KeptRun, { events, row, took }: Addition): Gathered {
  const known = run.gathered;
  if (known === undefined) return (run.gathered = startGathering(events, { row, took }));
  known.events.push(...events);
  if (row !== undefined) known.row = { ...known.row, ...row };
  if (took !== undefined) known.took = known.took === undefined ? took : known.took.concat(took);
  return known;
}

function startGathering(events: Addition['events'], { row, took }: Pick<Gathered, 'row' | 'took'>): Gathered {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const whenWritten = new Promise<void>((keep, refuseIt) => {
    resolve = keep;
    reject = refuseIt;
  });
  return { events: [...events], row, took, hasEntries: false, whenWritten, resolve, reject };
}

function flush(held: Keeping, runId: string, run: KeptRun): void {
  const { gathered } = run;
  if (gathered === undefined || run.writing !== undefined) return;
  run.gathered = undefined;
  run.writing = gathered;
  // Another process has it, or a previous process of it here: nothing of this one counts any more.
  if (held.runs.get(runId) !== run) return refuse(run, goneError(runId));
  const { events, row, took } = gathered;
  const addition: Addition = {
    events,
    ...(row === undefined ? {} : { row }),
    ...(took === undefined ? {} : { took }),
  };
  void put(held, runId, addition).then(
    () => finish(held, runId, run),
    (error: unknown) => refuse(run, error),
  );
}

function finish(held: Keeping, runId: string, run: KeptRun): void {
  const { writing } = run;
  run.writing = undefined;
  writing?.resolve();
  flush(held, runId, run);
}

/** What was to come next depends on what is not on record; and so does every entry that is still to come. */
function refuse(run: KeptRun, error: unknown): void {
  const { writing, gathered } = run;
  run.writing = undefined;
  run.gathered = undefined;
  if (writing?.hasEntries === true || gathered?.hasEntries === true) run.refusal = { error };
  writing?.reject(error);
  gathered?.reject(error);
}

/** The failure of calls from a previous process that nothing waits for any more. */
export function goneError(runId: string): RerailError {
  const message = `The run "${runId}" has ended in this process: nothing more is recorded`;
  return RerailError.from(createFailure('STORAGE_LOCKED', { origin: 'storage', message, retryable: false }));
}
