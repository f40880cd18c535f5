import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { NodeOptions } from '../../src/flow/flow-types.ts';
import { team } from '../../src/flow/team.ts';
import { calling } from '../agent/scene.ts';
import { agentsOf, callsOf, member, refused, setStage, statusesIn } from './stage.ts';

// What functions of the caller may do to a flow: hang, and change what they are handed.

const never = (): Promise<never> => new Promise(() => undefined);

function neverChecked(): NonNullable<NodeOptions['accepts']> {
  return { '~standard': { version: 1, vendor: 'test', validate: never } };
}

describe('a function of a node that never comes to an end', () => {
  it.each([
    { what: '"when"', nodes: { b: { when: never } } },
    { what: '"input"', nodes: { b: { input: never } } },
    { what: '"accepts"', nodes: { b: { accepts: neverChecked() } } },
  ])('fails its node within ten seconds, and names itself: $what', async ({ what, nodes }) => {
    const { bare, run, clock } = setStage();
    const members = { a: member(['A']), b: member(['B']) };
    const ended = await run(flow('a >> b', { agents: agentsOf(members), nodes, ...bare }));
    const message = expect.stringContaining(`${what} of the node "b" gave no answer`) as string;
    expect(ended).toMatchObject({ type: 'failed', failure: { code: 'TIMEOUT', origin: 'flow', message } });
    expect(callsOf(members)).toEqual({ a: 1, b: 0 });
    expect(clock.monotonicMs()).toBeLessThan(11_000);
  });

  it.each([
    { what: '"when"', nodes: { b: { when: never } } },
    { what: '"input"', nodes: { b: { input: never } } },
  ])('ends at once with a flow that is cancelled: $what', async ({ nodes }) => {
    const { bare, run, clock } = setStage();
    const members = { a: member(['A']), b: member(['B']) };
    const controller = new AbortController();
    clock.after(1000, () => controller.abort());
    const made = flow('a >> b', { agents: agentsOf(members), nodes, ...bare });
    expect(await run(made, { signal: controller.signal })).toMatchObject({ type: 'cancelled' });
    expect(clock.monotonicMs()).toBeLessThan(2000);
  });

  it('ends with the time of the flow where that is shorter', async () => {
    const { bare, run } = setStage();
    const members = { a: member(['A']), b: member(['B']) };
    const nodes = { b: { when: never } };
    const made = flow('a >> b', { agents: agentsOf(members), nodes, limits: { timeoutMs: 5000 }, ...bare });
    expect(await run(made)).toMatchObject({
      type: 'stopped',
      reason: 'deadline',
      failure: { code: 'TIMEOUT' },
    });
  });

  it('fails its node at the time of that node, and the flow goes on where it may', async () => {
    const { bare, run, clock } = setStage();
    const members = { a: member(['A']), b: member(['B']) };
    const nodes = { a: { input: never, timeoutMs: 2000, onError: 'skip' } } satisfies Record<
      string,
      NodeOptions
    >;
    const ended = await run(flow('a >> b', { agents: agentsOf(members), nodes, ...bare }));
    expect(statusesIn(ended)).toEqual({ a: 'failed', b: 'succeeded' });
    expect(ended.nodes?.[0]?.failure).toMatchObject({
      code: 'TIMEOUT',
      hint: expect.stringContaining('"input"') as string,
    });
    expect(clock.monotonicMs()).toBeLessThan(3000);
  });
});

describe('a function of a node that changes what it is handed', () => {
  it('does not change the flow: what came before a node stays before it', async () => {
    const { bare, run } = setStage();
    const modelOptions = { repeat: 'last' } as const;
    const members = {
      a: member(['A'], { modelOptions }),
      b: member(['B'], { modelOptions }),
      c: member(['C'], { modelOptions }),
    };
    const empty = ({ before }: { readonly before: readonly string[] }): boolean => {
      (before as string[]).length = 0;
      return true;
    };
    const made = flow('(a | b) >> c', { agents: agentsOf(members), nodes: { c: { when: empty } }, ...bare });
    await run(made, { runId: 'first' });
    await run(made, { runId: 'second' });
    const [first, second] = members.c.model.calls.map(({ request }) => JSON.stringify(request.messages));
    expect(first).toContain('Results of the steps before');
    expect(second).toBe(first);
  });
});

describe('a last node that may be done without', () => {
  it('is called again where the going on with it was broken off, in the same process too', async () => {
    const { bare, run, resume, clock } = setStage();
    const a = member([refused, { text: 'late', delayMs: 60_000 }, 'A']);
    const made = flow('a', { agents: { a: a.agent }, nodes: { a: { onError: 'skip' } }, ...bare });
    expect(await run(made)).toMatchObject({ type: 'failed', failure: { code: 'EMPTY_RESPONSE' } });
    const controller = new AbortController();
    clock.after(1000, () => controller.abort());
    expect(await resume(made, { signal: controller.signal })).toMatchObject({ type: 'cancelled' });
    expect(await resume(made)).toMatchObject({ type: 'completed', text: 'A' });
  });
});

describe('the answer of a member', () => {
  it('is shown to the lead no longer than its bound, and says how long it was', async () => {
    const { bare, run } = setStage();
    const long = member(['x'.repeat(2_000_000)]);
    const lead = member([calling('long', { task: 'Write.' }), 'Read.'], bare);
    const ended = await run(team({ lead: lead.agent, agents: { long: long.agent } }));
    expect(ended.type).toBe('completed');
    const shown = JSON.stringify(lead.model.calls[1]?.request.messages.at(-1));
    expect(shown.length).toBeLessThan(101_000);
    expect(shown).toMatch(/2,?000,?000/);
  });
});
