import { believable, parseDuration } from './duration.ts';
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
  const delays = Object.keys(headers)
    .filter((name) => isReset(name) && (isExhausted(headers, name) ?? status === 429))
    .map((name) => ({ from: `the header ${name}`, delayMs: resetDelay(headers[name] ?? '', clock) }))
    .filter((delay): delay is ResetDelay => delay.delayMs !== undefined);
  // Of several exhausted limits the last one to refill decides.
  return delays.toSorted((a, b) => b.delayMs - a.delayMs || (a.from < b.from ? -1 : 1))[0];
}

interface ResetDelay {
  readonly delayMs: number;
  readonly from: string;
}

const resetName =
  /^(?:x-|anthropic-|openai-)?rate-?limit[a-z-]*-(?:reset|timeremaining)(?:-[a-z-]+)?$|^x-codex-[a-z]+-reset-after-seconds$/;

function isReset(name: string): boolean {
  return resetName.test(name);
}

function isExhausted(headers: Headers, name: string): boolean | undefined {
  const used = headers[name.replace('-reset-after-seconds', '-used-percent')];
  if (name.startsWith('x-codex-')) return Number(used) >= 100;
  const status = headers[name.replace('-reset', '-status')];
  if (status !== undefined) return status === 'rejected';
  const remaining = headers[name.replace('-reset', '-remaining')];
  if (remaining === undefined) return undefined;
  return remaining.trim() !== '' && Number(remaining) <= 0;
}

/** A duration, a number of seconds, an epoch in seconds or milliseconds, or a date. */
function resetDelay(value: string, clock: number | undefined): number | undefined {
  const text = value.trim();
  const duration = parseDuration(text.toLowerCase());
  if (duration !== undefined) return duration;
  if (/^\d{1,20}(?:\.\d{1,20})?$/.test(text)) return numericReset(Number(text), clock);
  const date = parseDate(text);
  return date === undefined || clock === undefined ? undefined : believable(date - clock);
}

const epochSeconds = 1e9;
const epochMs = 1e12;

function numericReset(value: number, clock: number | undefined): number | undefined {
  if (value < epochSeconds) return believable(value * 1000);
  if (clock === undefined) return undefined;
  return believable((value >= epochMs ? value : value * 1000) - clock);
}
