import { lazy } from '../../base/lazy.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** What may leave a verb of the durable port as an exception. An effect's failure never does. */
export type ControlType = 'cancelled' | 'changed' | 'restart' | 'unrecorded';

/** The run was cancelled: every verb after that rejects with this. A program may catch it and return a last value. */
export function cancelledError(runId: string, reason: string): RerailError {
  const message = `Run "${runId}" was cancelled: ${reason}`;
  return branded('cancelled', createFailure('CANCELLED', { origin: 'durable', message }));
}

/** One place at which a program no longer fits its journal, with both sides in words. */
export interface ProgramChange {
  readonly runId: string;
  readonly generation: number;
  readonly position: number;
  /** What the journal holds there. */
  readonly recorded: string;
  /** What the program does there now. */
  readonly asked: string;
}

/** The program asks for something else than its journal holds, so that no outcome in it can be trusted to be the right one. */
export function programChangedError(change: ProgramChange): RerailError {
  const { runId, generation, position, recorded, asked } = change;
  const failure = createFailure('INVALID_STATE', {
    origin: 'durable',
    message: `Run "${runId}" cannot continue: the program changed. At position ${position} of generation ${generation} the journal holds ${recorded}, but the program now makes ${asked}`,
    hint: 'Run it with the code that started it, or start it again.',
    context: { runId, generation, position, recorded, asked },
  });
  return branded('changed', failure);
}

/** Leaves the program when it asks for its next generation. Names the run where that may help the code that sees it. */
export function restartError(runId?: string): RerailError {
  return branded('restart', runId === undefined ? restartOfAny() : restartOf(`Run "${runId}"`));
}

// Made once, for an engine of ours catches it itself: to clean a text takes as long as ten turns of a run.
const restartOfAny = lazy(() => restartOf('The run'));

function restartOf(subject: string): Failure {
  const message = `${subject} starts its next generation. This is no failure: do not catch it`;
  return createFailure('INVALID_STATE', { origin: 'durable', message });
}

/** What happened could not be written down, so that nothing may follow from it. Holds the reason. */
export function unrecordedError(failure: Failure): RerailError {
  return branded('unrecorded', failure);
}

/** What the engine cannot do now, as an error to reject with. */
export function engineError(message: string, { retryable }: { readonly retryable: boolean }): RerailError {
  return RerailError.from(createFailure('INVALID_STATE', { origin: 'durable', message, retryable }));
}

/** Whether a verb rejected because the run was cancelled. */
export function isCancelled(error: unknown): boolean {
  return controlTypeOf(error) === 'cancelled';
}

/** Which control error this is; undefined for everything else. Never throws. */
export function controlTypeOf(error: unknown): ControlType | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    const type: unknown = Reflect.get(error, brand);
    return controlTypes.find((known) => known === type);
  } catch {
    return undefined; // A Proxy that throws is not one of ours.
  }
}

// Of the global registry, so that an engine that loads a second copy of this package is understood.
const brand = Symbol.for('rerail.durable.control');

const controlTypes: readonly ControlType[] = ['cancelled', 'changed', 'restart', 'unrecorded'];

function branded(type: ControlType, failure: Failure): RerailError {
  return Object.defineProperty(RerailError.from(failure), brand, { value: type });
}
