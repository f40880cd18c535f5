import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, tool } from '../../src/index.ts';
import { memoryStore, scriptedModel, simulatedClock } from '../../src/testing/index.ts';

describe('an answer that comes after its question has expired', () => {
  it('approves no other call', async () => {
    const clock = simulatedClock();
    const paid: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      permission: 'ask',
      input: z.object({ to: z.string() }),
      execute: ({ to }) => {
        paid.push(to);
        return 'paid';
      },
    });
    const model = scriptedModel(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length;
      if (results === 0) return { toolCalls: [{ name: 'pay', arguments: { to: 'Ann' }, callId: 'a' }] };
      if (results === 1) return { toolCalls: [{ name: 'pay', arguments: { to: 'Bob' }, callId: 'b' }] };
      return 'Done.';
    });
    const agent = createAgent({
      name: 'clerk',
      model,
      tools: [pay],
      store: memoryStore(),
      clock,
      limits: { approvalTimeoutMs: 60_000 },
    });
    const first = await agent.run('Pay', { runId: 'late' });
    expect(first).toMatchObject({ type: 'suspended', request: { input: { to: 'Ann' } } });
    await clock.advance(120_000);
    const second = await agent.resume('late', { answer: true });
    expect(paid).toEqual([]);
    expect(second).toMatchObject({ type: 'suspended', request: { input: { to: 'Bob' } } });
  });
});
