import { describe, expect, it } from 'vitest';
import { handOff } from '../../src/flow/hand-off.ts';
import { calling, callingAll, expectType, resultsIn, watchEverything } from '../agent/scene.ts';
import {
  agentsOf,
  callsOf,
  countingTool,
  dyingStore,
  expectUsage,
  member,
  refused,
  setStage,
} from './stage.ts';
import type { Member, Script, Stage } from './stage.ts';

watchEverything();

const toBilling = calling('hand_off', { to: 'billing', reason: 'It is about money.' });
const toTriage = calling('hand_off', { to: 'triage', reason: 'Not mine.' });

interface Support {
  readonly members: Readonly<Record<'triage' | 'billing', Member>>;
  readonly made: ReturnType<typeof handOff>;
}

interface Scripts {
  readonly triage: Script;
  readonly billing: Script;
  readonly maxHandoffs?: number;
}

function support({ world }: Pick<Stage, 'world'>, { triage, billing, maxHandoffs }: Scripts): Support {
  const pay = countingTool('pay');
  const members = {
    triage: member(triage, { instructions: 'You send people on.' }),
    billing: member(billing, { instructions: 'You know money.', tools: [pay.tool] }),
  };
  const made = handOff({
    agents: agentsOf(members),
    start: 'triage',
    name: 'support',
    ...(maxHandoffs === undefined ? {} : { maxHandoffs }),
    ...world,
  });
  return { members, made };
}

describe('a hand-off', () => {
  it('tells the model of a name that nobody has, and of the one that was meant', async () => {
    const stage = setStage();
    const wrong = calling('hand_off', { to: 'biling', reason: 'money' });
    const { made, members } = support(stage, { triage: [wrong, toBilling], billing: ['Paid back.'] });
    expect(expectType(await stage.run(made), 'completed').text).toBe('Paid back.');
    const told = resultsIn(members.triage.model.calls[1]?.request.messages ?? []);
    expect(told.join(' ')).toContain('There is no agent "biling": did you mean "billing"?');
  });

  it('ends at its bound, and shows who sent it to and fro', async () => {
    const stage = setStage();
    const repeat = { modelOptions: { repeat: 'last' } } as const;
    const members = { triage: member([toBilling], repeat), billing: member([toTriage], repeat) };
    const made = handOff({ agents: agentsOf(members), start: 'triage', maxHandoffs: 3, ...stage.world });
    const { failure, nodes } = expectType(await stage.run(made), 'failed');
    expect(failure).toMatchObject({
      code: 'MAX_HANDOFFS_EXCEEDED',
      message: expect.stringContaining('3 times') as string,
      context: { maxHandoffs: 3, path: ['triage', 'billing', 'triage', 'billing', 'triage'] },
    });
    expect(nodes?.map(({ name }) => name)).toEqual(['triage', 'billing', 'triage', 'billing']);
    expect(callsOf(members)).toEqual({ triage: 2, billing: 2 });
  });

  it('fails with the name of the agent, and goes on with that one', async () => {
    const stage = setStage();
    const { made, members } = support(stage, {
      triage: [toBilling],
      billing: [calling('pay'), refused, 'Paid back.'],
    });
    expect(expectType(await stage.run(made), 'failed').failure).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('The agent "billing" of the hand-off "support" failed') as string,
      context: { node: 'billing' },
    });
    const outcome = await stage.resume(made);
    expect(expectType(outcome, 'completed').text).toBe('Paid back.');
    expect(callsOf(members)).toEqual({ triage: 1, billing: 3 });
    expect(outcome.usage.requests).toBe(4);
  });

  it('passes the whole conversation on, with who passed it on and why', async () => {
    const stage = setStage();
    const { made, members } = support(stage, { triage: [toBilling], billing: ['Paid back.'] });
    const outcome = await stage.run(made, {
      input: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'What is it?' },
        { role: 'user', content: 'My money!' },
      ],
    });
    expect(expectType(outcome, 'completed')).toMatchObject({ text: 'Paid back.', output: 'Paid back.' });
    const { messages } = members.billing.model.calls[0]?.request ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(messages[0]?.content).toContain('You know money.');
    const whole = JSON.stringify(messages);
    expect(whole).toContain('My money!');
    expect(whole).toContain('passed to you by \\"triage\\": It is about money.');
    expect(whole).not.toContain('You send people on.');
    expect(outcome.nodes).toMatchObject([
      {
        name: 'triage',
        status: 'succeeded',
        reason: 'passed on to "billing": It is about money.',
        runId: 'r1/0-triage',
      },
      { name: 'billing', status: 'succeeded', text: 'Paid back.', runId: 'r1/1-billing' },
    ]);
    expectUsage(outcome, 2);
  });

  it('follows the first of two calls in one turn', async () => {
    const stage = setStage();
    const both = callingAll(
      ['hand_off', { to: 'billing', reason: 'first' }],
      ['hand_off', { to: 'triage', reason: 'second' }],
    );
    const { made, members } = support(stage, { triage: [both], billing: ['Paid back.'] });
    expect(expectType(await stage.run(made), 'completed').text).toBe('Paid back.');
    expect(callsOf(members)).toEqual({ triage: 1, billing: 1 });
  });

  it('lets the calls beside it be done, and a wrong name beside a right one does not stand in its way', async () => {
    const stage = setStage();
    const pay = countingTool('pay');
    const both = callingAll(
      ['hand_off', { to: 'nobody', reason: 'x' }],
      ['pay'],
      ['hand_off', { to: 'billing', reason: 'y' }],
    );
    const triage = member([both], { tools: [pay.tool] });
    const billing = member(['Paid back.']);
    const agents = { triage: triage.agent, billing: billing.agent };
    const outcome = await stage.run(handOff({ agents, start: 'triage', ...stage.world }));
    expect(expectType(outcome, 'completed').text).toBe('Paid back.');
    expect(pay.inputs).toHaveLength(1);
  });

  it('gives the output of the last one', async () => {
    const stage = setStage();
    const { made } = support(stage, { triage: ['I can answer that myself.'], billing: [] });
    expect(expectType(await stage.run(made), 'completed').text).toBe('I can answer that myself.');
  });
});

describe('a process that dies in the middle of a hand-off', () => {
  it.each(Array.from({ length: 24 }, (_each, index) => ({ operation: index + 1 })))(
    'leaves nothing lost and nothing doubled: at operation $operation',
    async ({ operation }) => {
      const stage = setStage();
      const dying = dyingStore(stage.store, { at: operation, when: 'after' });
      const asked: string[] = [];
      const scripts: Scripts = {
        triage: () => {
          asked.push('triage');
          return toBilling;
        },
        billing: () => {
          asked.push('billing');
          return 'Paid back.';
        },
      };
      void support({ world: { ...stage.world, store: dying } }, scripts)
        .made.run('My money!', { runId: 'r1' })
        .catch(() => undefined);
      await stage.clock.advance(100);
      const { made } = support(stage, scripts);
      const outcome = await stage.run(made, { input: 'My money!' });
      expect(expectType(outcome, 'completed').text).toBe('Paid back.');
      // A call of a model that nobody has seen the end of is made again: no more than one.
      expect(asked.length).toBeLessThanOrEqual(3);
      expectUsage(outcome, 2);
      expect(Object.keys(await stage.statuses()).toSorted()).toEqual(['r1', 'r1/0-triage', 'r1/1-billing']);
    },
  );
});
