import { believable, numericDelay, parseDuration } from './duration.ts';
import type { Evidence } from './evidence.ts';
import { parseDate } from './header-date.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * When the exhausted limit is full again, from the providers' own headers. They come with every answer, so only a limit
 * at zero counts; without a `remaining` beside it, a reset counts only where the answer was a 429.
 */
export function resetHeaderDelay(
  { headers, status }: Pick<Evidence, 'headers' | 'status'>,
  clock: number | undefined,
): ResetDelay | undefined {
  if (status !== undefined && !limitStatuses.has(status)) return undefined;
  const delays = Object.keys(headers)
    .filter((name) => isReset(name) && (isExhausted(headers, name) ?? status === 429))
    .map((name) => ({ from: `the header ${name}`, delayMs: resetDelay(headers[name] ?? '', clock) }))
    .filter((delay): delay is ResetDelay => delay.delayMs !== undefined);
  const combined = combinedDelay(headers['ratelimit']);
  if (combined !== undefined) delays.push({ from: 'the header ratelimit', delayMs: combined });
  // Of several exhausted limits the last one to refill decides.
  return delays.toSorted((a, b) => b.delayMs - a.delayMs || (a.from < b.from ? -1 : 1))[0];
}

/** Statuses under which a limit can be the matter; elsewhere an empty limit is a coincidence. */
const limitStatuses: ReadonlySet<number> = new Set([200, 402, 403, 429, 503, 529]);

/**
 * The drafts of one header for all: `limit=100, remaining=0, reset=25`, and one item a window, `"hour";r=0;t=1724`. Only
 * windows with nothing left count, and of those the last one to end.
 */
function combinedDelay(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const exhausted = windowsOf(value).filter((window) => /\br(?:emaining)?=0\b/.test(window));
  const seconds = exhausted.map((window) => Number(/\b(?:reset|t)=(\d{1,9})\b/.exec(window)?.[1]));
  const known = seconds.filter((number) => Number.isFinite(number));
  return known.length === 0 ? undefined : believable(Math.max(...known) * 1000);
}

/** A window is an item with parameters; where the parameters are items themselves, it begins with the next `limit`. */
function windowsOf(value: string): readonly string[] {
  return /;\s{0,3}(?:r|remaining)=/.test(value) ? value.split(',') : value.split(/,(?=\s{0,3}limit=)/);
}

interface ResetDelay {
  readonly delayMs: number;
  readonly from: string;
}

const resetName =
  /^(?:x-|anthropic-|openai-)?rate-?limit[a-z-]*-(?:reset|timeremaining)(?:-[a-z-]+)?$|^x-codex-[a-z]+-reset-after-seconds$/;

function isReset(name: string): boolean {
  // Extra usage is a wallet, not a window.
  return resetName.test(name) && !name.includes('-overage-');
}

function isExhausted(headers: Headers, name: string): boolean | undefined {
  if (name.startsWith('x-codex-'))
    return Number(headers[name.replace('-reset-after-seconds', '-used-percent')]) >= 100;
  const partner = (word: string): string | undefined =>
    headers[name.replace(/-(?:reset|timeremaining)/, `-${word}`)];
  const status = partner('status');
  if (status !== undefined) return status === 'rejected';
  const remaining = partner('remaining');
  if (remaining === undefined) return undefined;
  return remaining.trim() !== '' && Number(remaining) <= 0;
}

/** A duration, a number of seconds, an epoch in seconds or milliseconds, or a date. */
function resetDelay(value: string, clock: number | undefined): number | undefined {
  const text = value.trim();
  const duration = parseDuration(text.toLowerCase());
  if (duration !== undefined) return duration;
  if (/^\d{1,20}(?:\.\d{1,20})?$/.test(text)) return numericDelay(Number(text), clock);
  const date = parseDate(text);
  return date === undefined || clock === undefined ? undefined : believable(date - clock);
}
