import { describe, expect, it, vi } from 'vitest';
import { origins } from './codes.ts';
import type { Origin } from './codes.ts';
import { createFailure } from './failure.ts';
import type { Failure } from './failure.ts';
import {
  AgentError,
  ConfigError,
  ContextError,
  DurableError,
  EmbeddingError,
  FlowError,
  HookError,
  McpError,
  ModelError,
  OutputParseError,
  RegistryError,
  RerailError,
  SandboxError,
  StorageError,
  ToolError,
} from './rerail-error.ts';

const families: Readonly<Record<Origin, typeof RerailError>> = {
  model: ModelError,
  embedding: EmbeddingError,
  tool: ToolError,
  agent: AgentError,
  context: ContextError,
  output: OutputParseError,
  flow: FlowError,
  hook: HookError,
  storage: StorageError,
  durable: DurableError,
  mcp: McpError,
  sandbox: SandboxError,
  registry: RegistryError,
  config: ConfigError,
};

describe('RerailError.isInstance()', () => {
  it.each([
    ['a plain error', new Error('x')],
    ['null', null],
    ['nothing', undefined],
    ['a text', 'RerailError'],
    ['an object that looks like one', { name: 'ModelError', failure: failureOf('model') }],
    ['a revoked proxy', revokedProxy()],
    ['a proxy that throws', new Proxy({}, { get: () => raise('refused') })],
    ['a document', RerailError.from(failureOf('model')).toJSON()],
  ])('is false for %s', (_, value) => {
    expect(RerailError.isInstance(value)).toBe(false);
    expect(ModelError.isInstance(value)).toBe(false);
  });

  it('recognises the errors of a second copy of the package, family by family', async () => {
    const second = await secondCopy();
    expect(second.RerailError).not.toBe(RerailError);
    for (const origin of origins) {
      const foreign = second.RerailError.from(failureOf(origin));
      expect(foreign).not.toBeInstanceOf(RerailError);
      expect(RerailError.isInstance(foreign)).toBe(true);
      for (const [other, Family] of Object.entries(families))
        expect(Family.isInstance(foreign)).toBe(other === origin);
    }
  });
});

describe('RerailError.from()', () => {
  it.each(origins)('gives "%s" its own family, by instanceof, isInstance and name', (origin) => {
    const error = RerailError.from(failureOf(origin));
    const family = families[origin];
    for (const [other, Family] of Object.entries(families)) {
      expect(error instanceof Family).toBe(other === origin);
      expect(Family.isInstance(error)).toBe(other === origin);
    }
    expect(error).toBeInstanceOf(RerailError);
    expect(error).toBeInstanceOf(Error);
    expect(RerailError.isInstance(error)).toBe(true);
    expect(error.name).toBe(family.family);
    expect(error.toString()).toBe(`${family.family}: Cannot do it`);
    // The names survive a bundler, and the tree is two levels deep.
    expect(family.family).toBe(family.name);
    expect(Object.getPrototypeOf(family)).toBe(RerailError);
  });

  it('has a row for each origin', () => {
    expect(Object.keys(families).toSorted()).toEqual([...origins].toSorted());
  });

  it('reads code, origin and retryable from the failure, which it shows once', () => {
    const failure = createFailure('RATE_LIMITED', { message: 'Too fast', retryAfterMs: 5 });
    const error = RerailError.from(failure);
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      origin: 'model',
      retryable: true,
      message: 'Too fast',
    });
    expect(error.failure).toBe(failure);
    expect(Object.keys(error)).toEqual(['failure']);
  });

  it.each([
    ['an error', new Error('socket')],
    ['a text', 'socket'],
    ['nothing at all', undefined],
    ['null', null],
  ])('keeps the live cause: %s', (_, cause) => {
    const error = RerailError.from(failureOf('model'), { cause });
    expect('cause' in error).toBe(true);
    expect(error.cause).toBe(cause);
  });

  it('makes a chain of errors of the causes that a document kept', () => {
    const causes = [
      { name: 'TypeError', message: 'fetch failed' },
      { name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
    ];
    const error = RerailError.from(createFailure('NETWORK_ERROR', { message: 'No connection', causes }));
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.cause).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
    });
  });

  it('has no cause where none is known', () => {
    expect('cause' in RerailError.from(failureOf('tool'))).toBe(false);
  });
});

describe('toJSON() and fromJSON()', () => {
  it('throw and keep nothing of a document that is none', () => {
    expect(() => RerailError.fromJSON({ hello: 1 })).toThrow(AgentError);
  });

  it('write a versioned document and bring it back as the same class with the same failure', () => {
    for (const origin of origins) {
      const error = RerailError.from(failureOf(origin), { cause: new Error('live') });
      expect(error.toJSON()).toEqual({
        type: 'rerail.failure',
        version: 1,
        name: families[origin].family,
        failure: error.failure,
        docs: `docs/errors.md#${error.code.toLowerCase()}`,
      });
      const revived = RerailError.fromJSON(JSON.parse(JSON.stringify(error)));
      expect(revived).toBeInstanceOf(families[origin]);
      expect(revived.failure).toEqual(error.failure);
      expect(JSON.stringify(revived)).toBe(JSON.stringify(error));
    }
  });

  it('leave no stack and no live cause in the document', () => {
    const error = RerailError.from(failureOf('tool'), { cause: new Error('the live cause') });
    expect(JSON.stringify(error)).not.toMatch(/the live cause|rerail-error\.test/);
  });

  it('understand a document of a second copy', async () => {
    const second = await secondCopy();
    const text = JSON.stringify(second.RerailError.from(failureOf('storage')));
    expect(RerailError.fromJSON(JSON.parse(text))).toBeInstanceOf(StorageError);
  });
});

function failureOf(origin: Origin): Failure {
  return createFailure('UNKNOWN', { origin, message: 'Cannot do it' });
}

/** Its type is that of the first copy. */
async function secondCopy(): Promise<{ readonly RerailError: typeof RerailError }> {
  vi.resetModules();
  return import('./rerail-error.ts');
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function raise(message: string): never {
  throw new Error(message);
}
