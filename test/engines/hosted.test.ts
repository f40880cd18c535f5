import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/system.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import type { CreateEngine, Effect } from '../../src/runtime/record/durable.ts';
import { createMemoryEngine } from '../../src/runtime/record/memory-engine.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { namesAreRuns } from './names.ts';

/** The engine in memory in the place of one outside: the agent knows it by the port alone. */
const outside: CreateEngine = ({ program, effects, version }) =>
  createMemoryEngine({
    program: async (durable, input) => copied(await program(durable, copied(input))),
    effects: Object.fromEntries(
      Object.entries(effects).map(([name, effect]): readonly [string, Effect] => [
        name,
        async (input, context) => copied(await effect(copied(input), context)),
      ]),
    ),
    version,
    clock: systemClock,
    isVolatile: false,
  });

/** What crosses a wire is written as JSON. */
function copied<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

const pay = (paid: string[]) =>
  tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ to: z.string() }),
    permission: 'ask',
    execute: ({ to }) => {
      paid.push(to);
      return 'paid';
    },
  });

describe('a name is a run: an engine outside', () => {
  namesAreRuns({ make: (options) => createAgent({ ...options, engine: outside }) });
});

describe('an agent whose runs an engine outside carries', () => {
  it('refuses a store beside it: the engine keeps the runs', () => {
    const store = {} as never; // It is not looked at.
    expect(() => createAgent({ model: scriptedModel([]), engine: outside, store })).toThrow(/not both|store/);
  });

  it('says in the outcome that the engine cannot be reached, and that the run is not touched', async () => {
    const engine: CreateEngine = () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:1'));
    const outcome = await createAgent({ model: scriptedModel([]), engine }).run('Hello');
    expect(outcome.type).not.toBe('completed');
  });

  it('asks for no engine to close it, and closes none that could not be made', async () => {
    let asked = 0;
    const engine: CreateEngine = () => {
      asked += 1;
      return Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:1'));
    };
    const agent = createAgent({ model: scriptedModel([]), engine });
    await agent.close();
    expect(asked).toBe(0);
    await expect(agent.serve()).rejects.toThrow('ECONNREFUSED');
    await expect(agent.close()).resolves.toBeUndefined();
  });

  it('takes no answer for a run that it takes over', async () => {
    const agent = createAgent({ model: scriptedModel([]), engine: outside });
    const options = { answer: true } as object;
    await expect(agent.takeOver({} as never, options)).rejects.toThrow(/no option "answer" of takeOver/);
    await expect(agent.takeOver({} as never)).rejects.toThrow(/the result of journal\(\) of another agent/);
  });

  it('runs to its end and streams its text', async () => {
    const agent = createAgent({ model: scriptedModel(['Hello there.']), engine: outside });
    const texts: string[] = [];
    const stream = agent.stream('Hello', { runId: 'a' });
    for await (const event of stream) if (event.type === 'text-delta') texts.push(event.text);
    expect(texts.join('')).toBe('Hello there.');
    expect(await stream.outcome).toMatchObject({ type: 'completed', text: 'Hello there.', runId: 'a' });
    await agent.close();
  });

  it('waits for a person, whose answer opens the question that was asked', async () => {
    const paid: string[] = [];
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', arguments: { to: 'Ann' } }] }, 'Done.']);
    const agent = createAgent({ model, tools: [pay(paid)], engine: outside });
    const asked = await agent.run('Pay Ann', { runId: 'b' });
    expect(asked).toMatchObject({ type: 'suspended', reason: 'approval', request: { tool: 'pay' } });
    expect(paid).toEqual([]);
    const outcome = await agent.resume('b', { answer: true });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(paid).toEqual(['Ann']);
    await agent.close();
  });

  it('goes on after a failure, with what it had', async () => {
    const model = scriptedModel([{ failure: 'INVALID_REQUEST' }, 'Now it works.']);
    const agent = createAgent({ model, engine: outside });
    expect(await agent.run('Go', { runId: 'c' })).toMatchObject({ type: 'failed' });
    expect(await agent.resume('c')).toMatchObject({ type: 'completed', text: 'Now it works.' });
    expect(await agent.resume('c')).toMatchObject({ type: 'completed', text: 'Now it works.' });
    await agent.close();
  });

  it('is cancelled by the signal of the caller', async () => {
    const controller = new AbortController();
    const model = scriptedModel([{ text: 'late', delayMs: 60_000 }]);
    const agent = createAgent({ model, engine: outside });
    const running = agent.run('Go', { runId: 'd', signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    expect(await running).toMatchObject({ type: 'cancelled' });
    await agent.close();
  });
});
