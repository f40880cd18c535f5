import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { plainTool } from '../agent/scene.ts';
import { startWire, wires } from './wire-server.ts';

const inexact = {
  'a number beyond all numbers': '{"amount":1e999}',
  'its negative': '{"amount":-1e999}',
  'one that is nested': '{"lines":[{"amount":1E400}]}',
  'one that vanishes': '{"amount":1e-999}',
  'an account number of twenty digits': '{"account":12345678901234567890}',
  'a whole number just beyond the safe ones': '{"account":9007199254740993}',
  'a member that is there twice': '{"amount":1,"amount":1000}',
  'the same, spelled with an escape': String.raw`{"amount":1,"\u0061mount":1000}`,
} as const;

describe.each(wires)('arguments that cannot be kept exactly on %s', (wire) => {
  it.each(Object.entries(inexact))(
    '%s: nobody is asked, nothing runs, the model is corrected',
    async (_kind, args) => {
      const ran: unknown[] = [];
      const pay = plainTool({
        name: 'pay',
        permission: 'ask',
        effect: 'once',
        execute: (input) => {
          ran.push(input);
          return 'paid';
        },
      });
      const { model, requests } = await startWire(wire, [
        { calls: [{ id: 'c1', name: 'pay', args }] },
        { calls: [{ id: 'c2', name: 'pay', args: '{"amount":12.50,"account":"12345678901234567890"}' }] },
        { text: 'Done.' },
      ]);
      const agent = createAgent({ name: 'payer', model, tools: [pay] });
      const asked = await agent.run('Pay.', { runId: 'r' });
      expect(requests, 'the first call was refused without a question').toHaveLength(2);
      expect(requests[1]?.text).toMatch(/cannot be kept exactly|is there twice/);
      expect(asked).toMatchObject({
        type: 'suspended',
        request: { type: 'approval', input: { amount: 12.5, account: '12345678901234567890' } },
      });
      expect(ran).toEqual([]);
      expect(await agent.resume('r', { answer: true })).toMatchObject({ type: 'completed' });
      expect(ran).toEqual([{ amount: 12.5, account: '12345678901234567890' }]);
    },
  );
});

// Gemini's arguments are JSON or nothing.
describe.each(wires.filter((wire) => wire !== 'gemini'))('a spelling that is repaired on %s', (wire) => {
  it('is refused where it cannot be kept exactly', async () => {
    const ran: unknown[] = [];
    const read = plainTool({ name: 'read', effect: 'read', execute: (input) => void ran.push(input) });
    const { model } = await startWire(wire, [
      { calls: [{ id: 'c1', name: 'read', args: "{'amount': 1e999,}" }] },
      { text: 'Done.' },
    ]);
    const agent = createAgent({ name: 'reader', model, tools: [read] });
    await agent.run('Read.');
    expect(ran).toEqual([]);
  });
});
