import type { Failure } from '../errors/failure.ts';
import { recoveryRoutes } from './recovery-routes.ts';

/** An account, or a model of it, that is asked last until a moment: it is empty, its key was refused, or it named a time. Pure. */
export interface Cooldown {
  readonly untilMs: number;
  /** How often in a row. */
  readonly times: number;
  readonly failure: Failure;
}

const firstMs = 60_000;
const longestMs = 15 * 60_000;
/** A stated time is believed, but not for ever: somebody may top an account up. */
const longestStatedMs = 24 * 3_600_000;

/** What a failure cools down: the account, this model of it, or nothing. A rate limit only where it names a time. */
export function cooledBy({ code, retryAfterMs = 0 }: Failure): 'account' | 'model' | undefined {
  const { cools } = recoveryRoutes[code];
  return cools === 'model' && retryAfterMs <= 0 ? undefined : cools;
}

/** The next cooldown: until the stated time, or for twice as long as the one before. */
export function coolDown(before: Cooldown | undefined, failure: Failure, nowMs: number): Cooldown {
  const times = (before?.times ?? 0) + 1;
  const statedMs = Math.min(failure.retryAfterMs ?? 0, longestStatedMs);
  const ownMs = Math.min(longestMs, firstMs * 2 ** Math.min(times - 1, 10));
  return { untilMs: nowMs + (statedMs > 0 ? statedMs : ownMs), times, failure };
}
