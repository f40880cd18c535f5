import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFailure } from '../errors/failure.ts';
import type { Lease, Store } from '../model/store/store.ts';
import { memoryStore } from './memory-store.ts';
import type { StoreFaults, StoreOperation } from './memory-store.ts';
import { simulatedClock } from './simulated-clock.ts';
import { storeConformance } from './store-conformance.ts';
import type { MakeStore } from './store-conformance.ts';

const anna = { id: 'anna', leaseMs: 30_000 };
const ben = { id: 'ben', leaseMs: 30_000 };
const diskFull = createFailure('STORAGE_FULL', { origin: 'storage', message: 'The disk is full' });
const second = { events: [{ type: 'note', body: 'second' }] };

async function begin(store: Store, runId = 'run-1'): Promise<Lease> {
  const created = await store.runs.create(
    { runId, agent: 'clerk', events: [{ type: 'note', body: 'begun' }] },
    anna,
  );
  return created.type === 'created' ? created.lease : { runId, ownerId: 'nobody', epoch: 0 };
}

async function bodiesOf(store: Store): Promise<readonly unknown[]> {
  return (await store.runs.events('run-1')).map(({ body }) => body);
}

/** Whether it settles while everything that can go on does. */
async function endOf(verb: Promise<unknown>): Promise<unknown> {
  const open = async (): Promise<string> => {
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    return 'never';
  };
  const end = verb.then(
    () => 'resolved',
    (error: unknown) => error,
  );
  return Promise.race([end, open()]);
}

const makeStore: MakeStore = ({ clock }) => {
  const store = memoryStore({ clock });
  return { store, reopen: () => Promise.resolve(store.reopen()), damage: store.damage };
};

describe('the faults of memoryStore', () => {
  const atAppend =
    (fault: ReturnType<NonNullable<StoreFaults['before']>>) =>
    ({ verb }: StoreOperation): typeof fault =>
      verb === 'append' ? fault : undefined;

  it.each([
    {
      name: 'rejects with nothing written where a failure comes before',
      faults: { before: atAppend(diskFull) },
      end: expect.objectContaining({ failure: diskFull }) as unknown,
      bodies: ['begun'],
    },
    {
      name: 'rejects with everything written where a failure comes after',
      faults: { after: atAppend(diskFull) },
      end: expect.objectContaining({ failure: diskFull }) as unknown,
      bodies: ['begun', 'second'],
    },
    {
      name: 'never settles, with nothing written, where a crash comes before',
      faults: { before: atAppend('crash') },
      end: 'never',
      bodies: ['begun'],
    },
    {
      name: 'never settles, with everything written, where a crash comes after',
      faults: { after: atAppend('crash') },
      end: 'never',
      bodies: ['begun', 'second'],
    },
  ] satisfies readonly { name: string; faults: StoreFaults; end: unknown; bodies: unknown }[])(
    '$name',
    async ({ faults, end, bodies }) => {
      const store = memoryStore({ faults });
      const lease = await begin(store);
      expect(await endOf(store.runs.append(lease, second))).toEqual(end);
      expect(await bodiesOf(store.reopen())).toEqual(bodies);
    },
  );

  it('are not asked after an operation that was refused', async () => {
    const after: StoreOperation[] = [];
    const store = memoryStore({ faults: { after: (operation) => void after.push(operation) } });
    await expect(store.runs.append(await begin(store, 'other'), second)).resolves.toBeUndefined();
    const refused = store.runs.append({ runId: 'other', ownerId: 'ben', epoch: 1 }, second);
    await expect(refused).rejects.toMatchObject({ failure: { code: 'STORAGE_LOCKED' } });
    expect(after.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('are asked about every operation, numbered from 1', async () => {
    const asked: StoreOperation[] = [];
    const store = memoryStore({ faults: { before: (operation) => void asked.push(operation) } });
    const lease = await begin(store);
    await store.runs.append(lease, second);
    await store.runs.signal('run-1', { id: '1', name: 'go', payload: null });
    await store.runs.renew(anna);
    await store.runs.release(lease);
    await store.runs.claim('run-1', ben);
    await store.blobs.put('content', 'run-1');
    await store.sessions.append('talk', [], 'run-1');
    await store.sessions.trim('talk', 1);
    await store.runs.list();
    await store.blobs.get('none');
    await store.runs.prune({});
    expect(asked.map(({ number, verb, runId }) => `${number} ${verb} ${runId ?? ''}`.trim())).toEqual([
      '1 create run-1',
      '2 append run-1',
      '3 signal run-1',
      '4 renew',
      '5 release run-1',
      '6 claim run-1',
      '7 blob run-1',
      '8 session run-1',
      '9 session',
      '10 read',
      '11 read',
      '12 tidy',
    ]);
    expect(store.operations()).toBe(12);
  });

  it('belong to one handle: another on the same data has its own', async () => {
    const broken = memoryStore({ faults: { before: () => diskFull } });
    const whole = broken.reopen();
    await expect(begin(broken)).rejects.toMatchObject({ failure: { code: 'STORAGE_FULL' } });
    await begin(whole);
    await expect(bodiesOf(broken)).rejects.toMatchObject({ failure: { code: 'STORAGE_FULL' } });
    expect(await bodiesOf(whole)).toEqual(['begun']);
  });
});

describe('a memoryStore whose events are frozen', () => {
  it('gives everybody the same event, which nobody can change, until it is spoilt', async () => {
    const store = memoryStore({ clock: simulatedClock(), isFrozen: true });
    await store.runs.create(
      { runId: 'run-1', agent: 'clerk', events: [{ type: 'began', body: { input: ['a'] } }] },
      ben,
    );
    const [first] = await store.runs.events('run-1');
    const [again] = await store.reopen().runs.events('run-1');
    expect(again?.body).toBe(first?.body);
    expect(Object.isFrozen(first?.body)).toBe(true);
    expect(first?.body).toSatisfy(({ input }: { readonly input: string[] }) => Object.isFrozen(input));
    store.damage('run-1', { type: 'event-changed', seq: 1 });
    await expect(store.runs.events('run-1')).rejects.toMatchObject({ failure: { code: 'STORAGE_CORRUPT' } });
  });
});

describe('a death in memoryStore', () => {
  it('lets the leases of a dead owner be taken at once, and only his', async () => {
    const store = memoryStore({ clock: simulatedClock() });
    const lease = await begin(store);
    await store.runs.create({ runId: 'run-2', agent: 'clerk', events: [] }, ben);
    store.simulateDeath('anna');
    expect(await store.runs.waiting({ agents: ['clerk'], ownerId: 'cara', limit: 9 })).toMatchObject([
      { row: { runId: 'run-1' }, why: 'interrupted' },
    ]);
    expect(await store.runs.claim('run-1', ben)).toMatchObject({ type: 'claimed', wasAbandoned: true });
    expect(await store.runs.claim('run-2', { ...ben, id: 'cara' })).toMatchObject({ type: 'held' });
    await expect(store.runs.append(lease, second)).rejects.toMatchObject({
      failure: { code: 'STORAGE_LOCKED', retryable: false },
    });
  });

  it('leaves a killed process without a word: nothing it still does is written or settles', async () => {
    const dying = memoryStore({ clock: simulatedClock() });
    const lease = await begin(dying);
    const heir = dying.reopen();
    dying.kill();
    expect(await endOf(dying.runs.append(lease, second))).toBe('never');
    expect(await endOf(dying.blobs.put('content', 'run-1'))).toBe('never');
    expect(await heir.runs.claim('run-1', ben)).toMatchObject({ type: 'claimed', wasAbandoned: true });
    expect(await bodiesOf(heir)).toEqual(['begun']);
  });

  it.each([
    { when: 'before', bodies: ['begun'] },
    { when: 'after', bodies: ['begun', 'second'] },
  ] as const)('may come from a hook $when an operation', async ({ when, bodies }) => {
    const hook = ({ number }: StoreOperation): undefined => {
      if (number === 2) store.kill();
    };
    const store = memoryStore({ clock: simulatedClock(), faults: { [when]: hook } });
    const lease = await begin(store);
    expect(await endOf(store.runs.append(lease, second))).toBe('never');
    expect(await bodiesOf(store.reopen())).toEqual(bodies);
  });
});

describe.concurrent('memoryStore', () => {
  const cases = storeConformance('memoryStore', makeStore);
  it.each(cases.map(({ name, run }) => [name, run] as const))('%s', (_name, run) =>
    expect(run()).resolves.toBeUndefined(),
  );
});
