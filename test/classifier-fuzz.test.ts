import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classifyFailure,
  classifyProviderFailure,
  failureCodes,
  origins,
  renderFailure,
  RerailError,
} from '../src/errors/index.ts';
import type { Failure, FailureCode, ProviderFailureInput } from '../src/errors/index.ts';

// fast-check prints the seed and the path of whatever fails; another seed is tried by RERAIL_FUZZ_SEED=….
const seed = Number(process.env['RERAIL_FUZZ_SEED'] ?? 20_270_115);
const bounds = (numRuns: number): fc.Parameters<unknown> => ({ seed, numRuns });

interface Payload {
  readonly code: FailureCode;
  readonly status: number;
  readonly provider: string;
  readonly error: Readonly<Record<string, string | null>>;
}

/** Bodies whose meaning nobody disputes, in their providers' own form. */
const clearPayloads: readonly Payload[] = [
  {
    code: 'QUOTA_EXCEEDED',
    status: 429,
    provider: 'openai',
    error: {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    },
  },
  {
    code: 'RATE_LIMITED',
    status: 429,
    provider: 'anthropic',
    error: {
      type: 'rate_limit_error',
      message: 'This request would exceed the rate limit of 40,000 input tokens per minute.',
    },
  },
  {
    code: 'OVERLOADED',
    status: 529,
    provider: 'anthropic',
    error: { type: 'overloaded_error', message: 'Overloaded' },
  },
  {
    code: 'AUTHENTICATION_ERROR',
    status: 401,
    provider: 'openai',
    error: {
      message: 'Incorrect API key provided.',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    },
  },
  {
    code: 'PERMISSION_DENIED',
    status: 403,
    provider: 'anthropic',
    error: {
      type: 'permission_error',
      message: 'Your API key does not have permission to use the specified resource.',
    },
  },
  {
    code: 'MODEL_NOT_FOUND',
    status: 404,
    provider: 'openai',
    error: {
      message: 'The model `gpt-9` does not exist or you do not have access to it.',
      type: 'invalid_request_error',
      param: null,
      code: 'model_not_found',
    },
  },
  {
    code: 'CONTEXT_LENGTH_EXCEEDED',
    status: 400,
    provider: 'anthropic',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' },
  },
  {
    code: 'REQUEST_TOO_LARGE',
    status: 413,
    provider: 'anthropic',
    error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  },
  {
    code: 'CONTENT_FILTERED',
    status: 400,
    provider: 'azure-openai',
    error: {
      message:
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: 'invalid_request_error',
      code: 'content_filter',
    },
  },
  {
    code: 'INVALID_REQUEST',
    status: 400,
    provider: 'openai',
    error: {
      message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
      type: 'invalid_request_error',
      param: 'max_tokens',
      code: 'unsupported_parameter',
    },
  },
  {
    code: 'SERVER_ERROR',
    status: 500,
    provider: 'openai',
    error: {
      message: 'The server had an error while processing your request.',
      type: 'server_error',
      param: null,
      code: null,
    },
  },
  {
    code: 'TOOL_CALL_INVALID',
    status: 400,
    provider: 'groq',
    error: {
      message: 'Failed to call a function. Please adjust your prompt.',
      type: 'invalid_request_error',
      code: 'tool_use_failed',
    },
  },
  {
    code: 'MODEL_LOADING',
    status: 503,
    provider: 'llamacpp',
    error: { message: 'Loading model', type: 'unavailable_error' },
  },
];

describe('classifyProviderFailure() on arbitrary input', () => {
  it('never throws, and gives a failure that keeps every promise of its type', () => {
    fc.assert(
      fc.property(hostileInput(), (recipe) => {
        expect(brokenPromises(classifyProviderFailure(enliven(recipe) as never))).toEqual([]);
      }),
      bounds(700),
    );
  });

  it('never throws on a value that stands where an SDK keeps a body, headers, errors or a cause', () => {
    const places = [
      'body',
      'data',
      'error',
      'headers',
      'responseHeaders',
      'errors',
      'cause',
      'response',
      'code',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), hostileValue(), (place, recipe) => {
        const value = enliven(recipe);
        expect(brokenPromises(classifyProviderFailure({ error: { [place]: value } }))).toEqual([]);
        expect(brokenPromises(classifyProviderFailure({ headers: { [place]: value as string } }))).toEqual(
          [],
        );
      }),
      bounds(700),
    );
  });

  it('never throws on a real-looking body that was cut, doubled, flipped or nested', () => {
    fc.assert(
      fc.property(damagedBody(), fc.constantFrom('', 'openai', 'gemini'), (body, provider) => {
        expect(brokenPromises(classifyProviderFailure({ provider, status: 400, body }))).toEqual([]);
        expect(brokenPromises(classifyProviderFailure({ error: new Error(body) }))).toEqual([]);
      }),
      bounds(700),
    );
  });

  it('gives the same failure for the same input', () => {
    fc.assert(
      fc.property(hostileInput(), (recipe) => {
        // Made at one place of this file, so that the stacks of both are the same.
        const [first, second] = [recipe, recipe].map((given) =>
          classifyProviderFailure(enliven(given) as never),
        );
        expect(first).toEqual(second);
      }),
      bounds(200),
    );
  });

  it('does not look at the case or the order of header names', () => {
    fc.assert(
      fc.property(
        fc.record({
          headers: plausibleHeaders(),
          keys: fc.array(fc.nat(7), { minLength: 8, maxLength: 8 }),
          isUpper: fc.boolean(),
        }),
        ({ headers, keys, isUpper }) => {
          const order = Object.entries(headers).map((entry, index) => ({ entry, key: keys[index] ?? 0 }));
          const shuffled = order
            .toSorted((a, b) => a.key - b.key)
            .map(({ entry: [name, value] }) => {
              return [isUpper ? name.toUpperCase() : name, value] as const;
            });
          const base = {
            provider: 'anthropic',
            status: 429,
            body: clearBody('RATE_LIMITED'),
            now: 1_800_000_000_000,
          };
          const expected = classifyProviderFailure({ ...base, headers });
          expect(classifyProviderFailure({ ...base, headers: Object.fromEntries(shuffled) })).toEqual(
            expected,
          );
          const instance = new Headers(shuffled.map(([name, value]) => [name, value]));
          expect(classifyProviderFailure({ ...base, headers: instance as never })).toEqual(expected);
        },
      ),
      bounds(150),
    );
  });
});

describe('classifyFailure() on arbitrary input', () => {
  it('never throws, whatever was thrown and wherever', () => {
    fc.assert(
      fc.property(hostileValue(), fc.constantFrom(...origins), (recipe, origin) => {
        const failure = classifyFailure(enliven(recipe), origin);
        expect(brokenPromises(failure)).toEqual([]);
        expect(failure.origin).toBe(origin);
      }),
      bounds(700),
    );
  });

  it('never throws on a document of its own kind with arbitrary fields', () => {
    const failure = fc.record(
      {
        code: fc.oneof(fc.constantFrom(...failureCodes), hostileValue()),
        origin: fc.oneof(fc.constantFrom(...origins), hostileValue()),
        message: fc.oneof(fc.string(), hostileValue()),
        retryable: fc.oneof(fc.boolean(), hostileValue()),
        retryAfterMs: fc.oneof(fc.nat(), hostileValue()),
        classifiedBy: fc.constant('declared'),
        provider: fc.oneof(fc.constant({ statusCode: Number.NaN }), hostileValue()),
        context: fc.oneof(fc.dictionary(fc.string(), hostileValue()), hostileValue()),
        causes: fc.oneof(fc.constant([]), hostileValue()),
      },
      { requiredKeys: ['code', 'origin', 'message', 'retryable', 'classifiedBy', 'context', 'causes'] },
    );
    fc.assert(
      fc.property(failure, fc.constantFrom(...origins), (inner, origin) => {
        const document = { type: 'rerail.failure', version: 1, name: 'ModelError', failure: enliven(inner) };
        expect(brokenPromises(classifyFailure(document, origin))).toEqual([]);
      }),
      bounds(700),
    );
  });
});

describe('a clear payload keeps its code', () => {
  for (const { name, wrap } of wrappings()) {
    it(`when ${name}`, () => {
      const changed = clearPayloads
        .map((payload) => ({ payload, failure: classifyProviderFailure(wrap(payload)) }))
        .filter(({ payload, failure }) => failure.code !== payload.code)
        .map(
          ({ payload, failure }) =>
            `${payload.code} became ${failure.code}: ${JSON.stringify(wrap(payload))}`,
        );
      expect(changed).toEqual([]);
    });
  }
});

describe('time and memory', () => {
  const units = [
    'rate limit ',
    '{',
    '{"a":',
    String.raw`\"`,
    '[',
    '[{',
    'tool_use ',
    'model ',
    ' ',
    '"',
    "'",
    '1,',
    'limit: 1 ',
    'try again in ',
    '<',
    '<html><script ',
    'data: ',
    'data: {"error":',
    "{'a': ",
    'a b {',
    'account a ',
    'token=',
    '://',
    'eyJ',
    'x'.repeat(80),
  ];
  const oneMb = 1_000_000;

  it('grow at most linearly with the body, whatever it is made of', { timeout: 60_000 }, () => {
    const slow = units.flatMap((unit) => {
      const [small, large] = [medianMs(unit, oneMb), medianMs(unit, 8 * oneMb)];
      // Eight times the input may take eight times the time, with slack for a busy machine.
      const isLinear = large <= Math.max(small, 5) * 8 * 3;
      return isLinear && large < 1000 ? [] : [`${JSON.stringify(unit)}: ${small} ms, then ${large} ms`];
    });
    expect(slow).toEqual([]);
  });

  it('stay small for 100 MB', { timeout: 60_000 }, () => {
    const body = Buffer.alloc(100 * oneMb, 'rate limit {"a": ').toString('latin1');
    const before = process.memoryUsage().heapUsed;
    const startedMs = performance.now();
    const failures = [
      classifyProviderFailure({ status: 429, body }),
      classifyProviderFailure({ error: new Error(body) }),
      classifyProviderFailure({ error: { response: { data: body } }, headers: { 'retry-after': body } }),
      classifyFailure(new Error(body), 'tool'),
    ];
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50 * oneMb);
    expect(failures.flatMap(brokenPromises)).toEqual([]);
  });
});

const maxJsonLength = 65_536;

/** What a failure promises whatever it was made from; the empty list when all is kept. */
function brokenPromises(failure: Failure): readonly string[] {
  const json = JSON.stringify(failure);
  const document: unknown = JSON.parse(JSON.stringify(RerailError.from(failure)));
  const revived = RerailError.fromJSON(document).failure;
  const parts = [failure, failure.context, failure.causes, ...failure.causes, failure.provider ?? failure];
  const texts = (['person', 'model', 'developer'] as const).map((audience) =>
    renderFailure(failure, audience),
  );
  return [
    ...(failureCodes.includes(failure.code) ? [] : [`the code ${failure.code} is unknown`]),
    ...(json.length < maxJsonLength ? [] : [`its JSON has ${json.length} characters`]),
    ...(isJson(failure) ? [] : ['it holds what JSON cannot hold']),
    ...(JSON.stringify(revived) === json
      ? []
      : [`it changes on its way: ${json} -> ${JSON.stringify(revived)}`]),
    ...(parts.every((part) => Object.isFrozen(part)) ? [] : ['a part of it can be changed']),
    ...(texts.every((text) => text.length > 0) ? [] : ['a text is empty']),
  ];
}

/** Whether JSON gives it back as it is; the sign of a zero does not count. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  // Spread turns a hole into `undefined`, which JSON has not.
  if (Array.isArray(value)) return [...(value as readonly unknown[])].every(isJson);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}

/** What the type forbids is the point: callers may be JavaScript. */
function hostileInput(): fc.Arbitrary<unknown> {
  const plausible = fc.record({
    provider: fc.oneof(
      fc.constantFrom('openai', 'anthropic', 'gemini', '__proto__', 'constructor'),
      hostileValue(),
    ),
    model: fc.oneof(fc.string(), hostileValue()),
    status: fc.oneof(fc.constantFrom(200, 400, 401, 429, 500, 529, 999), hostileValue()),
    headers: fc.oneof(hostileHeaders(), hostileValue()),
    body: fc.oneof(damagedBody(), fc.string(), hostileValue()),
    error: hostileValue(),
    now: fc.oneof(fc.nat(), fc.double(), hostileValue()),
  });
  return fc.oneof({ weight: 9, arbitrary: plausible }, { weight: 1, arbitrary: hostileValue() });
}

function hostileHeaders(): fc.Arbitrary<unknown> {
  const value = fc.oneof(fc.string(), fc.double(), fc.array(fc.string()), hostileValue());
  const pairs = fc.array(
    fc.tuple(fc.constantFrom('retry-after', 'date', 'x-ratelimit-reset', '__proto__', ''), value),
  );
  return fc.oneof(
    plausibleHeaders(),
    plausibleHeaders().map((headers) => new Headers(headers)),
    plausibleHeaders().map((headers) => new Map(Object.entries(headers))),
    pairs,
    pairs.map((list) => list.flat()),
    pairs.map((list) => Object.fromEntries(list)),
  );
}

function plausibleHeaders(): fc.Arbitrary<Record<string, string>> {
  const delay = fc.constantFrom(
    '0',
    '1',
    '0.05',
    '-1',
    'NaN',
    '1e400',
    'abc',
    '6ms',
    '1m30s',
    '1800000060',
    '2099-01-01T00:00:00Z',
  );
  return fc.record(
    {
      'retry-after': delay,
      'retry-after-ms': delay,
      date: fc.constantFrom('Fri, 15 Jan 2027 08:00:00 GMT', 'yesterday'),
      'x-ratelimit-remaining-tokens': fc.constantFrom('0', '5'),
      'x-ratelimit-reset-tokens': delay,
      'anthropic-ratelimit-requests-remaining': fc.constantFrom('0', '5'),
      'anthropic-ratelimit-requests-reset': delay,
      'request-id': fc.constantFrom('req_1', 'req_2'),
    },
    { requiredKeys: [] },
  );
}

/** Anything a program can throw, as a recipe: `enliven` makes the real thing of it, which fast-check could not handle or print. */
function hostileValue(): fc.Arbitrary<unknown> {
  const ordinary = fc.anything({
    maxDepth: 4,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  const odd = fc.constantFrom(...Object.keys(oddities)).map((name) => `${oddMark}${name}`);
  const keys = ['message', 'cause', 'body', 'errors', 'name', 'code', 'issues', 'status', 'headers', 'stack'];
  const nested = fc.dictionary(fc.constantFrom(...keys), fc.oneof(odd, ordinary), { maxKeys: 4 });
  const error = damagedBody().map((body) => `${errorMark}${body}`);
  return fc.oneof(ordinary, odd, nested, fc.array(odd, { maxLength: 3 }), error);
}

const oddMark = 'odd: ';
const errorMark = 'error: ';

/** What cannot be looked at, or not to its end. */
const oddities: Readonly<Record<string, () => unknown>> = {
  'a revoked proxy': revokedProxy,
  'a proxy that throws': throwingProxy,
  'a list that throws': () => new Proxy([], { get: () => throwError('no get') }),
  'a list with a wrong length': () => new Proxy([], { get: (_, key) => (key === 'length' ? 1e9 : 'x') }),
  'a getter that throws': () =>
    Object.defineProperty({}, 'message', { enumerable: true, get: () => throwError('no message') }),
  'a circular error': circularError,
  'a symbol': () => Symbol('thrown'),
  'a function': () => () => 'a function',
  'a long text': () => 'x'.repeat(300_000),
  'a frozen object': () => Object.freeze({ message: 'frozen', code: 429 }),
  'an aggregate': () => new AggregateError([new Error('one'), revokedProxy(), 'two'], 'several'),
  'an error of an SDK': () =>
    Object.assign(new Error('SDK'), {
      status: 429,
      headers: new Headers({ 'retry-after': '3' }),
      error: circularError(),
    }),
  'a half-made error of ours': () => Object.create(RerailError.prototype) as unknown,
  'an error of ours that throws': () =>
    Object.create(RerailError.prototype, { failure: { get: () => throwError('no failure') } }) as unknown,
  'no prototype': () => Object.create(null) as unknown,
};

/** Makes of a recipe what it stands for, in lists and plain objects too. */
function enliven(recipe: unknown): unknown {
  if (typeof recipe === 'string') {
    if (recipe.startsWith(errorMark)) return new Error(recipe.slice(errorMark.length));
    return recipe.startsWith(oddMark) ? oddities[recipe.slice(oddMark.length)]?.() : recipe;
  }
  if (Array.isArray(recipe)) return recipe.map(enliven);
  if (typeof recipe !== 'object' || recipe === null || Object.getPrototypeOf(recipe) !== Object.prototype)
    return recipe;
  return Object.fromEntries(Object.entries(recipe).map(([key, inner]) => [key, enliven(inner)]));
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function throwingProxy(): object {
  const refuse = (): never => throwError('refused');
  return new Proxy(
    {},
    { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse },
  );
}

function throwError(message: string): never {
  throw new Error(message);
}

function circularError(): Error {
  const error = new Error('circular');
  error.cause = error;
  return Object.assign(error, { self: error, errors: [error] });
}

function damagedBody(): fc.Arbitrary<string> {
  const damage = fc.record({
    payload: fc.constantFrom(...clearPayloads),
    kind: fc.constantFrom('cut', 'doubled', 'flipped', 'nested', 'spliced'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    noise: fc.string({ unit: 'binary', maxLength: 30 }),
  });
  return damage.map(({ payload, kind, at, noise }) => {
    const body = bodyOf(payload);
    const index = Math.floor(at * body.length);
    const [head, tail] = [body.slice(0, index), body.slice(index)];
    if (kind === 'cut') return head;
    if (kind === 'doubled') return body + body;
    if (kind === 'flipped')
      return head + String.fromCharCode((tail.charCodeAt(0) || 0) ^ 0x12) + tail.slice(1);
    if (kind === 'nested') return JSON.stringify({ error: { message: body, detail: noise } });
    return head + noise + tail;
  });
}

function clearBody(code: FailureCode): string {
  return bodyOf(
    clearPayloads.find((payload) => payload.code === code) ?? throwError(`no payload for ${code}`),
  );
}

function bodyOf({ error }: Payload): string {
  return JSON.stringify({ error });
}

interface Wrapping {
  readonly name: string;
  readonly wrap: (payload: Payload) => ProviderFailureInput;
}

function wrappings(): readonly Wrapping[] {
  const plain = ({ provider, status }: Payload): ProviderFailureInput => ({ provider, status });
  return [
    { name: 'it is the body', wrap: (payload) => ({ ...plain(payload), body: bodyOf(payload) }) },
    {
      name: 'it stands as a text in error.message of another body',
      wrap: (payload) => ({
        ...plain(payload),
        body: JSON.stringify({ error: { message: bodyOf(payload) } }),
      }),
    },
    {
      name: 'it is wrapped twice',
      wrap: (payload) => {
        const inner = JSON.stringify({ error: { message: bodyOf(payload), code: payload.status } });
        return { ...plain(payload), body: JSON.stringify({ error: { message: inner } }) };
      },
    },
    {
      name: 'it is a Python repr',
      wrap: (payload) => ({ ...plain(payload), body: pythonRepr({ error: payload.error }) }),
    },
    {
      name: 'it is an event of a stream that began well',
      wrap: (payload) => ({
        provider: payload.provider,
        status: 200,
        body: `event: error\ndata: ${bodyOf(payload)}\n\n`,
      }),
    },
    {
      name: 'it is a data line without a status',
      wrap: (payload) => ({ provider: payload.provider, body: `data: ${bodyOf(payload)}` }),
    },
    {
      name: 'an SDK wrote it behind "Error code: NNN - "',
      wrap: ({ provider, status, error }) => ({
        provider,
        error: new Error(`Error code: ${status} - ${pythonRepr({ error })}`),
      }),
    },
    {
      name: 'it is the cause of a wrapper',
      wrap: (payload) => {
        const cause = Object.assign(new Error(`${payload.status} ${bodyOf(payload)}`), {
          status: payload.status,
        });
        return { provider: payload.provider, error: new Error('The agent could not go on', { cause }) };
      },
    },
    {
      name: 'it was escaped once more',
      wrap: (payload) => ({
        ...plain(payload),
        error: new Error(`upstream said: ${bodyOf(payload).replaceAll('"', String.raw`\"`)}`),
      }),
    },
  ];
}

/** As Python prints a dictionary: single quotes, and double ones where the text holds a single one. */
function pythonRepr(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'string') return value.includes("'") ? JSON.stringify(value) : `'${value}'`;
  const entries = Object.entries(value as object).map(([key, inner]) => `'${key}': ${pythonRepr(inner)}`);
  return `{${entries.join(', ')}}`;
}

function medianMs(unit: string, length: number): number {
  const body = unit.repeat(Math.ceil(length / unit.length));
  const times = Array.from({ length: 3 }, () => {
    const startedMs = performance.now();
    classifyProviderFailure({ status: 400, body });
    classifyProviderFailure({ error: new Error(body) });
    return performance.now() - startedMs;
  });
  return times.toSorted((a, b) => a - b)[1] ?? 0;
}
