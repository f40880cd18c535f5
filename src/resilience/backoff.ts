import type { RetryPolicy } from './retry-policy.ts';

/** What a wait before the next attempt rests on. */
export interface RetryDelay {
  readonly delayMs: number;
  /** `asked`: the other side stated it. `own`: our backoff. */
  readonly basis: 'asked' | 'own';
}

interface DelayFacts {
  /** 1 for the first retry after a failure of its pace. */
  readonly retry: number;
  /** The failure was a quick accident: see `recovery-routes.ts`. */
  readonly isQuick?: boolean | undefined;
  /** What the other side asked for. Zero says no more than silence. */
  readonly retryAfterMs?: number | undefined;
  /** Drawn by the caller, in [0, 1). */
  readonly drawn: number;
}

/** How long to wait: what was asked for and never less, else base times two to the power of the retries, bounded and spread. */
export function retryDelay(
  { retry, isQuick = false, retryAfterMs, drawn }: DelayFacts,
  policy: RetryPolicy,
): RetryDelay {
  if (retryAfterMs !== undefined && retryAfterMs > 0) {
    // Spread upwards only, so that those who were told the same moment do not all come at once.
    const spreadMs = Math.min(retryAfterMs, policy.baseDelayMs) * policy.jitter * drawn;
    return { delayMs: Math.max(retryAfterMs + spreadMs, policy.minDelayMs), basis: 'asked' };
  }
  // The bound holds after spreading too; without the division all long waits would be cut to one and the same length.
  const boundMs = policy.maxDelayMs / (1 + policy.jitter);
  // A policy that was recorded before there was a quick pace has none.
  const firstMs = isQuick ? (policy.quickDelayMs ?? policy.baseDelayMs) : policy.baseDelayMs;
  const plainMs = Math.min(boundMs, firstMs * 2 ** Math.min(retry - 1, 52));
  const delayMs = plainMs * (1 - policy.jitter + 2 * policy.jitter * drawn);
  return { delayMs: Math.max(delayMs, policy.minDelayMs), basis: 'own' };
}
