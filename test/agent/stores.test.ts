import { describe, expect, it } from 'vitest';
import { createAgent, createWorker, exportRun, importRun, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, Hook, RunEvent, RunOutcome } from '../../src/index.ts';
import { createFailure } from '../../src/errors/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, ScriptStep, SimulatedClock } from '../../src/testing/index.ts';
import type { EmbeddingModel } from '../../src/model/embedding.ts';
import { textOf } from '../../src/model/message.ts';
import type { Permission, Tool, ToolEffect } from '../../src/model/tool.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';

// Runs that outlive the process: a store in memory stands for the disk, and `kill` for the end of a process.

interface Life {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly store: MemoryStore;
  readonly events: RunEvent[];
}

type Options = Omit<AgentOptions, 'model' | 'store' | 'clock' | 'output'>;

interface World {
  readonly clock: SimulatedClock;
  /** Another process with the same code, or with other options. */
  readonly live: (script: readonly ScriptStep[], options?: Options, store?: MemoryStore) => Life;
  readonly store: MemoryStore;
}

function createWorld(): World {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  return {
    clock,
    store,
    live: (script, options = {}, handle = store.reopen()) => {
      const model = scriptedModel(script);
      const events: RunEvent[] = [];
      const agent = createAgent({
        name: 'clerk',
        random: seededRandom(7),
        gates: createGates({ clock }),
        ...options,
        model,
        clock,
        store: handle,
        callbacks: { onEvent: (event) => void events.push(event) },
      });
      return { agent, model, store: handle, events };
    },
  };
}

interface Counted {
  readonly tool: Tool;
  executions: number;
  readonly keys: string[];
}

function payTool(
  effect: ToolEffect,
  onExecute: () => void = () => undefined,
  permission: Permission = 'allow',
): Counted {
  const counted: Counted = {
    executions: 0,
    keys: [],
    tool: tool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: { cents: { type: 'number' } } },
      effect,
      permission,
      execute: (_input, { idempotencyKey }) => {
        counted.executions += 1;
        counted.keys.push(idempotencyKey);
        onExecute();
        return 'paid';
      },
    }),
  };
  return counted;
}

/** Asks for the payment until there is a result of it. */
const step: ScriptStep = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'Paid.' : { toolCalls: [{ name: 'pay', arguments: { cents: 5 } }] };
const script: readonly ScriptStep[] = [step, step, step];

describe('a run with a store', () => {
  it('is on record when it has ended, and gives the same outcome in another process', async () => {
    const world = createWorld();
    const pay = payTool('once');
    const first = world.live(script, { tools: [pay.tool] });
    const outcome = await world.clock.runUntil(first.agent.run('Pay 5 cents', { runId: 'r1' }));
    expect(outcome).toMatchObject({ type: 'completed', text: 'Paid.' });
    const second = world.live([], { tools: [pay.tool] });
    const again = await world.clock.runUntil(second.agent.resume('r1'));
    expect(again).toEqual(outcome);
    expect([pay.executions, second.model.calls.length]).toEqual([1, 0]);
    expect(await world.store.runs.find('r1')).toMatchObject({
      status: 'completed',
      agent: 'clerk',
      tools: ['pay'],
      turns: 2,
    });
  });

  it.each([
    { effect: 'read', executions: 2, outcome: { type: 'completed', text: 'Paid.' } },
    { effect: 'idempotent', executions: 2, outcome: { type: 'completed', text: 'Paid.' } },
    { effect: 'once', executions: 1, outcome: { type: 'suspended', reason: 'in-doubt' } },
  ] as const)(
    'that dies after the effect "$effect" and before its result goes on as the effect allows',
    async ({ effect, executions, outcome }) => {
      const world = createWorld();
      const handle = world.store.reopen();
      const pay = payTool(effect, () => {
        if (pay.executions === 1) handle.kill();
      });
      const first = world.live(script, { tools: [pay.tool] }, handle);
      void first.agent.run('Pay 5 cents', { runId: 'r1' });
      await world.clock.runAll();
      expect(await world.store.runs.find('r1')).toMatchObject({ status: 'running' });
      const second = world.live(script, { tools: [pay.tool] });
      expect(await world.clock.runUntil(second.agent.resume('r1'))).toMatchObject(outcome);
      expect(pay.executions).toBe(executions);
      expect(new Set(pay.keys).size).toBe(1);
    },
  );

  it('is answered in another process than the one that asked', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    const ask = { tools: [pay.tool] };
    const first = world.live(script, ask);
    const asked = await world.clock.runUntil(first.agent.run('Pay 5 cents', { runId: 'r1' }));
    expect(asked).toMatchObject({ type: 'suspended', reason: 'approval' });
    first.store.kill();
    const second = world.live(script, ask);
    expect(await world.clock.runUntil(second.agent.resume('r1', { answer: true }))).toMatchObject({
      type: 'completed',
      text: 'Paid.',
    });
    expect(pay.executions).toBe(1);
  });

  it('is told what it was told before only once', async () => {
    const world = createWorld();
    const handle = world.store.reopen();
    const pay = payTool('idempotent', () => {
      if (pay.executions === 1) handle.kill();
    });
    const first = world.live(script, { tools: [pay.tool] }, handle);
    void first.agent.run('Pay 5 cents', { runId: 'r1' });
    await world.clock.runAll();
    const second = world.live(script, { tools: [pay.tool] });
    await world.clock.runUntil(second.agent.resume('r1'));
    const types = second.events.map(({ type }) => type);
    expect(types).not.toContain('run-started');
    expect(types.filter((type) => type === 'turn-started')).toHaveLength(1);
    expect(types.filter((type) => type === 'tool-finished')).toHaveLength(1);
  });
});

const storageCases = [
  { code: 'STORAGE_FULL', outcome: { type: 'suspended', reason: 'storage' } },
  { code: 'STORAGE_IO', outcome: { type: 'suspended', reason: 'storage' } },
  { code: 'STORAGE_READ_ONLY', outcome: { type: 'suspended', reason: 'storage' } },
  { code: 'STORAGE_LOCKED', outcome: { type: 'suspended', reason: 'storage' } },
  { code: 'STORAGE_CORRUPT', outcome: { type: 'failed' } },
  { code: 'STORAGE_LOST', outcome: { type: 'failed' } },
  { code: 'STORAGE_DIVERGED', outcome: { type: 'failed' } },
  { code: 'STORAGE_NEWER_SCHEMA', outcome: { type: 'failed' } },
] as const;

describe('a store that fails', () => {
  it.each(storageCases)(
    'with $code at any write never lets a tool run that is not on record',
    async ({ code, outcome }) => {
      for (let at = 1; at < 12; at += 1) {
        const world = createWorld();
        let writes = 0;
        let isFailing = true;
        const handle = world.store.reopen({
          faults: {
            before: ({ verb }) => {
              if (verb !== 'append' && verb !== 'create') return undefined;
              writes += 1;
              return isFailing && writes >= at
                ? createFailure(code, { origin: 'storage', message: `Write ${at} failed` })
                : undefined;
            },
          },
        });
        const pay = payTool('once');
        const life = world.live(script, { tools: [pay.tool] }, handle);
        const first = await world.clock.runUntil(life.agent.run('Pay', { runId: 'r1' }));
        if (first.type === 'completed') break;
        expect(first, `write ${at}`).toMatchObject({ ...outcome, failure: { code } });
        isFailing = false;
        if (first.type !== 'suspended') continue;
        const next = world.live(script, { tools: [pay.tool] }, handle);
        const agent = at === 1 ? life.agent : next.agent;
        const resumed: RunOutcome = await world.clock.runUntil(agent.resume('r1'));
        expect(['completed', 'suspended'], `write ${at}`).toContain(resumed.type);
        expect(pay.executions).toBeLessThanOrEqual(1);
      }
    },
  );

  it('under bestEffort goes on in memory, and says so in an event and in the outcome', async () => {
    const world = createWorld();
    const handle = world.store.reopen({
      durability: 'bestEffort',
      faults: {
        before: ({ verb, number }) =>
          verb === 'append' && number > 2
            ? createFailure('STORAGE_FULL', { origin: 'storage', message: 'No space left' })
            : undefined,
      },
    });
    const pay = payTool('read');
    const life = world.live(script, { tools: [pay.tool] }, handle);
    const outcome = await world.clock.runUntil(life.agent.run('Pay', { runId: 'r1' }));
    expect(outcome).toMatchObject({ type: 'completed', unsaved: { code: 'STORAGE_FULL' } });
    expect(life.events.filter(({ type }) => type === 'storage-failed')).toHaveLength(1);
  });
});

describe('a store that comes back', () => {
  it('under bestEffort gets what it has missed, and the run is whole again', async () => {
    const world = createWorld();
    let appends = 0;
    const handle = world.store.reopen({
      durability: 'bestEffort',
      faults: {
        before: ({ verb }) => {
          if (verb !== 'append') return undefined;
          appends += 1;
          return appends === 2
            ? createFailure('STORAGE_IO', { origin: 'storage', message: 'The disk was away' })
            : undefined;
        },
      },
    });
    const pay = payTool('read');
    const life = world.live(script, { tools: [pay.tool] }, handle);
    const outcome = await world.clock.runUntil(life.agent.run('Pay', { runId: 'r1' }));
    const told = life.events.map(({ type }) => type).filter((type) => type.startsWith('storage-'));
    expect(told).toEqual(['storage-failed', 'storage-restored']);
    expect(outcome).not.toHaveProperty('unsaved');
    const again = await world.clock.runUntil(world.live([], { tools: [pay.tool] }).agent.resume('r1'));
    expect(again).toEqual(outcome);
    expect(pay.executions).toBe(1);
  });
});

describe('a run that somebody else has a say in', () => {
  const waiting = (world: World): Life =>
    world.live(script, { tools: [payTool('once', undefined, 'ask').tool] });

  it('is cancelled while nobody carries it', async () => {
    const world = createWorld();
    const first = waiting(world);
    await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const second = waiting(world);
    await world.clock.runUntil(second.agent.cancel('r1', 'changed my mind'));
    expect(await world.store.runs.find('r1')).toMatchObject({ status: 'cancelled' });
    const third = waiting(world);
    const outcome = await world.clock.runUntil(third.agent.run('Pay', { runId: 'r1' }));
    expect(outcome).toMatchObject({ type: 'cancelled' });
  });

  it('is cancelled while another process carries it', async () => {
    const world = createWorld();
    const slow = payTool('read');
    const first = world.live([{ delayMs: 60_000, text: 'Late.' }], { tools: [slow.tool] });
    const startedMs = world.clock.monotonicMs();
    const running = first.agent.run('Pay', { runId: 'r1' });
    await world.clock.advance(1000);
    const second = world.live([], { tools: [slow.tool] });
    await second.agent.cancel('r1', 'changed my mind');
    expect(await world.clock.runUntil(running)).toMatchObject({ type: 'cancelled' });
    expect(world.clock.monotonicMs() - startedMs).toBeLessThan(20_000);
  });

  it('hears a message that was sent while nobody carried it', async () => {
    const world = createWorld();
    const first = waiting(world);
    await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const second = waiting(world);
    await second.agent.inject('r1', 'And hurry.');
    await world.clock.runUntil(second.agent.resume('r1', { answer: true }));
    const asked = second.model.calls.at(-1)?.request.messages ?? [];
    expect(asked).toContainEqual({ role: 'user', content: 'And hurry.' });
  });

  it('takes the first of two answers to the same question', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    const first = world.live(script, { tools: [pay.tool] });
    await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const [yes, no] = [world.live(script, { tools: [pay.tool] }), world.live(script, { tools: [pay.tool] })];
    const answered = yes.agent.resume('r1', { answer: true });
    const late = no.agent.resume('r1', { answer: false }).catch((error: unknown) => error);
    expect(await world.clock.runUntil(answered)).toMatchObject({ type: 'completed' });
    await world.clock.runUntil(late);
    expect(pay.executions).toBe(1);
    expect(await world.store.runs.signals('r1')).toEqual([]);
  });

  it('is refused while another process carries it, and taken over once that one is silent for too long', async () => {
    const world = createWorld();
    const pay = payTool('read');
    const first = world.live([{ delayMs: 600_000, text: 'Late.' }], { tools: [pay.tool] });
    void first.agent.run('Pay', { runId: 'r1' });
    await world.clock.advance(1000);
    const second = world.live(['Quick.'], { tools: [pay.tool] });
    await expect(second.agent.resume('r1')).rejects.toMatchObject({ failure: { code: 'STORAGE_LOCKED' } });
    first.store.kill();
    expect(await world.clock.runUntil(second.agent.resume('r1'))).toMatchObject({
      type: 'completed',
      text: 'Quick.',
    });
    expect(await world.store.runs.find('r1')).toMatchObject({ crashes: 1 });
  });

  it('is let go without an end, and goes on where it is taken up', async () => {
    const world = createWorld();
    const pay = payTool('read');
    const first = world.live([{ delayMs: 600_000, text: 'Late.' }], { tools: [pay.tool] });
    const running = first.agent.run('Pay', { runId: 'r1' });
    await world.clock.advance(1000);
    await first.agent.release('r1');
    expect(await running).toMatchObject({ type: 'suspended', reason: 'released' });
    const second = world.live(['Quick.'], { tools: [pay.tool] });
    expect(await world.clock.runUntil(second.agent.resume('r1'))).toMatchObject({
      type: 'completed',
      text: 'Quick.',
    });
    expect(await world.store.runs.find('r1')).toMatchObject({ crashes: 0 });
  });

  it.each([
    { onChange: 'warn', outcome: 'goes on and tells' },
    { onChange: 'strict', outcome: 'is refused' },
  ] as const)('taken up with other code $outcome under "$onChange"', async ({ onChange }) => {
    const world = createWorld();
    const first = waiting(world);
    await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const second = world.live(script, {
      tools: [payTool('once', undefined, 'ask').tool],
      instructions: 'Be careful.',
      onChange,
    });
    const resumed = await world.clock.runUntil(
      second.agent.resume('r1', { answer: true }).then(
        ({ type }) => type,
        (error: unknown) => String(error),
      ),
    );
    const told = second.events.find(({ type }) => type === 'agent-changed');
    const expected = {
      warn: ['completed', { type: 'agent-changed', differences: ['the instructions were changed'] }],
      strict: [expect.stringContaining('the instructions were changed') as string, undefined],
    };
    expect([resumed, told]).toEqual(expected[onChange]);
  });

  it('of another agent, or of nobody, is not taken up', async () => {
    const world = createWorld();
    await world.clock.runUntil(waiting(world).agent.run('Pay', { runId: 'r1' }));
    const other = world.live(script, { name: 'other' });
    await expect(other.agent.resume('r1')).rejects.toThrow(/belongs to the agent "clerk"/);
    await expect(other.agent.resume('r2')).rejects.toMatchObject({ failure: { code: 'STORAGE_NOT_FOUND' } });
  });
});

describe('an answer', () => {
  const payTwice: readonly ScriptStep[] = [
    { toolCalls: [{ name: 'pay', arguments: { cents: 1 } }] },
    { toolCalls: [{ name: 'pay', arguments: { cents: 999 } }] },
    'Paid.',
  ];

  it('to one question opens no other, where somebody in the process is asked as well', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    const first = world.live(payTwice.slice(0, 1), { tools: [pay.tool] });
    await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const asked: string[] = [];
    const handle = world.store.reopen();
    const agent = createAgent({
      name: 'clerk',
      model: scriptedModel(payTwice.slice(1)),
      tools: [pay.tool],
      clock: world.clock,
      store: handle,
      callbacks: {
        onApproval: (request) => {
          asked.push(JSON.stringify('input' in request ? request.input : {}));
          return undefined;
        },
      },
    });
    await world.clock.runUntil(agent.resume('r1', { answer: true }));
    // The first was answered, so only the other one was asked about; silence is a no.
    expect(asked).toEqual(['{"cents":999}']);
    expect(pay.executions).toBe(1);
    expect(await world.store.runs.signals('r1')).toEqual([]);
  });

  it('is not given by ending the run: it is asked again where somebody goes on', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    const waiting = createAgent({
      name: 'clerk',
      model: scriptedModel(payTwice.slice(0, 1)),
      tools: [pay.tool],
      clock: world.clock,
      store: world.store.reopen(),
      callbacks: {
        onApproval: (_request, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(undefined));
          }),
      },
    });
    const running = waiting.run('Pay', { runId: 'r1' });
    await world.clock.advance(1000);
    void waiting.cancel('r1', 'Ctrl-C');
    expect(await world.clock.runUntil(running)).toMatchObject({ type: 'cancelled' });
    const second = world.live(payTwice.slice(0, 1), { tools: [pay.tool] });
    const outcome = await world.clock.runUntil(second.agent.resume('r1'));
    expect(outcome).toMatchObject({
      type: 'suspended',
      reason: 'approval',
      request: { input: { cents: 1 } },
    });
    expect(pay.executions).toBe(0);
  });

  it('that comes when the run asks something else already is no answer to that', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    const first = world.live(payTwice, { tools: [pay.tool] });
    const one = await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const row = await world.store.runs.find('r1');
    await world.clock.runUntil(first.agent.resume('r1', { answer: true }));
    expect(pay.executions).toBe(1);
    // Somebody else has looked at the first question, and says yes to it only now.
    const about = one.type === 'suspended' ? one.request?.id : undefined;
    const payload = {
      answer: { given: true, value: true },
      wallMs: world.clock.wallMs(),
      about: about ?? '',
    };
    const id = `resume:${row?.headSeq}:late`;
    await world.store.runs.signal('r1', { id, name: 'resume', payload });
    const second = world.live(payTwice.slice(2), { tools: [pay.tool] }, world.store.reopen());
    const outcome = await world.clock.runUntil(second.agent.resume('r1'));
    expect(outcome).toMatchObject({ type: 'suspended', request: { input: { cents: 999 } } });
    expect(pay.executions).toBe(1);
  });
});

describe('what nearly did not happen', () => {
  it('is cancelled before it began, and is found as that', async () => {
    const world = createWorld();
    const signal = AbortSignal.abort();
    const first = world.live(['Hello.']);
    const outcome = await world.clock.runUntil(first.agent.run('Hello', { runId: 'r1', signal }));
    expect(outcome).toMatchObject({ type: 'cancelled' });
    const again = await world.clock.runUntil(world.live([]).agent.run('Hello', { runId: 'r1' }));
    expect(again).toMatchObject({ type: 'cancelled' });
  });

  it('is cancelled while it is being written down that it begins', async () => {
    const world = createWorld();
    const first = world.live([{ delayMs: 60_000, text: 'Late.' }]);
    const running = first.agent.run('Hello', { runId: 'r1' });
    void first.agent.cancel('r1');
    expect(await world.clock.runUntil(running)).toMatchObject({ type: 'cancelled' });
    const again = await world.clock.runUntil(world.live([]).agent.run('Hello', { runId: 'r1' }));
    expect(again).toMatchObject({ type: 'cancelled' });
  });

  it('cannot be taken up, and keeps nobody waiting who has asked for it too', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    await world.clock.runUntil(world.live(script, { tools: [pay.tool] }).agent.run('Pay', { runId: 'r1' }));
    let isFull = true;
    const failure = createFailure('STORAGE_FULL', { origin: 'storage', message: 'No space left' });
    const handle = world.store.reopen({
      faults: { before: ({ verb }) => (isFull && verb === 'claim' ? failure : undefined) },
    });
    const second = world.live(script, { tools: [pay.tool] }, handle);
    await expect(second.agent.cancel('r1')).rejects.toMatchObject({ failure: { code: 'STORAGE_FULL' } });
    const both = [second.agent.resume('r1'), second.agent.resume('r1')] as const;
    await expect(both[0]).rejects.toMatchObject({ failure: { code: 'STORAGE_FULL' } });
    expect(await world.clock.runUntil(both[1])).toMatchObject({ type: 'suspended', reason: 'storage' });
    isFull = false;
    // The wish was kept when it was made.
    expect(await world.clock.runUntil(second.agent.resume('r1'))).toMatchObject({ type: 'cancelled' });
  });

  it('is cancelled while the disk fails, and is found as that', async () => {
    const world = createWorld();
    let isFull = false;
    const failure = createFailure('STORAGE_FULL', { origin: 'storage', message: 'No space left' });
    const before = ({ verb }: { readonly verb: string }): typeof failure | undefined => {
      const fails = isFull && verb === 'append';
      isFull &&= !fails;
      return fails ? failure : undefined;
    };
    const handle = world.store.reopen({ faults: { before } });
    const pay = payTool('read', () => {
      isFull = true;
      void first.agent.cancel('r1', 'changed my mind');
    });
    const first = world.live(script, { tools: [pay.tool] }, handle);
    const outcome = await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    expect(outcome).toMatchObject({ type: 'cancelled' });
    expect(isFull).toBe(false);
    const second = world.live([], { tools: [pay.tool] });
    const again = await world.clock.runUntil(second.agent.run('Pay', { runId: 'r1' }));
    expect(again).toMatchObject({ type: 'cancelled' });
  });

  it('goes on with other hooks and another budget than it was begun with', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    const heard: string[] = [];
    const hooks: readonly Hook[] = [
      {
        name: 'before',
        kind: 'guardrail',
        on: {
          'before-model': () => void heard.push('asked'),
        },
      },
    ];
    const first = world.live(script, { tools: [pay.tool], hooks });
    await world.clock.runUntil(first.agent.run('Pay', { runId: 'r1' }));
    const second = world.live(script, { tools: [pay.tool], context: { maxTokens: 100, reserveTokens: 10 } });
    const outcome = await world.clock.runUntil(second.agent.resume('r1', { answer: true }));
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(heard).toEqual(['asked']);
  });

  it('is answered after it was parked in the middle of its question', async () => {
    const world = createWorld();
    const pay = payTool('once', undefined, 'ask');
    await world.clock.runUntil(world.live(script, { tools: [pay.tool] }).agent.run('Pay', { runId: 'r1' }));
    const text = await exportRun(world.store, 'r1');
    await importRun(world.store, text, { as: 'r2' });
    const outcome = await world.clock.runUntil(
      world.live(script, { tools: [pay.tool] }).agent.resume('r2', { answer: true }),
    );
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(pay.executions).toBe(1);
  });
});

describe('a long run', () => {
  it('goes on over generations, and its record does not grow with their number squared', async () => {
    const world = createWorld();
    const limits = { maxTurns: 5000, maxToolCalls: 5000 };
    const pay = payTool('read');
    const turns = 1100;
    const endless: ScriptStep = (_request, index) =>
      index < turns ? { toolCalls: [{ name: 'pay', arguments: { cents: index } }] } : 'Done.';
    const life = world.live(
      Array.from({ length: turns + 1 }, () => endless),
      { tools: [pay.tool], limits },
    );
    const outcome = await world.clock.runUntil(life.agent.run('Pay often', { runId: 'r1' }));
    expect(outcome).toMatchObject({ type: 'completed', turns: turns + 1 });
    const again = await world.clock.runUntil(
      world.live([], { tools: [pay.tool], limits }).agent.resume('r1'),
    );
    expect(again.messages).toEqual(outcome.messages);
    const events = await world.store.runs.events('r1');
    const began = events
      .filter(({ type }) => type === 'began')
      .map(({ body }) => JSON.stringify(body).length);
    expect(began).toHaveLength(3);
    expect(Math.max(...began)).toBeLessThan(100_000);
  });
});

/** What the model was asked first, as texts. */
function textsOf({ model }: Life): readonly string[] {
  const messages = model.calls[0]?.request.messages ?? [];
  return messages.map(({ content }) => (typeof content === 'string' ? content : textOf(content)));
}

describe('a session', () => {
  it('is what later runs begin with, each adding to it once', async () => {
    const world = createWorld();
    const first = world.live(['I am well.']);
    await world.clock.runUntil(first.agent.run('How are you?', { sessionId: 's1', runId: 'r1' }));
    const second = world.live(['You asked how I am.']);
    await world.clock.runUntil(second.agent.run('What did I ask?', { sessionId: 's1', runId: 'r2' }));
    expect(textsOf(second)).toEqual(['How are you?', 'I am well.', 'What did I ask?']);
    expect(await world.store.sessions.find('s1')).toMatchObject({ messages: 4 });
    expect(
      (await world.store.runs.list({ sessionId: 's1' })).runs.map(({ runId }) => runId).toSorted(),
    ).toEqual(['r1', 'r2']);
  });

  it('is chosen from where it is long, and the choice is told', async () => {
    const world = createWorld();
    const history = { strategy: 'lexical', maxExchanges: 2, keepLast: 1 } as const;
    for (const [index, text] of ['My cat is called Tom.', 'I like tea.', 'It rains.'].entries()) {
      const life = world.live(['Noted.']);
      await world.clock.runUntil(life.agent.run(text, { sessionId: 's1', runId: `r${index}` }));
    }
    const life = world.live(['Tom.'], { history });
    await world.clock.runUntil(life.agent.run('What is my cat called?', { sessionId: 's1' }));
    expect(textsOf(life)).toEqual([
      'My cat is called Tom.',
      'Noted.',
      'It rains.',
      'Noted.',
      'What is my cat called?',
    ]);
    expect(life.events).toContainEqual(
      expect.objectContaining({ type: 'history-selected', strategy: 'lexical', total: 3, selected: 2 }),
    );
  });

  it('that no embeddings can be had of is chosen by words, and says so', async () => {
    const world = createWorld();
    const failure = createFailure('INVALID_REQUEST', { origin: 'embedding', message: 'No embeddings here' });
    const embeddings: EmbeddingModel = {
      provider: 'broken',
      name: 'vectors',
      quotaKey: 'broken',
      maxBatch: 10,
      embed: () => Promise.resolve({ type: 'failure', failure }),
    };
    for (const [index, text] of ['My cat is called Tom.', 'I like tea.', 'It rains.'].entries())
      await world.clock.runUntil(
        world.live(['Noted.']).agent.run(text, { sessionId: 's1', runId: `r${index}` }),
      );
    const history = { strategy: 'embeddings', maxExchanges: 2, keepLast: 1, embeddings } as const;
    const life = world.live(['Tom.'], { history });
    await world.clock.runUntil(life.agent.run('What is my cat called?', { sessionId: 's1' }));
    expect(textsOf(life)).toContain('My cat is called Tom.');
    expect(life.events).toContainEqual(
      expect.objectContaining({
        type: 'history-selected',
        strategy: 'lexical',
        degraded: [expect.objectContaining({ from: 'embeddings', to: 'lexical' })],
      }),
    );
  });

  it('needs a store', async () => {
    const agent = createAgent({ model: scriptedModel(['Hello.']) });
    expect(await agent.run('Hello', { sessionId: 's1' })).toMatchObject({
      type: 'failed',
      failure: { code: 'CONFIG_ERROR' },
    });
  });
});

describe('a result that is too long to be shown', () => {
  it('is kept whole, and the model reads on in it, but not in those of other runs', async () => {
    const world = createWorld();
    const long = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n');
    const book = tool({
      name: 'book',
      description: 'Gives a book.',
      input: { type: 'object', properties: {} },
      effect: 'read',
      maxResultCharacters: 5000,
      execute: () => long,
    });
    const refIn = (text: string): string => /result_[\w-]+/u.exec(text)?.[0] ?? 'none';
    let seen = '';
    const play: ScriptStep = ({ messages }) => {
      const last = JSON.stringify(messages.at(-1));
      if (last.includes('line 15000')) return 'Found.';
      if (!last.includes('result_')) return { toolCalls: [{ name: 'book' }] };
      seen = refIn(last);
      return { toolCalls: [{ name: 'read_result', arguments: { ref: seen, find: 'line 15000' } }] };
    };
    const life = world.live([play, play, play], { tools: [book] });
    const outcome = await world.clock.runUntil(life.agent.run('Find it', { runId: 'r1' }));
    expect(outcome).toMatchObject({ type: 'completed', text: 'Found.' });
    const events = await world.store.runs.events('r1');
    expect(Math.max(...events.map(({ body }) => JSON.stringify(body).length))).toBeLessThan(20_000);
    const other = world.live(
      [
        { toolCalls: [{ name: 'read_result', arguments: { ref: seen } }] },
        ({ messages }) => JSON.stringify(messages.at(-1)),
      ],
      { tools: [book] },
    );
    const denied = await world.clock.runUntil(other.agent.run('Read it', { runId: 'r2' }));
    expect(denied).toMatchObject({
      type: 'completed',
      text: expect.not.stringContaining('line 1') as string,
    });
  });
});

describe('a worker', () => {
  it('parks the run that ends its processes, and not the ones beside it', async () => {
    const world = createWorld();
    const life = (handle: MemoryStore): Agent => {
      const poison = tool({
        name: 'pay',
        description: 'Pays.',
        input: { type: 'object', properties: { cents: { type: 'number' } } },
        effect: 'read',
        execute: (_input, { runId }) => {
          if (runId !== 'poison') return 'paid';
          handle.kill();
          return new Promise(() => undefined);
        },
      });
      const slow: ScriptStep = (request, index) => {
        const next = typeof step === 'function' ? step(request, index) : step;
        return typeof next === 'string' ? { text: next, delayMs: 5000 } : next;
      };
      return world.live([slow, slow, slow, slow], { tools: [poison] }, handle).agent;
    };
    const first = world.store.reopen();
    const begun = life(first);
    for (const runId of ['a', 'b', 'poison']) void begun.run('Pay', { runId });
    await world.clock.runAll();
    const parked: string[] = [];
    for (let lives = 0; lives < 8; lives += 1) {
      const handle = world.store.reopen();
      const worker = createWorker([life(handle)], handle, {
        clock: world.clock,
        signals: false,
        onEvent: (event) => {
          if (event.type === 'run-parked') parked.push(event.runId);
        },
      });
      void worker.start();
      await world.clock.advance(30_000);
      void worker.stop();
    }
    const { runs } = await world.store.runs.list();
    expect(Object.fromEntries(runs.map(({ runId, status }) => [runId, status]))).toEqual({
      a: 'completed',
      b: 'completed',
      poison: 'parked',
    });
    expect(parked).toEqual(['poison']);
  });
});
