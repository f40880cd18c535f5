import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { createWorker } from '../../src/runtime/worker/create-worker.ts';
import type { WorkerEvent } from '../../src/runtime/worker/worker-event.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { tool } from '../../src/tools/tool.ts';
import { createFlowWorld, payingFlow } from './world.ts';
import type { FlowWorld } from './world.ts';

const runId = 'run-1';
const hourMs = 3_600_000;

/** As many quiet looks as are asked for, and then one after which the process is gone. */
const lookAndDie = (looks: number): readonly ScriptStep[] => [
  ({ messages }) => {
    const done = messages.filter(({ role }) => role === 'tool').length;
    const name = done % (looks + 1) === looks ? 'deadly' : 'look';
    return { toolCalls: [{ name, arguments: { at: done } }] };
  },
];

interface Process {
  readonly agent: Agent<unknown>;
  readonly store: MemoryStore;
}

interface Danger {
  readonly looks: number;
  /** What has ended a process does so once; every time where this is left out. */
  readonly killed?: Set<string>;
}

/** A flow whose second node ends the process that carries it. */
function deadlyProcess(world: FlowWorld, { looks, killed }: Danger): Process {
  const store = world.store.reopen();
  const make = (name: string): ReturnType<typeof tool> =>
    tool({
      name,
      description: 'Looks.',
      input: { type: 'object' },
      effect: 'read',
      execute: async (input) => {
        await new Promise<void>((resolve) => void world.clock.after(10, resolve));
        const place = JSON.stringify(input);
        if (name === 'look' || killed?.has(place) === true) return 'nothing yet';
        killed?.add(place);
        store.kill();
        return new Promise(() => undefined);
      },
    });
  const step = lookAndDie(looks);
  const script = Array.from({ length: 200 }, () => step[0] as ScriptStep);
  const agents = {
    read: world.agent('reader', ['Five cents are due.']),
    hunt: world.agent('hunter', script, [make('look'), make('deadly')]),
  };
  const agent = flow('read >> hunt', {
    name: 'bill',
    agents,
    store,
    clock: world.clock,
    random: seededRandom(7),
  });
  return { agent, store };
}

async function work({ agent, store }: Process, world: FlowWorld): Promise<readonly WorkerEvent[]> {
  const events: WorkerEvent[] = [];
  const worker = createWorker([agent], store, {
    signals: false,
    clock: world.clock,
    random: () => 0.5,
    onEvent: (event) => void events.push(event),
  });
  await worker.start();
  await world.clock.advance(hourMs);
  void worker.stop();
  await world.clock.advance(hourMs);
  return events;
}

async function crash(world: FlowWorld, danger: Danger): Promise<void> {
  void deadlyProcess(world, danger).agent.run('Go', { runId });
  await world.clock.advance(hourMs);
}

describe('a worker with a flow', () => {
  it('parks the flow whose node ends the process, and takes up none of its nodes by themselves', async () => {
    const world = createFlowWorld();
    await crash(world, { looks: 0 });
    const taken: string[] = [];
    for (let life = 0; life < 5; life += 1) {
      const events = await work(deadlyProcess(world, { looks: 0 }), world);
      taken.push(...events.flatMap((event) => ('runId' in event ? [event.runId] : [])));
    }
    expect(new Set(taken)).toEqual(new Set([runId]));
    expect(await world.store.runs.find(runId)).toMatchObject({ status: 'parked' });
    expect(await world.store.runs.find(`${runId}/hunt`)).toMatchObject({ status: 'running' });
  });

  it('goes on with a flow whose nodes get on, however often its process ends', async () => {
    const world = createFlowWorld();
    const danger: Danger = { looks: 6, killed: new Set() };
    await crash(world, danger);
    for (let life = 0; life < 4; life += 1) await work(deadlyProcess(world, danger), world);
    expect(danger.killed?.size).toBe(5);
    expect(await world.store.runs.find(runId)).toMatchObject({ status: 'running' });
  });

  it('goes on with a flow that was answered, through its node', async () => {
    const world = createFlowWorld();
    await world.until(payingFlow(world).run('Go', { runId }));
    await world.store.runs.signal(runId, {
      id: 'resume:1',
      name: 'resume',
      payload: { answer: { given: true, value: true }, wallMs: world.clock.wallMs() },
    });
    const store = world.store.reopen();
    await work({ agent: payingFlow({ ...world, store }), store }, world);
    expect(await world.store.runs.find(runId)).toMatchObject({ status: 'completed' });
    expect(world.done.get('pay')).toBe(1);
  });
});
