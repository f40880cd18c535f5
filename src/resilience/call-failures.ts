import { assert } from '../base/assert.ts';
import { duration } from '../base/duration.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { Entry } from './gate.ts';

/** Who is asked. */
export interface Asked {
  readonly provider: string;
  readonly name: string;
  /** Of the gate that it shares with others of the same provider and key. */
  readonly quotaKey: string;
  /** The model of the target before, with another key. */
  readonly isNextKey?: true;
}

type Named = Pick<Asked, 'provider' | 'name'>;

/** What became of one model of a chain. */
export interface TargetFailure extends Named {
  /** Its index in the chain. */
  readonly target: number;
  readonly failure: Failure;
  readonly attempts: number;
}

/** Somebody wished the end. */
export function cancelledFailure({ provider, name }: Named): Failure {
  return createFailure('CANCELLED', {
    origin: 'model',
    message: `The call to ${provider} (${name}) was cancelled`,
    provider: { provider, model: name },
  });
}

/** The gate did not open in time. Nothing was sent, and what opened the breaker says what is wrong. */
export function closedOffFailure(
  { provider, name }: Named,
  entry: Extract<Entry, { type: 'closed-off' | 'full' }>,
): Failure {
  const facts = { origin: 'model', sideEffect: 'none', provider: { provider, model: name } } as const;
  if (entry.type === 'full') {
    const message = `${provider} (${name}) was not asked: too many requests to it are under way, and none ended in time`;
    return createFailure('OVERLOADED', { ...facts, message, context: { inFlight: 'full' } });
  }
  const waitMs = Math.ceil(entry.waitMs);
  if (entry.isCooling === true) return coolingFailure({ provider, name }, entry);
  const why = entry.failure === undefined ? '' : `: ${entry.failure.message}`;
  return createFailure(entry.failure?.code ?? 'OVERLOADED', {
    ...facts,
    message: `${provider} (${name}) was not asked, for nearly all of the last requests failed${why}`,
    retryAfterMs: waitMs,
    context: { breaker: 'open', nextProbeInMs: waitMs },
  });
}

/** Its account is asked last for a while. Nothing was sent; the code is that of the failure that cooled it. */
export function coolingFailure({ provider, name }: Named, { waitMs, failure }: Cooling): Failure {
  const { code, message } = failure ?? { code: 'RATE_LIMITED', message: '' };
  const forMs = Math.max(0, Math.ceil(waitMs));
  return createFailure(code, {
    origin: 'model',
    sideEffect: 'none',
    provider: { provider, model: name },
    message: `${provider} (${name}) was not asked: it cools down for ${duration(forMs)} after ${code}: ${message}`,
    // Only what the provider itself has stated may be promised to whoever comes back.
    ...(code === 'RATE_LIMITED' ? { retryAfterMs: forMs } : {}),
    context: { cooldown: 'open', coolsForMs: forMs },
  });
}

interface Cooling {
  readonly waitMs: number;
  readonly failure: Failure | undefined;
}

/** The failure of the whole chain: the last one's code, and all of them in words and causes. */
export function summariseFailures(failures: readonly TargetFailure[]): Failure {
  const last = failures.at(-1);
  assert(last !== undefined, 'A call without a target cannot fail');
  if (failures.length === 1) {
    return createFailure(last.failure.code, {
      ...last.failure,
      context: { ...last.failure.context, attempts: last.attempts },
    });
  }
  const lines = failures.map(
    ({ provider, name, failure, attempts }) =>
      `${provider} (${name}): ${failure.code} after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`,
  );
  return createFailure(last.failure.code, {
    ...last.failure,
    message: `None of ${countOf(failures)} answered. ${lines.join('; ')}. The last one said: ${last.failure.message}`,
    context: {
      ...last.failure.context,
      attempts: failures.reduce((sum, { attempts }) => sum + attempts, 0),
      models: failures.map(({ provider, name, failure, attempts }) => ({
        provider,
        model: name,
        code: failure.code,
        message: failure.message,
        attempts,
      })),
    },
    causes: failures.map(({ failure, provider, name }) => ({
      name: `${provider} (${name})`,
      message: failure.message,
      code: failure.code,
    })),
  });
}

/** Several keys of one model are not several models. */
function countOf(failures: readonly TargetFailure[]): string {
  const models = new Set(failures.map(({ provider, name }) => `${provider} ${name}`)).size;
  return models === 1 ? `${failures.length} keys` : `${models} models`;
}
