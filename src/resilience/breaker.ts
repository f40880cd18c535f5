import { unreachable } from '../base/assert.ts';

/**
 * Keeps calls from a provider that is plainly down. Pure: time arrives as an argument.
 *
 * - `closed`: everybody passes. Opens when nearly all of the last answers were failures of the provider's own.
 * - `open`: nobody passes until `untilMs`; then one caller becomes the probe.
 * - `half-open`: the probe is under way, and nobody else passes. It closes or opens the breaker again, for longer.
 */
export type Breaker =
  | { readonly type: 'closed'; readonly recent: readonly boolean[] }
  | { readonly type: 'open'; readonly untilMs: number; readonly openings: number }
  | { readonly type: 'half-open'; readonly openings: number };

/** What one attempt says about its provider. `none`: it ended before there was anything to learn. */
export type Health = 'working' | 'down' | 'none';

/** May a request be sent now? */
export type Admission =
  | { readonly type: 'pass' }
  | { readonly type: 'probe' }
  /** Ask again at `untilMs`, or when the probe under way has ended. */
  | { readonly type: 'closed-off'; readonly untilMs?: number };

/** When it opens, and for how long. */
export interface BreakerPolicy {
  /** Opens only on the evidence of so many answers. */
  readonly minAnswers: number;
  /** The share of failures among the last answers at which it opens. */
  readonly failureShare: number;
  /** How many answers are remembered. */
  readonly window: number;
  /** The first pause; each failed probe doubles it. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

// With half of the answers failing at random, 18 of 20 failures come once in some 5,000 answers; in an outage at once.
export const defaultBreakerPolicy: BreakerPolicy = {
  minAnswers: 10,
  failureShare: 0.9,
  window: 20,
  openMs: 5000,
  maxOpenMs: 30_000,
};

export const closedBreaker: Breaker = { type: 'closed', recent: [] };

/** Says whether a request may go, and notes who is the probe. */
export function admit(
  breaker: Breaker,
  nowMs: number,
): { readonly breaker: Breaker; readonly admission: Admission } {
  switch (breaker.type) {
    case 'closed':
      return { breaker, admission: { type: 'pass' } };
    case 'open': {
      const { untilMs, openings } = breaker;
      if (nowMs < untilMs) return { breaker, admission: { type: 'closed-off', untilMs } };
      return { breaker: { type: 'half-open', openings }, admission: { type: 'probe' } };
    }
    case 'half-open':
      return { breaker, admission: { type: 'closed-off' } };
    default:
      return unreachable(breaker);
  }
}

interface Observation {
  readonly health: Health;
  readonly isProbe: boolean;
  readonly nowMs: number;
}

/** Learns from the end of one attempt. */
export function observe(
  breaker: Breaker,
  { health, isProbe, nowMs }: Observation,
  policy: BreakerPolicy,
): Breaker {
  switch (breaker.type) {
    case 'closed': {
      if (health === 'none') return breaker;
      const recent = [...breaker.recent, health === 'working'].slice(-policy.window);
      const failures = recent.filter((worked) => !worked).length;
      const isDown = recent.length >= policy.minAnswers && failures >= recent.length * policy.failureShare;
      return isDown ? reopen(0, nowMs, policy) : { type: 'closed', recent };
    }
    case 'open':
    case 'half-open': {
      // An answer to a request that was sent before counts as well: the provider plainly works.
      if (health === 'working') return closedBreaker;
      if (breaker.type === 'open' || !isProbe) return breaker;
      // A probe that was called off says nothing: the next caller may take its place at once.
      if (health === 'none') return { type: 'open', untilMs: nowMs, openings: breaker.openings };
      return reopen(breaker.openings, nowMs, policy);
    }
    default:
      return unreachable(breaker);
  }
}

/** Opens by decision: the retry budget is spent, so that only single probes may ask. */
export function forceOpen(breaker: Breaker, nowMs: number, policy: BreakerPolicy): Breaker {
  return breaker.type === 'closed' ? reopen(0, nowMs, policy) : breaker;
}

function reopen(openings: number, nowMs: number, policy: BreakerPolicy): Breaker {
  const pauseMs = Math.min(policy.maxOpenMs, policy.openMs * 2 ** Math.min(openings, 30));
  return { type: 'open', untilMs: nowMs + pauseMs, openings: openings + 1 };
}
