import { describe, expect, it } from 'vitest';
import { tool } from '../../src/index.ts';
import { RerailError } from '../../src/errors/index.ts';
import { forkRun } from '../../src/runtime/transfer/fork-run.ts';
import type { ForkPlace } from '../../src/runtime/transfer/fork-run.ts';
import { replayRun } from '../../src/runtime/transfer/replay-run.ts';
import type { ReplayStep } from '../../src/runtime/transfer/replay-run.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { Tool } from '../../src/model/tool.ts';
import { scenarios } from '../golden/scenarios.ts';
import { anyInput, call, createWorld, look, pay, payOnce, runId } from '../golden/world.ts';
import type { World } from '../golden/world.ts';

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return RerailError.isInstance(error) ? error.failure.code : String(error);
}

async function stepsOf(store: Store, id: string): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  for await (const step of replayRun({ store, runId: id })) steps.push(step);
  return steps;
}

interface Paid {
  readonly world: World;
  readonly tools: readonly Tool[];
  /** Of every execution. */
  readonly keys: string[];
}

/** A run that has paid once and has ended. */
async function paidRun(): Promise<Paid> {
  const world = createWorld();
  const keys: string[] = [];
  const paying = tool({
    name: 'pay',
    description: 'Pays.',
    input: anyInput,
    effect: 'once',
    execute: (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return 'paid';
    },
  });
  const tools = [paying];
  await world.run(world.agent([payOnce, payOnce], { tools }));
  return { world, tools, keys };
}

describe('forkRun()', () => {
  it.each<{ what: string; place: ForkPlace; code: string }>([
    { what: 'a run that is not there', place: { runId: 'nobody', seq: 1 }, code: 'STORAGE_NOT_FOUND' },
    { what: 'the event 0', place: { runId, seq: 0 }, code: 'CONFIG_ERROR' },
    { what: 'an event after the last', place: { runId, seq: 99 }, code: 'CONFIG_ERROR' },
    { what: 'half an event', place: { runId, seq: 1.5 }, code: 'CONFIG_ERROR' },
    { what: 'an event into the run itself', place: { runId, seq: 2, as: runId }, code: 'ALREADY_REGISTERED' },
    { what: 'an event into no name', place: { runId, seq: 2, as: '' }, code: 'CONFIG_ERROR' },
  ])('refuses $what', async ({ place, code }) => {
    const { world } = await paidRun();
    const before = await world.store.runs.find(runId);
    expect(await codeOf(forkRun(world.store, place))).toBe(code);
    expect(await world.store.runs.find(runId)).toEqual(before);
    expect((await world.store.runs.list()).runs).toHaveLength(1);
  });

  it('makes a run of every prefix: what finished is not done again, what only began is in doubt', async () => {
    const { world, tools } = await paidRun();
    const { store } = world;
    const outcomes: string[] = [];
    const last = (await store.runs.find(runId))?.headSeq ?? 0;
    for (let seq = 1; seq <= last; seq += 1) {
      const fork = await forkRun(store, { runId, seq });
      expect(await store.runs.find(fork)).toMatchObject({
        status: 'running',
        agent: 'clerk',
        headSeq: seq + 1,
      });
      const agent = world.agent([payOnce, payOnce], { tools });
      const outcome = await world.clock.runUntil(agent.resume(fork));
      outcomes.push(outcome.type === 'suspended' ? outcome.reason : outcome.type);
      expect(outcome.runId).toBe(fork);
      const steps = await stepsOf(store, fork);
      expect(steps.at(-1)?.outcome).toEqual(outcome);
      expect(steps[seq]).toMatchObject({ type: 'forked', seq: seq + 1 });
    }
    const types = (await store.runs.events(runId)).map(({ type, body }) =>
      type === 'call' ? (body as { readonly effect: string }).effect : type,
    );
    expect(types).toEqual(['began', 'model', 'intend', 'tool', 'model', 'ended']);
    expect(outcomes).toEqual(['completed', 'completed', 'in-doubt', 'completed', 'completed', 'completed']);
  });

  it('gives its calls keys of their own', async () => {
    const { world, tools, keys } = await paidRun();
    const fork = await forkRun(world.store, { runId, seq: 2 });
    await world.clock.runUntil(world.agent([payOnce], { tools }).resume(fork));
    expect(new Set(keys).size).toBe(2);
    expect(keys).toHaveLength(2);
  });

  it('lets a question be answered in another way', async () => {
    const world = createWorld();
    const tools = [pay({ permission: 'ask' })];
    await world.run(world.agent([payOnce], { tools }));
    const seq = (await world.store.runs.find(runId))?.headSeq ?? 0;
    const fork = await forkRun(world.store, { runId, seq, as: 'what-if' });
    await world.resume(world.agent([payOnce], { tools }), { answer: true });
    const asked = await world.clock.runUntil(world.agent([], { tools }).resume(fork));
    expect(asked).toMatchObject({ type: 'suspended', request: { id: 'what-if:1:0:approval' } });
    const other = world.agent(['Then not.'], { tools });
    expect(await world.clock.runUntil(other.resume(fork, { answer: false }))).toMatchObject({
      type: 'completed',
      text: 'Then not.',
    });
  });

  it('asks again about a call that was approved and had not started', async () => {
    const world = createWorld();
    const done: string[] = [];
    const tools = [pay({ permission: 'ask', onPaid: () => void done.push('paid') })];
    await world.run(world.agent([payOnce], { tools }));
    await world.resume(world.agent([payOnce], { tools }), { answer: true });
    expect(done).toHaveLength(1);
    const answered = (await world.store.runs.events(runId)).find(({ type }) => type === 'wait');
    const fork = await forkRun(world.store, { runId, seq: answered?.seq ?? 0, as: 'other' });
    const asked = await world.clock.runUntil(world.agent([payOnce], { tools }).resume(fork));
    expect(asked).toMatchObject({
      type: 'suspended',
      reason: 'approval',
      request: { provenance: { type: 'forked', from: runId } },
    });
    expect(done).toHaveLength(1);
    const again = await forkRun(world.store, { runId: fork, seq: answered?.seq ?? 0, as: 'third' });
    expect(await world.clock.runUntil(world.agent([payOnce], { tools }).resume(again))).toMatchObject({
      reason: 'approval',
      request: { provenance: { type: 'forked' } },
    });
    const agent = world.agent([payOnce], { tools });
    expect(await world.clock.runUntil(agent.resume(fork, { answer: true }))).toMatchObject({
      type: 'completed',
    });
    expect(done).toHaveLength(2);
  });

  it('goes on after questions that a callback has answered', async () => {
    const world = createWorld();
    const options = { tools: [pay({ permission: 'ask' }), look()], callbacks: { onApproval: () => true } };
    await world.run(world.agent([payOnce, 'Paid.'], options));
    const fork = await forkRun(world.store, { runId, seq: 5 });
    const agent = world.agent(['Paid again.'], options);
    expect(await world.clock.runUntil(agent.resume(fork))).toMatchObject({ text: 'Paid again.' });
  });

  it('of a run that was being cancelled ends cancelled, whatever had been written by then', async () => {
    const world = createWorld();
    const deaf = tool({
      name: 'look',
      description: 'Looks and never comes back.',
      input: anyInput,
      effect: 'read',
      execute: () => new Promise(() => undefined),
    });
    const agent = world.agent([call('look', { at: 1 }, { at: 2 }, { at: 3 })], { tools: [deaf] });
    world.clock.after(50, () => void agent.cancel(runId));
    await world.run(agent);
    const types = (await world.store.runs.events(runId)).map(({ type }) => type);
    expect(types).toEqual(['began', 'call', 'cancelled', 'call', 'call', 'call', 'ended']);
    for (let seq = 3; seq < types.length; seq += 1) {
      const fork = await forkRun(world.store, { runId, seq });
      const outcome = await world.clock.runUntil(world.agent([], { tools: [deaf] }).resume(fork));
      expect(outcome.type).toBe('cancelled');
      expect((await stepsOf(world.store, fork)).at(-1)?.outcome).toEqual(outcome);
    }
  });

  it('goes on in a later generation of a long run, which outlives the run itself', async () => {
    const long = scenarios.filter(({ name }) => name === 'long-run');
    const [lived] = await Promise.all(long.map(({ live }) => live()));
    const store = lived?.store as Store; // It is in the list.
    const row = await store.runs.find(runId);
    const seq = (row?.generationSeq ?? 0) + 3;
    const fork = await forkRun(store, { runId, seq });
    await store.runs.remove(runId);
    expect(await store.runs.find(fork)).toMatchObject({
      generationSeq: row?.generationSeq,
      status: 'running',
    });
    const steps = await stepsOf(store, fork);
    expect(steps.at(-1)).toMatchObject({ type: 'forked', generation: 2, phase: 'running-tools' });
  });
});

describe('a fork and its run', () => {
  it('do not touch one another', async () => {
    const world = createWorld();
    const agent = world.agent([call('look', { at: 1 }), 'One.'], { tools: [look()] });
    const { outcome } = await world.run(agent);
    const events = await world.store.runs.events(runId);
    const fork = await forkRun(world.store, { runId, seq: 3 });
    const other = world.agent(['Two.'], { tools: [look()] });
    expect(await world.clock.runUntil(other.resume(fork))).toMatchObject({ text: 'Two.' });
    expect(await world.store.runs.events(runId)).toEqual(events);
    expect((await stepsOf(world.store, runId)).at(-1)?.outcome).toEqual(outcome);
  });
});
