import type { DelayField } from './collector.ts';
import { believable, numericDelay, parseDuration } from './duration.ts';
import { parseDate } from './header-date.ts';

/** Names of fields that state a wait, in lower case without `_` and `-`; the last part is the unit, seconds where it is missing. */
const waitName =
  /^(?:x?retry(?:after|in|delay)|wait(?:time|for)?|cooldown|backoff|(?:quota|ratelimit|limit)?resets?(?:in|at|after|time|delay)?|estimatedtime|timetoreset|nextretry(?:in|at)|available(?:in|at))(?:in)?(ms|millis|milliseconds|s|secs?|seconds|mins?|minutes|hours|date|time)?$/;

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  millis: 1,
  milliseconds: 1,
  min: 60_000,
  mins: 60_000,
  minutes: 60_000,
  hours: 3_600_000,
};

/** Whether a field of that name states a wait. `reset` and `wait` alone may be anything. */
export function isDelayField(name: string): boolean {
  return name !== 'reset' && name !== 'resets' && name !== 'wait' && waitName.test(name);
}

/** A number, a number as text, a duration, an epoch or a date: providers use them all under the same names. */
export function fieldDelay({ name, value }: DelayField, clock: number | undefined): number | undefined {
  const text = String(value).trim();
  if (/^\d{1,20}(?:\.\d{1,20})?$/.test(text)) {
    const unit = unitMs[waitName.exec(name)?.[1] ?? ''];
    return unit === undefined ? numericDelay(Number(text), clock) : believable(Number(text) * unit);
  }
  const duration = parseDuration(text.toLowerCase());
  if (duration !== undefined) return duration;
  const date = parseDate(text);
  return date === undefined || clock === undefined ? undefined : believable(date - clock);
}
