import { createAgent, createWorker, RerailError, tool } from 'rerail';
import type { Agent, RunEvent, RunOptions, Tool, WorkerEvent } from 'rerail';
import { flow, team } from 'rerail/flow';
import { memoryStore, scriptedModel } from 'rerail/testing';
import type { ScriptStep } from 'rerail/testing';
import { describe, expect, it } from 'vitest';

const empty = { type: 'object', properties: {} };
const call = (name: string): ScriptStep => ({ toolCalls: [{ name }] });

interface Made {
  readonly tool: Tool;
  readonly calls: string[];
}

function recorded(name: string, more: Partial<Parameters<typeof tool>[0]> = {}): Made {
  const calls: string[] = [];
  const execute = (): string => {
    calls.push(name);
    return `${name} done`;
  };
  return {
    calls,
    tool: tool({ name, description: name, input: empty, effect: 'read', execute, ...more } as never),
  };
}

async function failureOf(work: () => unknown): Promise<RerailError> {
  try {
    await work();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
  }
  throw new Error('Nothing was thrown');
}

const ways: readonly {
  readonly way: string;
  readonly start: (agent: Agent, options: RunOptions) => unknown;
}[] = [
  { way: 'run', start: (agent, options) => agent.run('Go', options) },
  { way: 'runOrThrow', start: (agent, options) => agent.runOrThrow('Go', options) },
  { way: 'ask', start: (agent, options) => agent.ask('Go', options) },
  { way: 'stream', start: (agent, options) => agent.stream('Go', options).outcome },
];

describe('tools of one run', () => {
  it.each(ways)('are added to those of the agent by $way, for this run alone', async ({ start }) => {
    const model = scriptedModel([call('mine'), 'Done.', 'Done again.']);
    const ours = recorded('ours');
    const mine = recorded('mine');
    const agent = createAgent({ model, tools: [ours.tool] });
    await start(agent, { tools: [mine.tool] });
    expect(mine.calls).toEqual(['mine']);
    await agent.run('Without');
    const names = model.calls.map(({ request }) => request.tools?.map(({ name }) => name));
    expect(names).toEqual([['ours', 'mine'], ['ours', 'mine'], ['ours']]);
  });

  it.each(ways)(
    'of a name that the agent has are refused by $way, before anything is sent',
    async ({ start }) => {
      const model = scriptedModel([]);
      const agent = createAgent({ model, tools: [recorded('ours').tool] });
      const error = await failureOf(() => start(agent, { tools: [recorded('ours').tool] }));
      expect(error.failure).toMatchObject({
        code: 'ALREADY_REGISTERED',
        message: expect.stringContaining('"ours"') as string,
      });
      expect(model.calls).toEqual([]);
    },
  );

  it.each([{ tools: 'search' }, { tools: [{ name: 'search' }] }])('must be tools: %j', async (options) => {
    const agent = createAgent({ model: scriptedModel([]) });
    const error = await failureOf(() => agent.run('Go', options as never));
    expect(error.failure).toMatchObject({ code: 'CONFIG_ERROR' });
    expect(error.message).toContain('"tools" of run() must be a list of tools');
  });

  it('are judged by the rules of the agent', async () => {
    const mine = recorded('mine');
    const model = scriptedModel([call('mine'), 'It was not allowed.']);
    const permissions = [{ tool: 'mine', permission: 'deny', why: 'not today' }] as const;
    const agent = createAgent({ model, policy: { permissions } });
    await agent.run('Go', { tools: [mine.tool] });
    expect(mine.calls).toEqual([]);
  });

  it('keep their own permission: an approval suspends the run, and the answer runs the tool', async () => {
    const mine = recorded('mine', { permission: 'ask' });
    const agent = createAgent({ model: scriptedModel([call('mine'), 'Done.']) });
    const first = await agent.run('Go', { tools: [mine.tool] });
    expect(first).toMatchObject({ type: 'suspended', reason: 'approval' });
    const outcome = await agent.resume(first.runId, { answer: { approved: true } });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(mine.calls).toEqual(['mine']);
  });

  it('handed in again in the same process take the place of those before', async () => {
    const before = recorded('mine', { permission: 'ask' });
    const again = recorded('mine', { permission: 'ask' });
    const agent = createAgent({ model: scriptedModel([call('mine'), 'Done.']) });
    const first = await agent.run('Go', { tools: [before.tool] });
    await agent.resume(first.runId, { answer: { approved: true }, tools: [again.tool] });
    expect([before.calls, again.calls]).toEqual([[], ['mine']]);
  });

  it('leave the members of a team as they are', async () => {
    const member = scriptedModel(['Found.']);
    const research = createAgent({ name: 'research', model: member });
    const lead = createAgent({
      name: 'lead',
      model: scriptedModel([
        { toolCalls: [{ name: 'research', arguments: { task: 'Look' } }] },
        call('mine'),
        'Done.',
      ]),
    });
    const desk = team({ lead, agents: { research } });
    const mine = recorded('mine');
    const outcome = await desk.run('Go', { tools: [mine.tool] });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(mine.calls).toEqual(['mine']);
    expect(member.calls.map(({ request }) => request.tools)).toEqual([undefined]);
  });

  it('are refused by a flow, which has no model that would call them', async () => {
    const work = createAgent({ model: scriptedModel([]) });
    const whole = flow('work', { agents: { work } });
    const error = await failureOf(() => whole.run('Go', { tools: [recorded('mine').tool] }));
    expect(error.message).toContain('is a flow or a plan');
  });

  it('are refused by an engine in one sentence', async () => {
    const engine = (): never => {
      throw new Error('The engine must not be made');
    };
    const agent = createAgent({ model: scriptedModel([]), engine });
    for (const work of [
      () => agent.run('Go', { tools: [recorded('mine').tool] }),
      () => agent.resume('some-run', { tools: [recorded('mine').tool] }),
    ]) {
      const error = await failureOf(work);
      expect(error.message).toContain('An agent with an engine takes no "tools" for a run');
    }
  });
});

describe('a stored run with tools of its own', () => {
  const steps = [call('mine'), 'Done.'];
  const suspended = async (
    store = memoryStore(),
  ): Promise<{ readonly store: ReturnType<typeof memoryStore>; readonly runId: string }> => {
    const agent = createAgent({ model: scriptedModel(steps), store });
    const { runId, type } = await agent.run('Go', { tools: [recorded('mine', { permission: 'ask' }).tool] });
    expect(type).toBe('suspended');
    return { store, runId };
  };

  it('says which tools are missing where it is resumed without them, and the answer still counts afterwards', async () => {
    const { store, runId } = await suspended();
    const second = createAgent({ model: scriptedModel(['Done.']), store: store.reopen(), onChange: 'warn' });
    const error = await failureOf(() => second.resume(runId, { answer: { approved: true } }));
    expect(error.failure).toMatchObject({ code: 'INVALID_STATE', context: { missingTools: ['mine'] } });
    expect(error.message).toContain('"mine"');
    expect(error.failure.hint).toContain('{ tools: [mine] }');
    const mine = recorded('mine', { permission: 'ask' });
    const outcome = await second.resume(runId, { answer: { approved: true }, tools: [mine.tool] });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(mine.calls).toEqual(['mine']);
  });

  it('goes on after a crash with its tools handed in again, and says nothing of a change', async () => {
    const store = memoryStore();
    const dying = createAgent({ model: scriptedModel(steps), store });
    await new Promise<void>((died) => {
      const stuck = recorded('mine', {
        execute: () => {
          store.kill();
          died();
          return new Promise(() => undefined);
        },
      });
      void dying.run('Go', { runId: 'one', tools: [stuck.tool] });
    });
    const alive = store.reopen();
    const model = scriptedModel(['Done.']);
    const second = createAgent({ model, store: alive, onChange: 'strict' });
    const without = await failureOf(() => second.resume('one'));
    expect(without.failure.context).toMatchObject({ missingTools: ['mine'] });
    const mine = recorded('mine');
    const events: RunEvent[] = [];
    const outcome = await second.resume('one', {
      tools: [mine.tool],
      onEvent: (event) => void events.push(event),
    });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(mine.calls).toEqual(['mine']);
    expect(events.filter(({ type }) => type === 'agent-changed')).toEqual([]);
  });

  it('is left alone by a worker, which says why', async () => {
    const store = memoryStore();
    const agent = createAgent({ name: 'a', model: scriptedModel(steps), store });
    const { runId } = await agent.run('Go', { tools: [recorded('mine', { permission: 'ask' }).tool] });
    await store.runs.signal(runId, { id: 'x', name: 'resume', payload: null });
    const told: WorkerEvent[] = [];
    const other = createAgent({ name: 'a', model: scriptedModel([]), store: store.reopen() });
    const worker = createWorker([other], store.reopen(), {
      pollMs: 10,
      signals: false,
      onEvent: (event) => void told.push(event),
    });
    await worker.start();
    await expect.poll(() => told.some(({ type }) => type === 'run-refused'), { timeout: 10_000 }).toBe(true);
    await worker.stop();
    const refused = told.find(({ type }) => type === 'run-refused');
    expect(refused).toMatchObject({ failure: { code: 'INVALID_STATE' } });
  });

  it('shows its outcome without them once it has ended', async () => {
    const store = memoryStore();
    const agent = createAgent({ model: scriptedModel(steps), store });
    const { runId } = await agent.run('Go', { tools: [recorded('mine').tool] });
    const second = createAgent({ model: scriptedModel([]), store: store.reopen() });
    expect(await second.resume(runId)).toMatchObject({ type: 'completed', text: 'Done.' });
  });
});
