import { defined } from '../base/defined.ts';
import { adviseName } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import type { RerailError } from '../errors/rerail-error.ts';

/** How often and how patiently a call is tried again. */
export interface RetryPolicy {
  /** Tries at one model, the first one counted. `Infinity`: as many as the deadline allows. */
  readonly maxAttempts: number;
  /**
   * The same with quick accidents (a reset, a cut stream, a 5xx) at a model that has answered lately, which `maxAttempts` then does not
   * count. `maxAttempts` where that is given and this is not.
   */
  readonly maxQuickAttempts?: number;
  /** The first wait of our own after a rate limit or an overload; each further one is twice as long. */
  readonly baseDelayMs: number;
  /** The first wait of our own after a quick accident, doubling likewise; an eighth of `baseDelayMs` where it is not given. */
  readonly quickDelayMs?: number;
  /** The longest wait of our own. */
  readonly maxDelayMs: number;
  /** How far a wait of our own is spread, as a share: 0.2 is ±20 %. A wait that was asked for is only ever lengthened. */
  readonly jitter: number;
  /** The shortest wait before any retry, whatever was asked for. */
  readonly minDelayMs: number;
  /** The longest wait that somebody may ask of us. A longer one goes to another model, or ends the call with `resumeAt`. */
  readonly maxWaitMs: number;
  /** From the start of the call to its end. Every other bound is cut to what is left of it. */
  readonly deadlineMs: number;
}

const standard: RetryPolicy = {
  maxAttempts: 4,
  maxQuickAttempts: 8,
  baseDelayMs: 1000,
  quickDelayMs: 125,
  maxDelayMs: 10_000,
  jitter: 0.2,
  minDelayMs: 100,
  maxWaitMs: 60_000,
  deadlineMs: 600_000,
};

/** The presets, by name. */
export const retryPresets = {
  none: { ...standard, maxAttempts: 1, maxQuickAttempts: 1 },
  quick: { ...standard, maxAttempts: 2, maxQuickAttempts: 2 },
  standard,
  patient: {
    ...standard,
    maxAttempts: Infinity,
    maxQuickAttempts: Infinity,
    maxDelayMs: 30_000,
    deadlineMs: 1_800_000,
  },
} as const satisfies Record<string, RetryPolicy>;

/** One of the presets' names. */
export type RetryPreset = keyof typeof retryPresets;

/** A preset, or what differs from `standard`. */
export type RetryOption = RetryPreset | Partial<RetryPolicy>;

/** A quick accident is waited for an eighth as long as an overload. */
const quickShare = 8;

const longestMs = 366 * 24 * 3600 * 1000;

/** Fills in the rest, and throws a `ConfigError` that names the first field that makes no sense. */
export function resolveRetryPolicy(option: RetryOption = 'standard'): RetryPolicy {
  if (typeof option === 'string') {
    if (!Object.hasOwn(retryPresets, option)) {
      throw misuse('preset', `one of ${Object.keys(retryPresets).join(', ')}`, option);
    }
    return retryPresets[option];
  }
  const given = defined(option);
  const names = Object.keys(standard);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw configError(`There is no option "${unknown}" of a retry policy: ${adviseName(unknown, names)}`, {
      context: { field: unknown },
    });
  const policy = { ...standard, ...impliedBy(given), ...given };
  for (const name of ['baseDelayMs', 'quickDelayMs', 'maxDelayMs', 'minDelayMs', 'maxWaitMs'] as const) {
    checkNumber(name, policy[name], { from: 0, to: longestMs });
  }
  checkNumber('deadlineMs', policy.deadlineMs, { from: 1, to: longestMs });
  checkNumber('jitter', policy.jitter, { from: 0, to: 1 });
  for (const name of ['maxAttempts', 'maxQuickAttempts'] as const) {
    const count = policy[name];
    if (count === undefined || count === Infinity || (Number.isInteger(count) && count >= 1)) continue;
    throw misuse(name, 'a whole number from 1, or Infinity', count);
  }
  return policy;
}

/** Who names one number means the other one too. */
function impliedBy({ maxAttempts, baseDelayMs }: Partial<RetryPolicy>): Partial<RetryPolicy> {
  return defined({
    maxQuickAttempts: maxAttempts,
    quickDelayMs: baseDelayMs === undefined ? undefined : baseDelayMs / quickShare,
  });
}

function checkNumber(
  name: string,
  value: unknown,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  if (typeof value === 'number' && value >= from && value <= to) return;
  throw misuse(name, `a number from ${from} to ${to}`, value);
}

function misuse(name: string, expected: string, value: unknown): RerailError {
  const message = `Cannot use this retry policy: "${name}" must be ${expected}, got ${String(value)}`;
  return configError(message, { context: { field: name } });
}
