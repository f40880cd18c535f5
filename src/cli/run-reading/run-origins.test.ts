import { describe, expect, it } from 'vitest';
import type { RunStore, Store } from '../../model/store/store.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import { readOrigins } from './run-origins.ts';

const owner = { id: 'anna', leaseMs: 30_000 };
const note = { type: 'note', body: null };
const provenance = { id: 'x', type: 'imported', atMs: 17, from: 'a.json' };

async function scene() {
  const store = memoryStore();
  const arrival = { type: 'imported', body: { provenance } };
  await store.runs.create({ runId: 'own', agent: 'clerk', events: [note] }, owner);
  await store.runs.create({ runId: 'theirs', agent: 'clerk', events: [note, arrival, note] }, owner);
  return { store, rows: (await store.runs.list()).runs };
}

const withVerbs = (store: Store, verbs: Partial<RunStore>): Store => ({
  ...store,
  runs: { ...store.runs, ...verbs },
});

describe('readOrigins()', () => {
  const theirs = new Map([['theirs', { type: 'imported', atMs: 17, from: 'a.json' }]]);

  it('reads no event of a run that was created here', async () => {
    const { store, rows } = await scene();
    const reads: string[] = [];
    const events: RunStore['events'] = (runId, range) => {
      reads.push(runId);
      return store.runs.events(runId, range);
    };
    expect(await readOrigins(withVerbs(store, { events }), rows)).toEqual(theirs);
    expect(reads).toEqual(['theirs']);
  });

  it('reads all events where the store cannot look for types', async () => {
    const { store, rows } = await scene();
    const bare = Object.fromEntries(Object.entries(store.runs).filter(([verb]) => verb !== 'latestOf'));
    const runs = bare as unknown as RunStore; // The verb is optional.
    expect(await readOrigins({ ...store, runs }, rows)).toEqual(theirs);
  });

  it.each([
    { what: 'whose arrival is damaged', damage: { type: 'event-changed', seq: 2 } },
    { what: 'whose end is lost', damage: { type: 'tail-lost', events: 1 } },
  ] as const)('still marks a run $what', async ({ damage }) => {
    const { store, rows } = await scene();
    store.damage('theirs', damage);
    expect((await readOrigins(store, rows)).get('theirs')).toMatchObject({ type: 'imported' });
  });
});
