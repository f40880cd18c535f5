import { constants, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, eventsOf, until } from '../../test/chaos/bare-client.ts';
import type { Seen } from '../../test/chaos/bare-client.ts';
import { question } from '../../test/chaos/bodies.ts';
import { startChaosServer } from './server.ts';
import type { ChaosServer } from './server.ts';
import type { ChaosProtocol } from './wire/wire-answer.ts';

const answer = 'It is sunny in Oslo today, and warm for the season.';

let server: ChaosServer;
beforeAll(async () => {
  server = await startChaosServer({ model: () => answer });
});
afterAll(() => server.close());

interface Request {
  readonly protocol?: ChaosProtocol;
  readonly isStream?: boolean;
}

/** One request with one fault, to its end. */
async function provoke(
  fault: string,
  { protocol = 'openai-chat', isStream = true }: Request = {},
): Promise<Seen> {
  const { path, body } = question(protocol, { isStream });
  return ask(server.url + path, { body, headers: { 'x-rerail-fault': fault } }).done;
}

const text = (seen: Seen): string => seen.bytes.toString();
/** The text of the answer as far as it came, in OpenAI chat. */
function spoken(seen: Seen): string {
  return eventsOf(text(seen))
    .filter(({ data }) => data.startsWith('{'))
    .map(({ data }) => (JSON.parse(data) as ChatChunk).choices?.[0]?.delta?.content ?? '')
    .join('');
}

interface ChatChunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: Readonly<Record<string, unknown>> | null;
}

describe('a refusal', () => {
  it.each([
    ['rate-limit', 'openai-chat', 429, { error: { code: 'rate_limit_exceeded' } }],
    ['rate-limit', 'anthropic', 429, { type: 'error', error: { type: 'rate_limit_error' } }],
    ['rate-limit', 'gemini', 429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }],
    ['overloaded', 'anthropic', 529, { error: { type: 'overloaded_error' } }],
    ['context-length', 'openai-responses', 400, { error: { code: 'context_length_exceeded' } }],
    ['status;status=418', 'openai-chat', 418, { error: { type: 'invalid_request_error' } }],
    ['status;status=599', 'anthropic', 599, { type: 'error' }],
    ['status;status=999', 'gemini', 999, { error: { code: 999 } }],
    ['error-in-200;error=quota', 'openai-chat', 200, { error: { code: 'insufficient_quota' } }],
  ] as const)(
    '%s on %s has status %i and the body of the provider',
    async (...[fault, protocol, status, body]) => {
      const seen = await provoke(fault, { protocol });
      expect(seen).toMatchObject({ status, isWhole: true });
      expect(seen.headers['content-type']).toBe('application/json');
      expect(JSON.parse(text(seen))).toMatchObject(body);
    },
  );

  it.each([
    ['retryAfter=3', { 'retry-after': '3' }],
    ['retryAfter=0.05', { 'retry-after': '0.05' }],
    ['retryAfter=1.5;form=ms', { 'retry-after-ms': '1500' }],
    ['retryAfter=abc', { 'retry-after': 'abc' }],
    ['retryAfter=-1', { 'retry-after': '-1' }],
    ['retryAfter=1e400', { 'retry-after': '1e400' }],
    ['retryAfter=forty-days', { 'retry-after': '3456000' }],
    ['retryAfter=year-2099', { 'retry-after': 'Thu, 31 Dec 2099 23:59:59 GMT' }],
  ])('says its wait as it was asked to: %s', async (parameters, headers) => {
    const seen = await provoke(`rate-limit;${parameters}`);
    expect(seen.headers).toMatchObject(headers);
  });

  it('says its wait as a date, and twice', async () => {
    const date = await provoke('overloaded;retryAfter=60;form=date');
    expect(Date.parse(date.headers['retry-after'] ?? '')).toBeGreaterThan(Date.now() + 30_000);
    const twice = await provoke('rate-limit;retryAfter=1;form=twice');
    expect(twice.rawHeaders.filter((name) => name === 'retry-after')).toHaveLength(2);
  });

  it.each([502, 503, 504])('of a gateway is an HTML page with status %i', async (status) => {
    const seen = await provoke(`gateway;status=${status}`);
    expect(seen.status).toBe(status);
    expect(seen.headers['content-type']).toMatch('text/html');
    expect(text(seen)).toMatch(new RegExp(`<title>${status} `));
  });

  it('may be a status under which there must be no body', async () => {
    expect((await provoke('status;status=204', { isStream: false })).status).toBe(204);
    expect((await provoke('status;status=304', { isStream: false })).status).toBe(304);
    expect((await provoke('status;status=299', { isStream: false })).status).toBe(299);
    // Node's client hangs up on an upgrade that nobody asked for, without a word.
    expect(await provoke('status;status=101')).toMatchObject({ status: undefined, isOver: true });
  });

  it('may be a storm of 100 Continue before a good answer', async () => {
    const seen = await provoke('continue-storm;count=50');
    expect(seen).toMatchObject({ status: 200, interim: 50 });
    expect(spoken(seen)).toBe(answer);
  });

  it('may be a login page under 200', async () => {
    const seen = await provoke('wrong-content-type');
    expect(seen).toMatchObject({ status: 200, isWhole: true });
    expect(seen.headers['content-type']).toMatch('text/html');
  });
});

describe('a redirect', () => {
  it.each([
    ['redirect', '127.0.0.1', 307],
    ['redirect;to=other;status=302', 'localhost', 302],
  ])('%s leads to %s, where the answer is good', async (fault, hostname, status) => {
    const seen = await provoke(fault);
    expect(seen.status).toBe(status);
    const location = new URL(seen.headers.location ?? '');
    expect(location.hostname).toBe(hostname);
    const { body } = question('openai-chat');
    const next = await ask(location.href, { body, headers: { 'x-rerail-fault': fault } }).done;
    expect(spoken(next)).toBe(answer);
  });

  it('may have no end', async () => {
    const seen = await provoke('redirect;loop=true');
    const { body } = question('openai-chat');
    const next = await ask(seen.headers.location ?? '', { body }).done;
    expect(next.status).toBe(307);
  });
});

describe('a broken connection', () => {
  it.each([
    ['reset-before-headers', { status: undefined, error: 'ECONNRESET' }],
    ['close-before-headers', { status: undefined, error: 'ECONNRESET' }],
    ['reset-mid-stream', { status: 200, error: 'ECONNRESET', isWhole: false }],
    ['close-mid-stream', { status: 200, error: 'ECONNRESET', isWhole: false }],
    ['close-short-of-length', { status: 200, error: 'ECONNRESET', isWhole: false }],
    ['garbage-http', { status: undefined, error: 'HPE_INVALID_CONSTANT' }],
    ['bad-chunk-size', { status: 200, isWhole: false }],
    ['huge-header', { status: undefined, error: 'HPE_HEADER_OVERFLOW' }],
  ])('%s is seen as such', async (fault, expected) => {
    expect(await provoke(fault)).toMatchObject(expected);
  });

  it.each(['reset-mid-stream', 'close-mid-stream', 'close-without-length'])(
    '%s lets the beginning of the answer through',
    async (fault) => {
      const seen = await provoke(`${fault};after=2`);
      expect(answer.startsWith(spoken(seen))).toBe(true);
      expect(spoken(seen)).toHaveLength(24);
    },
  );

  it('close-without-length looks like success', async () => {
    expect(await provoke('close-without-length')).toMatchObject({
      status: 200,
      isWhole: true,
      error: undefined,
    });
  });

  it.each(['header-hang', 'connect-hang', 'silence-after-headers', 'silence-mid-stream'])(
    '%s says nothing more and keeps the connection open',
    async (fault) => {
      const { path, body } = question('anthropic');
      const asked = ask(server.url + path, { body, headers: { 'x-rerail-fault': fault } });
      await until(() => server.requests.at(-1)?.faultDelivered === fault);
      if (fault.startsWith('silence')) await until(() => asked.seen().status === 200);
      expect(asked.seen()).toMatchObject({ isOver: false, error: undefined });
      asked.leave();
      await until(() => server.requests.at(-1)?.ended === 'closed-by-client');
    },
  );

  it('slow-drip brings the whole answer, a few bytes at a time', async () => {
    const seen = await provoke('slow-drip;bytes=100;everyMs=1');
    expect(spoken(seen)).toBe(answer);
    expect(Math.max(...seen.chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(100);
  });
});

describe('a broken body', () => {
  it('is packed and cut', async () => {
    const seen = await provoke('gzip-truncated');
    expect(seen).toMatchObject({ isWhole: true });
    expect(seen.headers['content-encoding']).toBe('gzip');
    expect(() => gunzipSync(seen.bytes)).toThrow('unexpected end of file');
    const partial = gunzipSync(seen.bytes, { finishFlush: constants.Z_SYNC_FLUSH });
    expect(partial.toString()).toMatch(/^data: /);
  });

  it('says that it is packed and is not', async () => {
    const seen = await provoke('gzip-garbage');
    expect(() => gunzipSync(seen.bytes)).toThrow('incorrect header check');
  });

  it('is small and unpacks to much', async () => {
    const seen = await provoke('gzip-bomb;megabytes=20');
    expect(seen.bytes.length).toBeLessThan(100_000);
    expect(gunzipSync(seen.bytes).length).toBeGreaterThan(20 * 1024 * 1024);
  });

  it('is packed six times', async () => {
    const seen = await provoke('encoding-chain');
    expect(seen.headers['content-encoding']).toBe('gzip, gzip, gzip, gzip, gzip, gzip');
    const unpacked = Array.from({ length: 6 }).reduce<Buffer>((bytes) => gunzipSync(bytes), seen.bytes);
    expect(unpacked.toString()).toContain('[DONE]');
  });

  it('comes byte by byte, with an emoji among them', async () => {
    const seen = await provoke('split');
    expect(spoken(seen)).toBe(`${answer} 🛤️ ok`);
    expect(seen.chunks.length).toBe(seen.bytes.length);
    const [first, second] = (await provoke('split;at=3,17')).chunks;
    expect([first?.length, second?.length]).toEqual([3, 14]);
  });
});

describe('a broken stream', () => {
  it.each([
    ['crlf', /\r\n\r\n/],
    ['crlf;end=cr', /[^\n]\r\r/],
    ['bom', /^\uFEFF/],
    ['comments', /^: chaos/m],
    ['multiline-data', /^data: {\ndata: {2}"id"/m],
  ])('may be a good one in an odd spelling: %s', async (fault, pattern) => {
    const seen = await provoke(fault);
    expect(text(seen)).toMatch(pattern);
    expect(spoken(seen)).toBe(answer);
    expect(eventsOf(text(seen)).at(-1)?.data).toBe('[DONE]');
  });

  it('mixes its line ends', async () => {
    const seen = text(await provoke('crlf;end=mixed'));
    expect([/[^\r]\n/.test(seen), /\r\n/.test(seen), /\r[^\n]/.test(seen)]).toEqual([true, true, true]);
  });

  it('lacks the last blank line', async () => {
    expect(text(await provoke('missing-final-blank-line'))).toMatch(/data: \[DONE\]\n$/);
  });

  it('has an event twice, or two in the wrong order', async () => {
    const [twice, swapped] = [
      spoken(await provoke('duplicate-event')),
      spoken(await provoke('out-of-order')),
    ];
    expect(twice.length).toBe(answer.length + 12);
    expect(swapped).not.toBe(answer);
    expect(Array.from(swapped).toSorted()).toEqual(Array.from(answer).toSorted());
  });

  it.each([
    ['openai-chat', /finish_reason":"|\[DONE\]/],
    ['openai-responses', /response\.completed/],
    ['anthropic', /message_delta|message_stop/],
    ['gemini', /finishReason/],
  ] as const)('never announces its end on %s', async (protocol, terminal) => {
    const seen = await provoke('missing-terminal', { protocol });
    expect(seen.isWhole).toBe(true);
    expect(text(seen)).not.toMatch(terminal);
    expect(seen.bytes.length).toBeGreaterThan(100);
  });

  it('lacks only its very last event where that is asked for', async () => {
    const seen = await provoke('missing-terminal;which=last', { protocol: 'anthropic' });
    expect(text(seen)).toMatch(/message_delta/);
    expect(text(seen)).not.toMatch(/message_stop/);
  });

  it.each([
    ['openai-chat', { name: '', data: /"type":"service_unavailable_error"/ }],
    ['openai-responses', { name: 'error', data: /"type":"error","code":"server_is_overloaded"/ }],
    ['anthropic', { name: 'error', data: /"type":"overloaded_error"/ }],
    ['gemini', { name: '', data: /"status":"UNAVAILABLE"/ }],
  ] as const)('has an error of the provider in it on %s', async (protocol, expected) => {
    const last = eventsOf(text(await provoke('error-in-stream', { protocol }))).at(-1);
    expect(last?.name).toBe(expected.name);
    expect(last?.data).toMatch(expected.data);
  });

  it('has an event that is not JSON, and goes on', async () => {
    const events = eventsOf(text(await provoke('invalid-json-event')));
    expect(events.filter(({ data }) => !isJson(data)).map(({ data }) => data)).toEqual([
      expect.stringContaining('oops') as string,
      '[DONE]',
    ]);
  });

  it('has an event without end', async () => {
    const seen = await provoke('giant-event;megabytes=3');
    const longest = Math.max(
      ...text(seen)
        .split('\n')
        .map((line) => line.length),
    );
    expect(longest).toBeGreaterThan(3 * 1024 * 1024);
  });

  it('shows signs of life for ever', async () => {
    const { path, body } = question('anthropic');
    const headers = { 'x-rerail-fault': 'endless-keepalive;everyMs=1' };
    const asked = ask(server.url + path, { body, headers });
    await until(() => asked.seen().chunks.length >= 5);
    asked.leave();
    expect(asked.seen().bytes.toString().replaceAll('event: ping\ndata: {"type": "ping"}\n\n', '')).toBe('');
  });
});

function isJson(data: string): boolean {
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

describe('a bad answer', () => {
  const whole = async (fault: string, protocol: ChaosProtocol = 'openai-chat'): Promise<unknown> =>
    JSON.parse(text(await provoke(fault, { protocol, isStream: false })));
  const call = (fields: object): object => ({
    choices: [{ message: { tool_calls: [{ function: fields }] } }],
  });
  const ended = (finish_reason: string): object => ({ choices: [{ finish_reason }] });

  it.each([
    ['empty-answer', { choices: [{ message: { content: '' }, finish_reason: 'stop' }] }],
    ['cut-off-answer', ended('length')],
    ['cut-off-tool-call', { ...call({ name: 'weather' }), ...ended('length') }],
    ['bad-tool-arguments', call({ name: 'weather', arguments: "{query: 'single quotes', }" })],
    ['bad-tool-arguments;kind=empty', call({ arguments: '' })],
    ['bad-tool-arguments;kind=constructor', call({ arguments: "{query: 'single quotes', }" })],
    ['bad-tool-arguments;kind=proto', call({ arguments: expect.stringContaining('__proto__') as string })],
    ['truncated-tool-arguments', { ...call({ name: 'weather' }), ...ended('tool_calls') }],
    ['unknown-tool', call({ name: 'no_such_tool' })],
    ['unknown-tool;tool=rm', call({ name: 'rm' })],
    ['tool-loop', call({ name: 'weather' })],
    ['refusal', { choices: [{ message: { refusal: expect.stringMatching("can't help") as string } }] }],
    ['refusal;text=', ended('content_filter')],
    ['filtered', ended('content_filter')],
    ['usage-nonsense', { usage: { prompt_tokens: -7, completion_tokens: -7 } }],
    ['usage-nonsense;kind=huge', { usage: { prompt_tokens: 2 ** 60 } }],
    ['usage-nonsense;kind=null', { usage: { prompt_tokens: null } }],
    ['usage-nonsense;kind=constructor', { usage: { prompt_tokens: -7 } }],
    ['bad-finish-reason', ended('banana')],
  ])('%s', async (fault, expected) => {
    expect(await whole(fault)).toMatchObject(expected);
  });

  it('has no count of tokens', async () => {
    expect(await whole('usage-missing')).not.toHaveProperty('usage');
    expect(await whole('usage-missing', 'gemini')).not.toHaveProperty('usageMetadata');
    expect(await whole('usage-missing', 'openai-responses')).toMatchObject({ usage: null });
  });

  it('is said by each provider in its own words', async () => {
    expect(await whole('bad-tool-arguments', 'gemini')).toMatchObject({
      candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }],
    });
    expect(await whole('refusal', 'anthropic')).toMatchObject({ stop_reason: 'refusal' });
    expect(await whole('cut-off-answer', 'openai-responses')).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(await whole('bad-finish-reason;reason=NEW', 'gemini')).toMatchObject({
      candidates: [{ finishReason: 'NEW' }],
    });
  });
});

describe('a fault that cannot happen', () => {
  it('leaves the answer good and says why', async () => {
    const seen = await provoke('crlf', { isStream: false });
    expect(seen.status).toBe(200);
    expect(server.requests.at(-1)).toMatchObject({
      faultAsked: { name: 'crlf' },
      undeliveredBecause: 'the request does not ask for a stream of events',
    });
    const { path, body } = question('openai-chat', { hasTools: false });
    await ask(server.url + path, { body, headers: { 'x-rerail-fault': 'tool-loop' } }).done;
    expect(server.requests.at(-1)?.undeliveredBecause).toBe('the request offers no tool');
  });

  it('is refused where its name or its parameter is wrong', async () => {
    const wrong = await provoke('rate-limt');
    expect(wrong.status).toBe(400);
    expect(text(wrong)).toContain('did you mean rate-limit');
    expect(text(await provoke('overloaded;after=3'))).toContain('has no parameter \\"after\\"');
  });
});
