import { describe, expect, it } from 'vitest';
import { callModel, createAgent } from '../../src/index.ts';
import type { Message, RunEvent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { plainTool } from '../agent/scene.ts';
import { callsIn, startWire, wires } from './wire-server.ts';
import type { WireCall, WireName } from './wire-server.ts';

const legalName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const madeUpNames = {
  'with a dot': 'functions.pay',
  'of a wrapper': 'multi_tool_use.parallel',
  'of 10 KB': 'p'.repeat(10_000),
  'with spaces': 'pay the bill',
  'in another script': 'zahlen_für_日本',
  'with control characters': 'pay\u0000\u001b[31m\n',
  'of nothing but blanks': '  ',
  'that begins with a digit': '0.pay',
} as const;

const payTool = (ran: unknown[]) =>
  plainTool({
    name: 'pay',
    execute: (input) => {
      ran.push(input);
      return 'paid';
    },
  });

describe.each(wires)('a made-up tool name on %s', (wire) => {
  it.each(Object.entries(madeUpNames))(
    '%s goes back as a name that the provider takes',
    async (_kind, name) => {
      const ran: unknown[] = [];
      const { model, requests } = await startWire(wire, [
        { calls: [{ id: 'c1', name }] },
        { calls: [{ id: 'c2', name: 'pay' }] },
        { text: 'Done.' },
      ]);
      const agent = createAgent({ name: 'payer', model, tools: [payTool(ran)] });
      const outcome = await agent.run('Pay.');
      expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
      expect(ran, 'the made-up call ran nothing').toHaveLength(1);
      const second = requests[1];
      if (second === undefined) throw new Error('The model was not asked again');
      for (const sent of callsIn(wire, second).names) expect(sent).toMatch(legalName);
      expect(second.text).toContain('There is no tool');
      expect(second.text, 'the tools that exist are named').toContain('The tools are: pay');
      expect(second.text.length, 'the name is clipped').toBeLessThan(6000);
    },
  );

  it('in a conversation that is handed in goes out as a name that the provider takes', async () => {
    for (const name of Object.values(madeUpNames)) {
      const messages: readonly Message[] = [
        { role: 'user', content: 'Pay.' },
        { role: 'assistant', content: [{ type: 'tool-call', callId: 'a', name, argumentsText: '{}' }] },
        { role: 'tool', content: [{ type: 'tool-result', callId: 'a', name, content: 'no such tool' }] },
        { role: 'user', content: 'Go on.' },
      ];
      const { model, requests } = await startWire(wire, [{ text: 'Done.' }]);
      const agent = createAgent({ name: 'payer', model, tools: [payTool([])] });
      expect(await agent.run(messages)).toMatchObject({ type: 'completed' });
      const outcome = await callModel(model, { messages });
      expect(outcome.type).toBe('success');
      expect(requests).toHaveLength(2);
      for (const request of requests) {
        const { names } = callsIn(wire, request);
        expect(names.length).toBeGreaterThan(0);
        for (const sent of names) expect(sent).toMatch(legalName);
      }
    }
  });
});

const badIds: Readonly<Record<string, readonly (readonly WireCall[])[]>> = {
  'the same in every turn': [
    [{ id: 'same', name: 'pay' }],
    [{ id: 'same', name: 'pay', args: '{"a":2}' }],
    [{ id: 'same', name: 'pay', args: '{"a":3}' }],
  ],
  'the same within a turn': [
    [
      { id: 'same', name: 'pay' },
      { id: 'same', name: 'pay', args: '{"a":2}' },
    ],
    [{ id: 'same', name: 'pay', args: '{"a":3}' }],
  ],
  empty: [
    [
      { id: '', name: 'pay' },
      { id: '', name: 'pay', args: '{"a":2}' },
    ],
    [{ id: '', name: 'pay', args: '{"a":3}' }],
  ],
  missing: [[{ name: 'pay' }, { name: 'pay', args: '{"a":2}' }], [{ name: 'pay', args: '{"a":3}' }]],
  'of 10 KB': [
    [{ id: 'x'.repeat(10_000), name: 'pay' }],
    [{ id: 'x'.repeat(10_000), name: 'pay', args: '{"a":2}' }],
  ],
  'like one of ours': [
    [
      { id: 'same', name: 'pay' },
      { id: 'same-2', name: 'pay', args: '{"a":2}' },
      { id: 'same', name: 'pay', args: '{"a":3}' },
    ],
    [{ id: 'same-2', name: 'pay', args: '{"a":4}' }],
  ],
};

const legalIds: Readonly<Record<WireName, RegExp>> = {
  'openai-chat': /^[!-~]{1,40}$/,
  'openai-responses': /^[!-~]{1,64}$/,
  anthropic: /^[\w-]{1,64}$/,
  gemini: /^[!-~]{1,200}$/,
};

describe.each(wires)('ids of calls on %s', (wire) => {
  it.each(Object.entries(badIds))(
    'that are %s become ids of our own, distinct in the run',
    async (_kind, turns) => {
      const events: RunEvent[] = [];
      const seen: string[] = [];
      const { model, requests } = await startWire(wire, [
        ...turns.map((calls) => ({ calls })),
        { text: 'Done.' },
      ]);
      const pay = plainTool({
        name: 'pay',
        execute: (_input, { callId }) => {
          seen.push(callId);
          return `paid ${seen.length}`;
        },
      });
      const agent = createAgent({ name: 'payer', model, tools: [pay] });
      const outcome = await agent.run('Pay.', { onEvent: (event) => void events.push(event) });
      expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
      const count = turns.flat().length;
      expect(new Set(seen).size).toBe(count);
      const started = events.flatMap((event) => (event.type === 'tool-started' ? [event.callId] : []));
      expect(new Set(started).size).toBe(count);
      for (const request of requests.slice(1)) {
        const { calls, results } = callsIn(wire, request);
        // Gemini is not sent ids that it did not give; name and order decide there.
        const sent = calls.filter((id) => wire !== 'gemini' || id !== 'undefined');
        expect(results.filter((id) => wire !== 'gemini' || id !== 'undefined')).toEqual(sent);
        expect(new Set(sent).size).toBe(sent.length);
        for (const id of sent) expect(id).toMatch(legalIds[wire]);
      }
    },
  );
});

describe('ids of calls over a restart', () => {
  it('stay distinct when another process resumes the run', async () => {
    const store = memoryStore();
    const seen: string[] = [];
    const pay = plainTool({
      name: 'pay',
      permission: 'ask',
      effect: 'once',
      execute: (_input, { callId }) => {
        seen.push(callId);
        return 'paid';
      },
    });
    const { model } = await startWire('openai-chat', [
      { calls: [{ id: 'same', name: 'pay' }] },
      { calls: [{ id: 'same', name: 'pay', args: '{"a":2}' }] },
      { text: 'Done.' },
    ]);
    const open = () => createAgent({ name: 'payer', model, tools: [pay], store });
    expect(await open().run('Pay.', { runId: 'r' })).toMatchObject({ type: 'suspended' });
    expect(await open().resume('r', { answer: true })).toMatchObject({ type: 'suspended' });
    expect(await open().resume('r', { answer: true })).toMatchObject({ type: 'completed' });
    expect(new Set(seen).size).toBe(2);
  });
});
