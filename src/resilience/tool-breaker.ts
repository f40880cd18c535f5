import type { FailureCode } from '../errors/codes.ts';
import { renderWait } from '../errors/render-failure.ts';
import { admit, closedBreaker, observe } from './breaker.ts';
import type { Breaker, BreakerPolicy, Health } from './breaker.ts';

/**
 * Keeps the model from a tool that is plainly down, so that it does not spend its turns on it. Five outages in a row withdraw
 * the tool for 30 s; the first call after that is the probe: it brings the tool back, or withdraws it for twice as long, up
 * to 5 min. JSON, by name; a tool that works has no entry.
 */
export type ToolBreakers = Readonly<Record<string, Breaker>>;

export const noToolBreakers: ToolBreakers = {};

/** Five of the last five: a single answer in between proves that the tool works. */
export const toolBreakerPolicy: BreakerPolicy = {
  minAnswers: 5,
  failureShare: 1,
  window: 5,
  openMs: 30_000,
  maxOpenMs: 300_000,
};

/** How a call of a tool ended, as far as it says something about the tool. */
export interface ObservedEnd {
  readonly name: string;
  readonly type: 'ok' | 'failed' | 'retry' | 'denied' | 'unknown';
  readonly failure?: { readonly code: FailureCode };
}

/** Learns from the end of one call. `nowMs` may count from anywhere, as long as it is the same clock every time. */
export function observeTool(
  breakers: ToolBreakers,
  { end, nowMs }: { readonly end: ObservedEnd; readonly nowMs: number },
): ToolBreakers {
  const known = Object.hasOwn(breakers, end.name) ? breakers[end.name] : undefined;
  const health = toolHealth(end);
  if (health === 'none' || (health === 'working' && known === undefined)) return breakers;
  if (health === 'working') return without(breakers, end.name);
  // Whatever ends after the pause is the probe: the tool was offered again, and nothing was known of it before.
  const { breaker } = admit(known ?? closedBreaker, { nowMs, probe });
  const next = observe(breaker, { health, probe, nowMs }, toolBreakerPolicy);
  return next === known ? breakers : { ...breakers, [end.name]: next };
}

/** Which tools the model should not be offered now. */
export function withdrawnTools(
  breakers: ToolBreakers,
  nowMs: number,
): readonly { readonly name: string; readonly untilMs: number; readonly reason: string }[] {
  return Object.entries(breakers).flatMap(([name, breaker]) => {
    if (breaker.type !== 'open' || nowMs >= breaker.untilMs) return [];
    const { untilMs, openings } = breaker;
    const tries = openings - 1;
    const failed =
      tries === 0
        ? `it was down ${toolBreakerPolicy.minAnswers} times in a row`
        : `it is still down after ${tries} more ${tries === 1 ? 'try' : 'tries'}`;
    return [{ name, untilMs, reason: `${failed}; it comes back in ${renderWait(untilMs - nowMs)}` }];
  });
}

/** Whether a failure of a tool means that it cannot do its work now, whatever it is asked. */
export function isToolOutage(code: FailureCode): boolean {
  return healthByCode[code] === 'down';
}

const probe = 1;

function toolHealth({ type, failure }: ObservedEnd): Health {
  if (type === 'ok' || type === 'retry') return 'working';
  if (type === 'denied' || failure === undefined) return 'none';
  return healthByCode[failure.code] ?? 'none';
}

/** What a failed call says about its tool. A code that is not here says nothing: the call may have been the fault. */
const healthByCode: Readonly<Partial<Record<FailureCode, Health>>> = {
  TIMEOUT: 'down',
  NETWORK_ERROR: 'down',
  SERVER_ERROR: 'down',
  RATE_LIMITED: 'down',
  OVERLOADED: 'down',
  MODEL_LOADING: 'down',
  IO_ERROR: 'down',
  STREAM_INTERRUPTED: 'down',
  INVALID_RESPONSE: 'down',
  // What a person must mend first does not get better by other arguments either.
  AUTHENTICATION_ERROR: 'down',
  PROVIDER_NOT_CONFIGURED: 'down',
  QUOTA_EXCEEDED: 'down',
  STORAGE_LOCKED: 'down',
  STORAGE_FULL: 'down',
  STORAGE_IO: 'down',
  // It did not answer, or nobody saw that it did.
  UNKNOWN_OUTCOME: 'down',
  // It looked, and there was nothing.
  NOT_FOUND: 'working',
};

function without(breakers: ToolBreakers, name: string): ToolBreakers {
  return Object.fromEntries(Object.entries(breakers).filter(([other]) => other !== name));
}
