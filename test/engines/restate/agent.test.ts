import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { restate } from '../../../src/engines/restate/index.ts';
import { createAgent, tool } from '../../../src/index.ts';
import type { Agent, AgentOptions, RunEvent } from '../../../src/index.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { startLife } from '../../kill/life.ts';
import { bundleProgram } from '../../kill/program.ts';
import type { Program } from '../../kill/program.ts';
import { namesAreRuns } from '../names.ts';
import type { PayerGiven } from './agent-program.ts';
import { installRestate } from './install.ts';
import { openScene } from './scene.ts';
import type { Scene } from './scene.ts';
import { freePort } from './server.ts';

// Whole agents on a real server.

let scene: Scene;
let payer: Program;
beforeAll(async () => {
  scene = await openScene();
  payer = await bundleProgram('test/engines/restate/agent-program.ts');
}, 300_000);
afterAll(async () => {
  await scene.stop();
  await payer.remove();
});

const noInput = { type: 'object' } as const;

type Engine = ReturnType<typeof restate>;

/** An engine that serves on a port of its own. */
async function serving(): Promise<Engine> {
  const { ingressUrl, adminUrl } = scene.server;
  return restate({ ingressUrl, adminUrl, serve: { port: await freePort() }, sdk: scene.sdk });
}

/** An engine that only asks. */
function asking(): Engine {
  const { ingressUrl, adminUrl } = scene.server;
  return restate({ ingressUrl, adminUrl, sdk: scene.sdk });
}

describe('a name is a run: on Restate', () => {
  const agents: Agent[] = [];
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
  });
  const make = async (options: AgentOptions): Promise<Agent> => {
    const agent = createAgent({ ...options, engine: await serving() });
    agents.push(agent);
    return agent;
  };
  namesAreRuns({
    make,
    restart: async (agent, options) => {
      await agent.close();
      return make(options);
    },
  });
});

describe('an agent on Restate', () => {
  it('keeps a question over the death of its process, and pays once', async () => {
    const { ingressUrl, adminUrl } = scene.server;
    const { sdkPath } = installRestate();
    const given = { ingressUrl, adminUrl, sdkPath, port: await freePort() };
    const first = startLife(payer.file, { ...given, life: 'first' } satisfies PayerGiven);
    await first.until(({ kind }) => kind === 'ready');
    const agent = createAgent({ name: 'payer', model: scriptedModel([]), engine: asking() });
    const asked = await agent.run('Pay Ann', { runId: 'p' });
    expect(asked).toMatchObject({ type: 'suspended', reason: 'approval', request: { tool: 'pay' } });
    first.kill('SIGKILL');
    await first.ended;

    const second = startLife(payer.file, { ...given, life: 'second' } satisfies PayerGiven);
    await second.until(({ kind }) => kind === 'ready');
    const outcome = await agent.resume('p', { answer: true });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Paid by the second process.' });
    expect([...first.said, ...second.said].filter(({ kind }) => kind === 'paid')).toEqual([
      { kind: 'paid', to: 'Ann', life: 'second' },
    ]);

    const events: RunEvent[] = [];
    const watched = await agent.run('Pay Ann', { runId: 'q', onEvent: (event) => void events.push(event) });
    expect(watched.type).toBe('suspended');
    // What a run says while it speaks is heard where it is carried; elsewhere only what it came to.
    expect(events.map(({ type }) => type)).toEqual(['run-finished']);
    second.kill('SIGKILL');
    await second.ended;
  }, 60_000);

  it('streams, and takes back what a broken attempt had said', async () => {
    const model = scriptedModel([
      { failure: 'SERVER_ERROR', text: ['The answer ', 'is wro'] },
      { text: ['The answer ', 'is right.'] },
    ]);
    const agent = createAgent({ name: 'speaker', model, engine: await serving() });
    const stream = agent.stream('Speak', { runId: 's' });
    let text = '';
    const attempts: number[] = [];
    let retractions = 0;
    for await (const event of stream) {
      if (event.type === 'attempt-started') attempts.push(event.attempt);
      if (event.type === 'text-delta') text += event.text;
      if (event.type !== 'text-retracted') continue;
      retractions += 1;
      text = text.slice(0, event.keep);
    }
    expect(await stream.outcome).toMatchObject({ type: 'completed', text: 'The answer is right.' });
    expect({ text, attempts, retractions }).toEqual({
      text: 'The answer is right.',
      attempts: [1, 2],
      retractions: 1,
    });
    const record = await agent.journal('s');
    // The journal holds what came of the attempts, and no pieces.
    expect(record?.journal.filter((entry) => entry.type === 'call')).toHaveLength(2);
    await agent.close();
  });

  it('is cancelled from another process, while a tool is at work', async () => {
    let isStopped = false;
    let tellBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (tellBegun = resolve));
    const work = tool({
      name: 'work',
      description: 'Works for long.',
      input: noInput,
      effect: 'read',
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          tellBegun();
          signal.addEventListener('abort', () => {
            isStopped = true;
            reject(signal.reason as Error);
          });
        }),
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, 'Done.']);
    const agent = createAgent({ name: 'worker', model, tools: [work], engine: await serving() });
    const running = agent.run('Work', { runId: 'w' });
    await begun;
    await createAgent({ name: 'worker', model, tools: [work], engine: asking() }).cancel('w', 'enough');
    expect(await running).toMatchObject({ type: 'cancelled' });
    expect(isStopped).toBe(true);
    await agent.close();
  });

  it('tells its model all that was sent while a tool was at work, in the order in which it was sent', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, 'Noted.']);
    const remarks = ['First.', 'Second.', 'Third.'];
    const work = tool({
      name: 'work',
      description: 'Somebody has something to say meanwhile.',
      input: noInput,
      effect: 'read',
      execute: async () => {
        for (const remark of remarks) await outside.inject('w', remark);
        return 'done';
      },
    });
    const agent = createAgent({ name: 'listener', model, tools: [work], engine: await serving() });
    const outside = createAgent({ name: 'listener', model, tools: [work], engine: asking() });
    expect(await agent.run('Work', { runId: 'w' })).toMatchObject({ type: 'completed', text: 'Noted.' });
    expect(model.calls).toHaveLength(2);
    const asked = JSON.stringify(model.calls[1]?.request.messages);
    expect(remarks.map((remark) => asked.indexOf(remark))).toEqual(
      remarks.map((remark) => asked.indexOf(remark)).toSorted((a, b) => a - b),
    );
    for (const remark of remarks) expect(asked).toContain(remark);
    await agent.close();
  });

  it('goes on after a failure, with what it had', async () => {
    const model = scriptedModel([{ failure: 'INVALID_REQUEST' }, 'Now it works.']);
    const agent = createAgent({ name: 'failing', model, engine: await serving() });
    expect(await agent.run('Go', { runId: 'f' })).toMatchObject({ type: 'failed' });
    expect(await agent.resume('f')).toMatchObject({ type: 'completed', text: 'Now it works.' });
    expect(await agent.resume('f')).toMatchObject({ type: 'completed', text: 'Now it works.' });
    await agent.close();
  });

  it('shares its port with another agent, whose runs are its own', async () => {
    const engine = await serving();
    const left = createAgent({ name: 'left', model: scriptedModel(['I am left.']), engine });
    const right = createAgent({ name: 'right', model: scriptedModel(['I am right.']), engine });
    const outcomes = await Promise.all([
      left.run('Who?', { runId: 'same' }),
      right.run('Who?', { runId: 'same' }),
    ]);
    expect(outcomes).toMatchObject([{ text: 'I am left.' }, { text: 'I am right.' }]);
    await left.close();
    expect(await right.resume('same')).toMatchObject({ text: 'I am right.' });
    await right.close();
  });

  it('begins a new journal before the old one grows too long', async () => {
    const turns = 520;
    const look = tool({
      name: 'look',
      description: 'Looks.',
      input: noInput,
      effect: 'read',
      execute: () => 'seen',
    });
    const model = scriptedModel(({ messages }) => {
      const seen = messages.filter(({ role }) => role === 'tool').length;
      return seen < turns ? { toolCalls: [{ name: 'look', arguments: { at: seen } }] } : 'Seen enough.';
    });
    const agent = createAgent({
      name: 'long',
      model,
      tools: [look],
      engine: await serving(),
      limits: { maxTurns: turns + 10, maxToolCalls: turns + 10, timeoutMs: 600_000 },
    });
    expect(await agent.run('Look', { runId: 'l' })).toMatchObject({
      type: 'completed',
      text: 'Seen enough.',
    });
    const record = await agent.journal('l');
    expect(record?.generation).toBeGreaterThan(1);
    expect(record?.journal.length).toBeLessThan(1100);
    await agent.close();
  }, 60_000);

  it('hands a run over to an agent in memory, by what is on record', async () => {
    const paid: string[] = [];
    const pay = (place: string) =>
      tool({
        name: 'pay',
        description: 'Pays.',
        input: noInput,
        permission: 'ask',
        execute: () => {
          paid.push(place);
          return 'paid';
        },
      });
    const model = scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? 'Paid.' : { toolCalls: [{ name: 'pay' }] },
    );
    const here = createAgent({ name: 'mover', model, tools: [pay('Restate')], engine: await serving() });
    expect(await here.run('Pay', { runId: 'm' })).toMatchObject({ type: 'suspended' });
    const record = await here.journal('m');
    if (record === undefined) throw new Error('Nothing is on record');
    const asked = model.calls.length;
    const there = createAgent({ name: 'mover', model, tools: [pay('memory')] });
    expect(await there.takeOver(record)).toMatchObject({ type: 'suspended', request: { tool: 'pay' } });
    expect(await there.resume('m', { answer: true })).toMatchObject({ type: 'completed', text: 'Paid.' });
    expect({ paid, calls: model.calls.length - asked }).toEqual({ paid: ['memory'], calls: 1 });
    await here.cancel('m');
    await here.close();
  });
});
