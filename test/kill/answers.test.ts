import { describe, expect, it } from 'vitest';
import { createAgent, createWorker, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel, simulatedClock } from '../../src/testing/index.ts';
import type { SimulatedClock } from '../../src/testing/index.ts';

// What the storm has found: answers of people, and processes that end between them.

interface Scene {
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  readonly paid: string[];
  readonly createLife: (store?: MemoryStore) => Agent;
  onPay: () => void;
}

function setScene(): Scene {
  const clock = simulatedClock();
  const scene: Scene = {
    clock,
    store: memoryStore({ clock }),
    paid: [],
    onPay: () => undefined,
    createLife: (store = scene.store.reopen()) => {
      const pay = tool({
        name: 'pay',
        description: 'Pays.',
        input: { type: 'object' },
        permission: 'ask',
        execute: (_input, { idempotencyKey }) => {
          scene.paid.push(idempotencyKey);
          scene.onPay();
          return 'paid';
        },
      });
      const model = scriptedModel(({ messages }) =>
        messages.some(({ role }) => role === 'tool')
          ? 'Paid.'
          : { toolCalls: [{ name: 'pay', arguments: {} }] },
      );
      return createAgent({ name: 'clerk', model, tools: [pay], clock, store });
    },
  };
  return scene;
}

describe('a question that was answered before the process died', () => {
  it('does not answer the next one, and the run is listed as interrupted', async () => {
    const scene = setScene();
    const { clock, store } = scene;
    await clock.runUntil(scene.createLife().run('Pay', { runId: 'r1' }));
    const dying = store.reopen();
    scene.onPay = () => dying.kill();
    void scene.createLife(dying).resume('r1', { answer: { approved: true } });
    await clock.runAll();
    expect(await store.runs.find('r1')).toMatchObject({ status: 'running' });
    expect(await store.runs.waiting({ agents: ['clerk'], ownerId: 'me', limit: 9 })).toMatchObject([
      { why: 'interrupted' },
    ]);
    const outcome = await clock.runUntil(scene.createLife().resume('r1'));
    expect(outcome).toMatchObject({ type: 'suspended', reason: 'in-doubt' });
    const settled = await clock.runUntil(scene.createLife().resume('r1', { answer: { happened: true } }));
    expect(settled).toMatchObject({ type: 'completed', text: 'Paid.' });
    expect(scene.paid).toHaveLength(1);
  });
});

describe('a question that nobody has answered yet', () => {
  it('is asked again by whoever takes the run up without an answer', async () => {
    const scene = setScene();
    const { clock } = scene;
    const first = await clock.runUntil(scene.createLife().run('Pay', { runId: 'r1' }));
    const again = await clock.runUntil(scene.createLife().resume('r1'));
    expect(again).toEqual(first);
    const outcome = await clock.runUntil(scene.createLife().resume('r1', { answer: { approved: true } }));
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(scene.paid).toHaveLength(1);
  });

  it('is no "no" because a worker has seen a message to the run', async () => {
    const scene = setScene();
    const { clock, store } = scene;
    await clock.runUntil(scene.createLife().run('Pay', { runId: 'r1' }));
    await clock.runUntil(scene.createLife().inject('r1', 'And hurry.'));
    const worker = createWorker([scene.createLife()], store, { clock, signals: false, pollMs: 30_000 });
    await clock.runUntil(worker.start());
    await clock.advance(60_000);
    expect(await store.runs.find('r1')).toMatchObject({ status: 'suspended', reason: 'approval' });
    const outcome = await clock.runUntil(scene.createLife().resume('r1', { answer: { approved: true } }));
    expect(outcome).toMatchObject({ type: 'completed' });
    await clock.runUntil(worker.stop());
    expect(scene.paid).toHaveLength(1);
  });

  it('is a "no" when its time is over', async () => {
    const scene = setScene();
    const { clock, store } = scene;
    await clock.runUntil(scene.createLife().run('Pay', { runId: 'r1' }));
    const worker = createWorker([scene.createLife()], store, { clock, signals: false, pollMs: 30_000 });
    await clock.runUntil(worker.start());
    await clock.advance(25 * 3_600_000);
    expect(await store.runs.find('r1')).toMatchObject({ status: 'completed' });
    await clock.runUntil(worker.stop());
    expect(scene.paid).toEqual([]);
  });
});
