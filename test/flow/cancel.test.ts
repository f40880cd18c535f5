import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { Flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import { calling, callingAll, expectType, watchEverything } from '../agent/scene.ts';
import { countingTool, member, setStage, statusesIn } from './stage.ts';
import type { Stage } from './stage.ts';

watchEverything();

const slow = { text: 'late', delayMs: 3_600_000 } as const;
const allCancelled = {
  r1: 'cancelled',
  'r1/inner': 'cancelled',
  'r1/inner/a': 'cancelled',
  'r1/inner/b': 'cancelled',
  'r1/c': 'cancelled',
} as const;

interface Nested {
  readonly made: Flow;
  readonly signals: AbortSignal[];
}

/** `a` is at work in a tool, `b` waits for a person, `c` for its model. */
function nested({ world }: Pick<Stage, 'world'>): Nested {
  const signals: AbortSignal[] = [];
  const work = countingTool('work', {
    effect: 'read',
    execute: (_input, { signal }) => {
      signals.push(signal);
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    },
  });
  const pay = countingTool('pay', { permission: 'ask' });
  const a = member([calling('work'), 'never'], { tools: [work.tool] });
  const b = member([calling('pay'), 'never'], { tools: [pay.tool] });
  const c = member([slow]);
  const inner = flow('a | b', { agents: { a: a.agent, b: b.agent }, name: 'inner' });
  return { made: flow('inner | c', { agents: { inner, c: c.agent }, ...world }), signals };
}

describe('to cancel a flow', () => {
  it.each(['by its name', 'by the signal of the caller'] as const)(
    'reaches all below it, whatever they do, %s',
    async (how) => {
      const stage = setStage();
      const { made, signals } = nested(stage);
      const controller = new AbortController();
      const running = made.run('Do it.', { runId: 'r1', signal: controller.signal });
      await stage.clock.advance(1000);
      expect(signals).toHaveLength(1);
      if (how === 'by its name') await stage.clock.runUntil(made.cancel('r1'));
      else controller.abort();
      const outcome = await stage.clock.runUntil(running);
      expect(outcome.type).toBe('cancelled');
      expect(statusesIn(outcome)).toEqual({ inner: 'cancelled', c: 'cancelled' });
      expect(signals[0]?.aborted).toBe(true);
      expect(await stage.statuses()).toEqual(allCancelled);
      expect(outcome.usage.requests).toBe(3);
    },
  );

  it('reaches all below it without a store', async () => {
    const stage = setStage();
    const { bare: world } = stage;
    const { made, signals } = nested({ world });
    const running = made.run('Do it.', { runId: 'r1' });
    await stage.clock.advance(1000);
    await stage.clock.runUntil(made.cancel('r1'));
    expect((await running).type).toBe('cancelled');
    expect(signals[0]?.aborted).toBe(true);
    expect(stage.clock.pending()).toBe(0);
  });

  it('reaches the process that carries it, from another one', async () => {
    const stage = setStage();
    const { made, signals } = nested(stage);
    const running = made.run('Do it.', { runId: 'r1' });
    await stage.clock.advance(1000);
    const other = nested({ world: { ...stage.world, store: stage.store.reopen() } });
    await stage.clock.runUntil(other.made.cancel('r1'));
    const outcome = await stage.clock.runUntil(running);
    expect(outcome.type).toBe('cancelled');
    expect(signals[0]?.aborted).toBe(true);
    expect(await stage.statuses()).toEqual(allCancelled);
  });

  it('reaches what a process that died has left behind', async () => {
    const first = setStage();
    void nested(first).made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    const second = first.die();
    const { made } = nested(second);
    await second.clock.runUntil(made.cancel('r1'));
    expect(await second.statuses()).toEqual(allCancelled);
  });

  it('reaches those that wait with it, in another process too', async () => {
    const first = setStage();
    const make = ({ world }: Stage): Flow => {
      const pay = countingTool('pay', { permission: 'ask' });
      const a = member([calling('pay')], { tools: [pay.tool] });
      const b = member([calling('pay')], { tools: [pay.tool] });
      const inner = flow('a', { agents: { a: a.agent }, name: 'inner' });
      return flow('inner | b', { agents: { inner, b: b.agent }, ...world });
    };
    expectType(await first.run(make(first)), 'suspended');
    const second = first.die();
    await second.clock.runUntil(make(second).cancel('r1'));
    expect(await second.statuses()).toEqual({
      r1: 'cancelled',
      'r1/inner': 'cancelled',
      'r1/inner/a': 'cancelled',
      'r1/b': 'cancelled',
    });
  });

  it('does nothing to one that has ended', async () => {
    const stage = setStage();
    const made = flow('a', { agents: { a: member(['A says']).agent }, ...stage.world });
    await stage.run(made);
    await stage.clock.runUntil(made.cancel('r1'));
    expect(await stage.statuses()).toEqual({ r1: 'completed', 'r1/a': 'completed' });
  });
});

describe('to cancel a team', () => {
  it('reaches the members at work, and those that wait for a person', async () => {
    const stage = setStage();
    const pay = countingTool('pay', { permission: 'ask' });
    const a = member([slow]);
    const b = member([calling('pay')], { tools: [pay.tool] });
    const lead = member([callingAll(['a', { task: '1' }], ['b', { task: '2' }])], {
      name: 'lead',
      ...stage.world,
    });
    const desk = team({ lead: lead.agent, agents: { a: a.agent, b: b.agent } });
    const running = desk.run('Do it.', { runId: 'r1' });
    await stage.clock.advance(1000);
    await stage.clock.runUntil(desk.cancel('r1'));
    expect((await running).type).toBe('cancelled');
    const statuses = await stage.statuses();
    expect(Object.values(statuses)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });
});
