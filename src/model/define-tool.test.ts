import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../base/json.ts';
import { defineTool, isTool, warningsOf } from './define-tool.ts';
import type { Tool } from './tool.ts';

const execute = (): string => 'done';
const base = { name: 'search', description: 'Searches.', input: z.object({ query: z.string() }), execute };

describe('defineTool()', () => {
  it.each([
    {
      change: { name: undefined },
      message: '"name" must be 1 to 64 letters, digits, "_" or "-", got nothing',
    },
    { change: { name: 'web search' }, message: 'got the text "web search"' },
    {
      change: { description: undefined },
      message:
        '"description" must be a text that says what the tool does and when the model should use it, got nothing',
    },
    { change: { description: '  ' }, message: '"description" must be a text' },
    { change: { input: undefined }, message: 'z.object({}) for a tool without input, got nothing' },
    { change: { input: undefined, parameters: {} }, message: 'rename "parameters" to "input"' },
    { change: { input: 'string' }, message: '"input" must be a schema' },
    {
      change: { input: z.string() },
      message:
        '"input" must be a schema of an object, got one of type the text "string": wrap it in an object',
    },
    { change: { input: { properties: {} } }, message: "got one of type nothing: write { type: 'object'" },
    {
      change: { input: z.object({ on: z.date() }) },
      message:
        'the input of tool "search" to the model: "on" is of the kind "date", which JSON cannot express',
    },
    { change: { input: v.object({}) }, message: '@valibot/to-json-schema' },
    {
      change: { execute: undefined },
      message: '"execute" must be a function (input, context) => result, got nothing',
    },
    {
      change: { execute: 'run' },
      message: '"execute" must be a function (input, context) => result, got the text "run"',
    },
    {
      change: { effect: 'idempotant' },
      message: `"effect" must be one of 'read', 'idempotent', 'once', got the text "idempotant"; did you mean 'idempotent'?`,
    },
    {
      change: { permission: 'never' },
      message: `"permission" must be one of 'allow', 'ask', 'deny', got the text "never"`,
    },
    {
      change: { timeoutMs: -1 },
      message: '"timeoutMs" must be a number of milliseconds above 0, such as 30_000, got -1',
    },
    { change: { timeoutMs: Infinity }, message: 'got Infinity' },
    { change: { timeoutMs: '10s' }, message: 'got the text "10s"' },
    {
      change: { maxResultCharacters: 0 },
      message: '"maxResultCharacters" must be a whole number above 0, got 0',
    },
    {
      change: { repeats: 'all' },
      message: `"repeats" must be a whole number above 0, or 'any', got the text "all"`,
    },
    { change: { resource: '' }, message: '"resource" must be a name' },
    { change: { onError: 'throw' }, message: `"onError" must be one of 'tell', 'abort'` },
    { change: { strict: 1 }, message: '"strict" must be true or false, got 1' },
    { change: { verify: true }, message: '"verify" must be a function' },
    { change: { classifyError: {} }, message: '"classifyError" must be a function' },
    { change: { parameters: z.object({}) }, message: '"parameters" must be a JSON Schema as plain data' },
    { change: { isolate: true }, message: 'only tool() runs a tool in a thread of its own' },
    { change: { timeOutMs: 5 }, message: 'there is no field "timeOutMs": did you mean "timeoutMs"?' },
    { change: { timeout: 5 }, message: 'call it "timeoutMs", in milliseconds' },
    { change: { inputSchema: {} }, message: 'call it "input"' },
    { change: { handler: execute }, message: 'call it "execute"' },
    { change: { needsApproval: true }, message: "write permission: 'ask'" },
    { change: { zzz: 1 }, message: 'there is no field "zzz": known are name, description, input' },
  ])('refuses $change', ({ change, message }) => {
    const definition = { ...base, ...change } as never;
    expect(() => defineTool(definition)).toThrow(message);
    expect(() => defineTool(definition)).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
  });

  it.each([null, undefined, 'search', [], 5])('refuses %s', (definition) => {
    expect(() => defineTool(definition as never)).toThrow('Cannot define a tool: expected');
  });

  it('fills in what was left out, the cautious way', () => {
    const made = defineTool(base);
    expect(made).toEqual({
      name: 'search',
      description: 'Searches.',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      effect: 'once',
      timeoutMs: 30_000,
      permission: 'allow',
      maxResultCharacters: 50_000,
      parse: expect.any(Function) as unknown,
      execute,
    });
    expect(Object.isFrozen(made)).toBe(true);
  });

  it('keeps what was said', () => {
    const said = {
      effect: 'read',
      timeoutMs: 5,
      permission: 'ask',
      maxResultCharacters: 10,
      repeats: 'any',
      resource: 'index',
      onError: 'abort',
      strict: true,
      verify: () => ({ happened: 'unknown' }) as const,
      classifyError: () => undefined,
    } as const;
    expect(defineTool({ ...base, ...said })).toMatchObject(said);
  });

  it('returns a tool as it is', () => {
    const made = defineTool(base);
    expect(defineTool(made)).toBe(made);
    expect([isTool(made), isTool(base), isTool(null)]).toEqual([true, false, false]);
  });

  it('parses by the schema', () => {
    expect(defineTool(base).parse({ query: 1 })).toMatchObject({
      type: 'invalid',
      issues: [{ path: 'query' }],
    });
    expect(defineTool(base).parse({ query: 'x' })).toEqual({ type: 'valid', value: { query: 'x' } });
  });

  it('tells the model the parameters handed in, and checks by the input', () => {
    const parameters = { type: 'object', properties: { query: { type: 'string' } } };
    const made = defineTool({ ...base, input: v.object({ query: v.string() }), parameters });
    expect(made.parameters).toEqual(parameters);
    expect(made.parse({})).toMatchObject({ type: 'invalid' });
  });

  it('remembers what of a schema is not checked', () => {
    const input = { type: 'object', properties: { a: { type: 'string', pattern: '(a*)*' } } };
    expect(warningsOf(defineTool({ ...base, input }))).toHaveLength(1);
    expect(warningsOf(defineTool(base))).toEqual([]);
  });

  it('infers the input of the functions from the schema', () => {
    defineTool({
      ...base,
      input: z.object({ limit: z.string().transform(Number), tag: z.string().optional() }),
      resource: (input) => input.tag,
      execute: (input, { signal }) => {
        expectTypeOf(input).toEqualTypeOf<{ limit: number; tag?: string | undefined }>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      },
      verify: (input) => {
        expectTypeOf(input.limit).toEqualTypeOf<number>();
        return { happened: false };
      },
    });
    defineTool({
      ...base,
      input: v.object({ query: v.string() }),
      parameters: { type: 'object' },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ query: string }>(),
    });
    defineTool({
      ...base,
      input: { type: 'object', properties: { query: { type: 'string' } } },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Readonly<Record<string, Json>>>(),
    });
    expectTypeOf(defineTool<never>).returns.toEqualTypeOf<Tool>();
  });
});
