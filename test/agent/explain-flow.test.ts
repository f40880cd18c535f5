import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { createAgent } from '../../src/index.ts';
import type { RunOutcome } from '../../src/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { memoryStore } from '../../src/testing/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { calling, plainTool, watchedModel, watchEverything } from './scene.ts';

watchEverything();

const burn = plainTool({
  name: 'burn',
  effect: 'read',
  onError: 'abort',
  execute: () => {
    throw new Error('the oven is on fire');
  },
});

const said = JSON.stringify({
  summary: 'The dough was made, but the oven burnt.',
  claims: [{ text: 'The run failed with TOOL_EXECUTION_ERROR.', facts: [1] }],
  nextSteps: ['resume'],
});

interface Kitchen {
  readonly run: () => Promise<RunOutcome>;
  readonly dough: ScriptedModel;
  readonly oven: ScriptedModel;
}

function kitchen(explain: 'auto' | 'never', store = memoryStore()): Kitchen {
  const dough = watchedModel(['Kneaded.', said], { provider: 'p0', name: 'm0' });
  const oven = watchedModel([calling('burn')], { provider: 'p1', name: 'm1' });
  const bakery = flow('dough >> oven', {
    agents: {
      dough: createAgent({ name: 'dough', model: dough }),
      oven: createAgent({ name: 'oven', model: oven, tools: [burn] }),
    },
    store,
    explain,
    gates: createGates(),
  });
  return { run: () => bakery.run('Bake.', { runId: 'one' }), dough, oven };
}

const explanationOf = (outcome: RunOutcome): unknown =>
  'report' in outcome ? outcome.report.explanation : 'no report';

describe('a flow that failed', () => {
  it('is not explained unless that is wished', async () => {
    const { run, dough } = kitchen('never');
    expect(explanationOf(await run())).toBeUndefined();
    expect(dough.calls).toHaveLength(1);
  });

  it('is explained by a model of its agents, which is told of its nodes', async () => {
    const store = memoryStore();
    const { run, dough, oven } = kitchen('auto', store);
    const outcome = await run();
    expect(outcome.type).toBe('failed');
    expect(explanationOf(outcome)).toMatchObject({
      summary: 'The dough was made, but the oven burnt.',
      model: 'p0/m0',
    });
    expect([dough.calls.length, oven.calls.length]).toEqual([2, 1]);
    const prompt = JSON.stringify(dough.calls[1]?.request.messages);
    expect(prompt).toMatch(/The step .{1,3}dough.{1,3}: succeeded/);
    expect(prompt).toMatch(/The step .{1,3}oven.{1,3}: failed; TOOL_EXECUTION_ERROR/);
    const again = kitchen('auto', store);
    expect(explanationOf(await again.run())).toEqual(explanationOf(outcome));
    expect([again.dough.calls.length, again.oven.calls.length]).toEqual([0, 0]);
  });
});
