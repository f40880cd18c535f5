import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { flow } from '../../src/flow/flow.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { exportRun } from '../../src/runtime/transfer/export-run.ts';
import { forkRun } from '../../src/runtime/transfer/fork-run.ts';
import { importRun } from '../../src/runtime/transfer/import-run.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import {
  createFlowWorld,
  failingFlow,
  onRecord,
  payingFlow,
  payingHandOff,
  payingTeam,
  stepsOf,
} from './world.ts';
import type { FlowWorld } from './world.ts';

const runId = 'run-1';

async function idsOf(world: FlowWorld, below: string): Promise<readonly string[]> {
  const { runs } = await world.store.runs.list({ below });
  return runs.map((row) => row.runId).toSorted();
}

async function headOf(world: FlowWorld, id: string): Promise<number | undefined> {
  return (await world.store.runs.find(id))?.headSeq;
}

const waiting = [
  { name: 'a flow', make: payingFlow, child: 'settle' },
  { name: 'a hand-off', make: payingHandOff, child: '1-till' },
] as const;

describe('forkRun() of a run with others below it', () => {
  it.each(waiting)(
    'asks and goes on by itself, and leaves the other as it is: $name',
    async ({ make, child }) => {
      const world = createFlowWorld();
      await world.until(make(world).run('Go', { runId }));
      const { headSeq = 0 } = (await world.store.runs.find(runId)) ?? {};
      const before = await headOf(world, `${runId}/${child}`);
      const fork = await forkRun(world.store, { runId, seq: headSeq, as: 'copy' });
      const asked = await world.until(make(world).resume(fork));
      expect(asked.type === 'suspended' ? asked.request?.id : undefined).toContain(`copy/${child}:`);
      const outcome = await world.until(make(world).resume(fork, { answer: true }));
      expect(outcome.type).toBe('completed');
      expect(world.done.get('pay')).toBe(1);
      expect(await headOf(world, `${runId}/${child}`)).toBe(before);
      expect(outcome.nodes?.flatMap((node) => node.runId ?? []).every((id) => id.startsWith('copy/'))).toBe(
        true,
      );
      // The first one still waits, and goes on by itself as well.
      const first = await world.until(make(world).resume(runId, { answer: true }));
      expect(first.type).toBe('completed');
      expect(world.done.get('pay')).toBe(2);
    },
  );

  it('takes the conversation of a hand-off along, so that the next agent knows it', async () => {
    const world = createFlowWorld();
    await world.until(payingHandOff(world).run('Pay my bill', { runId }));
    const { events } = { events: await world.store.runs.events(runId) };
    // The first agent has passed it on; the second has not begun.
    const seq = events.findIndex(({ body }) => JSON.stringify(body).includes('"child"')) + 1;
    const fork = await forkRun(world.store, { runId, seq, as: 'copy' });
    expect(await idsOf(world, 'copy')).toEqual(['copy/0-desk']);
    await world.until(payingHandOff(world).resume(fork));
    const [asked] = await world.store.runs.events('copy/1-till');
    expect(JSON.stringify(asked?.body)).toContain('Pay my bill');
  });

  it('begins a node afresh that had not ended, under its own name', async () => {
    const world = createFlowWorld();
    await world.until(failingFlow(world, ['All is told.']).run('Go', { runId }));
    const fork = await forkRun(world.store, { runId, seq: 4, as: 'copy' });
    expect(await idsOf(world, 'copy')).toEqual(['copy/read']);
    const outcome = await world.until(failingFlow(world, ['Told anew.']).resume(fork));
    expect(outcome).toMatchObject({ type: 'completed', text: 'Told anew.' });
    expect(await idsOf(world, 'copy')).toEqual(['copy/read', 'copy/tell']);
  });

  it('has a node as it was then, though it was gone on with since', async () => {
    const world = createFlowWorld();
    await world.until(failingFlow(world, [{ failure: 'INVALID_REQUEST' }]).run('Go', { runId }));
    const { headSeq = 0 } = (await world.store.runs.find(runId)) ?? {};
    await world.until(failingFlow(world, ['All is told.']).resume(runId));
    const fork = await forkRun(world.store, { runId, seq: headSeq, as: 'copy' });
    expect((await world.store.runs.find('copy/tell'))?.status).toBe('failed');
    // It comes to the end that is on record, and can be gone on with from there.
    await world.until(failingFlow(world, []).resume(fork));
    const outcome = await world.until(failingFlow(world, ['Told anew.']).resume(fork));
    expect(outcome).toMatchObject({ type: 'completed', text: 'Told anew.' });
    expect((await world.store.runs.find(`${runId}/tell`))?.text).toContain('All is told.');
  });

  it('names its own runs also in a conversation that is kept in pieces', async () => {
    const world = createFlowWorld();
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const make = (last: ScriptStep): ReturnType<typeof flow> => {
      const agents = Object.fromEntries(
        names.map((name) => [name, world.agent(name, name === 'n39' ? [last] : ['Done.'])]),
      );
      return flow(names.join(' >> '), { name: 'long', agents, ...world.common() });
    };
    await world.until(make({ failure: 'INVALID_REQUEST' }).run('Go', { runId }));
    await world.until(make({ failure: 'INVALID_REQUEST' }).resume(runId));
    const { headSeq = 0 } = (await world.store.runs.find(runId)) ?? {};
    const fork = await forkRun(world.store, { runId, seq: headSeq, as: 'copy' });
    await world.until(make('Done.').resume(fork));
    const outcome = await world.until(make('Done.').resume(fork));
    expect(outcome.type).toBe('completed');
    expect(outcome.nodes?.map((node) => node.runId)).toEqual(names.map((name) => `copy/${name}`));
  });
});

describe('a bundle of a run with others below it', () => {
  const stories: readonly { readonly name: string; readonly make: typeof payingFlow }[] = [
    { name: 'a flow', make: payingFlow },
    { name: 'a hand-off', make: payingHandOff },
    { name: 'a team', make: payingTeam },
  ];

  it.each(stories)('goes on elsewhere under another name where it waited: $name', async ({ make }) => {
    const world = createFlowWorld();
    await world.until(make(world).run('Go', { runId }));
    const below = await idsOf(world, runId);
    const bundle = await exportRun(world.store, runId);
    const imported = await importRun(world.store, bundle, { as: 'copy' });
    expect(imported).toMatchObject({ runId: 'copy', status: 'parked', children: below.length });
    expect(await idsOf(world, 'copy')).toEqual(below.map((id) => id.replace(runId, 'copy')));
    const outcome: RunOutcome = await world.until(make(world).resume('copy', { answer: true }));
    expect(outcome.type).toBe('completed');
    expect(world.done.get('pay')).toBe(1);
    expect((await world.store.runs.find(runId))?.status).toBe('suspended');
  });

  it.each(stories)('is the same when it is exported again: $name', async ({ make }) => {
    const world = createFlowWorld();
    await world.until(make(world).run('Go', { runId }));
    const bundle = await exportRun(world.store, runId);
    const other = memoryStore();
    await importRun(other, bundle, { as: 'copy' });
    expect(await exportRun(other, 'copy')).toBe(bundle);
  });

  it('replays, with every run of it', async () => {
    const world = createFlowWorld();
    const outcome = await world.until(payingFlow(world).run('Go', { runId }));
    const other = memoryStore();
    await importRun(other, await exportRun(world.store, runId));
    expect(onRecord((await stepsOf({ store: other, runId })).at(-1)?.outcome)).toEqual(onRecord(outcome));
    const child = (await stepsOf({ store: other, runId: `${runId}/settle` })).at(-1)?.outcome;
    expect(child).toMatchObject({ type: 'suspended', request: { tool: 'pay' } });
  });

  it('writes nothing where a name below is taken', async () => {
    const world = createFlowWorld();
    await world.until(payingFlow(world).run('Go', { runId }));
    const bundle = await exportRun(world.store, runId);
    const other = memoryStore();
    await createAgent({ name: 'other', model: scriptedModel(['Done.']), store: other }).run('Go', {
      runId: `${runId}/settle`,
    });
    await expect(importRun(other, bundle)).rejects.toMatchObject({ failure: { code: 'ALREADY_REGISTERED' } });
    expect((await other.runs.list()).runs.map((row) => row.runId)).toEqual([`${runId}/settle`]);
  });

  it('is refused where a run of it stands elsewhere', async () => {
    const world = createFlowWorld();
    await world.until(payingFlow(world).run('Go', { runId }));
    const bundle = await exportRun(world.store, runId);
    const moved = bundle.replaceAll('"agent":"bill/settle"', '"agent":"settle"');
    await expect(importRun(memoryStore(), moved)).rejects.toMatchObject({
      failure: { code: 'STORAGE_CORRUPT' },
    });
  });

  it('says so where a hand-off was taken along without its conversation', async () => {
    const world = createFlowWorld();
    await world.until(payingHandOff(world).run('Go', { runId }));
    await importRun(world.store, await exportRun(world.store, runId, { children: false }), { as: 'copy' });
    const outcome = await world.until(payingHandOff(world).resume('copy', { answer: true }));
    expect(outcome).toMatchObject({ type: 'failed', failure: { code: 'STORAGE_NOT_FOUND' } });
    expect(world.done.get('pay')).toBeUndefined();
  });
});
