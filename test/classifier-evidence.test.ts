import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../src/errors/index.ts';
import type { Failure, ProviderFailureInput } from '../src/errors/index.ts';

type Row = readonly [what: string, input: ProviderFailureInput, expected: Partial<Failure>];

/** The failure as far as the row states it. */
function shown(input: ProviderFailureInput, expected: Partial<Failure>): Partial<Failure> {
  const failure = classifyProviderFailure(input);
  return Object.fromEntries(Object.keys(expected).map((key) => [key, failure[key as keyof Failure]]));
}

const spent = { error: { message: 'You exceeded your current quota.', type: 'insufficient_quota' } };

describe('a body', () => {
  it.each<Row>([
    ['that is parsed already', { status: 429, body: spent }, { code: 'QUOTA_EXCEEDED' }],
    ['as bytes', { status: 429, body: Buffer.from(JSON.stringify(spent)) }, { code: 'QUOTA_EXCEEDED' }],
    ['that is a list', { status: 429, body: [spent] }, { code: 'QUOTA_EXCEEDED' }],
    [
      'with a code under an unknown name',
      { body: '{"errorInfo":"rateLimitExceeded"}' },
      { code: 'RATE_LIMITED' },
    ],
    [
      'the same behind a prefix',
      { body: 'Error: {"errorInfo":"rateLimitExceeded"}' },
      { code: 'RATE_LIMITED' },
    ],
    ['with a list of sentences', { body: '{"errors":["Too many requests"]}' }, { code: 'RATE_LIMITED' }],
    ['with a code in another spelling', { body: '{"code":"RATE-LIMIT-EXCEEDED"}' }, { code: 'RATE_LIMITED' }],
    [
      'with a code that only its words explain',
      { status: 400, body: '{"code":"AccountBalanceNotEnough"}' },
      { code: 'QUOTA_EXCEEDED' },
    ],
    [
      'with such a code for a spent pack',
      { status: 400, body: '{"code":"Operation.QuotaExhausted.Pack"}' },
      { code: 'QUOTA_EXCEEDED' },
    ],
    [
      'of JSON-RPC with its reason in data',
      { body: '{"code":-32603,"message":"Internal error","data":"The model is temporarily unavailable."}' },
      { code: 'OVERLOADED' },
    ],
  ])('%s is read', (_, input, expected) => {
    expect(shown(input, expected)).toEqual(expected);
  });
});

describe('the innermost error', () => {
  const refused = { error: { type: 'invalid_request_error', message: 'top_k is out of place here' } };
  it.each<Row>([
    [
      'beats the 5xx around it',
      { status: 502, body: refused },
      { code: 'INVALID_REQUEST', retryable: false },
    ],
    [
      'beats an upstream_error around it',
      { status: 500, body: { error: { type: 'upstream_error', message: JSON.stringify(refused) } } },
      { code: 'INVALID_REQUEST', retryable: false },
    ],
    [
      'beats a 5xx that quotes its status',
      { status: 500, body: { error: { code: 500, message: 'Request failed with status code 429' } } },
      { code: 'RATE_LIMITED', retryable: true },
    ],
    [
      'is the server where nothing inside refuses',
      { status: 502, body: { error: { type: 'upstream_error' } } },
      { code: 'SERVER_ERROR' },
    ],
  ])('%s', (_, input, expected) => {
    expect(shown(input, expected)).toEqual(expected);
  });
});

describe('words under a 400', () => {
  it.each<Row>([
    [
      'a degraded function may recover',
      { status: 400, body: '{"detail":"DEGRADED function cannot be invoked"}' },
      { code: 'SERVER_ERROR', retryable: true },
    ],
    [
      'degraded quality does not',
      { status: 400, body: '{"message":"A missing seed may lead to degraded quality"}' },
      { code: 'INVALID_REQUEST', retryable: false },
    ],
    [
      'a cold endpoint is loading',
      { status: 400, body: '{"message":"The endpoint is waking up"}' },
      { code: 'MODEL_LOADING', retryable: true },
    ],
    [
      'a scaling deployment too',
      { status: 400, body: '{"code":"DEPLOYMENT_SCALING_UP"}' },
      { code: 'MODEL_LOADING', retryable: true },
    ],
    [
      'what is being provisioned passes',
      { status: 400, body: '{"message":"Service agents are being provisioned"}' },
      { retryable: true },
    ],
  ])('%s', (_, input, expected) => {
    expect(shown(input, expected)).toEqual(expected);
  });
});

describe('the header ratelimit', () => {
  it.each([
    ['"minute";r=178;t=44, "hour";r=0;t=1724', 1_724_000],
    ['"minute";r=0;t=44, "hour";r=0;t=1724, "day";r=9;t=80000', 1_724_000],
    ['"hour";r=0;t=1724,"minute";r=0;t=44', 1_724_000],
    ['"default"; r=0; t=25', 25_000],
    ['limit=100, remaining=0, reset=25', 25_000],
    ['limit=10, remaining=0, reset=44, limit=500, remaining=0, reset=1724', 1_724_000],
    ['limit=10, remaining=4, reset=44, limit=500, remaining=0, reset=1724', 1_724_000],
    ['"minute";r=178;t=44, "hour";r=3;t=1724', undefined],
  ])('%s asks for %s ms: the exhausted window that ends last', (ratelimit, delayMs) => {
    expect(classifyProviderFailure({ status: 429, headers: { ratelimit } }).retryAfterMs).toBe(delayMs);
  });
});

describe('numbers of systems', () => {
  it.each([
    ['[WinError 10054] 远程主机强迫关闭了一个现有的连接', 'NETWORK_ERROR', true],
    ['[WinError 10060] Se produjo un error', 'TIMEOUT', true],
    ['<urlopen error [WinError 10061] x>', 'NETWORK_ERROR', true],
    ['ConnectionResetError(10054, None)', 'NETWORK_ERROR', true],
    ['socket error 10051', 'NETWORK_ERROR', true],
    ['x (os error 111)', 'NETWORK_ERROR', true],
    ['[Errno 110] x', 'TIMEOUT', true],
    ['[Errno 61] x', 'NETWORK_ERROR', true],
    ['[Errno -3] x', 'NETWORK_ERROR', true],
    ['Error Domain=NSURLErrorDomain Code=-1001 "(null)"', 'TIMEOUT', true],
    ['NSURLErrorDomain Code=-1009', 'NETWORK_ERROR', true],
    ['NSURLConnection finished with error - code -1003', 'NETWORK_ERROR', true],
    ['NSURLErrorDomain Code=-1202', 'NETWORK_ERROR', false],
    ['NSURLErrorDomain Code=-999', 'CANCELLED', false],
    ['NSPOSIXErrorDomain Code=57', 'NETWORK_ERROR', true],
    ['curl: (28) x', 'TIMEOUT', true],
    ['cURL error 7: x', 'NETWORK_ERROR', true],
    ['curl: (60) x', 'NETWORK_ERROR', false],
    ['curl: (18) x', 'STREAM_INTERRUPTED', true],
    ['net::ERR_CONNECTION_TIMED_OUT', 'TIMEOUT', true],
    ['net::ERR_INCOMPLETE_CHUNKED_ENCODING', 'STREAM_INTERRUPTED', true],
    ['net::ERR_INTERNET_DISCONNECTED', 'NETWORK_ERROR', true],
    ['x {grpc_status:14, x}', 'OVERLOADED', true],
    ['x {grpc_status:16, x}', 'AUTHENTICATION_ERROR', false],
    ['rpc error: code = DeadlineExceeded desc = x', 'TIMEOUT', true],
    ['dial tcp 10.0.0.1:443: i/o timeout', 'TIMEOUT', true],
    ['java.net.SocketTimeoutException: x', 'TIMEOUT', true],
    ['java.net.UnknownHostException: api.example.com', 'NETWORK_ERROR', true],
  ])('%s is %s', (message, code, retryable) => {
    const failure = classifyProviderFailure({ error: new Error(message) });
    expect({ code: failure.code, retryable: failure.retryable }).toEqual({ code, retryable });
  });

  it.each(['It cost 10054 tokens', 'curl_result 28', 'errno of the day', 'error 111 of 250 rows'])(
    'are not seen where they count something else: %s',
    (message) => {
      expect(['NETWORK_ERROR', 'TIMEOUT']).not.toContain(
        classifyProviderFailure({ error: new Error(message) }).code,
      );
    },
  );
});

describe('a stated wait', () => {
  it.each([
    ['Please wait 2 minutes before trying again.', 120_000],
    ['请在 60 秒后重试', 60_000],
    ['請等待5分鐘後再試', 300_000],
    ['20秒後に再試行してください', 20_000],
    ['15초 후에 다시 시도하세요', 15_000],
    ['Bitte versuchen Sie es in 20 Sekunden erneut.', 20_000],
    ['Veuillez réessayer dans 12 secondes.', 12_000],
    ['Inténtelo de nuevo en 45 segundos.', 45_000],
    ['Tente novamente em 30 segundos.', 30_000],
    ['Повторите попытку через 25 секунд.', 25_000],
    ['Riprova tra 40 secondi.', 40_000],
    ['20 saniye sonra tekrar deneyin.', 20_000],
    ['Held back (retry_after=17), sorry', 17_000],
    ['retryAfterMs=1500', 1500],
    ['Retry-After=30s', 30_000],
  ])('and no other reason is a rate limit: %s', (message, retryAfterMs) => {
    const failure = classifyProviderFailure({ error: new Error(message) });
    expect({ code: failure.code, retryable: failure.retryable, retryAfterMs: failure.retryAfterMs }).toEqual({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterMs,
    });
  });

  it.each([
    '您已达到总请求数限制：1分钟内最多请求60次',
    'Höchstens 60 Anfragen pro 1 Minute.',
    'Лимит: 10 запросов в 1 секунду',
    'The job took 20s, tentative 3',
  ])('is not read from a pace or a duration: %s', (message) => {
    expect(classifyProviderFailure({ error: new Error(message) }).retryAfterMs).toBeUndefined();
  });

  it.each([
    [{ retry_after_ms: 500 }, 500],
    [{ retry_after_minutes: 2 }, 120_000],
    [{ backoff_ms: 250 }, 250],
    [{ details: [{ retryDelay: '33s' }] }, 33_000],
  ])('is read from the field of %j', (error, delayMs) => {
    expect(classifyProviderFailure({ status: 429, body: { error } }).retryAfterMs).toBe(delayMs);
  });
});

describe('a refused right', () => {
  it.each([
    ['403 - Unauthorized: The model is gated', 'PERMISSION_DENIED'],
    ['Failed to login. Your account is not eligible for this service.', 'PERMISSION_DENIED'],
    ['These API keys are not authorized for this route.', 'PERMISSION_DENIED'],
    ['unauthorized: not authorized to use this feature', 'PERMISSION_DENIED'],
    ['Your organization has disabled access · Use an API key instead', 'PERMISSION_DENIED'],
    ['Unauthorized', 'AUTHENTICATION_ERROR'],
    ['Your API key is not valid.', 'AUTHENTICATION_ERROR'],
  ])('is not a bad key: %s', (message, code) => {
    expect(classifyProviderFailure({ error: new Error(message) }).code).toBe(code);
  });
});

describe('a provider', () => {
  it.each([
    ['cloudflare-workers-ai', '{"errors":[{"code":3040,"message":"x"}]}', 'OVERLOADED'],
    ['@cf/workers-ai', '{"errors":[{"code":3040,"message":"x"}]}', 'OVERLOADED'],
    ['zhipuai', '{"error":{"code":"1113","message":"x"}}', 'QUOTA_EXCEEDED'],
    ['open.bigmodel.cn', '{"error":{"code":"1302","message":"x"}}', 'RATE_LIMITED'],
    ['minimaxi', '{"base_resp":{"status_code":1008,"status_msg":"x"}}', 'QUOTA_EXCEEDED'],
    ['baidu-qianfan', '{"error_code":17,"error_msg":"x"}', 'QUOTA_EXCEEDED'],
    ['xunfei-spark', '{"header":{"code":11202,"message":"x"}}', 'RATE_LIMITED'],
    [
      'google.vertex.chat',
      '{"error":{"message":"You exceeded your current quota for this minute"}}',
      'RATE_LIMITED',
    ],
  ])('is known by its name in the wild: %s', (provider, body, code) => {
    expect(classifyProviderFailure({ provider, body }).code).toBe(code);
  });
});
