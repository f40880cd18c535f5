import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { RerailError, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, RunOutcome } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptEntry } from '../../src/testing/scripted-model.ts';

// A name is a run, on every backend: the cases are the same, and so is what must come of them.

/** Makes an agent over the backend. `restart` ends what carries it, and makes another one over what is on record. */
export interface NamedBackend {
  readonly make: (
    options: Pick<AgentOptions, 'name' | 'model' | 'tools' | 'limits'>,
  ) => Promise<Agent> | Agent;
  /** Absent where nothing outlives the process. */
  readonly restart?: (
    agent: Agent,
    options: Pick<AgentOptions, 'name' | 'model' | 'tools' | 'limits'>,
  ) => Promise<Agent>;
}

interface Case {
  readonly name: string;
  /** What the model does, by the number of its answers that it is shown. */
  readonly steps: readonly ScriptEntry[];
  readonly permission?: 'ask';
  readonly limits?: AgentOptions['limits'];
  readonly outcome: { readonly type: RunOutcome['type'] };
  readonly paid: number;
}

const pay: ScriptEntry = { toolCalls: [{ name: 'pay', arguments: {} }] };

const cases: readonly Case[] = [
  { name: 'completed', steps: [pay, 'Paid.'], outcome: { type: 'completed' }, paid: 1 },
  { name: 'failed', steps: [pay, { failure: 'INVALID_REQUEST' }], outcome: { type: 'failed' }, paid: 1 },
  { name: 'stopped', steps: [pay, pay, pay], limits: { maxTurns: 1 }, outcome: { type: 'stopped' }, paid: 1 },
  { name: 'suspended', steps: [pay, 'Paid.'], permission: 'ask', outcome: { type: 'suspended' }, paid: 0 },
];

/** Registers the cases. */
export function namesAreRuns({ make, restart }: NamedBackend): void {
  const stage = (given: Pick<Case, 'steps' | 'permission' | 'limits'>) => {
    const paid: string[] = [];
    const model = scriptedModel(
      ({ messages }) =>
        given.steps[messages.filter(({ role }) => role === 'assistant').length] ?? 'Nothing left.',
    );
    const payTool = tool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: {} },
      ...(given.permission === undefined ? {} : { permission: given.permission }),
      execute: () => {
        paid.push('paid');
        return 'paid';
      },
    });
    const limits = given.limits === undefined ? {} : { limits: given.limits };
    return { paid, options: { name: `named-${randomUUID()}`, model, tools: [payTool], ...limits } };
  };

  it.each(cases)('gives the outcome of a run that is $name, whatever it is asked', async (one) => {
    const { paid, options } = stage(one);
    const agent = await make(options);
    const first = await agent.run('Pay Ann', { runId: 'order' });
    expect(first).toMatchObject(one.outcome);
    for (const input of ['Pay Ann', 'Pay Ben', 'Pay Ann']) {
      const again = await agent.run(input, { runId: 'order' });
      expect(again).toEqual(first);
    }
    const together = await Promise.all([1, 2, 3].map(() => agent.run('Pay Ann', { runId: 'order' })));
    expect(together).toEqual([first, first, first]);
    expect(paid).toHaveLength(one.paid);
    if (restart === undefined) return;
    const later = await restart(agent, options);
    expect(await later.run('Pay Cid', { runId: 'order' })).toMatchObject({ ...one.outcome, runId: 'order' });
    expect(paid).toHaveLength(one.paid);
  });

  it('gives the outcome of a run that was cancelled', async () => {
    const { paid, options } = stage({ steps: [pay, { text: 'Late.', delayMs: 600_000 }] });
    const agent = await make(options);
    const first = agent.run('Pay Ann', { runId: 'order' });
    await expect.poll(() => paid.length, { timeout: 20_000 }).toBe(1);
    await agent.cancel('order', 'enough');
    expect(await first).toMatchObject({ type: 'cancelled' });
    expect(await agent.run('Pay Ann', { runId: 'order' })).toMatchObject({
      type: 'cancelled',
      runId: 'order',
    });
    expect(paid).toHaveLength(1);
  });

  it('begins one run for many callers at once, who all have its outcome', async () => {
    const { paid, options } = stage({ steps: [pay, 'Paid.'] });
    const agent = await make(options);
    const outcomes = await Promise.all(
      ['Pay Ann', 'Pay Ben', 'Pay Cid', 'Pay Ann'].map((input) => agent.run(input, { runId: 'order' })),
    );
    expect(outcomes).toMatchObject(outcomes.map(() => ({ type: 'completed', text: 'Paid.' })));
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(paid).toHaveLength(1);
  });

  it('goes on from a failure once for many who resume it, and gives the latest outcome', async () => {
    const steps: ScriptEntry[] = [pay, { failure: 'INVALID_REQUEST' }];
    const { paid, options } = stage({ steps });
    const agent = await make(options);
    expect(await agent.run('Pay Ann', { runId: 'order' })).toMatchObject({ type: 'failed' });
    steps.splice(1, 1, pay, 'Paid twice, as it was told.');
    await Promise.all([agent.resume('order'), agent.resume('order'), agent.resume('order')]);
    const outcome = await agent.run('Pay Ann', { runId: 'order' });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Paid twice, as it was told.' });
    expect(paid).toHaveLength(2);
  });

  it('ends no run where a caller leaves that did not begin it', async () => {
    const { paid, options } = stage({ steps: [pay, { text: 'Paid.', delayMs: 1500 }] });
    const agent = await make(options);
    const first = agent.run('Pay Ann', { runId: 'order' });
    await expect.poll(() => paid.length, { timeout: 20_000 }).toBe(1);
    const leaving = agent.run('Pay Ann', { runId: 'order', signal: AbortSignal.timeout(100) });
    const error: unknown = await leaving.catch((reason: unknown) => reason);
    expect(RerailError.isInstance(error) ? error.code : error).toBe('CANCELLED');
    for await (const { type } of agent.stream('Pay Ann', { runId: 'order' }))
      if (type !== 'run-finished') break;
    expect(await first).toMatchObject({ type: 'completed', text: 'Paid.' });
    expect(paid).toHaveLength(1);
  });

  it('tells a subscriber that comes late the whole answer', async () => {
    const { paid, options } = stage({ steps: [pay, { text: ['It ', 'is ', 'paid.'], chunkDelayMs: 300 }] });
    const agent = await make(options);
    const first = agent.run('Pay Ann', { runId: 'order' });
    await expect.poll(() => paid.length, { timeout: 20_000 }).toBe(1);
    const reading = async (): Promise<string> => {
      let shown = '';
      for await (const event of agent.stream('Pay Ann', { runId: 'order' })) {
        if (event.type === 'turn-started') shown = '';
        if (event.type === 'text-delta') shown += event.text;
        if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
      }
      return shown;
    };
    const live = reading();
    expect(await first).toMatchObject({ type: 'completed' });
    expect([await live, await reading()]).toEqual(['It is paid.', 'It is paid.']);
    expect(paid).toHaveLength(1);
  });
}
