import type { RunOutcome } from '../../agent/run-outcome.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import type { Failure } from '../../errors/failure.ts';
import type { WaitingRun } from '../../model/store/store.ts';
import { ownerNamed, runOwned, warnProcess } from '../../model/stray-errors.ts';

/** What a worker reports of its work. */
export type WorkerEvent =
  /** It starts to continue this run; where another process was faster, `run-held` follows. */
  | { readonly type: 'run-taken'; readonly runId: string; readonly why: WaitingRun['why'] }
  /** The run has ended, or waits again. */
  | { readonly type: 'run-finished'; readonly runId: string; readonly outcome: RunOutcome }
  /** Another process runs it, at least until then. Milliseconds since 1970. */
  | { readonly type: 'run-held'; readonly runId: string; readonly untilMs: number }
  /** It has ended its process that often, and waits for a person. */
  | { readonly type: 'run-parked'; readonly runId: string; readonly crashes: number }
  /** It could not be resumed, parked or released. It is tried again when it has changed, or later where that may help. */
  | { readonly type: 'run-refused'; readonly runId: string; readonly failure: Failure }
  /** The store could not say what waits. It is asked again by itself. */
  | { readonly type: 'storage-failed'; readonly failure: Failure; readonly retryInMs: number }
  /** The worker takes nothing more. `left` names the runs that it has not brought to an outcome; others can continue them. */
  | { readonly type: 'stopped'; readonly reason: string; readonly left: readonly string[] };

/** Receives what a worker reports. */
export type WorkerListener = (event: WorkerEvent) => void | Promise<void>;

/** Informs a listener, whose own trouble never touches the worker. */
export function createTeller(listener: WorkerListener | undefined): (event: WorkerEvent) => void {
  if (listener === undefined) return () => undefined;
  const owner = ownerNamed('The listener of the worker', { strayErrors: 'report', report: warnProcess });
  return (event) => {
    try {
      const heard = runOwned(owner, () => listener(event));
      if (isPromiseLike(heard)) heard.then(undefined, ignore);
    } catch (error) {
      ignore(error);
    }
  };
}

/** The only listener is the one that threw. */
function ignore(_error: unknown): void {
  return undefined;
}
