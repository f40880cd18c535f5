import { describe, expect, it } from 'vitest';
import { handOff } from '../../src/flow/hand-off.ts';
import { flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import type { Message } from '../../src/model/message.ts';
import { calling, callingAll, eventsOf, expectType, plainTool, watchEverything } from '../agent/scene.ts';
import { agentsOf, member, refused, runId, setStage } from './stage.ts';
import type { Script, Stage } from './stage.ts';

// What an agent did stays visible to those who go on where its conversation is not shown.

watchEverything();

const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(200);

interface Shop {
  readonly paid: string[];
  readonly tools: readonly ReturnType<typeof plainTool>[];
}

function openShop(): Shop {
  const paid: string[] = [];
  const input = { type: 'object', properties: { id: { type: 'string' } } } as const;
  const idOf = (given: unknown): string => (given as { readonly id: string }).id;
  const pay = plainTool({
    name: 'pay',
    effect: 'once',
    repeats: 'any',
    input,
    execute: (given) => {
      paid.push(idOf(given));
      return `receipt-${idOf(given)}`;
    },
  });
  const look = plainTool({ name: 'look', effect: 'read', repeats: 'any', input, execute: () => filler });
  return { paid, tools: [pay, look] };
}

const listed = (messages: readonly Message[], id: string): number =>
  JSON.stringify(messages).split(`- pay({\\"id\\":\\"${id}\\"}) → ok: receipt-${id}`).length - 1;

const pays = (id: string) => calling('pay', { id });

describe('the lead of a team', () => {
  const leadOf = (stage: Stage, script: Script, context = {}) =>
    member(script, { name: 'lead', ...stage.world, ...context });

  it('is told what a member did before it failed, also where its own conversation is made shorter', async () => {
    const stage = setStage();
    const { tools, paid } = openShop();
    const lead = leadOf(
      stage,
      [
        calling('clerk', { task: 'Pay x1.' }),
        ...Array.from({ length: 6 }, (_, index) => calling('look', { id: `l${index}` })),
        'All done.',
      ],
      {
        tools: openShop().tools.slice(1),
        context: { maxTokens: 6000, reserveTokens: 200, strategy: 'window' },
      },
    );
    const clerk = member([pays('x1'), calling('look', { id: 'y' }), refused], { tools });
    const made = team({ lead: lead.agent, agents: { clerk: clerk.agent } });
    expectType(await stage.run(made), 'completed');
    expect(paid).toEqual(['x1']);
    expect(eventsOf(stage.events, 'history-compacted').length).toBeGreaterThan(0);
    for (const { request } of lead.model.calls.slice(1)) expect(listed(request.messages, 'x1')).toBe(1);
    expect(JSON.stringify(lead.model.calls[1]?.request.messages)).not.toContain('- look(');
  });

  it('is told of members of members', async () => {
    const stage = setStage();
    const { tools } = openShop();
    const clerk = member([pays('x1'), refused], { tools });
    const inner = member([calling('clerk', { task: 'Pay x1.' }), refused], { name: 'inner' });
    const lead = leadOf(stage, [calling('desk', { task: 'Pay.' }), 'All done.']);
    const desk = team({ lead: inner.agent, agents: { clerk: clerk.agent } });
    expectType(await stage.run(team({ lead: lead.agent, agents: { desk } })), 'completed');
    expect(listed(lead.model.calls[1]?.request.messages ?? [], 'x1')).toBe(1);
  });

  it('is told nothing more where a member answered or did nothing', async () => {
    const stage = setStage();
    const { tools } = openShop();
    const lead = leadOf(stage, [callingAll(['a', { task: 'Pay.' }], ['b', { task: 'Look.' }]), 'All done.']);
    const members = { a: member([pays('x1'), 'Paid.'], { tools }), b: member([refused], { tools }) };
    expectType(await stage.run(team({ lead: lead.agent, agents: agentsOf(members) })), 'completed');
    expect(lead.model.calls[1]?.request.messages.at(-1)?.role).toBe('tool');
  });

  it('gives each job a run of its own, whatever the ids of the calls are', async () => {
    const stage = setStage();
    const ids = ['functions.clerk:0', 'functions:clerk.0', 'functions_clerk_0'];
    const lead = leadOf(stage, [
      { toolCalls: ids.map((callId) => ({ callId, name: 'clerk', arguments: { task: `job ${callId}` } })) },
      'All done.',
    ]);
    const clerk = member(({ messages }) => `did ${JSON.stringify(messages.at(-1)?.content)}`);
    expectType(await stage.run(team({ lead: lead.agent, agents: { clerk: clerk.agent } })), 'completed');
    const answers = JSON.stringify(lead.model.calls[1]?.request.messages);
    for (const id of ids) expect(answers).toContain(`did \\"job ${id}\\"`);
  });
});

describe('a session', () => {
  const first = (script: Script) => member(script, { tools: openShop().tools });
  const inSession = { sessionId: 's' };

  it('of a hand-off shows its agents what was done, once, and no records of the hand-off', async () => {
    const stage = setStage();
    const asked: (readonly Message[])[] = [];
    const script = [
      pays('x1'),
      calling('hand_off', { to: 'b', reason: 'r' }),
      pays('x2'),
      'B answers.',
      'Again.',
    ];
    const step: Script = ({ messages }) => {
      asked.push(messages);
      return script[asked.length - 1] ?? 'Once more.';
    };
    const made = handOff({
      ...stage.world,
      start: 'a',
      agents: agentsOf({ a: first(step), b: first(step) }),
    });
    expectType(await stage.run(made, inSession), 'completed');
    for (const id of ['r2', 'r3'])
      expectType(await stage.run(made, { ...inSession, runId: id }), 'completed');
    for (const messages of asked.slice(4)) {
      expect([listed(messages, 'x1'), listed(messages, 'x2')]).toEqual([1, 1]);
      expect(JSON.stringify(messages)).not.toContain('node-');
    }
    expect(asked).toHaveLength(6);
  });

  it.each(['a flow', 'a hand-off'] as const)('of %s that failed shows what its agents did', async (kind) => {
    const stage = setStage();
    const asked: (readonly Message[])[] = [];
    const next = kind === 'a flow' ? 'A answers.' : calling('hand_off', { to: 'b', reason: 'r' });
    const steps = [pays('x1'), next, refused, pays('x2'), 'Done.', 'Done.'];
    const step: Script = ({ messages }) => {
      asked.push(messages);
      return steps[asked.length - 1] ?? 'Done.';
    };
    const agents = agentsOf({ a: first(step), b: first(step) });
    const made =
      kind === 'a flow'
        ? flow('a >> b', { ...stage.world, agents })
        : handOff({ ...stage.world, start: 'a', agents });
    expectType(await stage.run(made, inSession), 'failed');
    expectType(await stage.run(made, { ...inSession, runId: 'r2' }), 'completed');
    expect(listed(asked[3] ?? [], 'x1')).toBe(1);
    const session = await stage.store.sessions.messages('s');
    expect([listed(session, 'x1'), listed(session, 'x2')]).toEqual([1, 1]);
  });

  it.each(['a team', 'a flow'] as const)(
    'of %s that was cancelled shows what agents below it did that had failed or waited',
    async (kind) => {
      const stage = setStage();
      const asking = plainTool({ name: 'ask', effect: 'once', permission: 'ask', execute: () => 'asked' });
      const { tools } = openShop();
      const lead = member(
        [callingAll(['a', { task: 'Pay.' }], ['b', { task: 'Pay.' }]), 'Done.'],
        stage.world,
      );
      const agents = agentsOf({
        a: first([pays('x1'), refused]),
        b: member([pays('x2'), calling('ask', {})], { tools: [...tools, asking] }),
      });
      const made =
        kind === 'a team' ? team({ lead: lead.agent, agents }) : flow('a | b', { ...stage.world, agents });
      expectType(await stage.run(made, inSession), 'suspended');
      await stage.clock.runUntil(made.cancel(runId));
      const session = await stage.store.sessions.messages('s');
      expect([listed(session, 'x1'), listed(session, 'x2')]).toEqual([1, 1]);
      expect(JSON.stringify(session)).not.toMatch(/b\(.{0,40}was not run/);
    },
  );

  it('of a flow that failed and was resumed shows what its nodes did once more, and no more', async () => {
    const stage = setStage();
    const made = flow('a', {
      ...stage.world,
      agents: agentsOf({ a: first([pays('x1'), refused, 'Done.']) }),
    });
    expectType(await stage.run(made, { ...inSession, runId }), 'failed');
    expectType(await stage.resume(made), 'completed');
    const messages = await stage.store.sessions.messages('s');
    expect(messages.map((message) => listed([message], 'x1'))).toEqual([1, 0, 1, 0]);
  });
});
