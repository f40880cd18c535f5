import type { WireHeaders } from '../wire/response-headers.ts';
import { wordOf } from './fault-row.ts';
import type { Occasion } from './fault-row.ts';

const fortyDaysS = 40 * 24 * 3600;
const lastSecondOf2099 = 'Thu, 31 Dec 2099 23:59:59 GMT';

/** The stated wait as headers, in the form that was asked for. Nonsense is sent as it is. */
export function retryAfterHeaders(occasion: Occasion, defaultS: number | undefined): WireHeaders {
  const value = wordOf(occasion, 'retryAfter') ?? (defaultS === undefined ? undefined : String(defaultS));
  if (value === undefined) return {};
  if (value === 'forty-days') return { 'retry-after': String(fortyDaysS) };
  if (value === 'year-2099') return { 'retry-after': lastSecondOf2099 };
  switch (wordOf(occasion, 'form')) {
    case 'ms':
      return { 'retry-after-ms': String(Number(value) * 1000) };
    case 'date':
      return { 'retry-after': new Date(occasion.wallMs + Number(value) * 1000).toUTCString() };
    case 'twice':
      return { 'retry-after': [value, value] };
    default:
      return { 'retry-after': value };
  }
}

/** The wait in seconds, for the words of the body; nothing where it is no sensible number. */
export function statedWaitS(occasion: Occasion, defaultS: number | undefined): number | undefined {
  const value = wordOf(occasion, 'retryAfter');
  if (value === undefined) return defaultS;
  return /^\d{1,6}(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}
