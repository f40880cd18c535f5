import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { AgentOptions } from '../../src/index.ts';
import { flow } from '../../src/flow/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

// What a run leaves behind must go with the quick collection of garbage: see docs/decisions/quick-garbage.md.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

function collectQuickly(): void {
  for (let time = 0; time < 3; time += 1) collect({ type: 'minor' });
}

/** Bytes a run that are garbage and that the quick collection leaves. */
async function leftBy(run: () => Promise<unknown>): Promise<number> {
  const runs = 200;
  for (let count = 0; count < runs; count += 1) await run();
  collect();
  collectQuickly();
  for (let count = 0; count < runs; count += 1) await run();
  collectQuickly();
  const before = process.memoryUsage().heapUsed;
  collect();
  return (before - process.memoryUsage().heapUsed) / runs;
}

const look = (execute: () => unknown): NonNullable<AgentOptions['tools']>[number] =>
  tool({ name: 'look', description: 'Looks.', input: { type: 'object' }, effect: 'read', execute });

const callThenAnswer = [{ toolCalls: [{ name: 'look', arguments: {} }] }, 'Done.'];

describe('a run leaves little that only a full collection frees', () => {
  it.each([
    { name: 'an answer', options: () => ({ model: scriptedModel(['Done.']) }) },
    {
      name: 'a tool that ends at once, and a store',
      options: () => ({
        model: scriptedModel(callThenAnswer),
        tools: [look(() => 'found')],
        store: memoryStore(),
      }),
    },
    {
      name: 'a tool that takes time, and a store',
      options: () => ({
        model: scriptedModel(callThenAnswer),
        tools: [look(() => Promise.resolve('found'))],
        store: memoryStore(),
      }),
    },
  ])('of $name', { timeout: 30_000 }, async ({ options }) => {
    const bytes = await leftBy(async () => {
      const outcome = await createAgent(options()).run('Do it');
      expect(outcome.type).toBe('completed');
    });
    // About 8,000 on Node 20, where a signal alone is kept until then, and up to 40,000 before anybody looked.
    expect(bytes).toBeLessThan(16_000);
  });

  it('of a flow, with all its agents', { timeout: 30_000 }, async () => {
    const bytes = await leftBy(async () => {
      const agents = {
        first: createAgent({ name: 'first', model: scriptedModel(['One.']) }),
        second: createAgent({ name: 'second', model: scriptedModel(['Two.']) }),
      };
      const outcome = await flow('first >> second', { agents }).run('Do it');
      expect(outcome.type).toBe('completed');
    });
    // About 21,000; it was 89,000.
    expect(bytes).toBeLessThan(45_000);
  });
});
