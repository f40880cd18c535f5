import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { ToolContext } from '../model/tool.ts';
import { tool } from './tool.ts';

const base = { name: 'add', description: 'Adds.', input: z.object({ a: z.number(), b: z.number() }) };

function createContext(): ToolContext {
  return {
    runId: 'run',
    callId: 'call',
    signal: new AbortController().signal,
    idempotencyKey: 'key',
    attempt: 1,
    retry: (hint) => {
      throw new Error(hint);
    },
    fail: (message) => {
      throw new Error(message);
    },
    progress: () => undefined,
    assist: () => Promise.reject(new Error('no model')),
    background: () => undefined,
    remember: () => undefined,
    recall: () => undefined,
    ask: () => Promise.resolve(''),
  };
}

describe('tool()', () => {
  it.each([
    {
      definition: { ...base, isolate: true },
      message:
        '"execute" must be a function (input, context) => result, where "isolate" is true, got nothing',
    },
    {
      definition: { ...base, execute: () => 1, isolate: 'yes' },
      message: '"isolate" must be true, or { module: new URL',
    },
    {
      definition: { ...base, execute: () => 1, isolate: {} },
      message: '"isolate" must be true, or { module: new URL',
    },
    { definition: { ...base, execute: () => 1, isolate: { module: 'x' } }, message: 'leave out "execute"' },
    { definition: { ...base, isolate: { module: './x.js' } }, message: 'relative to nothing' },
    { definition: { ...base }, message: '"execute" must be a function' },
    { definition: null, message: 'expected { name, description, input, execute }, got null' },
  ])('refuses a definition: $message', ({ definition, message }) => {
    expect(() => tool(definition as never)).toThrow(message);
  });

  it('runs a function here by default', () => {
    const add = tool({ ...base, execute: ({ a, b }) => a + b });
    expect(add.execute({ a: 1, b: 2 }, createContext())).toBe(3);
  });

  it('runs a function in a thread of its own where it is asked to', async () => {
    const add = tool({ ...base, isolate: true, execute: ({ a, b }) => a + b });
    await expect(add.execute({ a: 1, b: 2 }, createContext())).resolves.toBe(3);
  });

  it('runs the function of a module in a thread of its own', async () => {
    const module = new URL('data:text/javascript,export const add = ({ a, b }) => a + b');
    const add = tool({ ...base, isolate: { module, export: 'add' } });
    await expect(add.execute({ a: 1, b: 2 }, createContext())).resolves.toBe(3);
  });

  it('returns a tool as it is', () => {
    const add = tool({ ...base, execute: () => 1 });
    expect(tool(add as never)).toBe(add);
  });

  it('infers the input, isolated or not', () => {
    tool({
      ...base,
      isolate: true,
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>(),
    });
    tool({ ...base, execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>() });
  });
});
