import type { DelayField } from './collector.ts';
import { fieldDelay } from './delay-fields.ts';
import { wordDelay } from './delay-words.ts';
import { believable, epochSeconds, numericDelay, parseDuration } from './duration.ts';
import type { Evidence } from './evidence.ts';
import { parseDate } from './header-date.ts';
import { resetHeaderDelay } from './reset-headers.ts';

/** What the payload itself asks for, where it says so, or what made it unusable. */
export type StatedDelay =
  | { readonly type: 'none' }
  | { readonly type: 'stated'; readonly delayMs: number; readonly from: string }
  | { readonly type: 'invalid'; readonly from: string; readonly value: string };

/** In order: `retry-after-ms`, `retry-after`, the reset header of the exhausted limit, a field of the body, its words. */
export function statedDelay(evidence: Evidence, now: number | undefined): StatedDelay {
  const { headers } = evidence;
  const asked = [
    retryAfterMsHeader(headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms']),
    retryAfterHeader(headers['retry-after'] ?? headers['x-retry-after'], () => responseTime(headers, now)),
  ];
  const stated = asked.find((delay) => delay?.type === 'stated');
  if (stated !== undefined) return stated;
  const clock = responseTime(headers, now);
  const reset = resetHeaderDelay(evidence, clock);
  if (reset !== undefined) return { type: 'stated', ...reset };
  const inBody = bodyDelay(evidence.delays, clock);
  if (inBody !== undefined) return inBody;
  const inWords = wordDelay(evidence.text, clock);
  if (inWords !== undefined) return { type: 'stated', ...inWords };
  return asked.find((delay) => delay !== undefined) ?? { type: 'none' };
}

/** The response's own clock: a date in a header is meant against it, not against ours. */
function responseTime(
  headers: Readonly<Record<string, string>>,
  now: number | undefined,
): number | undefined {
  const date = parseDate(headers['date'] ?? '');
  if (date !== undefined) return date;
  return now !== undefined && Number.isFinite(now) ? now : undefined;
}

function retryAfterMsHeader(value: string | undefined): StatedDelay | undefined {
  if (value === undefined) return undefined;
  return delayOrInvalid('the header retry-after-ms', value, plainNumber(firstOf(value)));
}

/** Most are a few seconds; the clock is asked only for a date or an epoch. */
function retryAfterHeader(
  value: string | undefined,
  clock: () => number | undefined,
): StatedDelay | undefined {
  if (value === undefined) return undefined;
  const from = 'the header retry-after';
  const seconds = plainNumber(firstOf(value));
  if (seconds !== undefined && seconds < epochSeconds) return delayOrInvalid(from, value, seconds * 1000);
  if (seconds !== undefined) return delayOrInvalid(from, value, numericDelay(seconds, clock()));
  const duration = parseDuration(value.trim().toLowerCase());
  if (duration !== undefined) return delayOrInvalid(from, value, duration);
  const [date, time] = [parseDate(value), clock()];
  if (date === undefined || time === undefined) return { type: 'invalid', from, value };
  return delayOrInvalid(from, value, date - time);
}

/** Two headers of the same name arrive joined: the first counts. A date holds a comma of its own. */
function firstOf(value: string): string {
  return value.split(',', 1)[0] ?? '';
}

function plainNumber(text: string): number | undefined {
  const trimmed = text.trim();
  return /^[+-]?\d{1,20}(?:\.\d{0,20})?$/.test(trimmed) ? Number(trimmed) : undefined;
}

function delayOrInvalid(from: string, value: string, ms: number | undefined): StatedDelay {
  const delayMs = ms === undefined ? undefined : believable(ms);
  return delayMs === undefined ? { type: 'invalid', from, value } : { type: 'stated', delayMs, from };
}

function bodyDelay(fields: readonly DelayField[], clock: number | undefined): StatedDelay | undefined {
  for (const field of fields) {
    const delayMs = fieldDelay(field, clock);
    if (delayMs !== undefined) return { type: 'stated', delayMs, from: `the field ${field.key} of the body` };
  }
  return undefined;
}
