import { describe, expect, it } from 'vitest';
import { team } from '../../src/flow/team.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { calling, callingAll, expectType, resultsIn, watchEverything } from '../agent/scene.ts';
import {
  agentsOf,
  callsOf,
  childEventsIn,
  countingTool,
  expectUsage,
  longWait,
  member,
  refused,
  setStage,
} from './stage.ts';
import type { Member, Script, Stage } from './stage.ts';

watchEverything();

const threeJobs = callingAll(['a', { task: 'one' }], ['a', { task: 'two' }], ['b', { task: 'three' }]);

interface Desk {
  readonly members: Readonly<Record<'a' | 'b' | 'lead', Member>>;
  readonly made: Agent;
}

interface Scripts {
  readonly lead?: Script;
  readonly a: Script;
  readonly b: Script;
}

function desk({ world }: Pick<Stage, 'world'>, { lead = [threeJobs, 'All done.'], a, b }: Scripts): Desk {
  const pay = countingTool('pay', { permission: 'ask' });
  const members = {
    a: member(a),
    b: member(b, { tools: [pay.tool] }),
    lead: member(lead, { name: 'lead', ...world }),
  };
  const made = team({
    lead: members.lead.agent,
    agents: { a: members.a.agent, b: members.b.agent },
    members: { a: { description: 'Finds sources.' } },
  });
  return { members, made };
}

/** What was answered depends on the job, so that jobs may come in any order. */
const echo: Script = ({ messages }) => `done ${JSON.stringify(messages.at(-1)?.content)}`;

describe('a team', () => {
  it('tells the lead of each job that failed, and leaves the others their results', async () => {
    const stage = setStage();
    const { made, members } = desk(stage, { a: echo, b: [refused] });
    expect(expectType(await stage.run(made), 'completed').text).toBe('All done.');
    const told = resultsIn(members.lead.model.calls[1]?.request.messages ?? []);
    expect(told[0]).toBe('done "one"');
    expect(told[1]).toBe('done "two"');
    expect(told[2]).toContain('INVALID_REQUEST');
  });

  it('refuses a job without a task, and does not begin it', async () => {
    const stage = setStage();
    const lead = [calling('a', { job: 'one' }), 'Well.'];
    const { made, members } = desk(stage, { lead, a: echo, b: [] });
    expectType(await stage.run(made), 'completed');
    expect(callsOf(members)).toEqual({ lead: 2, a: 0, b: 0 });
  });

  it('runs jobs side by side, each a run of its own, and hears what they tell', async () => {
    const stage = setStage();
    const slow = { text: 'slow', delayMs: 10_000 };
    const { made, members } = desk(stage, { a: [slow, slow], b: [slow] });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(outcome.usage.elapsedMs).toBeLessThan(20_000);
    expectUsage(outcome, 5);
    expect(Object.keys(await stage.statuses())).toHaveLength(4);
    expect(childEventsIn(stage.events).filter((event) => event === 'a:run-finished')).toHaveLength(2);
    expect(members.lead.model.calls[0]?.request.tools?.[0]).toMatchObject({
      name: 'a',
      description: expect.stringContaining('Finds sources.') as string,
    });
  });

  it('waits with a job that waits for a person, and the others keep their results', async () => {
    const stage = setStage();
    const { made, members } = desk(stage, { a: echo, b: [calling('pay'), 'B paid'] });
    const outcome = expectType(await stage.run(made), 'suspended');
    expect(outcome.request).toMatchObject({
      tool: 'pay',
      id: expect.stringMatching(/^r1\/b-1-.*approval$/) as string,
    });
    expect(expectType(await stage.resume(made, { answer: true }), 'completed').text).toBe('All done.');
    expect(callsOf(members)).toEqual({ lead: 2, a: 2, b: 2 });
    expect(resultsIn(members.lead.model.calls[1]?.request.messages ?? [])[2]).toBe('B paid');
  });

  it('waits with a job that must wait for long', async () => {
    const stage = setStage();
    const { made, members } = desk(stage, { a: echo, b: [{ failure: longWait() }, 'B says'] });
    expect(expectType(await stage.run(made), 'suspended').reason).toBe('long-wait');
    await stage.clock.advance(3_700_000);
    expect(expectType(await stage.resume(made), 'completed').text).toBe('All done.');
    expect(callsOf(members)).toEqual({ lead: 2, a: 2, b: 2 });
  });

  it('goes on after a crash in the middle of its jobs: what is finished is not done again', async () => {
    const first = setStage();
    const late = { text: 'late', delayMs: 3_600_000 };
    void desk(first, { a: echo, b: [late] }).made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    const second = first.die();
    const { made, members } = desk(second, { lead: ['All done.'], a: [], b: ['B says'] });
    const outcome = await second.resume(made);
    expect(expectType(outcome, 'completed').text).toBe('All done.');
    expect(callsOf(members)).toEqual({ lead: 1, a: 0, b: 1 });
    expect(resultsIn(members.lead.model.calls[0]?.request.messages ?? [])).toEqual([
      'done "one"',
      'done "two"',
      'B says',
    ]);
    expectUsage(outcome, 5);
  });

  it('gives a job twice where the lead does, each with a run of its own', async () => {
    const stage = setStage();
    const again = { toolCalls: [{ name: 'a', arguments: { task: 'one' }, callId: 'same' }] };
    const { made, members } = desk(stage, { lead: [again, again, 'Done.'], a: echo, b: [] });
    expectType(await stage.run(made), 'completed');
    expect(members.a.model.calls).toHaveLength(2);
  });

  it('is part of another team', async () => {
    const stage = setStage();
    const inner = desk({ world: {} }, { a: echo, b: ['B says'] });
    const boss = member([calling('desk', { task: 'all of it' }), 'Very good.'], {
      name: 'boss',
      ...stage.world,
    });
    const made = team({ lead: boss.agent, agents: { desk: inner.made } });
    const outcome = await stage.run(made);
    expect(expectType(outcome, 'completed').text).toBe('Very good.');
    expectUsage(outcome, 7);
    const { runs } = await stage.store.runs.list({ limit: 100 });
    expect(new Set(runs.map(({ agent }) => agent))).toEqual(
      new Set(['boss', 'boss/desk', 'boss/desk/a', 'boss/desk/b']),
    );
  });

  it('keeps its own name where it has one', async () => {
    const stage = setStage();
    const lead = member(['Alone.'], { name: 'lead', ...stage.world });
    const made = team({ lead: lead.agent, agents: agentsOf({ a: member([]) }), name: 'desk' });
    await stage.run(made);
    expect((await stage.store.runs.find('r1'))?.agent).toBe('desk');
  });
});
