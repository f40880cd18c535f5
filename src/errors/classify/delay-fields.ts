import type { DelayField } from './collector.ts';
import { believable, numericDelay, parseDuration } from './duration.ts';
import { parseDate } from './header-date.ts';

/** Fields of a body that state a wait, in lower case without `_` and `-`, and the milliseconds in one of their units. */
export const delayFields: Readonly<Record<string, number>> = {
  retrydelay: 1000,
  retryafter: 1000,
  retryafterseconds: 1000,
  retryaftersecs: 1000,
  retryafterms: 1,
  retryin: 1000,
  waitseconds: 1000,
  cooldownseconds: 1000,
  estimatedtime: 1000,
  quotaresetdelay: 1000,
  resetin: 1000,
  resetsinseconds: 1000,
  resetseconds: 1000,
  resetat: 1000,
  resetsat: 1000,
  resettime: 1000,
};

/** A number, a number as text, a duration, an epoch or a date: providers use them all under the same names. */
export function fieldDelay({ name, value }: DelayField, clock: number | undefined): number | undefined {
  const text = String(value).trim();
  if (/^\d{1,20}(?:\.\d{1,20})?$/.test(text)) {
    return delayFields[name] === 1 ? believable(Number(text)) : numericDelay(Number(text), clock);
  }
  const duration = parseDuration(text.toLowerCase());
  if (duration !== undefined) return duration;
  const date = parseDate(text);
  return date === undefined || clock === undefined ? undefined : believable(date - clock);
}
