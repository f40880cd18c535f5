import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../../src/index.ts';
import type { Agent, AgentOptions } from '../../../src/index.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import type { ScriptEntry } from '../../../src/testing/scripted-model.ts';
import { namesAreRuns } from '../names.ts';
import { useDbos } from './scene.ts';

const scene = useDbos();
const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
});

interface Made extends Pick<AgentOptions, 'tools' | 'limits'> {
  readonly name: string;
  readonly model: AgentOptions['model'];
}

function make(made: Made): Agent {
  const agent = createAgent({ ...made, engine: scene.engine({ executorId: 'agents' }) });
  agents.push(agent);
  return agent;
}

/** Ends this process as far as DBOS is concerned: the next agent is made over what is on record. */
async function restart(agent: Agent, made: Made): Promise<Agent> {
  agents.splice(agents.indexOf(agent), 1);
  await agent.close();
  return make(made);
}

const asks = (name: string, done: string[]) =>
  tool({
    name,
    description: `Does ${name}.`,
    input: { type: 'object', properties: { to: { type: 'string' } } },
    permission: 'ask',
    execute: () => {
      done.push(name);
      return `${name} is done`;
    },
  });

/** Answers by what it is shown, so that it needs no memory over a restart. */
const stepwise = (steps: readonly ScriptEntry[]) =>
  scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === 'assistant').length] ?? '');

describe('a name is a run: on DBOS', { timeout: 60_000 }, () => {
  namesAreRuns({
    make: (options) => make(options as Made),
    restart: (agent, options) => restart(agent, options as Made),
  });
});

describe('an agent on DBOS', { timeout: 60_000 }, () => {
  it('runs to its end, and streams its text; an attempt that broke is taken back', async () => {
    const model = scriptedModel([{ brokenAfter: ['The light', ' is'] }, { text: ['The light', ' is on.'] }]);
    const agent = make({ name: 'streams', model });
    const stream = agent.stream('Is the light on?', { runId: 'stream' });
    let shown = '';
    let retractions = 0;
    for await (const event of stream) {
      if (event.type === 'text-delta') shown += event.text;
      if (event.type !== 'text-retracted') continue;
      retractions += 1;
      shown = shown.slice(0, event.keep);
    }
    expect({ shown, retractions }).toEqual({ shown: 'The light is on.', retractions: 1 });
    expect(await stream.outcome).toMatchObject({ type: 'completed', text: 'The light is on.' });
  });

  it('asks twice, over a restart after each question, and takes each answer for its own', async () => {
    const done: string[] = [];
    const made: Made = {
      name: 'asks',
      model: stepwise([
        { toolCalls: [{ name: 'reserve', arguments: {} }] },
        { toolCalls: [{ name: 'ship', arguments: {} }] },
        'It is on its way.',
      ]),
      tools: [asks('reserve', done), asks('ship', done)],
    };
    const first = make(made);
    const question = { type: 'suspended', reason: 'approval' };
    expect(await first.run('Send it', { runId: 'order' })).toMatchObject({
      ...question,
      request: { tool: 'reserve' },
    });
    const second = await restart(first, made);
    const answered = await second.resume('order', { answer: true });
    expect(answered).toMatchObject({ ...question, request: { tool: 'ship' } });
    const third = await restart(second, made);
    expect(done).toEqual(['reserve']);
    // Nobody answers by asking where it stands.
    expect(await third.run('Send it', { runId: 'order' })).toMatchObject({
      ...question,
      request: { tool: 'ship' },
    });
    expect(await third.resume('order', { answer: true })).toMatchObject({
      type: 'completed',
      text: 'It is on its way.',
    });
    expect(done).toEqual(['reserve', 'ship']);
  });

  it('is cancelled in the middle of a call, and goes on when it is resumed', async () => {
    let calls = 0;
    const slow = tool({
      name: 'slow',
      description: 'Takes its time.',
      effect: 'read',
      input: { type: 'object', properties: {} },
      execute: async (_input, { signal }) => {
        calls += 1;
        await sleep(60_000, undefined, { signal });
        return 'done';
      },
    });
    const model = stepwise([{ toolCalls: [{ name: 'slow', arguments: {} }] }, 'Done.']);
    const agent = make({ name: 'cancelled', model, tools: [slow] });
    const running = agent.run('Go', { runId: 'long' });
    await expect.poll(() => calls, { timeout: 10_000 }).toBe(1);
    await agent.cancel('long', 'enough');
    expect(await running).toMatchObject({ type: 'cancelled' });
    expect(await agent.resume('long')).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(calls).toBe(1);
  });

  it('goes on after a failure, over a restart, with what it had', async () => {
    const done: string[] = [];
    const note = tool({
      name: 'note',
      description: 'Notes.',
      input: { type: 'object', properties: {} },
      execute: () => {
        done.push('note');
        return 'noted';
      },
    });
    let isDown = true;
    const model = scriptedModel(({ messages }) => {
      if (messages.at(-1)?.role !== 'tool') return { toolCalls: [{ name: 'note', arguments: {} }] };
      return isDown ? { failure: 'INVALID_REQUEST' } : 'Noted.';
    });
    const made: Made = { name: 'fails', model, tools: [note] };
    const agent = make(made);
    const failed = await agent.run('Note it', { runId: 'fails' });
    expect(failed).toMatchObject({ type: 'failed', failure: { code: 'INVALID_REQUEST' } });
    isDown = false;
    const again = await restart(agent, made);
    expect(await again.resume('fails')).toMatchObject({ type: 'completed', text: 'Noted.' });
    expect(done).toEqual(['note']);
  });

  it('shares the one DBOS of the process with another agent; each has runs of its own', async () => {
    const one = make({ name: 'one', model: scriptedModel(['I am one.']) });
    const other = make({ name: 'other', model: scriptedModel(['I am the other.']) });
    const outcomes = await Promise.all([
      one.run('Who?', { runId: 'same' }),
      other.run('Who?', { runId: 'same' }),
    ]);
    expect(outcomes).toMatchObject([{ text: 'I am one.' }, { text: 'I am the other.' }]);
    await one.close();
    expect(await other.resume('same')).toMatchObject({ text: 'I am the other.' });
  });

  it('is closed and made anew while another agent keeps DBOS up, and its run goes on', async () => {
    const done: string[] = [];
    const steps = [{ toolCalls: [{ name: 'ship', arguments: {} }] }, 'Shipped.'];
    const made: Made = { name: 'remade', model: stepwise(steps), tools: [asks('ship', done)] };
    const other = make({ name: 'keeper', model: scriptedModel(['I stay.']) });
    await other.serve();
    const first = make(made);
    expect(await first.run('Ship it', { runId: 'remade' })).toMatchObject({ type: 'suspended' });
    const again = await restart(first, made);
    expect(await again.resume('remade', { answer: true })).toMatchObject({ text: 'Shipped.' });
    expect(done).toEqual(['ship']);
  });

  it('refuses a second agent of the same name, and one that wants another DBOS', async () => {
    const one = make({ name: 'twice', model: scriptedModel(['One.']) });
    await one.serve();
    const twice = make({ name: 'twice', model: scriptedModel(['Two.']) });
    await expect(twice.serve()).rejects.toThrow(/Two agents of this process are named "twice"/);
    agents.splice(agents.indexOf(twice), 1);
    const engine = scene.engine({ executorId: 'somebody-else' });
    const elsewhere = createAgent({ name: 'elsewhere', model: scriptedModel([]), engine });
    await expect(elsewhere.serve()).rejects.toThrow(/differ in "executorId": "agents" and "somebody-else"/);
  });
});
