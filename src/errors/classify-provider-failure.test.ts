import { afterEach, describe, expect, it } from 'vitest';
import { registerSecret } from '../base/redact.ts';
import { classifyProviderFailure } from './classify-provider-failure.ts';
import type { ProviderFailureInput } from './classify/evidence.ts';
import { classifyFailure } from './classify-failure.ts';
import type { Failure } from './failure.ts';
import { renderFailure } from './render-failure.ts';
import { RerailError } from './rerail-error.ts';

describe('what an SDK keeps beside its error never gets into a failure', () => {
  // None of these has the form of a key: nothing but never being looked at can keep it out.
  const prompt = 'Quartz sphinx judges the vow of the patient';
  const header = 'plainheadervaluewithoutform';
  const request = {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: prompt }] }),
    headers: { authorization: `Custom ${header}`, 'x-api-key': header, 'x-custom': header },
    messages: [{ role: 'user', content: prompt }],
    prompt,
    // Names under which the words of an error are looked for, so that only a request never opened keeps them in.
    message: prompt,
    error: { message: prompt, detail: prompt },
    code: header,
  };
  const errorBody = {
    error: { message: 'Rate limit reached', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  };

  const shapes: Readonly<Record<string, () => unknown>> = {
    'the OpenAI SDK': () =>
      withFields(new Error('429 Rate limit reached'), {
        status: 429,
        headers: new Headers({ 'x-request-id': 'req_7', 'retry-after': '7', 'x-echo': header }),
        error: errorBody.error,
        code: 'rate_limit_exceeded',
        type: 'rate_limit_error',
        requestID: 'req_7',
        request,
      }),
    'the Anthropic SDK': () =>
      withFields(
        new Error('429 {"type":"error","error":{"type":"rate_limit_error","message":"Rate limit reached"}}'),
        {
          status: 429,
          headers: { 'request-id': 'req_7', 'retry-after': '7' },
          error: { type: 'error', ...errorBody, request_id: 'req_7' },
          request_id: 'req_7',
          request,
        },
      ),
    'the AI SDK': () =>
      withFields(new Error('Rate limit reached'), {
        name: 'AI_APICallError',
        url: 'https://api.example.com/v1/chat',
        requestBodyValues: request,
        statusCode: 429,
        responseHeaders: { 'request-id': 'req_7', 'retry-after': '7' },
        responseBody: JSON.stringify(errorBody),
        isRetryable: true,
        data: errorBody,
      }),
    'the AI SDK after its retries': () => {
      const last = withFields(new Error('Rate limit reached'), {
        name: 'AI_APICallError',
        requestBodyValues: request,
        statusCode: 429,
        responseHeaders: { 'request-id': 'req_7', 'retry-after': '7' },
        responseBody: JSON.stringify(errorBody),
      });
      return withFields(new Error('Failed after 3 attempts. Last error: Rate limit reached'), {
        name: 'AI_RetryError',
        reason: 'maxRetriesExceeded',
        errors: [last, last, last],
        lastError: last,
      });
    },
    'the AWS SDK': () =>
      withFields(new Error('Too many requests, please wait before trying again.'), {
        name: 'ThrottlingException',
        $fault: 'client',
        $metadata: { httpStatusCode: 429, requestId: 'req_7', attempts: 1 },
        $response: { statusCode: 429, headers: { 'x-amzn-requestid': 'req_7', 'retry-after': '7' }, request },
        config: request,
      }),
    axios: () =>
      withFields(new Error('Request failed with status code 429'), {
        code: 'ERR_BAD_REQUEST',
        config: { ...request, data: request.body },
        request,
        response: {
          status: 429,
          headers: { 'x-request-id': 'req_7', 'retry-after': '7' },
          data: errorBody,
          config: { ...request, data: request.body },
          request,
        },
        toJSON: () => ({ config: request }),
      }),
    got: () =>
      withFields(new Error('Response code 429 (Too Many Requests)'), {
        name: 'HTTPError',
        code: 'ERR_NON_2XX_3XX_RESPONSE',
        options: { ...request, json: request.messages },
        response: {
          statusCode: 429,
          headers: { 'x-request-id': 'req_7', 'retry-after': '7' },
          body: JSON.stringify(errorBody),
          request: { options: request },
        },
      }),
    "Google's SDK": () =>
      withFields(
        new Error(
          JSON.stringify({
            error: { code: 429, message: 'Resource has been exhausted', status: 'RESOURCE_EXHAUSTED' },
          }),
        ),
        {
          name: 'ApiError',
          status: 429,
          headers: { 'x-goog-request-id': 'req_7', 'retry-after': '7' },
          request,
        },
      ),
    'a wrapper around an aggregate': () => {
      const inner = withFields(new Error('429 Rate limit reached'), {
        status: 429,
        headers: { 'request-id': 'req_7', 'retry-after': '7' },
        request,
        config: request,
      });
      return new Error('All models failed', {
        cause: new AggregateError([inner], 'All promises were rejected'),
      });
    },
  };

  it.each(Object.entries(shapes))('%s: code, wait and request id are read, the request is not', (_, make) => {
    for (const failure of [classifyProviderFailure({ error: make() }), classifyFailure(make(), 'model')]) {
      expect(failure).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 7000 });
      expect(failure.provider).toMatchObject({ statusCode: 429, requestId: 'req_7' });
      expect(traces(failure, [prompt, header])).toEqual([]);
    }
    expect(traces(classifyFailure(make(), 'tool'), [prompt, header])).toEqual([]);
  });

  const echoes: Readonly<Record<string, ProviderFailureInput>> = {
    'a refused field with its input (FastAPI, vLLM)': {
      status: 422,
      body: JSON.stringify({
        detail: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required', input: request }],
      }),
    },
    'the same as the text of an SDK': {
      error: new Error(
        `422 ${JSON.stringify({ detail: [{ type: 'missing', msg: 'Field required', input: request }] })}`,
      ),
    },
    'a request beside the error': {
      status: 400,
      body: JSON.stringify({
        error: { message: 'Bad request', request, config: request, requestBodyValues: request },
      }),
    },
    'what was sent, beside the error': {
      status: 400,
      body: JSON.stringify({
        error: { message: 'Bad request', input: prompt, prompt, content: prompt, inputs: [prompt] },
      }),
    },
    'a failed generation (Groq)': {
      status: 400,
      body: JSON.stringify({
        error: { message: 'Failed to call a function.', code: 'tool_use_failed', failed_generation: prompt },
      }),
    },
    'a request printed behind a sentence': {
      status: 400,
      error: new Error(`Request failed: ${JSON.stringify({ messages: request.messages })}`),
    },
    'a request printed as Python does': {
      status: 400,
      error: new Error(`litellm.BadRequestError: {'messages': [{'role': 'user', 'content': '${prompt}'}]}`),
    },
    'a whole answer of the model': {
      status: 200,
      body: JSON.stringify({ choices: [{ message: { role: 'assistant', content: prompt } }], usage: {} }),
    },
  };

  it.each(Object.entries(echoes))('%s: is not quoted', (_, input) => {
    expect(traces(classifyProviderFailure(input), [prompt, header])).toEqual([]);
  });
});

describe('secrets in what a provider says', () => {
  const keys = {
    google: `AIzaSyD-${'Qx7vB2nM'.repeat(4)}`,
    aws: `AKIA${'Q7XZ2M9P'.repeat(2)}`,
    anthropic: `sk-ant-api03-${'Zk9Qx7vB'.repeat(6)}`,
    'hugging face': `hf_${'QxZvBnMk'.repeat(4)}qq`,
  };
  let forget = (): void => undefined;
  afterEach(() => forget());

  it.each(Object.entries(keys))(
    'the %s key that a sentence echoes is hidden everywhere, in any letter case',
    (_, key) => {
      const sentences = [
        `API key ${key} is invalid`,
        `Incorrect API key provided: ${key}.`,
        `Invalid token "${key}"`,
      ];
      for (const sentence of sentences) {
        const bodies = [sentence, JSON.stringify({ error: { message: sentence, code: key, type: key } })];
        for (const body of bodies)
          expect(traces(classifyProviderFailure({ status: 401, body }), piecesOf(key))).toEqual([]);
        expect(traces(classifyProviderFailure({ error: new Error(sentence) }), piecesOf(key))).toEqual([]);
      }
    },
  );

  it('a registered secret is hidden wherever a bound cuts the text', () => {
    const secret = 'correct-horse-battery-staple-and-a-long-tail-behind-it';
    forget = registerSecret(secret);
    const found = Array.from({ length: 700 }, (_, length) => length).flatMap((length) => {
      const text = `${'x'.repeat(length)} ${secret} y`;
      return [
        classifyProviderFailure({ error: new Error(text) }),
        classifyProviderFailure({ status: 429, headers: { 'retry-after': text }, body: text, model: text }),
        classifyFailure(Object.assign(new Error(text), { name: text, code: text }), 'tool'),
      ].flatMap((failure) => traces(failure, [secret.slice(0, 16)]));
    });
    expect(found.slice(0, 5)).toEqual([]);
  });

  it.each(Object.entries(keys))(
    'a %s key is hidden wherever the bound of a cause or a quote cuts it',
    (_, key) => {
      const found = Array.from({ length: 560 }, (_unused, length) => length).flatMap((length) => {
        const failure = classifyFailure(new Error(`${'x'.repeat(length)} ${key} y`), 'model');
        return traces(failure, [key.slice(0, 14)]);
      });
      expect(found.slice(0, 5)).toEqual([]);
    },
  );

  it('the key that Node quotes when it refuses a header is hidden', () => {
    const key = keys.anthropic;
    const refusal = thrownBy(() => new Headers({ authorization: `Bearer ${key}\n${key}` }));
    expect(String(refusal)).toContain(key);
    expect(traces(classifyProviderFailure({ error: refusal }), piecesOf(key))).toEqual([]);
  });

  it('a password in an address is hidden', () => {
    const error = new Error(
      'connect ECONNREFUSED while proxying via http://agent:hunter2secret@proxy.example.com:8080',
    );
    expect(traces(classifyProviderFailure({ error }), ['hunter2secret'])).toEqual([]);
  });
});

describe('how far a call had come', () => {
  const cases: readonly (readonly [string, unknown, Partial<Failure>])[] = [
    [
      'refused',
      system('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
      { code: 'NETWORK_ERROR', retryable: true, phase: 'connect', sideEffect: 'none' },
    ],
    [
      'name not found',
      system('getaddrinfo ENOTFOUND api.exmaple.com', 'ENOTFOUND'),
      { code: 'NETWORK_ERROR', retryable: true, phase: 'connect', sideEffect: 'none' },
    ],
    [
      'reset before an answer',
      system('read ECONNRESET', 'ECONNRESET'),
      { code: 'NETWORK_ERROR', retryable: true, phase: 'headers', sideEffect: 'possible' },
    ],
    [
      'hung up before an answer',
      system('socket hang up', 'ECONNRESET'),
      { code: 'NETWORK_ERROR', retryable: true, phase: 'headers', sideEffect: 'possible' },
    ],
    [
      'closed before an answer',
      new TypeError('fetch failed', { cause: system('other side closed', 'UND_ERR_SOCKET') }),
      { code: 'NETWORK_ERROR', phase: 'headers', sideEffect: 'possible' },
    ],
    [
      'handshake cut',
      system('Client network socket disconnected before secure TLS connection was established', 'ECONNRESET'),
      { code: 'NETWORK_ERROR', retryable: true, phase: 'connect', sideEffect: 'none' },
    ],
    [
      'connect timed out',
      system('connect ETIMEDOUT 10.0.0.1:443', 'ETIMEDOUT'),
      { code: 'TIMEOUT', phase: 'connect', sideEffect: 'none' },
    ],
    [
      'an established connection timed out',
      system('read ETIMEDOUT', 'ETIMEDOUT'),
      { code: 'TIMEOUT', phase: 'headers', sideEffect: 'possible' },
    ],
    [
      'headers never came',
      new TypeError('fetch failed', { cause: system('Headers Timeout Error', 'UND_ERR_HEADERS_TIMEOUT') }),
      { code: 'TIMEOUT', phase: 'headers', sideEffect: 'possible' },
    ],
    [
      'the body stopped',
      new TypeError('terminated', { cause: system('Body Timeout Error', 'UND_ERR_BODY_TIMEOUT') }),
      { code: 'TIMEOUT', phase: 'body', sideEffect: 'possible' },
    ],
    [
      'the stream was cut',
      new TypeError('terminated', { cause: system('read ECONNRESET', 'ECONNRESET') }),
      { code: 'STREAM_INTERRUPTED', retryable: true, phase: 'body', sideEffect: 'possible' },
    ],
    [
      'self-signed',
      system('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
      { code: 'NETWORK_ERROR', retryable: false, phase: 'connect', sideEffect: 'none' },
    ],
    [
      'expired certificate',
      system('certificate has expired', 'CERT_HAS_EXPIRED'),
      { code: 'NETWORK_ERROR', retryable: false, phase: 'connect', sideEffect: 'none' },
    ],
    [
      'wrong name',
      system("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'),
      { code: 'NETWORK_ERROR', retryable: false, phase: 'connect', sideEffect: 'none' },
    ],
    [
      'garbage instead of HTTP',
      system('Parse Error: Expected HTTP/', 'HPE_INVALID_CONSTANT'),
      { code: 'INVALID_RESPONSE', phase: 'parse' },
    ],
    [
      'aborted by the caller',
      new DOMException('This operation was aborted', 'AbortError'),
      { code: 'CANCELLED', retryable: false },
    ],
    [
      'our own timer',
      new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
      { code: 'TIMEOUT', retryable: true },
    ],
    [
      'every address refused',
      new AggregateError([
        system('connect ECONNREFUSED ::1:1', 'ECONNREFUSED'),
        system('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
      ]),
      { code: 'NETWORK_ERROR', phase: 'connect', sideEffect: 'none' },
    ],
  ];

  it.each(cases)('%s', (_, error, expected) => {
    expect(classifyProviderFailure({ error })).toMatchObject(expected);
    // A wrapper around it must not change what is known.
    expect(classifyProviderFailure({ error: new Error('The call failed', { cause: error }) })).toMatchObject(
      expected,
    );
  });

  it('an answer with an error says nothing of a phase', () => {
    expect(classifyProviderFailure({ status: 429, body: '' })).not.toHaveProperty('phase');
  });
});

describe('hints', () => {
  const hintOf = (input: ProviderFailureInput): string => classifyProviderFailure(input).hint ?? '';

  it('names the host that could not be looked up', () => {
    const cause = system('getaddrinfo ENOTFOUND api.exmaple.com', 'ENOTFOUND');
    expect(hintOf({ error: new TypeError('fetch failed', { cause }) })).toContain('"api.exmaple.com"');
  });

  it('names the address on which nothing listens', () => {
    expect(hintOf({ error: system('connect ECONNREFUSED 127.0.0.1:11434', 'ECONNREFUSED') })).toContain(
      '127.0.0.1:11434',
    );
  });

  const record =
    'write EPROTO 800C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:ssl3_record.c:350:';
  it.each<[string, Error]>([
    ['EPROTO', system(record, 'EPROTO')],
    ['EPROTO without a reason', system('write EPROTO', 'EPROTO')],
    [
      'fetch',
      new TypeError('fetch failed', {
        cause: system('wrong version number', 'ERR_SSL_WRONG_VERSION_NUMBER'),
      }),
    ],
  ])('says that the server does not speak TLS: %s', (_name, error) => {
    expect(hintOf({ error })).toMatch(/does not speak TLS at this address: check http/);
  });

  it('does not say so of a server that refused in the words of TLS', () => {
    expect(
      hintOf({ error: system('write EPROTO ssl3_read_bytes:tlsv1 alert protocol version', 'EPROTO') }),
    ).toBe('');
  });

  it.each([
    '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>',
    'Client sent an HTTP request to an HTTPS server.\n',
    "<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.<br /></p>",
  ])('says that the server wants TLS: %s', (body) => {
    expect(hintOf({ status: 400, body })).toContain('write https:// instead of http://');
  });

  it('names the variable that holds the key', () => {
    expect(hintOf({ provider: 'google', status: 401 })).toContain('GEMINI_API_KEY');
  });

  it('says that a page answered instead of the API', () => {
    const body = '<!doctype html><html><head><title>Sign in to Wi-Fi</title></head></html>';
    expect(hintOf({ status: 200, body })).toContain('base URL');
  });

  it('never proposes to switch verification off', () => {
    const codes = [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'CERT_HAS_EXPIRED',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ];
    for (const code of codes) {
      const failure = classifyProviderFailure({
        error: system('unable to verify the first certificate', code),
      });
      const texts = [failure.hint ?? '', ...renderings(failure)].join('\n');
      expect(failure.hint).toMatch(/certificate/);
      expect(texts).not.toMatch(
        /REJECT_UNAUTHORIZED|rejectUnauthorized|insecure|disabl|turn(?:ing)? off|switch(?:ing)? off|--no-/i,
      );
    }
  });
});

describe('what carries the answer', () => {
  const overloaded = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';

  it.each([
    ['an event with its name', `event: error\ndata: ${overloaded}\n\n`],
    ['a data line', `data: ${overloaded}`],
    ['Windows line ends', `event: error\r\ndata: ${overloaded}\r\n\r\n`],
    ['JSON as a JSON text', JSON.stringify(overloaded)],
    ['JSON in JSON in JSON', JSON.stringify({ error: { message: JSON.stringify({ detail: overloaded }) } })],
    ['an object behind prose', `Upstream error: ${overloaded} (request 7)`],
    ['a list', `[${overloaded}]`],
    ['a cut object', overloaded.slice(0, -3)],
  ])('is looked through: %s', (_, body) => {
    expect(classifyProviderFailure({ status: 200, body })).toMatchObject({
      code: 'OVERLOADED',
      retryable: true,
    });
  });

  it('is a page: its words count, its scripts do not', () => {
    const page = (title: string): string =>
      `<html><head><title>${title}</title><script>var rate_limit = "insufficient_quota";</script></head><body>Ray ID</body></html>`;
    expect(classifyProviderFailure({ status: 502, body: page('502 Bad Gateway') }).code).toBe('SERVER_ERROR');
    expect(classifyProviderFailure({ status: 200, body: page('Welcome') })).toMatchObject({
      code: 'INVALID_RESPONSE',
      retryable: true,
    });
  });

  it.each([
    ['a page', { status: 200, body: '<html><body>Please log in</body></html>' }, true],
    ['a status that no answer has', { status: 304 }, true],
    ['no content', { status: 204 }, true],
    ['garbage instead of HTTP', { error: system('Parse Error', 'HPE_INVALID_CONSTANT') }, undefined],
    ['bytes that do not unpack', { status: 200, error: system('bad', 'Z_DATA_ERROR') }, undefined],
  ])('tells what is no answer from what is garbled: %s', (_, given, isNoAnswer) => {
    const { code, context } = classifyProviderFailure(given);
    expect({ code, isNoAnswer: context['isNoAnswer'] }).toEqual({ code: 'INVALID_RESPONSE', isNoAnswer });
  });

  it('is hidden behind a long wrapper: the innermost sentence still decides', () => {
    const inner = '{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}';
    const noise = 'at step of the pipeline '.repeat(400);
    expect(classifyProviderFailure({ error: new Error(`${noise}${inner}`) }).code).toBe(
      'CONTEXT_LENGTH_EXCEEDED',
    );
    expect(classifyProviderFailure({ status: 400, error: new Error(noise), body: inner }).code).toBe(
      'CONTEXT_LENGTH_EXCEEDED',
    );
  });

  it('is nothing: a status of 5xx is retryable, 4xx is not, none at all is unknown', () => {
    const facts = (status?: number): readonly [string, boolean] => {
      const { code, retryable } = classifyProviderFailure(status === undefined ? {} : { status });
      return [code, retryable];
    };
    expect(facts(599)[1]).toBe(true);
    expect(facts(418)).toEqual(['INVALID_REQUEST', false]);
    expect(facts(999)).toEqual(['UNKNOWN', false]);
    expect(facts()).toEqual(['UNKNOWN', false]);
  });
});

describe('numbers and context', () => {
  it('states how long the prompt was and how long it may be', () => {
    const failure = classifyProviderFailure({
      status: 400,
      body: 'prompt is too long: 213462 tokens > 200000 maximum',
    });
    expect(failure.context).toMatchObject({ requestedTokens: 213_462, maxTokens: 200_000 });
    expect(renderFailure(failure, 'person')).toContain('(213,462 of 200,000 tokens)');
  });

  it('does not take a token count for a status', () => {
    const failure = classifyProviderFailure({
      error: new Error('It used 429 tokens in 500 ms and then stopped.'),
    });
    expect(failure).toMatchObject({ code: 'UNKNOWN', retryable: false });
    expect(failure.provider).toBeUndefined();
  });

  it('says why it decided so', () => {
    expect(classifyProviderFailure({ status: 503 }).context['because']).toContain('503');
  });

  it('leaves out fields of the wrong type instead of failing on them', () => {
    const input = { provider: 7, model: {}, status: '429', body: 42, headers: 'x', now: 'today' } as never;
    const failure = classifyProviderFailure(input);
    expect(failure.code).toBe('UNKNOWN');
    expect(failure.provider).toBeUndefined();
  });
});

/** Where a needle can be found in the failure, its document or one of its texts, in any letter case. */
function traces(failure: Failure, needles: readonly string[]): readonly string[] {
  const texts = [JSON.stringify(failure), JSON.stringify(RerailError.from(failure)), ...renderings(failure)];
  const found = needles.flatMap((needle) =>
    texts.flatMap((text) => {
      const at = text.toLowerCase().indexOf(needle.toLowerCase());
      return at === -1 ? [] : [`"${needle}" in … ${text.slice(Math.max(0, at - 60), at + needle.length)} …`];
    }),
  );
  return found.slice(0, 1);
}

function renderings(failure: Failure): readonly string[] {
  const audiences = ['person', 'model', 'developer'] as const;
  return audiences.flatMap((audience) =>
    [true, false].map((retrying) => renderFailure(failure, audience, { retrying })),
  );
}

/** A part of a secret is a leak as well. */
function piecesOf(secret: string): readonly string[] {
  const size = 10;
  return Array.from({ length: secret.length - size }, (_, index) => secret.slice(index, index + size)).slice(
    8,
  );
}

function withFields(error: Error, fields: Readonly<Record<string, unknown>>): Error {
  return Object.assign(error, fields);
}

function system(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('Expected the action to throw');
}
