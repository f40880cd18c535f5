import { describe, expect, it } from 'vitest';
import { createFailure } from '../../errors/failure.ts';
import type { NewEvent, StoredStatus } from '../../model/store/store.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import type { MemoryStore } from '../../testing/memory-store.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { entriesOfProgress, parkRun } from './park-run.ts';

const owner = { id: 'parker', leaseMs: 30_000 };
const options = { owner, maxCrashes: 2 };

async function storeWith(
  status: StoredStatus,
  crashes: number,
  more: readonly NewEvent[] = [],
): Promise<MemoryStore> {
  const store = memoryStore({ clock: simulatedClock() });
  const events = [{ type: 'began', body: { generation: 1, version: '1', input: null, facts: {} } }, ...more];
  await store.runs.create(
    { runId: 'a', agent: 'helper', events, row: { status, crashes } },
    { id: 'dead', leaseMs: 30_000 },
  );
  return store;
}

describe('parkRun()', () => {
  it.each(['completed', 'stopped', 'cancelled', 'failed', 'parked'] as const)(
    'leaves a run alone that is %s',
    async (status) => {
      const store = await storeWith(status, 5);
      store.simulateDeath('dead');
      expect(await parkRun(store, 'a', options)).toEqual({ type: 'gone' });
      const row = await store.runs.find('a');
      expect(row).toMatchObject({ status, crashes: 5, headSeq: 1 });
      expect(row?.owner).toBeUndefined();
    },
  );

  it('knows nothing of a run that was removed', async () => {
    expect(await parkRun(memoryStore(), 'a', options)).toEqual({ type: 'gone' });
  });

  it('leaves a run to whoever carries it, and says until when', async () => {
    const store = await storeWith('running', 5);
    const untilMs = Date.UTC(2026, 0, 1) + 30_000;
    expect(await parkRun(store, 'a', options)).toEqual({ type: 'held', untilMs });
  });

  it('rejects with what the store says, and gives the run back', async () => {
    const store = await storeWith('running', 1);
    store.simulateDeath('dead');
    const full = createFailure('STORAGE_FULL', { origin: 'storage', message: 'The disk is full' });
    const failing = store.reopen({
      faults: { before: ({ verb }) => (verb === 'append' ? full : undefined) },
    });
    await expect(parkRun(failing, 'a', options)).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    expect((await store.runs.find('a'))?.owner).toBeUndefined();
  });

  it('stands where the run cannot be given back', async () => {
    const store = await storeWith('running', 1);
    store.simulateDeath('dead');
    const full = createFailure('STORAGE_FULL', { origin: 'storage', message: 'The disk is full' });
    const failing = store.reopen({
      faults: { before: ({ verb }) => (verb === 'release' ? full : undefined) },
    });
    expect(await parkRun(failing, 'a', options)).toEqual({ type: 'parked', crashes: 2 });
    expect(await store.runs.find('a')).toMatchObject({
      status: 'parked',
      crashes: 2,
      reason: expect.stringContaining('ended 2 times') as string,
    });
  });

  it.each([
    { entries: entriesOfProgress - 1, type: 'parked', crashes: 2, last: 'parked' },
    { entries: entriesOfProgress, type: 'fit', crashes: 1, last: 'taken-over' },
  ])('a run that got $entries steps further since is $type', async ({ entries, type, crashes, last }) => {
    const steps = Array.from({ length: entries }, (_step, position) => ({
      type: 'call',
      body: { position },
    }));
    const store = await storeWith('running', 1, [
      { type: 'call', body: { position: 100 } },
      { type: 'taken-over', body: { crashes: 1 } },
      ...steps,
    ]);
    store.simulateDeath('dead');
    expect(await parkRun(store, 'a', options)).toEqual({ type, crashes });
    expect((await store.runs.events('a')).at(-1)).toMatchObject({ type: last, body: { crashes } });
    expect(await store.runs.find('a')).toMatchObject({ crashes });
    const next = await store.runs.claim('a', { id: 'next', leaseMs: 1000 });
    expect(next).toMatchObject({ type: 'claimed', wasAbandoned: false });
  });

  it('a suspended run whose owner vanished has not crashed', async () => {
    const store = await storeWith('suspended', 1);
    store.simulateDeath('dead');
    expect(await parkRun(store, 'a', options)).toEqual({ type: 'fit', crashes: 1 });
    expect(await store.runs.find('a')).toMatchObject({ crashes: 1, headSeq: 1 });
  });
});
