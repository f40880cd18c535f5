import { describe, expect, it } from 'vitest';
import type { Hook } from '../../src/agent/hooks/hook.ts';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import { all, askedIn, planOf, usual } from './plan-stage.ts';
import { agentsOf, member, refused, setStage, statusesIn } from './stage.ts';

// Hooks of a flow see its nodes as calls, and may put something else in the place of what a node gave.

const given = [
  { what: 'a text', content: 'from the hook', text: 'from the hook' },
  { what: 'parts', content: [{ type: 'text', text: 'in parts' }], text: 'in parts' },
  { what: 'JSON of somebody else', content: '{"count":3}', text: '{"count":3}' },
  { what: 'broken JSON', content: '{"text":"half', text: '{"text":"half' },
  { what: 'a record of ours', content: '{"text":"as we write it"}', text: 'as we write it' },
] as const;

describe.each(given)('a hook that puts $what in the place of what a node gave', ({ content, text }) => {
  const after: Hook = {
    name: 'after',
    kind: 'transformer',
    on: { 'after-tool': ({ call }) => (call.name === 'a' ? { action: 'modify', content } : undefined) },
  };
  const before: Hook = {
    name: 'before',
    kind: 'transformer',
    on: { 'before-tool': ({ call }) => (call.name === 'a' ? { action: 'skip', content } : undefined) },
  };

  it.each([after, before])('in a flow is that node from then on: $name', async (hook) => {
    const { world, run } = setStage();
    const members = { a: member(['A']), b: member(['B']) };
    const ended = await run(flow('a >> b', { agents: agentsOf(members), hooks: [hook], ...world }));
    expect(ended).toMatchObject({
      type: 'completed',
      text: 'B',
      nodes: [{ name: 'a', text }, { name: 'b' }],
    });
    expect(askedIn(members.b, 0)).toContain(text);
  });

  it.each([after, before])('in a hand-off is the answer: $name', async (hook) => {
    const { world, run } = setStage();
    const members = { a: member(['A']), b: member([]) };
    const ended = await run(handOff({ agents: agentsOf(members), start: 'a', hooks: [hook], ...world }));
    expect(ended).toMatchObject({ type: 'completed', text });
    expect(statusesIn(ended)).toEqual({ a: 'succeeded' });
  });
});

describe('a hook that makes nonsense of what the planner said', () => {
  it('has it asked for again, and then ends the plan with its failure', async () => {
    const stage = setStage();
    const nonsense: Hook = {
      name: 'nonsense',
      kind: 'transformer',
      on: {
        'after-tool': ({ call }) =>
          call.name === 'make_plan' ? { action: 'modify', content: 'nonsense' } : undefined,
      },
    };
    const script = [all, ...Array.from({ length: 3 }, () => usual)];
    const { made, done } = planOf(stage, { script, hooks: [nonsense] });
    const ended = await stage.run(made);
    expect(ended).toMatchObject({ type: 'failed', failure: { code: 'PLAN_INVALID' } });
    expect(done).toEqual({ read: 0, guess: 0, tell: 0 });
  });
});

describe('a hook of an agent that decides what its model is asked', () => {
  const mask: Hook = { name: 'mask', kind: 'transformer', on: { 'before-model': () => undefined } };

  it.each([
    { where: 'an agent of the flow', isDeep: false },
    { where: 'an agent of a flow in the flow', isDeep: true },
  ])('is not gone past by the explanation of a flow: $where', async ({ isDeep }) => {
    const told = async (hooks: readonly Hook[]): Promise<string> => {
      const { bare, run } = setStage();
      const asked = member(['A', 'no explanation'], { hooks });
      const first = isDeep ? flow('inner', { agents: { inner: asked.agent } }) : asked.agent;
      const agents = { a: first, b: member([refused]).agent };
      await run(flow('a >> b', { agents, explain: 'always', ...bare }), { input: 'It is private-word.' });
      return askedIn(asked, 1);
    };
    expect(await told([])).toContain('private-word');
    const masked = await told([mask]);
    expect(masked).toContain('The run failed with INVALID_REQUEST');
    expect(masked).not.toContain('private-word');
  });
});
