import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { Flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import { calling, decisionsIn, expectType, watchEverything } from '../agent/scene.ts';
import { all, asks, other, planOf, trouble, usual } from './plan-stage.ts';
import type { Planned, PlanScene } from './plan-stage.ts';
import { childEventsIn, expectUsage, member, setStage, statusesIn } from './stage.ts';
import type { Stage } from './stage.ts';

watchEverything();

interface Nested {
  readonly inner: Planned;
  readonly made: Flow;
}

/** A plan between two agents. */
function nested({ world }: Pick<Stage, 'world'>, scene: PlanScene): Nested {
  const inner = planOf({ world: {} }, { name: 'house', ...scene });
  const agents = {
    ask: member(['How warm is it?']).agent,
    house: inner.made,
    write: member(['Written.']).agent,
  };
  return { inner, made: flow('ask >> house >> write', { agents, ...world }) };
}

describe('a plan as a node of a flow', () => {
  it('answers as any agent does, under one account', async () => {
    const stage = setStage();
    const { made, inner } = nested(stage, { script: [all, usual, 'It is warm.'] });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(outcome.text).toBe('Written.');
    expect(inner.told).toEqual([21]);
    expect(statusesIn(outcome)).toEqual({ ask: 'succeeded', house: 'succeeded', write: 'succeeded' });
    expectUsage(outcome, 5);
    expect(await stage.statuses()).toMatchObject({
      'r1/house': 'completed',
      'r1/house/classify-node-1-0': 'completed',
    });
    expect(childEventsIn(stage.events)).toContain('house:tool-finished');
  });

  it('replans inside, and the flow hears of it', async () => {
    const stage = setStage();
    const { made, inner } = nested(stage, {
      script: [all, usual, other, 'It is cool.'],
      read: () => {
        throw trouble('replanning');
      },
    });
    expectType(await stage.run(made), 'completed');
    expect(inner.told).toEqual([18]);
    expect(childEventsIn(stage.events)).toContain('house:recovery');
    expect(decisionsIn(stage.events)).toEqual([]);
  });

  it('fails the flow where it fails, and both are gone on with at the failed step only', async () => {
    const stage = setStage();
    const { made, inner } = nested(stage, {
      script: [all, usual, 'It is warm.'],
      tell: (times) => {
        if (times === 1) throw trouble('critical', 'the phone is on fire');
      },
    });
    const { failure } = expectType(await stage.run(made), 'failed');
    expect(failure.message).toContain('The node "house"');
    expect(failure.message).toContain('Step "b" (tell) failed: the phone is on fire');
    const outcome = expectType(await stage.resume(made), 'completed');
    expect(inner.done).toEqual({ read: 1, guess: 0, tell: 2 });
    expectUsage(outcome, 5);
  });

  it('asks through the flow, and takes the answer in another process', async () => {
    const first = setStage();
    const question = nested(first, { script: [all, asks('Which room?')] });
    const waiting = expectType(await first.run(question.made), 'suspended');
    expect(waiting).toMatchObject({
      reason: 'clarification',
      request: { type: 'question', question: 'Which room?' },
    });
    expect(statusesIn(waiting)).toMatchObject({ house: 'waiting' });
    const second = first.die();
    const { made, inner } = nested(second, { script: [usual, 'It is warm.'] });
    expectType(await second.resume(made, { answer: 'The cellar.' }), 'completed');
    expect(inner.told).toEqual([21]);
  });

  it('dies with the flow in the middle of a replan, and nothing is lost or doubled', async () => {
    const first = setStage();
    const failing: PlanScene['read'] = () => {
      throw trouble('replanning');
    };
    const begun = nested(first, { script: [all, usual, { text: other, delayMs: 3_600_000 }], read: failing });
    void begun.made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    const second = first.die();
    const { made, inner } = nested(second, { script: [other, 'It is cool.'], read: failing });
    const outcome = expectType(await second.resume(made), 'completed');
    expect(begun.inner.done).toEqual({ read: 1, guess: 0, tell: 0 });
    expect(inner.done).toEqual({ read: 0, guess: 1, tell: 1 });
    expect(inner.model.calls).toHaveLength(2);
    expect(statusesIn(outcome)).toEqual({ ask: 'succeeded', house: 'succeeded', write: 'succeeded' });
  });

  it('obeys a rule of the flow against its capability, and plans round it', async () => {
    const stage = setStage();
    const inner = planOf(
      { world: {} },
      {
        name: 'house',
        script: [all, usual, JSON.stringify({ steps: [], question: '' }), 'Nobody was told.'],
      },
    );
    const made = flow('house', {
      agents: { house: inner.made },
      policy: { permissions: [{ tool: 'tell', permission: 'deny' }] },
      ...stage.world,
    });
    expectType(await stage.run(made), 'completed');
    expect(inner.done).toEqual({ read: 1, guess: 0, tell: 0 });
  });
});

describe('a plan as a member of a team', () => {
  it('is called by the lead with a task, and answers', async () => {
    const stage = setStage();
    const inner = planOf({ world: {} }, { name: 'house', script: [all, usual, 'It is warm.'] });
    const lead = member([calling('house', { task: 'How warm is it?' }), 'It is warm, they say.'], {
      name: 'lead',
      ...stage.world,
    });
    const desk = team({ lead: lead.agent, agents: { house: inner.made } });
    const outcome = expectType(await stage.run(desk), 'completed');
    expect(outcome.text).toBe('It is warm, they say.');
    expect(inner.told).toEqual([21]);
    expectUsage(outcome, 5);
  });

  it('that fails is told to the lead, which may call it again', async () => {
    const stage = setStage();
    const inner = planOf(
      { world: {} },
      {
        name: 'house',
        script: [all, usual, 'never'],
        tell: () => {
          throw trouble('critical', 'the phone is on fire');
        },
      },
    );
    const lead = member([calling('house', { task: 'How warm is it?' }), 'Nobody could be told.'], {
      name: 'lead',
      ...stage.world,
    });
    const desk = team({ lead: lead.agent, agents: { house: inner.made } });
    const outcome = expectType(await stage.run(desk), 'completed');
    expect(JSON.stringify(outcome.messages)).toContain('(tell) failed: the phone is on fire');
    expect(outcome.recoveries).toMatchObject([{ recovery: 'tell-model' }]);
  });
});
