import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { plainTool } from '../agent/scene.ts';
import { callsIn, framesOf, startWire } from './wire-server.ts';
import type { WireName } from './wire-server.ts';

// Servers that imitate a protocol and get the place, the ids or the form of calls wrong: what the model meant is run, once.

const [first, second] = ['{"a":1}', '{"a":2}'] as const;
const both = [{ a: 1 }, { a: 2 }];

/** Two calls as the protocol has them, each then changed. */
function twoCalls(
  wire: WireName,
  ids: readonly [string, string],
  change: (content: string) => string,
): string {
  const { content, finish, close } = framesOf(wire, {
    calls: [
      { id: ids[0], name: 'pay', args: first },
      { id: ids[1], name: 'pay', args: second },
    ],
  });
  return change(content) + finish + close;
}

function oneCall(wire: WireName, change: (content: string) => string, args: string = first): string {
  const { content, finish, close } = framesOf(wire, { calls: [{ id: 'a', name: 'pay', args }] });
  return change(content) + finish + close;
}

const atZero = (content: string): string => content.replaceAll('"index":1', '"index":0');
const outputAtZero = (content: string): string => content.replaceAll('"output_index":1', '"output_index":0');
const quoted = JSON.stringify(first);

const cases: readonly (readonly [string, WireName, string, readonly unknown[]])[] = [
  ['two calls of one index without ids', 'openai-chat', twoCalls('openai-chat', ['', ''], atZero), both],
  ['two calls of one index and one id', 'openai-chat', twoCalls('openai-chat', ['a', 'a'], atZero), both],
  [
    'the same call twice, which may be one that was sent again',
    'openai-chat',
    twoCalls('openai-chat', ['a', 'a'], (content) => atZero(content).replace(/"\{\\"a\\":2\}"/u, quoted)),
    [],
  ],
  ['two calls of one index', 'anthropic', twoCalls('anthropic', ['a', 'b'], atZero), both],
  [
    'two calls of one index',
    'openai-responses',
    twoCalls('openai-responses', ['a', 'b'], outputAtZero),
    both,
  ],
  [
    'arguments as a text in the place of an object',
    'anthropic',
    oneCall('anthropic', (content) =>
      content
        .split('\n\n')
        .filter((event) => !event.includes('content_block_delta'))
        .join('\n\n')
        .replace('"input":{}', `"input":${quoted}`),
    ),
    [{ a: 1 }],
  ],
  [
    'arguments as a text in the place of an object',
    'gemini',
    oneCall('gemini', (same) => same, quoted),
    [{ a: 1 }],
  ],
  ['null for no arguments', 'gemini', oneCall('gemini', (same) => same, 'null'), [{}]],
];

describe('calls of servers that are not exact', () => {
  it.each(cases)('%s on %s', async (...given) => {
    const [, wire, stream, runs] = given;
    const ran: unknown[] = [];
    const { model, requests } = await startWire(wire, [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(stream);
      },
      { text: 'Done.' },
    ]);
    const pay = plainTool({ name: 'pay', repeats: 'any', execute: (input) => void ran.push(input) });
    const outcome = await createAgent({ name: 'payer', model, tools: [pay] }).run('Pay.');
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(ran).toEqual(runs);
    const last = requests[1];
    if (last === undefined) throw new Error('The model was not asked again');
    const { calls, results } = callsIn(wire, last);
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(calls.length);
  });
});
