import { describe, expect, it } from 'vitest';
import type { PersonRequest } from '../../src/agent/run-outcome.ts';
import { flow } from '../../src/flow/flow.ts';
import type { Flow } from '../../src/flow/flow.ts';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import { calling, expectType, watchEverything } from '../agent/scene.ts';
import { countingTool, dyingStore, member, setStage, statusesIn } from './stage.ts';
import type { Stage } from './stage.ts';

watchEverything();

interface Payers {
  readonly made: Flow;
  readonly pay: ReturnType<typeof countingTool>;
  readonly calls: () => readonly number[];
}

/** Two agents that both ask before they pay; the models of a later process are asked only what comes after. */
function payers({ world }: Stage, { isLater = false } = {}): Payers {
  const pay = countingTool('pay', { permission: 'ask' });
  const begin = (who: string): readonly ScriptStep[] => (isLater ? [] : [calling('pay', { who })]);
  const a = member([...begin('a'), 'A paid'], { tools: [pay.tool] });
  const b = member([...begin('b'), 'B paid'], { tools: [pay.tool] });
  const made = flow('a | b', { agents: { a: a.agent, b: b.agent }, ...world });
  return { made, pay, calls: () => [a.model.calls.length, b.model.calls.length] };
}

function requestOf(outcome: unknown): Extract<PersonRequest, { type: 'approval' }> {
  const { request } = outcome as { readonly request?: PersonRequest };
  if (request?.type !== 'approval') throw new Error(`Nobody asks: ${JSON.stringify(request)}`);
  return request;
}

describe('a question inside a node', () => {
  it('is opened by nothing that is said to another question', async () => {
    const stage = setStage();
    const { made, pay } = payers(stage);
    const first = requestOf(expectType(await stage.run(made), 'suspended'));
    const other = { ...first, id: 'r1/b:1:0:approval' };
    await stage.resume(made, { answer: { ...other, approved: true } });
    expect(pay.inputs).toEqual([]);
  });

  it('is not answered twice by an answer that is given twice', async () => {
    const stage = setStage();
    const { made, pay } = payers(stage);
    const request = requestOf(await stage.run(made));
    const answer = { id: request.id, hash: request.hash, approved: true };
    const second = requestOf(await stage.resume(made, { answer }));
    expect(second.input).toEqual({ who: 'b' });
    const after = await stage.resume(made, { answer });
    expect(pay.inputs).toEqual([{ who: 'a' }]);
    expect(after.type).toBe('completed');
    expect(JSON.stringify(after.nodes)).toContain('B paid');
  });

  it('suspends the flow with the same question, one after the other, each with its own answer', async () => {
    const stage = setStage();
    const { made, pay, calls } = payers(stage);
    const outcome = expectType(await stage.run(made), 'suspended');
    expect(outcome).toMatchObject({
      reason: 'approval',
      request: { id: 'r1/a:1:0:approval', tool: 'pay', input: { who: 'a' } },
    });
    expect(statusesIn(outcome)).toEqual({ a: 'waiting', b: 'waiting' });
    expect(await stage.statuses()).toEqual({ r1: 'suspended', 'r1/a': 'suspended', 'r1/b': 'suspended' });
    const second = expectType(await stage.resume(made, { answer: true }), 'suspended');
    expect(second.request).toMatchObject({ id: 'r1/b:1:0:approval', input: { who: 'b' } });
    expect(statusesIn(second)).toEqual({ a: 'succeeded', b: 'waiting' });
    expect(pay.inputs).toEqual([{ who: 'a' }]);
    const last = expectType(
      await stage.resume(made, { answer: { approved: false, reason: 'too much' } }),
      'completed',
    );
    expect(pay.inputs).toEqual([{ who: 'a' }]);
    expect(last.output).toEqual({ a: 'A paid', b: 'B paid' });
    expect(calls()).toEqual([2, 2]);
    expect(last.usage.requests).toBe(4);
  });

  it('stands where nobody answers, and is asked again as often as somebody looks', async () => {
    const stage = setStage();
    const { made, pay } = payers(stage);
    await stage.run(made);
    const again = expectType(await stage.resume(made), 'suspended');
    expect(again.request).toMatchObject({ id: 'r1/a:1:0:approval' });
    expect(pay.inputs).toEqual([]);
  });

  it('is told once of each end, however often somebody looks', async () => {
    const stage = setStage();
    const { made } = payers(stage);
    await stage.run(made);
    await stage.resume(made, { answer: true });
    await stage.resume(made, { answer: true });
    const ends = stage.events.flatMap((event) =>
      event.type === 'child-event' && event.event.type === 'run-finished'
        ? [`${event.node} ${event.event.outcome.type}`]
        : [],
    );
    expect(ends.toSorted()).toEqual(['a completed', 'a suspended', 'b completed', 'b suspended']);
  });

  it('is a no when its time is over', async () => {
    const stage = setStage();
    const { made, pay } = payers(stage);
    await stage.run(made);
    await stage.clock.advance(25 * 3_600_000);
    await stage.resume(made, { answer: true });
    const last = await stage.resume(made, { answer: true });
    expect(last.type).toBe('completed');
    expect(pay.inputs).toEqual([]);
  });

  it('is answered in another process', async () => {
    const first = setStage();
    await first.run(payers(first).made);
    const second = first.die();
    const { made, pay, calls } = payers(second, { isLater: true });
    await second.resume(made, { answer: true });
    const third = second.die();
    const last = payers(third, { isLater: true });
    const outcome = await third.resume(last.made, { answer: true });
    expect(expectType(outcome, 'completed').output).toBeDefined();
    expect([pay.inputs, last.pay.inputs]).toEqual([[{ who: 'a' }], [{ who: 'b' }]]);
    expect([calls(), last.calls()]).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it.each(Array.from({ length: 14 }, (_each, index) => ({ operation: index + 1 })))(
    'is obeyed once though the process dies between the answer and the end: at operation $operation',
    async ({ operation }) => {
      const stage = setStage();
      const { made: begun, pay } = payers(stage);
      await stage.run(begun);
      const dying = dyingStore(stage.store, { at: operation, when: 'after' });
      const paid: unknown[] = [];
      const make = (store: Stage['store']): Flow => {
        const tool = countingTool('pay', {
          permission: 'ask',
          execute: (input) => {
            paid.push(input);
            return 'paid';
          },
        });
        const a = member(() => ({ text: 'A paid' }), { tools: [tool.tool] });
        const b = member(() => ({ text: 'B paid' }), { tools: [tool.tool] });
        return flow('a | b', { agents: { a: a.agent, b: b.agent }, ...stage.world, store });
      };
      void make(dying)
        .resume('r1', { answer: true })
        .catch(() => undefined);
      await stage.clock.advance(1000);
      const made = make(stage.store);
      let outcome = await stage.resume(made);
      // The first answer may have been lost with the process before it was on record: then it is asked for again.
      for (let answers = 0; answers < 2 && outcome.type === 'suspended'; answers += 1)
        outcome = await stage.resume(made, { answer: true });
      expect(outcome.type).toBe('completed');
      expect(pay.inputs).toEqual([]);
      expect(paid.filter((input) => JSON.stringify(input).includes('"a"')).length).toBeLessThanOrEqual(1);
      expect(paid.filter((input) => JSON.stringify(input).includes('"b"'))).toHaveLength(1);
    },
  );
});

describe('whoever answers for a person', () => {
  it('is asked for what agents below want, where the flow has such a function', async () => {
    const stage = setStage();
    const asked: string[] = [];
    const pay = countingTool('pay', { permission: 'ask' });
    const a = member([calling('pay'), 'A paid'], {
      tools: [pay.tool],
      callbacks: { onApproval: () => false },
    });
    const made = flow('a', {
      agents: { a: a.agent },
      ...stage.world,
      callbacks: {
        onApproval: (request) => {
          asked.push(request.id);
          return true;
        },
      },
    });
    expect(expectType(await stage.run(made), 'completed').text).toBe('A paid');
    expect(asked).toEqual(['r1/a:1:0:approval']);
    expect(pay.inputs).toHaveLength(1);
  });

  it('cannot be the agent itself where the rules of the flow ask', async () => {
    const stage = setStage();
    const pay = countingTool('pay', { permission: 'allow' });
    const a = member([calling('pay'), 'A paid'], {
      tools: [pay.tool],
      callbacks: { onApproval: () => true },
    });
    const inner = flow('a', { agents: { a: a.agent }, name: 'inner', callbacks: { onApproval: () => true } });
    const policy = { permissions: [{ tool: 'pay', permission: 'ask' }] } as const;
    const made = flow('inner', { agents: { inner }, ...stage.world, policy });
    const outcome = expectType(await stage.run(made), 'suspended');
    expect(outcome.request).toMatchObject({ id: 'r1/inner/a:1:0:approval', tool: 'pay' });
    expect(pay.inputs).toEqual([]);
    expect(expectType(await stage.resume(made, { answer: true }), 'completed').text).toBe('A paid');
    expect(pay.inputs).toHaveLength(1);
  });

  it('may be the agent itself for what only it asks', async () => {
    const stage = setStage();
    const pay = countingTool('pay', { permission: 'ask' });
    const a = member([calling('pay'), 'A paid'], {
      tools: [pay.tool],
      callbacks: { onApproval: () => true },
    });
    const made = flow('a', { agents: { a: a.agent }, ...stage.world });
    expect(expectType(await stage.run(made), 'completed').text).toBe('A paid');
  });
});

describe('the rules of a flow', () => {
  it('are about the tools below, not about its nodes', async () => {
    const stage = setStage();
    const a = member(['A says']);
    const policy = { permissions: [{ tool: '*', permission: 'ask' }] } as const;
    const made = flow('a', { agents: { a: a.agent }, ...stage.world, policy });
    expect(expectType(await stage.run(made), 'completed').text).toBe('A says');
  });
});
