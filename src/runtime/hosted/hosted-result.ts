import { outcomeOfLetGo } from '../../agent/let-go.ts';
import { outcomeOf } from '../../agent/outcome.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { RunState } from '../../agent/state.ts';
import { transition } from '../../agent/transition.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Message } from '../../model/message.ts';
import type { HostedRuns } from './hosted-runs.ts';
import type { LiveRun } from '../run/live-run.ts';

/** What the program of a hosted run returns. */
export interface HostedResult {
  readonly outcome: RunOutcome;
  /** Of a run that can be continued. */
  readonly state?: RunState;
}

/** A run that has ended. */
export function resultOf(outcome: RunOutcome | undefined, state: RunState | undefined): HostedResult {
  if (outcome === undefined)
    throw RerailError.from(
      createFailure('INTERNAL', { origin: 'agent', message: 'The run ended without an outcome' }),
    );
  const canGoOn = outcome.type === 'failed' || outcome.type === 'cancelled';
  return canGoOn && state !== undefined ? { outcome, state } : { outcome };
}

/** The engine could not begin the run, or cannot be asked about it: the run may well continue there. */
export function hostedEnd(
  { parts }: HostedRuns,
  { runId, state }: LiveRun,
  { error, messages }: { readonly error: unknown; readonly messages: readonly Message[] },
): RunOutcome {
  const failure = RerailError.isInstance(error) ? error.failure : classifyFailure(error, 'durable');
  const { config } = parts;
  const known =
    state ?? transition(undefined, { type: 'run-started', runId, config, messages, repairs: [] }).state;
  if (failure.origin === 'durable') return outcomeOfLetGo(known, 'storage', failure);
  return outcomeOf(transition(known, { type: 'broken', failure }).state) as RunOutcome; // It has ended.
}
