import { describe, expect, it } from 'vitest';
import { classifyFailure } from '../classify-failure.ts';
import { classifyProviderFailure } from '../classify-provider-failure.ts';
import type { FailureCode } from '../codes.ts';
import type { ProviderFailureInput } from './evidence.ts';

/** Words that mean one thing in most failures and another in these. A wrong row here is a retry too many, or one too few. */
const rows: readonly (readonly [
  what: string,
  input: ProviderFailureInput,
  code: FailureCode,
  retryable: boolean,
])[] = [
  [
    'an argument called rate_limit',
    refused('Unrecognized request argument supplied: rate_limit'),
    'INVALID_REQUEST',
    false,
  ],
  [
    'a property called throttle',
    refused("'tools.0.function.parameters' : property 'throttle' is unsupported"),
    'INVALID_REQUEST',
    false,
  ],
  [
    'a path into a schema',
    refused('tools.0.custom.input_schema.properties.rate_limit.type: Input should be a valid string'),
    'INVALID_REQUEST',
    false,
  ],
  ['a model called overload-1', refused('overload-1 is not a valid model ID'), 'MODEL_NOT_FOUND', false],
  [
    'a model called quota-bot',
    refused("The model 'quota-exceeded-7b' does not exist"),
    'MODEL_NOT_FOUND',
    false,
  ],
  ['a tool called moderation', refused("Unknown parameter: 'moderation'."), 'INVALID_REQUEST', false],
  [
    'an image that could not be fetched',
    refused('Failed to download image: the remote server responded with 429 Too Many Requests.'),
    'INVALID_REQUEST',
    false,
  ],
  [
    'a tool server that wants a key',
    refused('Error retrieving tool list from MCP server: acme. Http status code: 401 (Unauthorized)'),
    'INVALID_REQUEST',
    false,
  ],
  [
    'a thread that is gone',
    { status: 404, body: error("Thread with id 'thread_x' not found.") },
    'INVALID_REQUEST',
    false,
  ],
  ['a stop token', refused('The stop token is not one character.'), 'INVALID_REQUEST', false],
  [
    'a value of an enumeration',
    refused("Invalid value: 'timeout'. Supported values are: 'auto' and 'none'."),
    'INVALID_REQUEST',
    false,
  ],
  [
    'a filter that is itself down',
    { status: 500, body: error('The content filtering system is down.') },
    'SERVER_ERROR',
    true,
  ],
  [
    'keys that could not be checked',
    { status: 503, body: error('The auth service is temporarily unavailable.') },
    'OVERLOADED',
    true,
  ],
  [
    'a gateway that failed over a bad request',
    { status: 502, body: 'Upstream error: 400 {"error":{"message":"Unsupported content type"}}' },
    'INVALID_REQUEST',
    false,
  ],
  [
    'a limit on requests, not on a plan',
    { status: 429, body: error('You have reached your request limit. Please retry in 20s.') },
    'RATE_LIMITED',
    true,
  ],
  [
    'a concurrency limit that was hit',
    { status: 429, body: error('You have hit your concurrency limit.') },
    'RATE_LIMITED',
    true,
  ],
  [
    'a minute and the word today',
    { status: 429, body: error('Too many requests today, rate limit per minute exceeded') },
    'RATE_LIMITED',
    true,
  ],
  [
    "Google's quota behind a gateway",
    {
      provider: 'openrouter',
      status: 429,
      body: error(
        'Quota exceeded for metric: generativelanguage.googleapis.com/requests_per_minute, limit: 10',
      ),
    },
    'RATE_LIMITED',
    true,
  ],
  [
    'a wallet that is empty beside a plan that is not',
    {
      provider: 'anthropic',
      status: 529,
      headers: {
        'anthropic-ratelimit-unified-status': 'allowed',
        'anthropic-ratelimit-unified-overage-status': 'rejected',
      },
      body: '{"error":{"type":"overloaded_error"}}',
    },
    'OVERLOADED',
    true,
  ],
  [
    'a type called html',
    { status: 200, body: '{"error":{"type":"html","message":"Insufficient Balance"}}' },
    'QUOTA_EXCEEDED',
    false,
  ],
  [
    'a page of a portal without a doctype',
    { status: 200, headers: { 'content-type': 'text/html' }, body: 'Please sign in to continue' },
    'INVALID_RESPONSE',
    true,
  ],
  [
    'a proxy that wants a password',
    { status: 407, body: '<html><h1>407 Proxy Authentication Required</h1></html>' },
    'NETWORK_ERROR',
    false,
  ],
  [
    "undici's word for a proxy that refuses",
    {
      error: Object.assign(new Error('Proxy response (502) !== 200 when HTTP Tunneling'), {
        code: 'UND_ERR_ABORTED',
      }),
    },
    'NETWORK_ERROR',
    true,
  ],
  [
    'an abort after a bad status',
    { status: 503, error: new DOMException('stop', 'AbortError') },
    'CANCELLED',
    false,
  ],
  [
    'a reset after a good status',
    { status: 200, error: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) },
    'STREAM_INTERRUPTED',
    true,
  ],
  [
    'a handshake that was refused',
    { error: Object.assign(new Error('ssl'), { code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE' }) },
    'NETWORK_ERROR',
    false,
  ],
  [
    'garbage instead of HTTP',
    {
      error: new TypeError('fetch failed', {
        cause: new Error('Parse Error: Expected HTTP/, RTSP/ or ICE/'),
      }),
    },
    'INVALID_RESPONSE',
    true,
  ],
  [
    'a compressed body that is none',
    { error: Object.assign(new Error('incorrect header check'), { code: 'Z_DATA_ERROR' }) },
    'INVALID_RESPONSE',
    true,
  ],
  [
    'MiniMax: parameters inside a 200',
    {
      provider: 'minimax',
      status: 200,
      body: '{"base_resp":{"status_code":2013,"status_msg":"invalid params"}}',
    },
    'INVALID_REQUEST',
    false,
  ],
  [
    "a timer's own code beside `terminated`",
    { error: Object.assign(new TypeError('terminated'), { code: 'UND_ERR_BODY_TIMEOUT' }) },
    'TIMEOUT',
    true,
  ],
  [
    'an errno beside a status that refuses',
    { status: 400, error: Object.assign(new Error('odd'), { code: 'ECONNRESET' }) },
    'INVALID_REQUEST',
    false,
  ],
  ['advice that is all there is', refused('Please pass a valid API key.'), 'AUTHENTICATION_ERROR', false],
  [
    'an exception of AWS that says little',
    { error: new Error('An error occurred (ValidationException) when calling the Converse operation: odd') },
    'INVALID_REQUEST',
    false,
  ],
  [
    'a limit of zero',
    { status: 429, body: error('Rate limit reached, requests per min: Limit 0, Requested 5.') },
    'RATE_LIMITED',
    true,
  ],
  [
    'a request of exactly the limit',
    { status: 429, body: error('Rate limit reached, tokens per min: Limit 6000, Used 10, Requested 6000.') },
    'RATE_LIMITED',
    true,
  ],
  [
    'a request above the limit',
    { status: 429, body: error('Rate limit reached, tokens per min: Limit 6000, Used 10, Requested 6001.') },
    'REQUEST_TOO_LARGE',
    false,
  ],
  ['a redirect instead of an answer', { status: 304 }, 'INVALID_RESPONSE', true],
  ['a page with a redirect', { status: 302, body: '<html>moved</html>' }, 'INVALID_RESPONSE', true],
];

describe('words that mean something else', () => {
  it.each(rows)('%s', (...[, input, code, retryable]) => {
    expect(classifyProviderFailure(input)).toMatchObject({ code, retryable });
  });

  it('three broken objects do not push out the sentence that counts', () => {
    const broken = `{"a "b" "c ${'x'.repeat(1990)}`;
    const cause = new Error(broken, { cause: new Error(broken, { cause: new Error(broken) }) });
    expect(classifyProviderFailure({ error: new Error('429 Insufficient Balance', { cause }) }).code).toBe(
      'QUOTA_EXCEEDED',
    );
  });
});

describe('waits', () => {
  const wait = (input: ProviderFailureInput): number | undefined =>
    classifyProviderFailure({ status: 429, ...input }).retryAfterMs;
  const date = 'Tue, 04 Mar 2025 10:00:00 GMT';

  it.each([
    [{ 'x-ratelimit-timeremaining': '30' }, 30_000],
    [{ 'retry-after': '1741082430', date }, 30_000],
    [{ 'retry-after': '1741082430' }, undefined],
    [{ 'x-ms-retry-after-ms': '900' }, 900],
    [{ 'x-retry-after': '12' }, 12_000],
    [{ ratelimit: '"default";r=0;t=25' }, 25_000],
    [{ ratelimit: '"default";r=9;t=25' }, undefined],
    [{ 'x-codex-primary-used-percent': '40', 'x-codex-primary-reset-after-seconds': '9' }, undefined],
    [
      {
        'anthropic-ratelimit-unified-overage-status': 'rejected',
        'anthropic-ratelimit-unified-overage-reset': '1841082430',
        date,
      },
      undefined,
    ],
  ])('in the headers %j: %s', (headers, delayMs) => {
    expect(wait({ headers })).toBe(delayMs);
  });

  it.each([
    [{ retry_after: 12 }, 12_000],
    [{ retry_after: 1_741_082_430 }, 30_000],
    [{ retryDelay: { seconds: '7', nanos: 500_000_000 } }, 7500],
    [{ reset_at: '2025-03-04T10:00:30Z' }, 30_000],
    [{ retry_after_ms: 500 }, 500],
    [{ retry_after: 'soon' }, undefined],
    [{ window_seconds: 60 }, undefined],
  ])('in a field of the body %j: %s', (fields, delayMs) => {
    expect(
      wait({
        headers: { date },
        body: JSON.stringify({ error: { message: 'rate limit exceeded', ...fields } }),
      }),
    ).toBe(delayMs);
  });

  it.each([
    ['Please try again in a minute.', 60_000],
    ['Retry-After: 20s', 20_000],
    ['Wait 30 more seconds.', 30_000],
    ['请 2 分钟后重试', 120_000],
    ['Please try again at 2025-03-04T10:00:30Z', 30_000],
    ['Please wait 24 hours after signing up before using the API', undefined],
    ['We recommend to wait 1 second between requests', undefined],
    ['Support is available 24 hours a day', undefined],
    ['Next retry in 8s (backoff)', undefined],
  ])('in words: %s', (message, delayMs) => {
    expect(wait({ headers: { date }, body: error(message) })).toBe(delayMs);
  });
});

describe('what a tool says in words', () => {
  it.each([
    'Order 17 was placed; the printer answered: HTTP 503',
    'grep: HTTP 429 found in line 3',
    'Error code: 404 means missing',
  ])('is no status: %s', (message) => {
    expect(classifyFailure(new Error(message), 'tool')).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      retryable: false,
    });
  });

  it.each([
    [429, 'RATE_LIMITED'],
    [404, 'NOT_FOUND'],
    [410, 'NOT_FOUND'],
    [503, 'SERVER_ERROR'],
    [520, 'SERVER_ERROR'],
    [418, 'TOOL_EXECUTION_ERROR'],
  ] as const)('but a status in a field is one: %i', (status, code) => {
    expect(classifyFailure(Object.assign(new Error('no'), { status }), 'tool').code).toBe(code);
    expect(classifyFailure(Object.assign(new Error('no'), { response: { status } }), 'tool').code).toBe(code);
  });
});

describe('a timer that aborts', () => {
  it('is a timeout in every layer', () => {
    const abort = Object.assign(new Error('stop', { cause: new DOMException('late', 'TimeoutError') }), {
      name: 'AbortError',
    });
    expect(classifyFailure(abort, 'tool').code).toBe('TIMEOUT');
    expect(classifyProviderFailure({ error: abort }).code).toBe('TIMEOUT');
  });
});

function error(message: string): string {
  return JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } });
}

function refused(message: string): ProviderFailureInput {
  return { status: 400, body: error(message) };
}
