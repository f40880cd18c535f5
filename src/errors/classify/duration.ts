/** Durations as providers write them: `1m47.5854s`, `6ms`, `19h14m47s`, `2 hours`, `5 days 10 hours`, `45 seconds`. */

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hrs: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  秒: 1000,
  分钟: 60_000,
  小时: 3_600_000,
};

const part =
  /(\d{1,12}(?:\.\d{1,15})?) ?(?:more )?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|秒|分钟|小时)(?![a-z])[ ,]{0,2}(?:and )?/y;

/** The longest wait that is believed; a larger number is a mistake of whoever sent it. */
export const maxDelayMs = 1000 * 365.25 * 86_400_000;

/** Reads a duration with units from the start of a text; `undefined` where there is none. */
export function parseDuration(text: string, from = 0): number | undefined {
  const clock = parseClock(text, from);
  if (clock !== undefined) return believable(clock);
  const single = parseSingle(text, from);
  if (single !== undefined) return single;
  const { total, parts } = sumParts(text, from);
  return parts === 0 ? undefined : believable(total);
}

/** 'in a minute', 'in one hour'. */
function parseSingle(text: string, from: number): number | undefined {
  const unit = /^(?:an?|one) (second|minute|hour|day)\b/.exec(text.slice(from, from + 12))?.[1];
  return unit === undefined ? undefined : unitMs[unit];
}

// `2.03:00:05` is two days and three hours; Azure's API management writes it so.
const clockForm = /(?:(\d{1,4})\.)?(\d{1,3}):(\d{2}):(\d{2})(?![\d:])/y;

function parseClock(text: string, from: number): number | undefined {
  clockForm.lastIndex = from;
  const match = clockForm.exec(text);
  if (match === null) return undefined;
  const [days, hours, minutes, seconds] = match
    .slice(1)
    .map((digits: string | undefined) => Number(digits ?? 0));
  return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1000;
}

function sumParts(text: string, from: number): { readonly total: number; readonly parts: number } {
  let [total, parts] = [0, 0];
  part.lastIndex = from;
  for (let match = part.exec(text); match !== null && parts < 8; match = part.exec(text)) {
    total += Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0);
    parts += 1;
  }
  return { total, parts };
}

/** A number of milliseconds that can be waited for: finite, not negative, not absurd. */
export function believable(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 && ms <= maxDelayMs ? Math.ceil(ms) : undefined;
}

/** From here on a number of seconds is a date. */
export const epochSeconds = 1e9;
const epochMs = 1e12;

/** A bare number: of seconds, or, where it is that large, an epoch in seconds or milliseconds against a clock. */
export function numericDelay(value: number, clock: number | undefined): number | undefined {
  if (value < epochSeconds) return believable(value * 1000);
  if (clock === undefined) return undefined;
  return believable((value >= epochMs ? value : value * 1000) - clock);
}
