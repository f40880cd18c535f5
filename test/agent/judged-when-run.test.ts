import { describe, expect, it } from 'vitest';
import { createAgent, forkRun, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, PermissionRule, RunOutcome, Tool } from '../../src/index.ts';
import type { CreateEngine } from '../../src/runtime/record/durable.ts';
import { createMemoryEngine } from '../../src/runtime/record/memory-engine.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { anyInput } from '../golden/world.ts';

// A call is judged when it is proposed, and again when it would start: rules and tools may have changed in between.

interface Change {
  readonly permission?: 'allow' | 'ask' | 'deny';
  readonly permissions?: readonly PermissionRule[];
  /** Another tool of the same name, or none. */
  readonly isGone?: true;
}

const denied: Change = { permission: 'deny' };
const forbidden: Change = {
  permission: 'ask',
  permissions: [{ tool: 'act', permission: 'deny', why: 'a freeze' }],
};

function acting(done: string[], { permission = 'ask', isGone }: Change): readonly Tool[] {
  const make = (name: string): Tool =>
    tool({
      name,
      description: 'Acts.',
      input: anyInput,
      effect: 'once',
      permission,
      execute: () => {
        done.push(name);
        return 'acted';
      },
    });
  return [make(isGone === true ? 'other' : 'act')];
}

const script = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
  messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ name: 'act', arguments: {} }] };

/** Keeps what was done between two processes. */
interface Backend {
  readonly agent: (change: Change) => Agent;
  readonly done: string[];
}

function backendOf(place: () => Pick<AgentOptions, 'store' | 'engine'>): Backend {
  const done: string[] = [];
  return {
    done,
    agent: (change) =>
      createAgent({
        name: 'clerk',
        model: scriptedModel([script, script, script]),
        tools: acting(done, change),
        policy: { permissions: change.permissions ?? [] },
        onChange: 'warn',
        ...place(),
      }),
  };
}

function storeBackend(): Backend {
  const store = memoryStore();
  return backendOf(() => ({ store: store.reopen() }));
}

/** An engine outside whose server outlives the processes: each agent goes on with what the one before has on record. */
function engineBackend(): Backend {
  let before: ReturnType<typeof createMemoryEngine> | undefined;
  const outside: CreateEngine = async ({ program, effects, version, clock }) => {
    const record = await before?.journal?.('r');
    before = createMemoryEngine({ program, effects, version, clock, isVolatile: false });
    if (record !== undefined) before.adopt(record);
    return before;
  };
  return backendOf(() => ({ engine: outside }));
}

function resultOf(outcome: RunOutcome): string {
  const message = outcome.messages.findLast(({ role }) => role === 'tool');
  return JSON.stringify(message?.content ?? '');
}

describe('a call that was asked about, and is', () => {
  it.each([
    { what: 'denied by its own tool', change: denied, words: /switched off/ },
    { what: 'forbidden by a rule', change: forbidden, words: /a freeze/ },
    {
      what: 'of a tool that is gone',
      change: { isGone: true } as const,
      words: /no tool|not.*(?:exist|there|known)/i,
    },
  ])('$what when the yes comes does not run, and the model is told', async ({ change, words }) => {
    const { agent, done } = storeBackend();
    expect(await agent({}).run('Act', { runId: 'r' })).toMatchObject({
      type: 'suspended',
      reason: 'approval',
    });
    const outcome = await agent(change).resume('r', { answer: true });
    expect(done).toEqual([]);
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(resultOf(outcome)).toMatch(words);
  });

  it('still allowed runs on a yes, also where the rules ask no more', async () => {
    const { agent, done } = storeBackend();
    await agent({}).run('Act', { runId: 'r' });
    expect(await agent({ permission: 'allow' }).resume('r', { answer: true })).toMatchObject({
      type: 'completed',
    });
    expect(done).toEqual(['act']);
  });
});

describe('a call that was allowed when it was proposed, and is not begun before a restart, is', () => {
  it.each([
    { what: 'denied where its tool is switched off', change: denied, expected: { type: 'completed' } },
    { what: 'denied where a rule forbids it', change: forbidden, expected: { type: 'completed' } },
    {
      what: 'asked about where its tool asks',
      change: { permission: 'ask' } as const,
      expected: { type: 'suspended', request: { type: 'approval', tool: 'act' } },
    },
    {
      what: 'asked about where a rule asks',
      change: { permission: 'allow', permissions: [{ tool: 'act', permission: 'ask' }] } as const,
      expected: { type: 'suspended', request: { type: 'approval', tool: 'act' } },
    },
  ])('$what by then', async ({ change, expected }) => {
    const store = memoryStore();
    const { agent, done } = backendOf(() => ({ store: store.reopen() }));
    await agent({ permission: 'allow' }).run('Act', { runId: 'r' });
    expect(done).toEqual(['act']);
    // Its first two events: it began, and the model proposed the call.
    const fork = await forkRun(store, { runId: 'r', seq: 2 });
    const outcome = await agent(change).resume(fork);
    expect(done).toEqual(['act']);
    expect(outcome).toMatchObject(expected);
    if (outcome.type !== 'suspended') return;
    expect(await agent(change).resume(fork, { answer: true })).toMatchObject({ type: 'completed' });
    expect(done).toEqual(['act', 'act']);
  });
});

describe('with an engine', () => {
  it.each([
    { what: 'denied by its own tool', change: denied },
    { what: 'forbidden by a rule', change: forbidden },
  ])('a call that is $what when the yes comes does not run', async ({ change }) => {
    const { agent, done } = engineBackend();
    expect(await agent({}).run('Act', { runId: 'r' })).toMatchObject({ type: 'suspended' });
    const restarted = agent(change);
    expect(await restarted.resume('r')).toMatchObject({ type: 'suspended' });
    const outcome = await restarted.resume('r', { answer: true });
    expect(done).toEqual([]);
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
  });
});
