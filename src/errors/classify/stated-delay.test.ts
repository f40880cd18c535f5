import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../classify-provider-failure.ts';
import type { ProviderFailureInput } from './evidence.ts';

const now = Date.UTC(2027, 0, 15, 8, 0, 0);
const dateHeader = 'Fri, 15 Jan 2027 08:00:00 GMT';

describe('the header retry-after', () => {
  it.each([
    '-1',
    '-0.5',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '1e3',
    'abc',
    '',
    ' ',
    '0x10',
    'soon',
    '12abc34',
  ])('is noted as invalid and not obeyed: "%s"', (value) => {
    const { context, ...failure } = limited({ headers: { 'retry-after': value }, now });
    expect(failure).not.toHaveProperty('retryAfterMs');
    expect(context['retryAfterIgnored']).toContain(`"${value}"`);
  });

  // The old parser of dates in V8 finds one in nearly everything.
  it.each(['abc 2099', 'soon 2050', 'in 5', 'attempt 12', '2099 or later', 'x 1 y 2099'])(
    'is not taken for a date: "%s"',
    (value) => {
      expect(waitOf({ headers: { 'retry-after': value }, now })).toBeUndefined();
    },
  );

  it('is invalid where its date is past', () => {
    const { context, ...failure } = limited({
      headers: { 'retry-after': 'Thu, 14 Jan 2027 08:00:00 GMT' },
      now,
    });
    expect(failure).not.toHaveProperty('retryAfterMs');
    expect(context['retryAfterIgnored']).toContain('14 Jan 2027');
  });

  it('is invalid where it is a date and nobody knows the time', () => {
    expect(waitOf({ headers: { 'retry-after': 'Fri, 15 Jan 2027 08:00:30 GMT' } })).toBeUndefined();
  });

  it('is absent: nothing is noted', () => {
    expect(limited({}).context).not.toHaveProperty('retryAfterIgnored');
  });

  it.each([
    ['1', 1000],
    ['0', 0],
    ['0.05', 50],
    [' 2 ', 2000],
    ['1, 1', 1000],
    ['3, 9', 3000],
    ['30s', 30_000],
    ['30 Seconds', 30_000],
    ['1.5', 1500],
    ['3456000', 3_456_000_000],
  ])('is obeyed: "%s"', (value, delayMs) => {
    const failure = limited({ headers: { 'retry-after': value } });
    expect(failure.retryAfterMs).toBe(delayMs);
    expect(failure.context).not.toHaveProperty('retryAfterIgnored');
    expect(failure.context['retryAfterFrom']).toContain('retry-after');
  });

  it('is a date: the Date of the answer counts before our own clock', () => {
    const headers = { 'retry-after': 'Fri, 15 Jan 2027 08:00:30 GMT' };
    expect(waitOf({ headers, now })).toBe(30_000);
    expect(waitOf({ headers: { ...headers, date: dateHeader } })).toBe(30_000);
    expect(waitOf({ headers: { ...headers, date: dateHeader }, now: now + 3_600_000 })).toBe(30_000);
    expect(waitOf({ headers: { ...headers, date: 'rubbish' }, now })).toBe(30_000);
  });

  it('is a date in 2099: the wait is not shortened', () => {
    const headers = { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT', date: dateHeader };
    expect(waitOf({ headers })).toBe(Date.UTC(2099, 0, 1) - now);
  });

  it('is written in any case, and may be a number, a list or an instance of Headers', () => {
    const forms: readonly unknown[] = [
      { 'Retry-After': '7' },
      { 'RETRY-AFTER': 7 },
      { 'retry-after': ['7', '8'] },
      [['Retry-After', '7']],
      new Headers({ 'Retry-After': '7' }),
      new Map([['Retry-After', '7']]),
    ];
    for (const headers of forms) expect(waitOf({ headers: headers as Record<string, string> })).toBe(7000);
  });
});

describe('the header retry-after-ms', () => {
  it.each(['-1', 'abc', '', 'NaN'])('is passed over where it is invalid: "%s"', (value) => {
    expect(waitOf({ headers: { 'retry-after-ms': value } })).toBeUndefined();
    expect(waitOf({ headers: { 'retry-after-ms': value, 'retry-after': '5' } })).toBe(5000);
  });

  it.each([
    ['250', 250],
    ['0', 0],
    ['12.4', 13],
    ['250, 300', 250],
  ])('counts before retry-after: "%s"', (value, delayMs) => {
    expect(waitOf({ headers: { 'retry-after': '9', 'retry-after-ms': value } })).toBe(delayMs);
  });
});

describe('the reset headers', () => {
  it('say nothing of a limit that is not exhausted', () => {
    const headers = { 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-reset-requests': '1m' };
    expect(waitOf({ headers })).toBeUndefined();
    expect(waitOf({ headers: { ...headers, 'x-ratelimit-remaining-requests': '' } })).toBeUndefined();
  });

  it('count only for the limit at zero', () => {
    const headers = {
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1h',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6ms',
    };
    expect(waitOf({ headers })).toBe(6);
  });

  it('wait for the last of several exhausted limits', () => {
    const headers = {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2027-01-15T08:00:10Z',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2027-01-15T08:00:40Z',
      date: dateHeader,
    };
    expect(waitOf({ headers })).toBe(40_000);
  });

  it('count without a remaining beside them only under 429', () => {
    const headers = { 'x-ratelimit-reset': '20' };
    expect(waitOf({ headers })).toBe(20_000);
    expect(classifyProviderFailure({ status: 500, headers })).not.toHaveProperty('retryAfterMs');
  });

  it.each([
    ['a duration', '1m47.5854s', 107_586],
    ['milliseconds', '6ms', 6],
    ['seconds', '30', 30_000],
    ['an epoch in seconds', String(now / 1000 + 60), 60_000],
    ['an epoch in milliseconds', String(now + 60_000), 60_000],
    ['a time as in RFC 3339', '2027-01-15T08:01:00Z', 60_000],
    ['a time with an offset', '2027-01-15T09:01:00+01:00', 60_000],
  ])('are read as %s', (_, value, delayMs) => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value };
    expect(waitOf({ headers, now })).toBe(delayMs);
    expect(waitOf({ headers: { ...headers, date: dateHeader } })).toBe(delayMs);
  });

  it.each(['-5', 'abc', '', 'NaN', String(now / 1000 - 60), '2027-01-15T07:00:00Z'])(
    'are ignored: "%s"',
    (value) => {
      expect(
        waitOf({ headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value }, now }),
      ).toBeUndefined();
    },
  );

  it('need a clock for an absolute time', () => {
    expect(
      waitOf({ headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800000060' } }),
    ).toBeUndefined();
  });
});

describe('the fields of a body', () => {
  it.each([
    ['a negative one', { retry_after: -3 }],
    ['an endless one', { retry_after: 'Infinity' }],
    ['a word', { retry_after: 'later' }],
  ])('are ignored: %s', (_, field) => {
    expect(waitOf({ body: bodyWith(field) })).toBeUndefined();
  });

  it.each([
    [
      "Google's retryDelay",
      { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '40s' }] },
      40_000,
    ],
    ['retry_after in seconds', { retry_after: 2.5 }, 2500],
    ['retry_after as text', { retry_after: '20' }, 20_000],
    ['retry_after_ms', { retry_after_ms: 800 }, 800],
    ["Hugging Face's estimated_time", { estimated_time: 20.5 }, 20_500],
    ['resets_in_seconds', { resets_in_seconds: 90 }, 90_000],
    ['zero', { retry_after: 0 }, 0],
  ])('are obeyed: %s', (_, field, delayMs) => {
    const failure = limited({ body: bodyWith(field) });
    expect(failure.retryAfterMs).toBe(delayMs);
    expect(failure.context['retryAfterFrom']).toContain('field');
  });

  it('are an epoch: resets_at against the clock', () => {
    expect(waitOf({ body: bodyWith({ resets_at: now / 1000 + 30 }), now })).toBe(30_000);
    expect(waitOf({ body: bodyWith({ resets_at: now / 1000 + 30 }) })).toBeUndefined();
  });
});

describe('the words of a message', () => {
  it.each([
    'Retrying in 8 seconds',
    'Retrying request in 0.5 seconds',
    'The SDK will retry in 8 seconds',
    'Request timed out after 30012 ms',
    'Connection reset after 60 seconds of inactivity',
    'The limit is 20 requests per 60 seconds',
    'Failed after 3 attempts in 12 s',
    'Your key was created 5 minutes ago',
    'If you enabled this API recently, wait 5 minutes and retry',
    'Once you have filled in the form, try again in 15 minutes',
    'Please try again later',
    'resets at 2026-05-15T15:00:00Z',
  ])('ask for nothing: %s', (sentence) => {
    expect(waitOf({ body: sentence })).toBeUndefined();
  });

  it.each([
    ['Please try again in 1m47.5854s.', 107_586],
    ['Please try again in 6ms. Visit the page', 6],
    ['Please try again in 19h14m47s', 69_287_000],
    ['Please retry after 20 seconds.', 20_000],
    ['Please retry in 15.002899939s.', 15_003],
    ['Try again in 2 hours', 7_200_000],
    ['Your limit resets in 5 days 10 hours.', 468_000_000],
    ['Please wait 45 seconds before trying again', 45_000],
    ['You must wait 1 minute and 30 seconds', 90_000],
    ['Please wait 0 seconds', 0],
    ['请在 30 秒后重试', 30_000],
  ])('ask for a wait: %s', (sentence, delayMs) => {
    const failure = limited({ body: sentence });
    expect(failure.retryAfterMs).toBe(delayMs);
    expect(failure.context['retryAfterFrom']).toBe('its words');
  });

  it('are passed over where a condition comes first, and found behind it', () => {
    const body = 'If you just created the key, wait 5 minutes. Otherwise, please try again in 20 seconds.';
    expect(waitOf({ body })).toBe(20_000);
  });
});

describe('the order of precedence', () => {
  const words = 'Please try again in 5s';
  const field = { retry_after: 4 };
  const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3' };

  it('is retry-after-ms, retry-after, reset header, field, words', () => {
    const body = bodyWith(field, words);
    expect(waitOf({ headers: { 'retry-after-ms': '1000', 'retry-after': '2', ...reset }, body })).toBe(1000);
    expect(waitOf({ headers: { 'retry-after': '2', ...reset }, body })).toBe(2000);
    expect(waitOf({ headers: reset, body })).toBe(3000);
    expect(waitOf({ body })).toBe(4000);
    expect(waitOf({ body: words })).toBe(5000);
  });

  it('goes on to the next where a header is invalid', () => {
    expect(waitOf({ headers: { 'retry-after': 'abc', ...reset } })).toBe(3000);
    expect(waitOf({ headers: { 'retry-after': 'abc' }, body: words })).toBe(5000);
  });

  it('takes zero for a value', () => {
    expect(waitOf({ headers: { 'retry-after': '0' }, body: words })).toBe(0);
  });

  it('prefers the headers of the answer over those an SDK kept', () => {
    const error = Object.assign(new Error('429'), { status: 429, headers: { 'retry-after': '9' } });
    expect(waitOf({ headers: { 'retry-after': '1' }, error })).toBe(1000);
    expect(waitOf({ error })).toBe(9000);
  });
});

function limited(input: ProviderFailureInput): ReturnType<typeof classifyProviderFailure> {
  return classifyProviderFailure({ status: 429, ...input });
}

function waitOf(input: ProviderFailureInput): number | undefined {
  return limited(input).retryAfterMs;
}

function bodyWith(fields: object, message = 'Rate limit exceeded'): string {
  return JSON.stringify({ error: { message, type: 'rate_limit_error', ...fields } });
}
