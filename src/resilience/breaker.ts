import { unreachable } from '../base/assert.ts';

/**
 * Keeps calls from a provider that is plainly down. Pure: time arrives as an argument.
 *
 * - `closed`: everybody passes. Opens when nearly all of the last answers, or the last ten in a row, were failures of its own.
 * - `open`: nobody passes until `untilMs`; then one caller becomes the probe.
 * - `half-open`: the probe is under way, and nobody else passes. It closes or opens the breaker again, for longer.
 */
export type Breaker =
  | { readonly type: 'closed'; readonly recent: readonly boolean[] }
  | { readonly type: 'open'; readonly untilMs: number; readonly openings: number }
  | { readonly type: 'half-open'; readonly openings: number; readonly probe: number };

/**
 * What one attempt says about its provider. `none`: it ended before there was anything to learn. `refusing`: the provider works, but
 * the model gave no answer, as with a rate limit that names no time; to its own breaker that is no better than `down`.
 */
export type Health = 'working' | 'refusing' | 'down' | 'none';

/** May a request be sent now? */
export type Admission =
  | { readonly type: 'pass' }
  | { readonly type: 'probe'; readonly probe: number }
  /** Ask again at `untilMs`, or when the probe under way has ended. */
  | { readonly type: 'closed-off'; readonly untilMs?: number };

/** When it opens, and for how long. */
export interface BreakerPolicy {
  /** Opens only on the evidence of so many answers; so many failures in a row are enough. */
  readonly minAnswers: number;
  /** The share of failures among the last answers at which it opens. */
  readonly failureShare: number;
  /** How many answers are remembered. */
  readonly window: number;
  /** The first pause; each failed probe doubles it. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

// With half of the answers failing at random, 18 of 20 failures come once in some 5,000 answers and ten in a row once in some 2,000;
// in an outage both come at once.
export const defaultBreakerPolicy: BreakerPolicy = {
  minAnswers: 10,
  failureShare: 0.9,
  window: 20,
  openMs: 5000,
  maxOpenMs: 120_000,
};

/** How many probes after an opening by decision come at the same distance. */
const evenProbes = 20;

export const closedBreaker: Breaker = { type: 'closed', recent: [] };

/** Says whether a request may go, and notes who is the probe, by a number that nobody else has. */
export function admit(
  breaker: Breaker,
  { nowMs, probe }: { readonly nowMs: number; readonly probe: number },
): { readonly breaker: Breaker; readonly admission: Admission } {
  switch (breaker.type) {
    case 'closed':
      return { breaker, admission: { type: 'pass' } };
    case 'open': {
      const { untilMs, openings } = breaker;
      if (nowMs < untilMs) return { breaker, admission: { type: 'closed-off', untilMs } };
      return { breaker: { type: 'half-open', openings, probe }, admission: { type: 'probe', probe } };
    }
    case 'half-open':
      return { breaker, admission: { type: 'closed-off' } };
    default:
      return unreachable(breaker);
  }
}

interface Observation {
  readonly health: Health;
  /** The number of the probe, where it was one. */
  readonly probe?: number | undefined;
  readonly nowMs: number;
  /** How many failures it counts as; 1 where it is absent. */
  readonly weight?: number | undefined;
}

/** Learns from the end of one attempt. */
export function observe(
  breaker: Breaker,
  { health, probe, nowMs, weight = 1 }: Observation,
  policy: BreakerPolicy,
): Breaker {
  switch (breaker.type) {
    case 'closed': {
      if (health === 'none' || (health === 'working' && isSpotless(breaker.recent, policy))) return breaker;
      const seen = health === 'working' ? [true] : Array<boolean>(weight).fill(false);
      const recent = [...breaker.recent, ...seen].slice(-policy.window);
      return isDown(recent, policy) ? reopen(0, nowMs, policy) : { type: 'closed', recent };
    }
    case 'open':
    case 'half-open': {
      // An answer to a request that was sent before counts as well: the provider plainly works.
      if (health === 'working') return closedBreaker;
      // A probe of an earlier time is a request like any other.
      if (breaker.type === 'open' || breaker.probe !== probe) return breaker;
      // A probe that was called off says nothing: the next caller may take its place at once.
      if (health === 'none') return { type: 'open', untilMs: nowMs, openings: breaker.openings };
      return reopen(breaker.openings, nowMs, policy);
    }
    default:
      return unreachable(breaker);
  }
}

/** Whether answers, the latest last, are those of somebody who is down. */
export function isDown(worked: readonly boolean[], { minAnswers, failureShare }: BreakerPolicy): boolean {
  if (worked.length < minAnswers) return false;
  const failures = worked.filter((good) => !good).length;
  return failures >= worked.length * failureShare || !worked.slice(-minAnswers).includes(true);
}

/** All that is remembered was good: another good answer changes nothing. */
function isSpotless(recent: readonly boolean[], { window }: BreakerPolicy): boolean {
  return recent.length === window && !recent.includes(false);
}

/** Opens by decision: the retry budget is spent, so that only single probes may ask. */
export function forceOpen(breaker: Breaker, nowMs: number, policy: BreakerPolicy): Breaker {
  // The provider answers now and then, or the breaker would have opened by itself: the first probes keep one distance.
  return breaker.type === 'closed' ? reopen(-evenProbes, nowMs, policy) : breaker;
}

export function reopen(openings: number, nowMs: number, policy: BreakerPolicy): Breaker {
  const pauseMs = Math.min(policy.maxOpenMs, policy.openMs * 2 ** Math.max(0, Math.min(openings, 30)));
  return { type: 'open', untilMs: nowMs + pauseMs, openings: openings + 1 };
}
