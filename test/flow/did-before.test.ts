import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import type { Message } from '../../src/model/message.ts';
import { calling, expectType, plainTool, watchEverything } from '../agent/scene.ts';
import { agentsOf, member, refused, runId, setStage } from './stage.ts';
import type { Member, Script } from './stage.ts';

// What an agent of a flow did before it ended without an answer is told to the agents that take its place or go on without it.

watchEverything();

const paying = (effect: 'once' | 'idempotent' = 'once') => {
  const input = { type: 'object', properties: { id: { type: 'string' } } } as const;
  const execute = (given: unknown): string => `receipt-${(given as { readonly id: string }).id}`;
  return [plainTool({ name: 'pay', effect, repeats: 'any', input, execute })];
};

const payer = (script: Script): Member => member(script, { tools: paying() });
const pays = (id: string) => calling('pay', { id });

const listed = (messages: readonly Message[] | undefined, id: string): number =>
  JSON.stringify(messages).split(`- pay({\\"id\\":\\"${id}\\"}) → ok: receipt-${id}`).length - 1;

const askedOf = ({ model }: Member, call = 0): readonly Message[] | undefined =>
  model.calls[call]?.request.messages;

describe('a fallback', () => {
  it('is told what the node in whose place it stands did, and what it is asked stays the last word', async () => {
    const stage = setStage();
    const members = { a: payer([pays('x1'), refused]), spare: payer(['Done.']) };
    const nodes = { a: { onError: { fallback: 'spare' } } } as const;
    expectType(await stage.run(flow('a', { ...stage.world, agents: agentsOf(members), nodes })), 'completed');
    const asked = askedOf(members.spare);
    expect(listed(asked, 'x1')).toBe(1);
    expect(JSON.stringify(asked?.[0])).toContain('worked on without an answer by: \\"a\\"');
    expect(asked?.at(-1)).toMatchObject({ role: 'user', content: 'Do it.' });
  });

  it('of a fallback is told of the whole chain, each thing once, and so are those after it', async () => {
    const stage = setStage();
    const members = {
      first: payer(['Go.']),
      a: payer([pays('x1'), refused]),
      b: payer([pays('x2'), refused]),
      c: payer([pays('x3'), refused]),
      last: payer(['Done.']),
    };
    const nodes = {
      a: { onError: { fallback: 'b' } },
      b: { onError: { fallback: 'c' } },
      c: { onError: 'skip' },
    } as const;
    const made = flow('first >> a >> last', { ...stage.world, agents: agentsOf(members), nodes });
    expectType(await stage.run(made, { sessionId: 's' }), 'completed');
    const counts = (asked: readonly Message[] | undefined) =>
      ['x1', 'x2', 'x3'].map((id) => listed(asked, id));
    expect(counts(askedOf(members.a))).toEqual([0, 0, 0]);
    expect(counts(askedOf(members.b))).toEqual([1, 0, 0]);
    expect(counts(askedOf(members.c))).toEqual([1, 1, 0]);
    expect(counts(askedOf(members.last))).toEqual([1, 1, 1]);
    expect(counts(await stage.store.sessions.messages('s'))).toEqual([1, 1, 1]);
  });

  it('is told of agents below the node, also where it is a flow itself', async () => {
    const stage = setStage();
    const clerk = payer([pays('x1'), refused]);
    const lead = member([calling('clerk', { task: 'Pay x1.' }), refused]);
    const inner = payer(['Done.']);
    const agents = {
      a: team({ lead: lead.agent, agents: { clerk: clerk.agent } }),
      spare: flow('inner', { agents: agentsOf({ inner }) }),
    };
    const made = flow('a', { ...stage.world, agents, nodes: { a: { onError: { fallback: 'spare' } } } });
    expectType(await stage.run(made, { sessionId: 's' }), 'completed');
    expect(listed(askedOf(inner), 'x1')).toBe(1);
    expect(listed(await stage.store.sessions.messages('s'), 'x1')).toBe(1);
  });

  it('is told where the node has an "input" of its own and ran out of time', async () => {
    const stage = setStage();
    const members = {
      a: payer([pays('x1'), { text: 'Late.', delayMs: 60_000 }]),
      spare: payer(['Done.']),
    };
    const nodes = {
      a: { timeoutMs: 1000, input: () => 'Pay x1.', onError: { fallback: 'spare' } },
    } as const;
    expectType(await stage.run(flow('a', { ...stage.world, agents: agentsOf(members), nodes })), 'completed');
    expect(listed(askedOf(members.spare), 'x1')).toBe(1);
    expect(askedOf(members.spare)?.at(-1)).toMatchObject({ content: 'Pay x1.' });
  });

  it('is told once where the session shows it already, and of nothing where nothing was done', async () => {
    const stage = setStage();
    const members = {
      a: payer([pays('x1'), 'Paid.', refused]),
      spare: payer(['Done.']),
    };
    const nodes = { a: { onError: { fallback: 'spare' } } } as const;
    const made = flow('a', { ...stage.world, agents: agentsOf(members), nodes });
    expectType(await stage.run(made, { sessionId: 's' }), 'completed');
    expectType(await stage.run(made, { sessionId: 's', runId: 'r2' }), 'completed');
    expect(listed(askedOf(members.spare), 'x1')).toBe(1);
    expect(JSON.stringify(askedOf(members.spare))).not.toContain('without an answer by');
  });

  it('is told the same by another process, and adds nothing twice to the session', async () => {
    const stage = setStage();
    const first = { a: payer([pays('x1'), refused]), spare: payer([pays('x2'), refused]) };
    const nodes = { a: { onError: { fallback: 'spare' } } } as const;
    const inSession = { sessionId: 's', runId };
    const made = flow('a', { ...stage.world, agents: agentsOf(first), nodes });
    expectType(await stage.run(made, inSession), 'failed');
    const second = stage.die();
    const later = { a: payer([]), spare: payer(['Done.']) };
    const again = flow('a', { ...second.world, agents: agentsOf(later), nodes });
    expectType(await second.resume(again), 'completed');
    expect(listed(askedOf(later.spare), 'x1')).toBe(1);
    expect(JSON.stringify(askedOf(later.spare))).toContain('receipt-x2');
    const messages = await second.store.sessions.messages('s');
    const counts = messages.map((message) => [listed([message], 'x1'), listed([message], 'x2')]);
    expect(counts).toEqual([
      [1, 1],
      [0, 0],
      [1, 1],
      [0, 0],
    ]);
  });
});

describe('a node', () => {
  it('is told what a node before it did that failed and was skipped, also past one that is not done', async () => {
    const stage = setStage();
    const members = { a: payer([pays('x1'), refused]), b: payer([]), c: payer(['Done.']) };
    const nodes = { a: { onError: 'skip' }, b: { when: () => false } } as const;
    expectType(
      await stage.run(flow('a >> b >> c', { ...stage.world, agents: agentsOf(members), nodes })),
      'completed',
    );
    expect(listed(askedOf(members.c), 'x1')).toBe(1);
  });

  it('is told nothing of a node that answered, nor of one at its side', async () => {
    const stage = setStage();
    const members = {
      a: payer([pays('x1'), refused]),
      spare: payer(['Paid.']),
      b: payer(['B.']),
      c: payer(['C.']),
    };
    const nodes = { a: { onError: { fallback: 'spare' } } } as const;
    expectType(
      await stage.run(flow('(a | b) >> c', { ...stage.world, agents: agentsOf(members), nodes })),
      'completed',
    );
    expect([listed(askedOf(members.b), 'x1'), listed(askedOf(members.c), 'x1')]).toEqual([0, 0]);
  });

  it('that is retried goes on with its own run, which shows what it did', async () => {
    const stage = setStage();
    const a = payer([pays('x1'), { failure: 'SERVER_ERROR' }, 'Done.']);
    const made = flow('a', {
      ...stage.world,
      agents: { a: a.agent },
      nodes: { a: { retry: { maxAttempts: 2 } } },
    });
    expectType(await stage.run(made), 'completed');
    const asked = JSON.stringify(askedOf(a, a.model.calls.length - 1));
    expect(asked.split('receipt-x1')).toHaveLength(2);
    expect(Object.keys(await stage.statuses())).toEqual(expect.arrayContaining([`${runId}/a`, runId]));
    expect(Object.keys(await stage.statuses())).toHaveLength(2);
  });

  it('that was stopped and is begun afresh is told what its earlier run did', async () => {
    const stage = setStage();
    const a = member([pays('x1'), 'So far.', 'Done.'], {
      tools: paying('idempotent'),
      limits: { maxTurns: 1 },
    });
    const made = flow('a', { ...stage.world, agents: { a: a.agent } });
    expectType(await stage.run(made), 'failed');
    expectType(await stage.resume(made), 'completed');
    const asked = a.model.calls.at(-1)?.request.messages;
    expect(listed(asked, 'x1')).toBe(1);
  });
});
