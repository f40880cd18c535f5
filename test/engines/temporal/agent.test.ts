import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { temporal } from '../../../src/engines/temporal/temporal.ts';
import type { TemporalOptions } from '../../../src/engines/temporal/options.ts';
import { createAgent } from '../../../src/runtime/create-agent.ts';
import type { Agent } from '../../../src/runtime/create-agent.ts';
import type { AgentOptions } from '../../../src/runtime/agent-options.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { tool } from '../../../src/tools/tool.ts';
import { namesAreRuns } from '../names.ts';
import { openBackend, serverName } from './backend.ts';
import type { Backend } from './backend.ts';

// The whole of it: an agent, its driver in Temporal's sandbox, its effects in a worker, and a server between them.

let backend: Backend;
const open: Agent<unknown>[] = [];
beforeAll(async () => {
  backend = await openBackend('agents');
});
afterEach(async () => {
  for (const agent of open.splice(0)) await agent.close();
});
afterAll(() => backend.close());

function agentOf(options: Omit<AgentOptions, 'engine'>, more: Partial<TemporalOptions> = {}): Agent {
  const agent = createAgent({ ...options, engine: temporal({ ...backend.options, ...more }) });
  open.push(agent);
  return agent;
}

/** Each test has agents, and so queues, of its own. */
const freshName = (): string => `agent-${randomUUID()}`;

function clerk(paid: string[], permission: 'ask' | 'allow' = 'allow') {
  return tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    permission,
    execute: ({ to }) => {
      paid.push(to as string); // By its schema.
      return 'paid';
    },
  });
}

const payAnn = { toolCalls: [{ name: 'pay', arguments: { to: 'Ann' } }] };

describe(`a name is a run: on ${serverName}`, { timeout: 60_000 }, () => {
  namesAreRuns({ make: (options) => agentOf(options) });
});

describe(`an agent on ${serverName}`, { timeout: 60_000 }, () => {
  it('calls tools, tries again what failed, and streams its text', async () => {
    const paid: string[] = [];
    const model = scriptedModel([{ failure: 'OVERLOADED' }, payAnn, 'Ann is paid.']);
    const agent = agentOf({
      name: freshName(),
      model,
      tools: [clerk(paid)],
      policy: { retry: { baseDelayMs: 10 } },
    });
    const stream = agent.stream('Pay Ann', { runId: 'a' });
    const texts: string[] = [];
    for await (const event of stream) if (event.type === 'text-delta') texts.push(event.text);
    const outcome = await stream.outcome;
    expect(outcome).toMatchObject({ type: 'completed', text: 'Ann is paid.', runId: 'a' });
    expect(outcome.recoveries.map(({ recovery }) => recovery)).toEqual(['retry']);
    expect(texts.join('')).toBe('Ann is paid.');
    expect(paid).toEqual(['Ann']);
  });

  it('asks a person, who answers after the process has been replaced', async () => {
    const [name, paid] = [freshName(), new Array<string>()];
    const steps = [payAnn, 'Done.'];
    const model = (): ReturnType<typeof scriptedModel> =>
      scriptedModel(
        ({ messages }) => steps[messages.filter(({ role }) => role === 'assistant').length] ?? '',
      );
    const first = agentOf({ name, model: model(), tools: [clerk(paid, 'ask')] });
    const asked = await first.run('Pay Ann', { runId: 'b' });
    expect(asked).toMatchObject({ type: 'suspended', reason: 'approval', request: { tool: 'pay' } });
    await first.close();
    const second = agentOf({ name, model: model(), tools: [clerk(paid, 'ask')] });
    const outcome = await second.resume('b', { answer: true });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(paid).toEqual(['Ann']);
  });

  it('is cancelled in the middle of an effect, and says so', async () => {
    const model = scriptedModel([{ text: 'late', delayMs: 60_000 }]);
    const agent = agentOf({ name: freshName(), model });
    const running = agent.run('Go', { runId: 'c' });
    await expect.poll(() => model.calls.length, { timeout: 20_000 }).toBe(1);
    await agent.cancel('c', 'enough');
    expect(await running).toMatchObject({ type: 'cancelled' });
  });

  it('is cancelled while the wish is still on its way, although it goes on meanwhile', async () => {
    const paid: string[] = [];
    let cancelling: Promise<void> | undefined;
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: {} },
      execute: () => {
        paid.push('Ann');
        cancelling = agent.cancel('slow-wish', 'enough');
        return 'paid';
      },
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'pay', arguments: {} }] },
      { text: 'late', delayMs: 60_000 },
    ]);
    const create = temporal(backend.options);
    const agent: Agent = createAgent({
      name: freshName(),
      model,
      tools: [pay],
      engine: async (setup) => {
        const engine = await create(setup);
        return {
          ...engine,
          cancel: async (runId, reason) => {
            await expect.poll(() => model.calls.length, { timeout: 5000 }).toBe(2);
            await engine.cancel(runId, reason);
          },
        };
      },
    });
    open.push(agent);
    const outcome = await agent.run('Pay Ann', { runId: 'slow-wish' });
    expect(outcome).toMatchObject({ type: 'cancelled' });
    await cancelling;
    expect(paid).toEqual(['Ann']);
  });

  it('goes on after a failure, with what it had', async () => {
    const model = scriptedModel([{ failure: 'INVALID_REQUEST' }, 'Now it works.']);
    const agent = agentOf({ name: freshName(), model });
    expect(await agent.run('Go', { runId: 'd' })).toMatchObject({ type: 'failed' });
    expect(await agent.resume('d')).toMatchObject({ type: 'completed', text: 'Now it works.' });
    expect(await agent.resume('d')).toMatchObject({ type: 'completed', text: 'Now it works.' });
  });

  it('shares a process with another one, and a tool is at work while the run is told something', async () => {
    const slow = tool({
      name: 'slow',
      description: 'Takes a while.',
      effect: 'read',
      input: { type: 'object', properties: {} },
      execute: async () => {
        await agent.inject('e', 'Hurry up.');
        await sleep(50);
        return 'there';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'slow', arguments: {} }] }, 'Both said.']);
    const agent = agentOf({ name: freshName(), model, tools: [slow] });
    const other = agentOf({ name: freshName(), model: scriptedModel(['Another answer.']) });
    const [one, two] = await Promise.all([agent.run('Go', { runId: 'e' }), other.run('Go', { runId: 'e' })]);
    expect(one).toMatchObject({ type: 'completed', text: 'Both said.' });
    expect(JSON.stringify(model.calls.at(-1)?.request.messages)).toContain('Hurry up.');
    expect(two).toMatchObject({ type: 'completed', text: 'Another answer.' });
  });

  it('obeys hooks, a function that answers for a person, and the schema of its answer: the sandbox knows them by facts alone', async () => {
    const [seen, paid] = [new Array<string>(), new Array<string>()];
    const told = (name: string) => () => void seen.push(name);
    const agent = createAgent({
      name: freshName(),
      model: scriptedModel([payAnn, '{"sum":"four"}', '{"sum":4}']),
      tools: [clerk(paid, 'ask')],
      callbacks: { onApproval: () => ({ approved: true }) },
      output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      context: { maxTokens: 100_000 },
      hooks: [
        {
          name: 'watch',
          kind: 'observer',
          on: {
            'run-start': told('run-start'),
            'before-model': told('before-model'),
            'run-end': told('run-end'),
          },
          onEvent: ({ type }) => void seen.push(type),
        },
        {
          name: 'change',
          kind: 'transformer',
          on: { 'after-tool': () => ({ action: 'modify', content: 'all paid' }) },
        },
        {
          name: 'guard',
          kind: 'guardrail',
          on: { 'before-tool': () => undefined, 'after-model': () => undefined },
        },
      ],
      engine: temporal(backend.options),
    });
    open.push(agent);
    const outcome = await agent.run('2 + 2', { runId: 'f' });
    expect(outcome).toMatchObject({ type: 'completed', output: { sum: 4 } });
    expect(JSON.stringify(outcome.messages)).toContain('all paid');
    expect(paid).toEqual(['Ann']);
    for (const name of ['run-start', 'before-model', 'run-end', 'run-finished']) expect(seen).toContain(name);
  });

  it('is begun and asked about by a process that carries nothing, and Temporal keeps only what the codec gives it', async () => {
    const name = freshName();
    const payloadCodecs = [secretCodec];
    const carrier = agentOf({ name, model: scriptedModel(['A secret.']) }, { payloadCodecs });
    await carrier.serve();
    const front = agentOf({ name, model: scriptedModel([]) }, { carries: false, payloadCodecs });
    const texts: string[] = [];
    const stream = front.stream('Tell me', { runId: 'g' });
    for await (const event of stream) if (event.type === 'text-delta') texts.push(event.text);
    expect(await stream.outcome).toMatchObject({ type: 'completed', text: 'A secret.' });
    // A process that carries nothing is told the answer in one piece, at the end.
    expect(texts).toEqual(['A secret.']);
    // Of a real server nothing is looked at here.
    const histories = backend.simulated?.historiesOf(`rerail:${name}:g`) ?? [
      { events: 'encoded json/binary' },
    ];
    const text = JSON.stringify(histories, plainly);
    expect(text).toContain('encod');
    expect(text).not.toContain('secret');
  });
});

/** Turns every byte round: enough to see whether somebody has passed it by. */
const secretCodec = {
  encode: async (payloads: readonly Payload[]) => payloads.map(turned),
  decode: async (payloads: readonly Payload[]) => payloads.map(turned),
};

interface Payload {
  readonly data?: Uint8Array | null;
}

function turned(payload: Payload): Payload {
  return { ...payload, data: (payload.data ?? new Uint8Array()).map((byte) => byte ^ 255) };
}

function plainly(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}
