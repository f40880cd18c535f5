import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PreparedCall, ToolEnd } from '../../agent/tools/tool-call.ts';
import { defineTool } from '../../model/define-tool.ts';
import type { ToolCallPart } from '../../model/message.ts';
import { prepareCalls } from './prepare-calls.ts';
import type { PrepareOptions } from './prepare-calls.ts';
import { createToolRegistry } from '../tool-call/tool-registry.ts';

function run(): never {
  throw new Error('Nothing may run here');
}

const searchInput = z.object({ query: z.string(), limit: z.number().max(50).optional() });
const search = defineTool({
  name: 'search',
  description: 'Searches.',
  input: searchInput,
  effect: 'read',
  execute: run,
});
const now = defineTool({
  name: 'now',
  description: 'The time.',
  input: z.object({}),
  effect: 'read',
  execute: run,
});
const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  input: {
    type: 'object',
    properties: { orderId: { type: 'string' }, cents: { type: 'integer' } },
    required: ['orderId', 'cents'],
    additionalProperties: false,
  },
  repeats: 2,
  onError: 'abort',
  execute: run,
});
const note = defineTool({
  name: 'note',
  description: 'Notes.',
  input: v.object({ text: v.string() }),
  parameters: { type: 'object' },
  effect: 'idempotent',
  execute: run,
});
const slow = defineTool({
  name: 'slow',
  description: 'Has a slow schema.',
  input: z
    .object({ a: z.string() })
    .refine(async ({ a }) => Promise.resolve(a !== 'no'), { path: ['a'], error: 'is taken' }),
  execute: run,
});
const allTools = createToolRegistry([search, now, refund, note, slow]);

function options(changes: Partial<PrepareOptions> = {}): PrepareOptions {
  return {
    registry: allTools,
    decidePermission: ({ permission }) => ({ permission, why: 'by default' }),
    withdrawn: new Map(),
    maxCallsPerTurn: 64,
    callsLeft: 1000,
    ...changes,
  };
}

function call(name: string, argumentsText: string, callId = 'call_1'): ToolCallPart {
  return { type: 'tool-call', callId, name, argumentsText };
}

function prepare(calls: readonly ToolCallPart[], changes?: Partial<PrepareOptions>): readonly PreparedCall[] {
  return prepareCalls(calls, options(changes)) as readonly PreparedCall[];
}

function refusal(
  name: string,
  argumentsText: string,
  changes?: Partial<PrepareOptions>,
): ToolEnd | undefined {
  const [prepared] = prepare([call(name, argumentsText)], changes);
  return prepared?.type === 'refused' ? prepared.end : undefined;
}

describe('prepareCalls() refuses', () => {
  it.each([
    {
      name: 'serch',
      text: '{}',
      code: 'TOOL_NOT_FOUND',
      content:
        'There is no tool "serch". Did you mean "search"? The tools are: search, now, refund, note, slow. Nothing was run. Call one of them by its exact name.',
    },
    {
      name: 'search',
      text: '{"query": 5, "limit": 500}',
      code: 'VALIDATION_ERROR',
      content:
        'Cannot run tool "search": the arguments do not fit:\n- query: Invalid input: expected string, received number (got the number 5)\n- limit: Too big: expected number to be <=50 (got the number 500)\nNothing was run. Correct the arguments and call it again.',
    },
    {
      name: 'refund',
      text: '{"orderId": 7, "cents": "100", "reason": "late"}',
      code: 'VALIDATION_ERROR',
      content:
        'Cannot run tool "refund": the arguments do not fit:\n- orderId: must be a string, got the number 7\n- cents: must be a whole number, got the string "100"\n- reason: is not a known field; known are orderId, cents\nNothing was run. Correct the arguments and call it again.',
    },
    {
      name: 'note',
      text: '{"text": null}',
      code: 'VALIDATION_ERROR',
      content:
        'Cannot run tool "note": the arguments do not fit:\n- text: Invalid type: Expected string but received null (got null)\nNothing was run. Correct the arguments and call it again.',
    },
    {
      name: 'refund',
      text: '',
      code: 'VALIDATION_ERROR',
      content:
        'Cannot run tool "refund": it was called without arguments, but needs some:\n- orderId: is required and missing; it must be a string\n- cents: is required and missing; it must be a whole number\nNothing was run. Correct the arguments and call it again.',
    },
    {
      name: 'search',
      text: '["query"]',
      code: 'VALIDATION_ERROR',
      content:
        'Cannot run tool "search": The arguments must be a JSON object, got a list.\nNothing was run. Call it again with a complete JSON object as arguments.',
    },
  ])('$name($text)', ({ name, text, code, content }) => {
    const end = refusal(name, text);
    expect(end).toMatchObject({
      type: 'failed',
      failure: { code, origin: 'tool', sideEffect: 'none', retryable: false },
      content,
      durationMs: 0,
    });
    expect(end?.resultHash).toMatch(/^[\w.-]{3,22}$/);
  });

  it.each([
    { text: '{"query": "par', why: 'they end in the middle, at position 14' },
    { text: '{"query": "Paris"', why: 'they end in the middle, at position 17' },
    { text: '{"query": Paris}', why: '"Paris}" is not allowed at position 10' },
    { text: '{"query": "Paris"} thanks', why: '"thanks" is not allowed at position 19' },
    { text: '{"query": "Pa\\qris"}', why: '"\\"Pa\\\\qris\\"}" is not allowed at position 10' },
  ])('arguments that are no JSON, with the position: $text', ({ text, why }) => {
    expect(refusal('search', text)).toMatchObject({
      failure: { code: 'VALIDATION_ERROR' },
      content: `Cannot run tool "search": The arguments are not JSON: ${why}.\nNothing was run. Call it again with a complete JSON object as arguments.`,
    });
  });

  it('a tool that is withdrawn, with the reason', () => {
    const withdrawn = new Map([['search', 'it failed three times.']]);
    expect(refusal('search', '{"query": "x"}', { withdrawn })).toMatchObject({
      failure: { code: 'TOOL_NOT_FOUND', context: { isWithdrawn: true } },
      content:
        'The tool "search" is withdrawn for now: it failed three times. Nothing was run. Use another tool, or continue without it.',
    });
  });

  it('what a rule denies, with its reason', () => {
    const decidePermission = (): { permission: 'deny'; why: string } => ({
      permission: 'deny',
      why: 'no refunds on Sundays.',
    });
    expect(refusal('refund', '{"orderId": "1", "cents": 5}', { decidePermission })).toMatchObject({
      type: 'denied',
      failure: { code: 'PERMISSION_DENIED', origin: 'tool' },
      content:
        'The tool "refund" may not be called like this: no refunds on Sundays. Nothing was run. Do not try the same again; choose another way or say that it is not allowed.',
    });
  });

  it('arguments of ten megabytes, without reading them', () => {
    const text = JSON.stringify({ query: 'x'.repeat(10_000_000) });
    const end = refusal('search', text);
    expect(end?.content).toContain('The arguments have 10000012 characters; at most 1000000 are read');
    expect(JSON.stringify(end).length).toBeLessThan(3000);
  });

  it.each([10_000, 400_000])('arguments that nest %i levels deep', (depth) => {
    const text = `{"query": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(refusal('search', text)?.content).toContain('nest more than 1000 levels deep');
  });

  it('secrets in what it says back', () => {
    const key = `sk-ant-api03-${'a1B2'.repeat(20)}`;
    const end = refusal('refund', JSON.stringify({ orderId: 'x', cents: key }));
    expect(JSON.stringify(end)).not.toContain('a1B2a1B2');
    expect(end?.content).toContain('cents: must be a whole number');
  });

  it('the calls of a turn beyond its bound, in order', () => {
    const calls = Array.from({ length: 1000 }, (_, index) =>
      call('search', '{"query": "x"}', `call_${index}`),
    );
    const prepared = prepare(calls, { maxCallsPerTurn: 64 });
    expect(prepared.map(({ callId }) => callId)).toEqual(calls.map(({ callId }) => callId));
    expect(prepared.filter(({ type }) => type === 'ready')).toHaveLength(64);
    expect(prepared[64]).toMatchObject({
      callId: 'call_64',
      type: 'refused',
      end: {
        callId: 'call_64',
        type: 'failed',
        failure: { code: 'BUDGET_EXCEEDED', origin: 'agent' },
        content:
          'This call was not run: one answer may call at most 64 tools. Continue with the results that you have, or say what is missing.',
      },
    });
  });

  it('calls beyond what the run has left; those that do not run anyway use nothing up', () => {
    const calls = [
      call('search', '{"query": "1"}', 'a'),
      call('none', '{}', 'b'),
      call('search', '{"query": "2"}', 'c'),
      call('search', '{"query": "3"}', 'd'),
    ];
    const prepared = prepare(calls, { callsLeft: 2 });
    expect(prepared.map(({ type }) => type)).toEqual(['ready', 'refused', 'ready', 'refused']);
    expect(prepared[3]).toMatchObject({ callId: 'd', end: { failure: { code: 'BUDGET_EXCEEDED' } } });
    expect(prepare(calls, { callsLeft: 0 }).map(({ type }) => type)).toEqual(Array(4).fill('refused'));
  });
});

describe('prepareCalls() makes ready', () => {
  it('a call, with what the machine must know of it', () => {
    expect(prepare([call('refund', '{"cents": 5, "orderId": "1"}')])).toEqual([
      {
        callId: 'call_1',
        name: 'refund',
        type: 'ready',
        input: { orderId: '1', cents: 5 },
        effect: 'once',
        permission: 'allow',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        repeats: 2,
        onError: 'abort',
      },
    ]);
  });

  it('the input as the model wrote it, not as the schema makes it', () => {
    expect(prepare([call('search', '{"query": "x", "extra": 1}')])).toMatchObject([
      { input: { query: 'x', extra: 1 } },
    ]);
  });

  it.each(['', ' \n', '{}'])('a call without arguments where the schema allows it: %j', (text) => {
    expect(prepare([call('now', text)])).toMatchObject([{ type: 'ready', input: {} }]);
  });

  it('the same hash for the same call, however it is written', () => {
    const texts = [
      '{"orderId":"1","cents":5}',
      '{ "cents": 5.0, "orderId": "1" }',
      '{"orderId":"1","cents":6}',
    ];
    const hashes = prepare(texts.map((text, index) => call('refund', text, `c${index}`))).map((prepared) =>
      prepared.type === 'ready' ? prepared.hash : undefined,
    );
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[0]).not.toBe(hashes[2]);
  });

  it('what a person is asked, with the reason', () => {
    const decidePermission = (): { permission: 'ask'; why: string } => ({ permission: 'ask', why: 'money' });
    expect(prepare([call('refund', '{"cents": 5, "orderId": "1"}')], { decidePermission })).toMatchObject([
      { permission: 'ask', why: 'money' },
    ]);
  });

  it('asks about the permission with the tool and the input', () => {
    const asked: unknown[] = [];
    const decidePermission: PrepareOptions['decidePermission'] = (tool, input) => {
      asked.push([tool.name, input]);
      return { permission: 'allow' };
    };
    prepare([call('search', '{"query": "x"}'), call('search', '{"query": 1}', 'b')], { decidePermission });
    expect(asked).toEqual([['search', { query: 'x' }]]);
  });

  it.each([
    { name: 'note', text: "{'text': 'x',}", permission: 'allow', type: 'ready' },
    { name: 'note', text: "{'text': 'x'", permission: 'allow', type: 'refused' },
    { name: 'note', text: "{'text': 5}", permission: 'allow', type: 'refused' },
    { name: 'refund', text: "{'orderId': '1', 'cents': 5}", permission: 'allow', type: 'refused' },
    { name: 'refund', text: "{'orderId': '1', 'cents': 5}", permission: 'ask', type: 'ready' },
  ] as const)('$name($text) with permission $permission: $type', ({ name, text, permission, type }) => {
    const [prepared] = prepare([call(name, text)], { decidePermission: () => ({ permission }) });
    expect(prepared?.type).toBe(type);
    expect(prepared?.type === 'ready' ? prepared.isRepaired : undefined).toBe(
      type === 'ready' ? true : undefined,
    );
  });

  it('two calls of one id as two', () => {
    const calls = ['a', 'b', 'a', 'a-2', 'a'].map((callId) => call('search', '{"query": "x"}', callId));
    const prepared = prepare(calls);
    expect(prepared.map(({ callId }) => callId)).toEqual(['a', 'b', 'a-3', 'a-2', 'a-4']);
  });

  it('nothing of a hostile name', () => {
    const text = '{"query":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const [prepared] = prepare([call('search', text)]);
    expect(prepared).toMatchObject({ type: 'ready' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(refusal('refund', `{"orderId":"1","cents":1,"__proto__":{"a":1}}`)?.content).toContain(
      '__proto__: is not a known field',
    );
  });

  it('ten thousand names', () => {
    const names = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, index]));
    expect(prepare([call('search', JSON.stringify({ ...names, query: 'x' }))])[0]?.type).toBe('ready');
    const { content } = refusal('refund', JSON.stringify(names)) ?? {};
    expect((content as string).split('\n')).toHaveLength(12);
  });
});

describe('prepareCalls()', () => {
  it('waits only where a schema does', async () => {
    const calls = [call('slow', '{"a": "no"}', 'a'), call('now', '', 'b'), call('slow', '{"a": "x"}', 'c')];
    expect(prepareCalls([call('now', '')], options())).not.toBeInstanceOf(Promise);
    const prepared = prepareCalls(calls, options({ callsLeft: 1 }));
    expect(prepared).toBeInstanceOf(Promise);
    await expect(prepared).resolves.toMatchObject([
      { callId: 'a', type: 'refused', end: { failure: { code: 'VALIDATION_ERROR' } } },
      { callId: 'b', type: 'ready' },
      { callId: 'c', type: 'refused', end: { failure: { code: 'BUDGET_EXCEEDED' } } },
    ]);
  });

  it('never throws and is always plain JSON, whatever the model writes', () => {
    const names = fc.oneof(fc.constantFrom('search', 'refund', 'now', 'note'), fc.string());
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json({ maxDepth: 2 }),
      fc
        .dictionary(fc.constantFrom('query', 'text', 'cents', '__proto__'), fc.jsonValue({ maxDepth: 1 }))
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, texts), { maxLength: 5 }), (written) => {
        const calls = written.map(([name, text], index) => call(name, text, `c${index % 3}`));
        const prepared = prepare(calls);
        expect(prepared).toHaveLength(calls.length);
        expect(new Set(prepared.map(({ callId }) => callId)).size).toBe(calls.length);
        expect(JSON.parse(JSON.stringify(prepared))).toEqual(prepared);
      }),
      { numRuns: 100 },
    );
  });
});
