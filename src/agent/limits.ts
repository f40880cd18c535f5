import { adviseName } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import { fallbackFirstTokenMs } from '../model/timeouts.ts';

/** The bounds of a run, all of them. A run that reaches one ends `stopped`, after a last turn without tools where that can help. */
export interface RunLimits {
  /** Model turns. */
  readonly maxTurns: number;
  /** Input and output tokens of all attempts, as far as providers tell. */
  readonly maxTokens: number;
  /** US dollars, as far as prices are known. */
  readonly maxCostUsd: number;
  /** Requests to models, retries included. */
  readonly maxRequests: number;
  readonly maxToolCalls: number;
  /** Active time of the whole run; every other wait is cut to what is left of it. Time spent suspended does not count. */
  readonly timeoutMs: number;
  /** One attempt at a model. */
  readonly modelTimeoutMs: number;
  /** The first token of an answer: by default only where another model stands by, and always where it is given. */
  readonly firstTokenMs: number;
  /** Calls of one answer; more are refused, and the model is informed. */
  readonly maxCallsPerTurn: number;
  /** Tool calls that run at the same time. */
  readonly maxConcurrentTools: number;
  /** Attempts at one call of a `read` or `idempotent` tool, the first one counted. */
  readonly maxToolAttempts: number;
  /** Failures of one tool in a row, hints included, before it is withdrawn. */
  readonly maxToolFailures: number;
  /** Turns in a row in which no call succeeded, before the run fails. */
  readonly maxFailedTurns: number;
  /** How often an answer is asked for again because of its form: the output schema. */
  readonly maxReasks: number;
  /** How often the model is informed, in one stretch, that it said nothing or nothing readable. */
  readonly maxNudges: number;
  /** How often an answer that was cut off is continued. */
  readonly maxContinuations: number;
  /** How often a person may say no before the run stops. */
  readonly maxRejections: number;
  /** How long a question to a person stands. */
  readonly approvalTimeoutMs: number;
}

const hour = 3_600_000;

/** What holds by default. */
export const defaultLimits: RunLimits = {
  maxTurns: 50,
  maxTokens: Infinity,
  maxCostUsd: Infinity,
  maxRequests: Infinity,
  maxToolCalls: 500,
  timeoutMs: hour,
  modelTimeoutMs: 120_000,
  firstTokenMs: fallbackFirstTokenMs,
  maxCallsPerTurn: 64,
  maxConcurrentTools: 8,
  maxToolAttempts: 4,
  maxToolFailures: 5,
  maxFailedTurns: 8,
  maxReasks: 3,
  maxNudges: 2,
  maxContinuations: 3,
  maxRejections: 3,
  approvalTimeoutMs: 24 * hour,
};

/** These may be without end; JSON writes them as `null`, so the machine reads an absent one as such. */
const mayBeInfinite: ReadonlySet<string> = new Set([
  'maxTokens',
  'maxCostUsd',
  'maxRequests',
  'maxToolCalls',
  'maxTurns',
]);
const mayBeZero: ReadonlySet<string> = new Set([
  'maxReasks',
  'maxNudges',
  'maxContinuations',
  'maxToolCalls',
]);
const mayBeBroken: ReadonlySet<string> = new Set(['maxCostUsd']);

const longestMs = 366 * 24 * hour;

/** Fills in the rest, and throws a `ConfigError` that names the first field that makes no sense. */
export function resolveLimits(given: Partial<RunLimits> = {}): RunLimits {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw configError(`"limits" must be an object, such as { maxTurns: 20 }, got ${String(given)}`);
  const limits: Record<string, number> = { ...defaultLimits };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaultLimits, name)) throw unknownLimit(name);
    checkLimit(name, value);
    limits[name] = value;
  }
  return limits as unknown as RunLimits; // Every field came from the defaults.
}

function checkLimit(name: string, value: unknown): void {
  const fail = (expected: string): never => {
    throw configError(`"limits.${name}" must be ${expected}, got ${String(value)}`, {
      context: { field: name },
    });
  };
  if (typeof value !== 'number' || Number.isNaN(value)) fail('a number');
  if (value === Infinity) {
    if (!mayBeInfinite.has(name)) fail('a number with an end');
    return;
  }
  const least = mayBeZero.has(name) ? 0 : Number.MIN_VALUE;
  if ((value as number) < least) fail(mayBeZero.has(name) ? 'a number from 0' : 'a number above 0');
  const isTime = name.endsWith('Ms');
  if (isTime && (value as number) > longestMs) fail(`at most ${longestMs} (a year)`);
  if (!isTime && !mayBeBroken.has(name) && !Number.isInteger(value)) fail('a whole number');
}

function unknownLimit(name: string): Error {
  const names = Object.keys(defaultLimits);
  return configError(`There is no limit "${name}": ${adviseName(name, names)}`, { context: { field: name } });
}
