import { describe, expect, it } from 'vitest';
import type { FailDetails, ToolContext } from '../model/tool.ts';
import { createIsolated } from './isolate.ts';

interface Told {
  readonly context: ToolContext;
  readonly progress: unknown[];
  readonly abort: (reason: unknown) => void;
}

/** A context that says what it was told by throwing it. */
function createContext(): Told {
  const controller = new AbortController();
  const progress: unknown[] = [];
  const refuse = (): never => {
    throw new Error('not asked for in this test');
  };
  const context: ToolContext = {
    runId: 'run-1',
    callId: 'call-1',
    signal: controller.signal,
    idempotencyKey: 'key-1',
    attempt: 2,
    retry: (hint) => {
      throw new Error(`retry: ${hint}`);
    },
    fail: (message, details: FailDetails = {}) => {
      throw Object.assign(new Error(`fail: ${message}`), { details });
    },
    progress: (message, details) => progress.push({ message, ...details }),
    assist: refuse,
    background: refuse,
    remember: refuse,
    recall: refuse,
    ask: refuse,
  };
  return { context, progress, abort: (reason) => controller.abort(reason) };
}

// What the functions below use from outside exists for the compiler alone; in the thread it does not.
const outside = { limit: 5 };

type Source = (...given: never) => unknown;

const dataModule = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;

describe('createIsolated()', () => {
  const failing: readonly { readonly what: string; readonly source: Source; readonly says: RegExp }[] = [
    {
      what: 'uses a variable from outside',
      source: () => outside.limit,
      says: /outside is not defined: an isolated tool cannot use variables from outside its own body.*\{ module \}/,
    },
    {
      what: 'ends its thread by process.exit',
      source: () => process.exit(3),
      says: /^fail: The isolated tool ended its thread by process\.exit\(3\)/,
    },
    {
      what: 'fills its heap',
      source: () => {
        const kept: string[][] = [];
        for (;;) kept.push('x,'.repeat(1_000_000).split(','));
      },
      says: /^fail: The isolated tool ran out of memory: its heap may hold 256 MB/,
    },
    {
      what: 'throws where nobody waits',
      source: () =>
        new Promise(() => {
          queueMicrotask(() => {
            throw new Error('nobody waits for this');
          });
        }),
      says: /nobody waits for this/,
    },
    {
      what: 'returns what cannot be copied',
      source: () => () => 1,
      says: /could not be cloned/,
    },
    {
      what: 'asks for a model',
      source: (_input: unknown, { assist }: ToolContext) => assist('help'),
      says: /assist is not available in an isolated tool/,
    },
    {
      what: 'asks for a retry',
      source: (_input: unknown, { retry }: ToolContext) => retry('with a shorter text'),
      says: /^retry: with a shorter text$/,
    },
    {
      what: 'fails in its own words, wrapped by somebody',
      source: (_input: unknown, { fail }: ToolContext) => {
        try {
          return fail('no such row', { code: 'NOT_FOUND' });
        } catch (error) {
          throw new Error('wrapped', { cause: error });
        }
      },
      says: /^fail: no such row$/,
    },
    {
      what: 'throws null',
      source: () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what tools do
        throw null;
      },
      says: /null/,
    },
  ];

  it.each(failing)('fails the call and nothing else when the tool $what', async ({ source, says }) => {
    const run = createIsolated({ name: 'probe', source });
    await expect(run({}, createContext().context)).rejects.toThrow(says);
  });

  it('keeps the code, the status and the causes of what was thrown', async () => {
    const run = createIsolated({
      name: 'probe',
      source: () => {
        throw Object.assign(new Error('refused', { cause: new TypeError('inner') }), {
          code: 'ECONNREFUSED',
          status: 503,
        });
      },
    });
    await expect(run({}, createContext().context)).rejects.toMatchObject({
      message: 'refused',
      code: 'ECONNREFUSED',
      status: 503,
      cause: { name: 'TypeError', message: 'inner' },
    });
  });

  it('ends a tool that spins for ever at its signal, while this thread goes on', async () => {
    const { context, abort } = createContext();
    const run = createIsolated({
      name: 'spin',
      source: () => {
        for (;;);
      },
    });
    const running = run({}, context);
    await new Promise((resolve) => setTimeout(resolve, 100));
    abort(new Error('time is over'));
    await expect(running).rejects.toThrow('time is over');
  });

  it('does not begin when its signal has aborted', async () => {
    const { context, abort } = createContext();
    abort(new Error('too late'));
    await expect(createIsolated({ name: 'late', source: () => 1 })({}, context)).rejects.toThrow('too late');
  });

  it('refuses an input that cannot be copied', async () => {
    const run = createIsolated({ name: 'probe', source: () => 1 });
    await expect(run({ callback: () => 1 }, createContext().context)).rejects.toThrow(/could not be cloned/);
  });

  const methods = {
    double(input: { readonly count: number }) {
      return input.count * 2;
    },
    async later(input: { readonly count: number }) {
      await Promise.resolve();
      return input.count * 2;
    },
    'in quotes'(input: { readonly count: number }) {
      return input.count * 2;
    },
  };
  function declared(input: { readonly count: number }): number {
    return input.count * 2;
  }
  const expression = function (input: { readonly count: number }): number {
    return input.count * 2;
  };
  const written: readonly { readonly what: string; readonly source: Source }[] = [
    { what: 'an arrow', source: ({ count }: { readonly count: number }) => count * 2 },
    { what: 'an arrow that waits', source: async ({ count }: { readonly count: number }) => count * 2 },
    { what: 'a function expression', source: expression },
    { what: 'a declaration', source: declared },
    { what: 'a method', source: Reflect.get(methods, 'double') },
    { what: 'a method that waits', source: Reflect.get(methods, 'later') },
    { what: 'a method with a name in quotes', source: methods['in quotes'] },
  ];

  it.each(written)('runs $what', async ({ source }) => {
    const run = createIsolated({ name: 'double', source });
    await expect(run({ count: 21 }, createContext().context)).resolves.toBe(42);
  });

  it('runs an export of a module', async () => {
    const module = dataModule(
      'export function half(input) { return input.count / 2; } export default () => "default";',
    );
    const { context } = createContext();
    await expect(
      createIsolated({ name: 'half', source: { module, export: 'half' } })({ count: 4 }, context),
    ).resolves.toBe(2);
    await expect(
      createIsolated({ name: 'half', source: { module: new URL(module) } })({}, context),
    ).resolves.toBe('default');
    await expect(
      createIsolated({ name: 'half', source: { module, export: 'third' } })({}, context),
    ).rejects.toThrow('The module has no function called "third"');
  });

  it('gives the tool who it is and passes its progress on', async () => {
    const { context, progress } = createContext();
    const run = createIsolated({
      name: 'probe',
      source: (_input: unknown, given: ToolContext) => {
        given.progress('half way', { done: 1, total: 2 });
        return [given.runId, given.callId, given.idempotencyKey, given.attempt, given.signal.aborted];
      },
    });
    await expect(run({}, context)).resolves.toEqual(['run-1', 'call-1', 'key-1', 2, false]);
    expect(progress).toEqual([{ message: 'half way', done: 1, total: 2 }]);
  });

  it.each([
    { what: 'a bound function', source: declared.bind(undefined) },
    { what: 'a built-in function', source: Math.max },
  ])('refuses $what when it is made', ({ source }) => {
    expect(() => createIsolated({ name: 'probe', source })).toThrow(/built in or bound.*\{ module \}/);
  });

  it('refuses a module that is relative to nothing when it is made', () => {
    expect(() => createIsolated({ name: 'probe', source: { module: './probe.js' } })).toThrow(
      "new URL('./probe.js', import.meta.url)",
    );
  });
});
