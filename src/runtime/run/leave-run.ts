import type { RunOutcome } from '../../agent/run-outcome.ts';
import { onAbort } from '../../base/abort.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

interface Leaving {
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
  readonly onLeft: () => void;
}

/**
 * The outcome, for a caller that joined a run which another one began. Its signal ends its own wait and not the run: the promise
 * then rejects, for there is no outcome to tell.
 */
export function untilLeft(
  outcome: Promise<RunOutcome>,
  { runId, signal, onLeft }: Leaving,
): Promise<RunOutcome> {
  if (signal === undefined) return outcome;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => {
      onLeft();
      reject(leftError(runId, signal.reason));
    });
    void outcome.then(resolve, reject).finally(stopListening);
  });
}

/** The caller no longer waits for a run, which continues. */
export function leftError(runId: string, reason: unknown): RerailError {
  const failure = createFailure('CANCELLED', {
    origin: 'agent',
    message: `The wait for run "${runId}" was cancelled by the signal of this caller. Another caller started the run itself, which was not cancelled`,
    hint: `To end the run, call agent.cancel("${runId}"). To wait for it again, call run or resume with its id.`,
    context: { runId },
  });
  return RerailError.from(failure, { cause: reason });
}
