import type { RunOutcome } from '../../agent/run-outcome.ts';
import { wait } from '../../base/abort.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Engine, RunStatus } from '../record/durable.ts';
import type { HostedResult } from './hosted-result.ts';
import type { HostedRuns } from './hosted-runs.ts';
import type { LiveRun } from '../run/live-run.ts';

interface Awaiting {
  readonly engine: Engine;
  readonly afterSeq: number;
  /** The caller no longer waits. */
  readonly signal: AbortSignal;
}

const firstPauseMs = 5;
const longestPauseMs = 1000;
/** An engine that does not answer for so long is not waited for any more; the run itself is not touched. */
const maxSilentMs = 60_000;

/** Asks the engine until the run has ended or waits outside. The pauses grow, so that a long run costs little. */
export async function awaitOutcome(
  { parts }: HostedRuns,
  { runId }: LiveRun,
  { engine, afterSeq, signal }: Awaiting,
): Promise<RunOutcome | 'left'> {
  const { clock } = parts;
  let heardMs = clock.monotonicMs();
  // Ends with the run, or when the engine is silent for too long.
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const status = await ask(engine, runId);
    const nowMs = clock.monotonicMs();
    if (status instanceof Error) {
      if (nowMs - heardMs > maxSilentMs) throw status;
    } else {
      heardMs = nowMs;
      const outcome = outcomeIn(status, runId, afterSeq);
      if (outcome !== undefined) return outcome;
    }
    if ((await wait(pauseMs, { clock, signal })) === 'aborted') return 'left';
  }
}

/** The number of what was announced. */
export function seqOf(announced: unknown): number {
  const seq = (announced as { readonly seq?: unknown } | undefined)?.seq; // What the program announced.
  return typeof seq === 'number' ? seq : -1;
}

async function ask(engine: Engine, runId: string): Promise<RunStatus | Error> {
  try {
    return await engine.status(runId);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function outcomeIn(status: RunStatus, runId: string, afterSeq: number): RunOutcome | undefined {
  switch (status.type) {
    case 'ended':
      return (status.result as unknown as HostedResult).outcome; // What the program returns.
    case 'broken':
      throw RerailError.from(status.failure);
    case 'waiting': {
      const { signal, announced } = status;
      if (signal !== 'resume' || seqOf(announced) <= afterSeq) return undefined;
      return (announced as unknown as { readonly outcome: RunOutcome }).outcome; // As above.
    }
    case 'running':
      return undefined;
    default:
      throw RerailError.from(
        createFailure('NOT_REGISTERED', {
          origin: 'durable',
          message: `The engine does not know the run "${runId}" any more`,
          context: { runId },
        }),
      );
  }
}
