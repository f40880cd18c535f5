import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import { expectType, watchEverything } from '../agent/scene.ts';
import { all, other, planOf, trouble, usual } from './plan-stage.ts';
import type { Planned } from './plan-stage.ts';
import { dyingStore, expectUsage, setStage, statusesIn } from './stage.ts';
import type { Stage } from './stage.ts';

watchEverything();

// One plan with everything in it: a step that fails, another plan, a yes to each plan, and a step that must happen once. It is
// killed at every operation of its store, and taken up again.

/** What happened outside, whichever process did it. */
interface World {
  readonly told: string[];
  readonly asked: string[];
}

function answerOf(text: string): string {
  if (text.includes('Choose the capabilities')) return all;
  if (text.includes('Make a plan')) return text.includes('the sensor is broken') ? other : usual;
  return 'It is cool.';
}

function house({ world }: Pick<Stage, 'world'>, outside: World): Planned {
  const answer: ScriptStep = ({ messages }) => {
    const said = answerOf(JSON.stringify(messages));
    outside.asked.push(said);
    return said;
  };
  return planOf(
    { world },
    {
      script: Array.from({ length: 20 }, () => answer),
      approvePlan: true,
      callbacks: { onApproval: () => true },
      read: () => {
        throw trouble('replanning', 'the sensor is broken');
      },
      tell: () => void outside.told.push('told'),
      about: { tell: { verify: () => ({ happened: outside.told.length > 0 }) } },
    },
  );
}

const operations = Array.from({ length: 46 }, (_each, index) => index + 1);

describe('a plan that dies in the middle', () => {
  it.each(
    operations.flatMap((operation) => (['before', 'after'] as const).map((when) => ({ operation, when }))),
  )(
    'is carried to its end, and does nothing twice: $when operation $operation',
    async ({ operation, when }) => {
      const stage = setStage();
      const outside: World = { told: [], asked: [] };
      const dying = dyingStore(stage.store, { at: operation, when });
      void house({ world: { ...stage.world, store: dying } }, outside)
        .made.run('Do it.', { runId: 'r1' })
        .catch(() => undefined);
      await stage.clock.advance(100);
      const outcome = expectType(await stage.run(house(stage, outside).made), 'completed');
      expect(outcome.text).toBe('It is cool.');
      expect(outside.told).toEqual(['told']);
      // A question of which nobody has seen the answer is asked again: no more than one.
      expect(outside.asked.length).toBeLessThanOrEqual(5);
      expectUsage(outcome, 4);
      expect(outcome.recoveries.filter(({ recovery }) => recovery === 'replan')).toHaveLength(1);
      expect(statusesIn(outcome)).toEqual({ a: 'failed', c: 'succeeded', b: 'succeeded' });
      expect(new Set(Object.values(await stage.statuses()))).toEqual(new Set(['completed']));
    },
  );

  it('by the last of these operations has ended: the table is long enough', async () => {
    const stage = setStage();
    const outside: World = { told: [], asked: [] };
    const dying = dyingStore(stage.store, { at: operations.length, when: 'before' });
    void house({ world: { ...stage.world, store: dying } }, outside)
      .made.run('Do it.', { runId: 'r1' })
      .catch(() => undefined);
    await stage.clock.advance(100);
    expect((await stage.store.runs.find('r1'))?.status).toBe('completed');
  });
});
