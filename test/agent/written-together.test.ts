import { describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { Agent, Hook, RunEvent } from '../../src/index.ts';
import { isRecord } from '../../src/base/json.ts';
import { createFailure } from '../../src/errors/failure.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { Addition, Store } from '../../src/model/store/store.ts';
import type { Permission, ToolEffect } from '../../src/model/tool.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptStep, SimulatedClock } from '../../src/testing/index.ts';

// What is written by one write, and what waits for it. The disk takes 10 ms; everything else is told in the order in which it happens.

interface Scene {
  readonly clock: SimulatedClock;
  readonly agent: Agent;
  readonly disk: MemoryStore;
  readonly told: string[];
}

interface SceneOptions {
  readonly effect?: ToolEffect;
  /** How long the tool takes, call by call. */
  readonly delaysMs?: readonly number[];
  readonly calls?: number;
  /** So many of them side by side. */
  readonly beside?: number;
  /** The write of this name fails. */
  readonly fails?: string;
  readonly durability?: Store['durability'];
  /** How long a write takes. */
  readonly writeMs?: number;
  readonly hooks?: readonly Hook[];
  readonly disk?: MemoryStore;
  readonly onCall?: (count: number) => void;
  readonly onEvent?: (event: RunEvent) => unknown;
  readonly permission?: Permission;
  /** Each call leaves something behind that reports at once. */
  readonly works?: boolean;
}

function setScene(options: SceneOptions = {}): Scene {
  const {
    effect = 'read',
    delaysMs = [],
    calls = 1,
    beside = 1,
    fails,
    hooks = [],
    onCall,
    permission = 'allow',
  } = options;
  const clock = simulatedClock();
  const { durability = 'required', writeMs = 10 } = options;
  const disk = options.disk ?? memoryStore({ clock });
  const told: string[] = [];
  const sleep = (delayMs: number): Promise<void> =>
    new Promise((resolve) => void clock.after(delayMs, resolve));
  let count = 0;
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: { index: { type: 'number' } } },
    effect,
    permission,
    execute: async (_input, { background }) => {
      if (options.works === true) background('rest', Promise.resolve('all of it'));
      const delayMs = delaysMs[count] ?? 0;
      count += 1;
      told.push(`look ${count}`);
      onCall?.(count);
      if (delayMs > 0) await sleep(delayMs);
      return `result ${count}`;
    },
  });
  const ask: ScriptStep = ({ messages }) => {
    told.push('model asked');
    const results = messages.filter(({ role }) => role === 'tool').length;
    return results < calls
      ? {
          toolCalls: Array.from({ length: beside }, (_none, index) => ({
            name: 'look',
            arguments: { index },
          })),
        }
      : 'Done.';
  };
  const { runs } = disk;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, as every store promises. */
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work, work);
    last = done;
    return done;
  };
  const store: Store = {
    ...disk,
    durability,
    runs: {
      ...runs,
      append: (lease, addition) =>
        inOrder(async () => {
          const name = nameOf(addition);
          await sleep(writeMs);
          if (name === fails)
            throw RerailError.from(createFailure('STORAGE_FULL', { origin: 'storage', message: 'no space' }));
          await runs.append(lease, addition);
          told.push(`written: ${name}`);
        }),
      signal: (runId, signal) => {
        told.push(`signalled: ${signal.name}`);
        return runs.signal(runId, signal);
      },
      release: (lease) => inOrder(() => runs.release(lease)),
    },
  };
  const agent = createAgent({
    name: 'clerk',
    model: scriptedModel(Array.from({ length: 9 }, () => ask)),
    tools: [look],
    hooks,
    ...(options.onEvent === undefined
      ? {}
      : { callbacks: { onEvent: (event) => void options.onEvent?.(event) } }),
    store,
    clock,
    gates: createGates({ clock }),
  });
  return { clock, agent, disk, told };
}

function nameOf({ events }: Addition): string {
  return events
    .map(({ type, body }) => (type === 'call' && isRecord(body) ? (body['effect'] as string) : type))
    .join(' + ');
}

async function run({ clock, agent }: Scene): Promise<unknown> {
  return (await clock.runUntil(agent.run('Look.', { runId: 'r' }))).type;
}

describe('by one write are kept', () => {
  it('the last answer and the end', async () => {
    const scene = setScene({ calls: 0 });
    expect(await run(scene)).toBe('completed');
    expect(scene.told).toEqual(['model asked', 'written: model + ended']);
  });

  it('an answer and the intent to do what it asks for, before that is done', async () => {
    const scene = setScene({ effect: 'once' });
    expect(await run(scene)).toBe('completed');
    expect(scene.told).toEqual([
      'model asked',
      'written: model + intend',
      'look 1',
      'written: tool',
      'model asked',
      'written: model + ended',
    ]);
  });

  it('an answer and what it asks for, once a tool that only reads was quick', async () => {
    const scene = setScene({ calls: 3 });
    expect(await run(scene)).toBe('completed');
    expect(scene.told).toEqual([
      'model asked',
      'written: model',
      // Nobody knows yet how long it takes, or whether the process survives it.
      'look 1',
      'written: tool',
      'model asked',
      'look 2',
      'written: model + tool',
      'model asked',
      'look 3',
      'written: model + tool',
      'model asked',
      'written: model + ended',
    ]);
  });

  it('an answer and its tool no more, once that was slow', async () => {
    const scene = setScene({ calls: 4, delaysMs: [0, 500, 0, 0] });
    expect(await run(scene)).toBe('completed');
    expect(scene.told.filter((line) => line.startsWith('written'))).toEqual([
      'written: model',
      'written: tool',
      'written: model',
      'written: tool',
      'written: model',
      'written: tool',
      'written: model + tool',
      'written: model + ended',
    ]);
  });
});

describe('while one write is under way', () => {
  it('what else comes waits for it, and goes with the next', async () => {
    const scene = setScene({ beside: 3, delaysMs: [5, 7, 9] });
    expect(await run(scene)).toBe('completed');
    expect(scene.told.slice(-4)).toEqual([
      'written: tool',
      'written: tool + tool',
      'model asked',
      'written: model + ended',
    ]);
  });

  it('nothing that comes after it is written where it fails', async () => {
    const scene = setScene({ beside: 3, delaysMs: [5, 7, 9], fails: 'tool' });
    expect(await run(scene)).toBe('suspended');
    expect(scene.told.filter((line) => line.startsWith('written'))).toEqual(['written: model']);
  });

  it('a run that is let go is given back when all of it is on record', async () => {
    const scene = setScene({ beside: 2, delaysMs: [5, 7] });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(18);
    expect(scene.told.filter((line) => line.startsWith('written'))).toEqual(['written: model']);
    await scene.clock.runUntil(scene.agent.release('r'));
    expect(await running).toMatchObject({ type: 'suspended' });
    expect(scene.told.slice(-2)).toEqual(['written: tool', 'written: tool']);
    expect(await scene.disk.runs.find('r')).not.toHaveProperty('owner');
  });
});

describe('what changes something', () => {
  it.each(['idempotent', 'once'] as const)(
    'begins when the answer that asks for it is on record, however quick it was: %s',
    async (effect) => {
      const scene = setScene({ effect, calls: 3 });
      expect(await run(scene)).toBe('completed');
      const { told } = scene;
      const before = told.flatMap((line, place) => (line.startsWith('look') ? [told[place - 1]] : []));
      const written = effect === 'once' ? 'written: model + intend' : 'written: model';
      expect(before).toEqual([written, written, written]);
    },
  );

  it('is not begun where the answer cannot be written down', async () => {
    const scene = setScene({ effect: 'idempotent', fails: 'model' });
    expect(await scene.clock.runUntil(scene.agent.run('Look.', { runId: 'r' }))).toMatchObject({
      type: 'suspended',
      reason: 'storage',
    });
    expect(scene.told).toEqual(['model asked']);
  });

  it('is not begun where the intent cannot be written down', async () => {
    const scene = setScene({ effect: 'once', fails: 'model + intend' });
    expect(await run(scene)).toBe('suspended');
    expect(scene.told).toEqual(['model asked']);
    expect((await scene.disk.runs.events('r')).map(({ type }) => type)).toEqual(['began']);
  });

  it('is not begun when the run is cancelled while the answer is being written down', async () => {
    const scene = setScene({ effect: 'idempotent' });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(5);
    expect(scene.told).toEqual(['model asked']);
    const cancelled = scene.agent.cancel('r', 'enough');
    expect(await scene.clock.runUntil(running)).toMatchObject({ type: 'cancelled' });
    await scene.clock.runUntil(cancelled);
    expect(scene.told.join()).not.toContain('look');
  });
});

describe('a wish for the end', () => {
  it('is on record though what was being written is not', async () => {
    const scene = setScene({ effect: 'idempotent', fails: 'model' });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(5);
    const cancelled = scene.agent.cancel('r', 'enough');
    await scene.clock.runUntil(running);
    await scene.clock.runUntil(cancelled);
    const next = setScene({ effect: 'idempotent', disk: scene.disk.reopen() });
    const outcome = await next.clock.runUntil(next.agent.resume('r'));
    expect([outcome.type, next.told.join()]).toEqual(['cancelled', expect.not.stringContaining('look')]);
  });

  it('that cannot be written down takes nothing else with it', async () => {
    const scene = setScene({ effect: 'idempotent', delaysMs: [20], fails: 'cancelled' });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(25);
    const cancelled = scene.agent.cancel('r', 'enough');
    expect(await scene.clock.runUntil(running)).toMatchObject({ type: 'cancelled' });
    await scene.clock.runUntil(cancelled);
    expect(scene.told.filter((line) => line.startsWith('written'))).toEqual([
      'written: model',
      'written: tool',
      'written: cancelled + ended',
    ]);
  });

  it('that comes while the run is being suspended is for whoever has it next', async () => {
    const scene = setScene({ effect: 'idempotent', permission: 'ask' });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(15);
    expect(scene.told).toEqual(['model asked', 'written: model']);
    const cancelled = scene.agent.cancel('r', 'enough');
    expect(await scene.clock.runUntil(running)).toMatchObject({ type: 'suspended', reason: 'approval' });
    await scene.clock.runUntil(cancelled);
    expect(await scene.disk.runs.find('r')).toMatchObject({ status: 'cancelled' });
  });

  it('that comes while the run is being let go is kept', async () => {
    const scene = setScene({ effect: 'idempotent', beside: 2, delaysMs: [5, 7] });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(18);
    const released = scene.agent.release('r');
    const cancelled = scene.agent.cancel('r', 'enough');
    expect(await scene.clock.runUntil(running)).toMatchObject({ type: 'suspended', reason: 'released' });
    await scene.clock.runUntil(Promise.all([released, cancelled]));
    expect(await scene.disk.runs.find('r')).toMatchObject({ status: 'cancelled' });
  });
});

describe('a store that does its best', () => {
  it('ends a run whose last answer it could not write down, and says so', async () => {
    const scene = setScene({ calls: 0, fails: 'model + ended', durability: 'bestEffort' });
    expect(await scene.clock.runUntil(scene.agent.run('Look.', { runId: 'r' }))).toMatchObject({
      type: 'completed',
      text: 'Done.',
      unsaved: { code: 'STORAGE_FULL' },
    });
  });
});

describe('a store that takes its time', () => {
  it('is not waited for when a run is let go, and loses nothing of it', async () => {
    const scene = setScene({ effect: 'once', beside: 2, delaysMs: [5, 7], writeMs: 6000 });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(6020);
    expect(scene.told).toEqual(['model asked', 'written: model + intend', 'look 1', 'look 2']);
    const before = scene.clock.monotonicMs();
    await scene.clock.runUntil(scene.agent.release('r'));
    expect(scene.clock.monotonicMs() - before).toBe(5000);
    expect(await running).toMatchObject({ type: 'suspended', reason: 'released' });
    await scene.clock.advance(20_000);
    expect(scene.told.slice(-2)).toEqual(['written: tool', 'written: tool']);
    const next = setScene({ effect: 'once', disk: scene.disk.reopen() });
    expect(await next.clock.runUntil(next.agent.resume('r'))).toMatchObject({ type: 'completed' });
    expect(next.told.join()).not.toContain('look');
  });
});

describe('a person', () => {
  it('is asked nothing that another life of the run would not ask', async () => {
    const heard: string[] = [];
    const scene = setScene({ permission: 'ask', fails: 'model', onEvent: ({ type }) => heard.push(type) });
    expect(await run(scene)).toBe('suspended');
    expect(heard).not.toContain('approval-requested');
    expect(heard).not.toContain('run-suspended');
  });

  it.each(['cancel', 'release'] as const)('is asked nothing after a %s', async (verb) => {
    const heard: string[] = [];
    const scene = setScene({ permission: 'ask', onEvent: ({ type }) => heard.push(type) });
    const running = scene.agent.run('Look.', { runId: 'r' });
    await scene.clock.advance(5);
    const done = scene.agent[verb]('r');
    await scene.clock.runUntil(running);
    await scene.clock.runUntil(done);
    expect(heard).not.toContain('approval-requested');
    expect(heard).not.toContain('run-suspended');
  });
});

describe('work in the background', () => {
  it('is told when the call that began it is on record', async () => {
    const scene = setScene({ calls: 2, works: true });
    expect(await run(scene)).toBe('completed');
    const second = scene.told.indexOf('look 2');
    expect(scene.told.slice(second, second + 3)).toEqual([
      'look 2',
      'written: model + tool',
      'signalled: message',
    ]);
  });
});

describe('a hook', () => {
  it('hears of an answer when that is on record', async () => {
    const scene = setScene({
      calls: 0,
      hooks: [
        { name: 'reader', kind: 'transformer', on: { 'after-model': () => void scene.told.push('hook') } },
      ],
    });
    expect(await run(scene)).toBe('completed');
    expect(scene.told.slice(0, 3)).toEqual(['model asked', 'written: model', 'hook']);
  });
});

describe('a tool that began before the answer was on record', () => {
  it('leaves a run that asks again where neither could be written down', async () => {
    const first = setScene({ calls: 2, fails: 'model + tool' });
    expect(await run(first)).toBe('suspended');
    expect(first.told.at(-1)).toBe('look 2');
    const second = setScene({ calls: 2, disk: first.disk.reopen() });
    const outcome = await second.clock.runUntil(second.agent.resume('r'));
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(second.told[0]).toBe('model asked');
  });

  it('and ends its process is on record when it does so again', async () => {
    const disk = memoryStore();
    const first = setScene({ calls: 2, disk, onCall: (count) => void (count === 2 && disk.kill()) });
    void first.agent.run('Look.', { runId: 'r' });
    await first.clock.runAll();
    expect(first.told.at(-1)).toBe('look 2');
    const left = disk.reopen();
    expect((await left.runs.events('r')).map((event) => nameOf({ events: [event] }))).toEqual([
      'began',
      'model',
      'tool',
    ]);
    const next = setScene({ calls: 2, disk: left, onCall: () => left.kill() });
    void next.agent.resume('r');
    await next.clock.runAll();
    expect(next.told).toEqual(['written: taken-over', 'model asked', 'written: model', 'look 1']);
  });

  it('was quick in this process, and not in another one', async () => {
    const disk = memoryStore();
    const first = setScene({ disk, calls: 1 });
    void first.agent.run('Look.', { runId: 'r' });
    while (!first.told.includes('written: tool')) await first.clock.advance(1);
    disk.kill();
    const next = setScene({ disk: disk.reopen(), calls: 1 });
    expect(await next.clock.runUntil(next.agent.resume('r'))).toMatchObject({ type: 'completed' });
    next.told.length = 0;
    expect(await next.clock.runUntil(next.agent.run('Look.', { runId: 's' }))).toMatchObject({
      type: 'completed',
    });
    expect(next.told.slice(0, 3)).toEqual(['model asked', 'written: model', 'look 1']);
  });
});
