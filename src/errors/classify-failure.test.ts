import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { classifyFailure } from './classify-failure.ts';
import { failureCodes, failureTraits, origins } from './codes.ts';
import type { FailureCode, Origin } from './codes.ts';
import { createFailure } from './failure.ts';
import type { Failure } from './failure.ts';
import { renderFailure } from './render-failure.ts';
import { RerailError } from './rerail-error.ts';

describe('whatever is thrown, wherever it is thrown', () => {
  const thrown: Readonly<Record<string, () => unknown>> = {
    'an error': () => new Error('it broke'),
    null: () => null,
    undefined: () => undefined,
    'a text': () => 'it broke',
    'an empty text': () => '',
    'a number': () => 42,
    'not a number': () => Number.NaN,
    'a symbol': () => Symbol('odd'),
    'a big integer': () => 10n,
    'a function': () => () => 'odd',
    'a class': () => Meteor,
    false: () => false,
    'a frozen object': () => Object.freeze({ message: 'frozen' }),
    'a frozen error': () => Object.freeze(new Error('frozen')),
    'an object without a prototype': () => Object.create(null) as unknown,
    'an error without a message': () => new Error(),
    'an instance without a message': () => new Meteor(),
    'a getter that throws': () => Object.defineProperty({}, 'message', { enumerable: true, get: refuse }),
    'an error whose name throws': () => Object.defineProperty(new Error('x'), 'name', { get: refuse }),
    'a proxy that throws': () =>
      new Proxy(
        {},
        {
          get: refuse,
          has: refuse,
          ownKeys: refuse,
          getPrototypeOf: refuse,
          getOwnPropertyDescriptor: refuse,
        },
      ),
    'a revoked proxy': () => revoked({}),
    'a revoked proxy of a function': () => revoked(() => 1),
    'a revoked proxy of an error': () => revoked(new Error('x')),
    'an error with a revoked cause': () => new Error('outer', { cause: revoked({}) }),
    'a circular cause': () => {
      const error = new Error('circular');
      error.cause = error;
      return error;
    },
    'a chain of 10,000 causes': () => {
      let error = new Error('innermost');
      for (let count = 0; count < 10_000; count += 1) error = new Error('outer', { cause: error });
      return error;
    },
    'an aggregate': () => new AggregateError([new Error('one'), null, 'two', revoked({})], 'several'),
    'an aggregate of 10,000': () =>
      new AggregateError(Array.from({ length: 10_000 }, () => new Error('one'))),
    'a message of 50 MB': () => new Error(Buffer.alloc(50_000_000, 'long ').toString('latin1')),
    'a name of 50 MB': () =>
      Object.assign(new Error('x'), { name: Buffer.alloc(50_000_000, 'a').toString('latin1') }),
    'a code of 50 MB': () =>
      Object.assign(new Error('x'), { code: Buffer.alloc(50_000_000, 'E').toString('latin1') }),
    'an error with fields of the wrong type': () =>
      Object.assign(new Error('x'), {
        code: {},
        status: 'many',
        cause: 7,
        errors: 'none',
        issues: 5,
        headers: 3,
      }),
    'half of one of our errors': () => Object.create(RerailError.prototype) as unknown,
    'one of our errors that throws': () =>
      Object.create(RerailError.prototype, { failure: { get: refuse } }) as unknown,
    'a document that throws': () =>
      Object.defineProperty({ type: 'rerail.failure' }, 'version', { get: refuse }),
    'a document that is none': () => ({
      type: 'rerail.failure',
      version: 1,
      failure: { code: 'RATE_LIMITED' },
    }),
  };

  it.each(Object.entries(thrown))('%s', (_, make) => {
    const value = make();
    for (const origin of origins) {
      const failure = classifyFailure(value, origin);
      expect(failureCodes).toContain(failure.code);
      expect(failure.origin).toBe(origin);
      expect(failure.message).toMatch(/\S/);
      expect(failure.message).not.toContain('[object Object]');
      const json = JSON.stringify(failure);
      expect(json.length).toBeLessThan(20_000);
      expect(JSON.parse(json)).toEqual(failure);
      expect(RerailError.fromJSON(JSON.parse(JSON.stringify(RerailError.from(failure)))).failure).toEqual(
        failure,
      );
      expect(renderFailure(failure, 'person')).toMatch(/\S/);
    }
  });

  it('is nothing we know: a tool failed to execute, a store failed to work, the rest is unknown; none is retryable', () => {
    const expected: Partial<Record<Origin, FailureCode>> = {
      tool: 'TOOL_EXECUTION_ERROR',
      storage: 'STORAGE_IO',
      config: 'CONFIG_ERROR',
    };
    for (const origin of origins) {
      const { code, retryable } = classifyFailure(new Error('it broke'), origin);
      expect([origin, code, retryable]).toEqual([origin, expected[origin] ?? 'UNKNOWN', false]);
    }
  });

  it('arises in the agent unless somebody says otherwise', () => {
    expect(classifyFailure('odd').origin).toBe('agent');
  });

  it('may have acted, where it was thrown in a tool', () => {
    expect(classifyFailure(new Error('it broke'), 'tool').sideEffect).toBe('possible');
    expect(classifyFailure(new Error('it broke'), 'storage')).not.toHaveProperty('sideEffect');
  });
});

describe('interruptions', () => {
  const nodeAbort = Object.assign(new Error('The operation was aborted'), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
  const timedOut = { code: 'TIMEOUT', retryable: true };
  const cancelled = { code: 'CANCELLED', retryable: false };

  it.each([
    ['by a timer', new DOMException('The operation was aborted due to timeout', 'TimeoutError'), timedOut],
    ['by the caller', new DOMException('This operation was aborted', 'AbortError'), cancelled],
    ["by the caller, in Node's own words", nodeAbort, cancelled],
  ])('%s', (_, error, expected) => {
    for (const origin of origins)
      expect(classifyFailure(error, origin)).toMatchObject({ ...expected, origin });
  });

  it('beat the failure that they interrupted', () => {
    const cause = RerailError.from(createFailure('RATE_LIMITED', { message: 'Too fast' }));
    const error = Object.assign(new Error('The operation was aborted', { cause }), { name: 'AbortError' });
    for (const origin of ['tool', 'agent', 'hook'] as const)
      expect(classifyFailure(error, origin).code).toBe('CANCELLED');
  });

  it('are what a signal gives as its reason', () => {
    const controller = new AbortController();
    controller.abort();
    expect(classifyFailure(controller.signal.reason, 'tool').code).toBe('CANCELLED');
  });
});

describe('errors of the file system', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'rerail-classify-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ENOENT: not found, and the message names the path', () => {
    const error = thrownBy(() => readFileSync(path.join(folder, 'missing.txt')));
    expect(classifyFailure(error, 'tool')).toMatchObject({
      code: 'NOT_FOUND',
      retryable: false,
      classifiedBy: 'errno',
    });
    expect(classifyFailure(error, 'tool').message).toContain('missing.txt');
    expect(classifyFailure(error, 'storage').code).toBe('STORAGE_NOT_FOUND');
    expect(classifyFailure(error, 'config').code).toBe('CONFIG_ERROR');
  });

  it('EISDIR, ENOTDIR, EEXIST', () => {
    const file = path.join(folder, 'file.txt');
    writeFileSync(file, 'x');
    expect(
      classifyFailure(
        thrownBy(() => readFileSync(folder)),
        'tool',
      ).code,
    ).toBe('IO_ERROR');
    expect(
      classifyFailure(
        thrownBy(() => readdirSync(file)),
        'tool',
      ).code,
    ).toBe('NOT_FOUND');
    expect(
      classifyFailure(
        thrownBy(() => writeFileSync(file, 'y', { flag: 'wx' })),
        'tool',
      ).code,
    ).toBe('IO_ERROR');
  });

  it('EACCES: permission denied', () => {
    const file = path.join(folder, 'locked.txt');
    writeFileSync(file, 'x');
    chmodSync(file, 0o000);
    // Root may read everything, so there the system's own words stand in.
    const isRoot = process.getuid?.() === 0;
    const error = isRoot
      ? Object.assign(new Error(`EACCES: permission denied, open '${file}'`), {
          code: 'EACCES',
          errno: -13,
          syscall: 'open',
        })
      : thrownBy(() => readFileSync(file));
    for (const origin of ['tool', 'storage', 'sandbox'] as const)
      expect(classifyFailure(error, origin)).toMatchObject({ code: 'PERMISSION_DENIED', retryable: false });
  });

  it('a wrapper around one keeps its meaning', () => {
    const cause = thrownBy(() => readFileSync(path.join(folder, 'missing.txt')));
    expect(classifyFailure(new Error('Cannot read the page', { cause }), 'tool').code).toBe('NOT_FOUND');
  });
});

describe('errors of a database', () => {
  it('that is not one, is locked, is missing', () => {
    const sqlite = loadSqlite();
    const errors =
      sqlite === undefined
        ? [
            Object.assign(new Error('file is not a database'), { code: 'ERR_SQLITE_ERROR', errcode: 26 }),
            Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
            Object.assign(new Error('unable to open database file'), {
              code: 'ERR_SQLITE_ERROR',
              errcode: 14,
            }),
          ]
        : realSqliteErrors(sqlite);
    expect(
      errors
        .map((error) => classifyFailure(error, 'storage'))
        .map(({ code, retryable }) => [code, retryable]),
    ).toEqual([
      ['STORAGE_CORRUPT', false],
      ['STORAGE_LOCKED', true],
      ['STORAGE_NOT_FOUND', false],
    ]);
  });
});

describe('values that cannot be encoded', () => {
  it.each([
    ['a circle', () => JSON.stringify(circle())],
    ['a big integer', () => JSON.stringify({ big: 1n })],
    ['a function in a clone', () => structuredClone(() => 1)],
    ['a symbol in a clone', () => structuredClone({ odd: Symbol('x') })],
    ['a text longer than the engine allows', () => 'x'.repeat(2 ** 29).padEnd(2 ** 30, 'y')],
  ])('%s', (_, encode) => {
    const error = thrownBy(encode);
    expect(classifyFailure(error, 'tool')).toMatchObject({ code: 'SERIALIZATION_ERROR', retryable: false });
    expect(classifyFailure(error, 'storage').code).toBe('SERIALIZATION_ERROR');
  });
});

describe('complaints of a schema', () => {
  const issues = [
    {
      code: 'invalid_type',
      expected: 'number',
      path: ['items', 0, 'cents'],
      message: 'expected number, received string',
    },
    { code: 'too_big', path: [{ key: 'limit' }], message: 'must be at most 50' },
  ];

  it('without a message, or none at all, are no complaints', () => {
    for (const wrong of [[], [{}], [{ message: 7 }], 'x', null, {}])
      expect(classifyFailure({ issues: wrong }, 'tool').code).toBe('TOOL_EXECUTION_ERROR');
  });

  it('name their paths, for the model to correct', () => {
    const failure = classifyFailure(Object.assign(new Error('[…]'), { name: 'ZodError', issues }), 'tool');
    expect(failure).toMatchObject({ code: 'VALIDATION_ERROR', retryable: false, phase: 'parse' });
    expect(failure.message).toBe(
      '"items.0.cents" expected number, received string; "limit" must be at most 50',
    );
    expect(renderFailure(failure, 'model')).toContain('"limit" must be at most 50');
  });

  it('are bounded', () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      message: `wrong ${index}`,
      path: Array.from({ length: 1000 }, () => 'a'),
    }));
    const failure = classifyFailure({ issues: many }, 'tool');
    expect(failure.message.length).toBeLessThanOrEqual(2000);
    expect(failure.message).toContain('more');
  });

  it('are a wrong setting where a configuration was read', () => {
    expect(classifyFailure({ issues }, 'config').code).toBe('CONFIG_ERROR');
  });
});

describe('an HTTP client inside a tool', () => {
  it.each([
    [401, 'PERMISSION_DENIED', false],
    [404, 'NOT_FOUND', false],
    [408, 'TIMEOUT', true],
    [429, 'RATE_LIMITED', true],
    [500, 'SERVER_ERROR', true],
    [503, 'SERVER_ERROR', true],
    [504, 'TIMEOUT', true],
    [418, 'TOOL_EXECUTION_ERROR', false],
  ] as const)('status %d', (status, code, retryable) => {
    const error = Object.assign(new Error(`Request failed with status code ${status}`), {
      response: { status, headers: { 'retry-after': '3' }, data: 'insufficient_quota' },
    });
    expect(classifyFailure(error, 'tool')).toMatchObject({ code, retryable });
  });

  it('is obeyed where it was told to wait', () => {
    const response = { status: 429, headers: { 'retry-after': '3' } };
    expect(classifyFailure(Object.assign(new Error('429'), { response }), 'tool').retryAfterMs).toBe(3000);
  });

  it('a lost connection is a network error wherever it happens', () => {
    const error = new TypeError('fetch failed', {
      cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    });
    for (const origin of ['tool', 'mcp', 'storage', 'model'] as const)
      expect(classifyFailure(error, origin)).toMatchObject({ code: 'NETWORK_ERROR', retryable: true });
  });
});

describe('defects', () => {
  it.each([
    new TypeError('x is not a function'),
    new ReferenceError('x is not defined'),
    new RangeError('too deep'),
  ])('%s in our own code is fatal, in a tool it is the tool that failed', (error) => {
    expect(classifyFailure(error, 'agent')).toMatchObject({ code: 'INTERNAL', retryable: false });
    expect(classifyFailure(error, 'tool').code).toBe('TOOL_EXECUTION_ERROR');
  });
});

describe('what already carries a failure', () => {
  const failure: Failure = createFailure('RATE_LIMITED', {
    message: 'Too fast',
    retryAfterMs: 5,
    provider: { provider: 'openai' },
  });

  it('keeps it, whatever the origin', () => {
    for (const origin of origins) {
      expect(classifyFailure(RerailError.from(failure), origin)).toEqual(failure);
      expect(classifyFailure(RerailError.from(failure).toJSON(), origin)).toEqual(failure);
    }
  });

  it('keeps it across a second copy of the package', async () => {
    vi.resetModules();
    const second = await import('./rerail-error.ts');
    const foreign = second.RerailError.from(failure);
    expect(foreign).not.toBeInstanceOf(RerailError);
    expect(classifyFailure(foreign, 'tool')).toEqual(failure);
  });

  it('keeps it inside a wrapper that says nothing itself', () => {
    const wrapper = new Error('The step failed', { cause: RerailError.from(failure) });
    for (const origin of ['agent', 'tool', 'model', 'hook'] as const)
      expect(classifyFailure(wrapper, origin)).toMatchObject({
        code: 'RATE_LIMITED',
        retryable: true,
        retryAfterMs: 5,
      });
  });
});

describe('the table of codes names each origin in which a code arises', () => {
  it.each([
    ['ENOENT', 'sandbox'],
    ['EACCES', 'storage'],
    ['ECONNREFUSED', 'storage'],
    ['ETIMEDOUT', 'mcp'],
    ['ENOSPC', 'sandbox'],
  ] as const)('%s in %s', (code, origin) => {
    const failure = classifyFailure(Object.assign(new Error(code), { code }), origin);
    expect(failureTraits[failure.code].origins).toContain(origin);
  });

  it.each(['AbortError', 'TimeoutError', 'DataCloneError'])('%s, everywhere', (name) => {
    const missing = origins.filter((origin) => {
      const { code } = classifyFailure(new DOMException('x', name), origin);
      return !(failureTraits[code].origins as readonly Origin[]).includes(origin);
    });
    expect(missing).toEqual([]);
  });
});

class Meteor {
  readonly speed = 7;
}

function refuse(): never {
  throw new Error('refused');
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function circle(): object {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('Expected the action to throw');
}

interface Sqlite {
  readonly DatabaseSync: new (file: string) => { exec(sql: string): void; close(): void };
}

/** Only newer versions of Node have it. */
function loadSqlite(): Sqlite | undefined {
  try {
    return createRequire(import.meta.url)('node:sqlite') as Sqlite;
  } catch {
    return undefined; // Node 20 has none: plain objects of the same shape stand in.
  }
}

function realSqliteErrors({ DatabaseSync }: Sqlite): readonly unknown[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'rerail-sqlite-'));
  const [good, bad] = [path.join(folder, 'good.db'), path.join(folder, 'bad.db')];
  writeFileSync(bad, 'this is not a database, but it is long enough to be looked at as one '.repeat(50));
  const [first, second, broken] = [new DatabaseSync(good), new DatabaseSync(good), new DatabaseSync(bad)];
  try {
    first.exec('create table t (x); pragma busy_timeout = 0; begin immediate');
    second.exec('pragma busy_timeout = 0');
    return [
      thrownBy(() => broken.exec('select * from sqlite_master')),
      thrownBy(() => second.exec('begin immediate')),
      thrownBy(() => new DatabaseSync(path.join(folder, 'no', 'such', 'folder.db'))),
    ];
  } finally {
    for (const database of [first, second, broken]) database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('what an error says for certain, however deep inside a wrapper', () => {
  const wrap = (cause: unknown): Error =>
    new Error('The step failed', { cause: new Error('inner', { cause }) });
  const defect = Object.assign(new Error('broken invariant'), { name: 'Defect' });

  it.each([
    { what: 'a wish to stop', cause: new DOMException('stop', 'AbortError'), code: 'CANCELLED' },
    { what: 'a timer', cause: new DOMException('late', 'TimeoutError'), code: 'TIMEOUT' },
    { what: 'a defect of ours', cause: defect, code: 'INTERNAL' },
  ])('keeps $what in every origin', ({ cause, code }) => {
    expect(origins.map((origin) => classifyFailure(wrap(cause), origin).code)).toEqual(
      origins.map(() => code),
    );
    expect(origins.map((origin) => classifyFailure(cause, origin).origin)).toEqual([...origins]);
  });

  it('takes the outermost: a failure whose own timer aborted the work stays what it is', () => {
    const late = RerailError.from(createFailure('TIMEOUT', { origin: 'tool', message: 'late' }), {
      cause: new DOMException('stop', 'AbortError'),
    });
    expect(classifyFailure(late, 'tool').code).toBe('TIMEOUT');
    expect(classifyFailure(new DOMException('stop', 'AbortError'), 'tool').code).toBe('CANCELLED');
  });
});
