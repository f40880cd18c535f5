import { describe, expect, it } from 'vitest';
import { createFailure } from '../../errors/failure.ts';
import type { Store } from '../../model/store/store.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import type { MemoryStore, StoreOperation } from '../../testing/memory-store.ts';
import { copyRuns } from './copy-runs.ts';
import type { CopyProgress } from './copy-runs.ts';

const owner = { id: 'anna', leaseMs: 30_000 };
const note = (body: string) => ({ type: 'note', body });

interface Begun {
  readonly status?: 'running' | 'suspended' | 'completed' | 'parked';
  readonly agent?: string;
  readonly sessionId?: string;
  readonly isHeld?: boolean;
}

/** A run with a signal that was taken, one that waits, and a content. */
async function begin(store: Store, runId: string, begun: Begun = {}): Promise<void> {
  const { status = 'completed', agent = 'clerk', isHeld = false, ...rest } = begun;
  const created = await store.runs.create({ runId, agent, events: [note('begun')], ...rest }, owner);
  if (created.type !== 'created') throw new Error('The run is there already');
  const { lease } = created;
  await store.blobs.put(`content of ${runId}`, runId);
  for (const id of ['taken', 'waits']) await store.runs.signal(runId, { id, name: 'go', payload: id });
  const row = { status, ...(status === 'suspended' ? { reason: 'approval', resumeAtMs: 17 } : {}) };
  await store.runs.append(lease, { events: [note('more')], row, took: ['taken'] });
  if (!isHeld) await store.runs.release(lease);
}

const waiting = async (store: Store): Promise<readonly string[]> =>
  (await store.runs.waiting({ agents: ['clerk', 'flow'], ownerId: 'somebody', limit: 100 })).map(
    ({ row }) => row.runId,
  );

describe('copyRuns() refuses', () => {
  const [from, to] = [memoryStore(), memoryStore()];
  it.each([
    { what: 'what is no store', work: () => copyRuns({} as never, to), says: 'its first argument' },
    { what: 'no target', work: () => copyRuns(from, undefined as never), says: 'its second argument' },
    { what: 'an unknown option', work: () => copyRuns(from, to, { move: true } as never), says: 'no option' },
    { what: 'a word for a list', work: () => copyRuns(from, to, { runIds: 'a' as never }), says: '"runIds"' },
    { what: 'a word for a yes', work: () => copyRuns(from, to, { remove: 'no' as never }), says: '"remove"' },
    {
      what: 'a listener that is none',
      work: () => copyRuns(from, to, { onProgress: 1 as never }),
      says: '"onProgress"',
    },
    { what: 'one store twice', work: () => copyRuns(from, from), says: 'the same store twice' },
  ])('$what', async ({ work, says }) => {
    const copying = work();
    await expect(copying).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    await expect(copying).rejects.toThrow(says);
  });

  it('one store by two handles, before anything is removed', async () => {
    const store = memoryStore();
    await begin(store, 'run-1');
    await expect(copyRuns(store, store.reopen(), { remove: true })).rejects.toThrow('the same store twice');
    expect(await store.runs.find('run-1')).toMatchObject({ status: 'completed' });
    expect((await store.runs.find('run-1'))?.owner).toBeUndefined();
  });
});

describe('copyRuns() leaves', () => {
  it('a run that somebody carries', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'running', isHeld: true });
    await begin(from, 'run-2');
    const told: CopyProgress[] = [];
    const done = await copyRuns(from, to, { remove: true, onProgress: (progress) => told.push(progress) });
    expect(done).toMatchObject({ copied: 1, removed: 1, leftCount: 1 });
    expect(done.left[0]).toMatchObject({ runId: 'run-1', failure: { code: 'STORAGE_LOCKED' } });
    expect(told.map(({ type, runId }) => `${type} ${runId}`).toSorted()).toEqual([
      'copied run-2',
      'left run-1',
    ]);
    expect((await from.runs.find('run-1'))?.owner?.id).toBe('anna');
  });

  it('one that could go on, where it is only copied, and its crash is still seen', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'suspended' });
    await begin(from, 'run-2', { status: 'running', isHeld: true });
    from.simulateDeath('anna');
    const done = await copyRuns(from, to);
    expect(done.left.map(({ failure }) => failure.code)).toEqual(['INVALID_STATE', 'INVALID_STATE']);
    expect(await to.runs.find('run-1')).toBeUndefined();
    const claimed = await from.runs.claim('run-2', { id: 'ben', leaseMs: 1 });
    expect(claimed).toMatchObject({ type: 'claimed', wasAbandoned: true });
  });

  it('one whose name has other events over there, and takes it up here as before', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'suspended' });
    await to.runs.create(
      { runId: 'run-1', agent: 'clerk', events: [note('a'), note('b'), note('c')] },
      owner,
    );
    const done = await copyRuns(from, to, { remove: true });
    expect(done.left[0]).toMatchObject({ failure: { code: 'ALREADY_REGISTERED' } });
    expect(await from.runs.find('run-1')).toMatchObject({
      status: 'suspended',
      reason: 'approval',
      resumeAtMs: 17,
    });
    expect(await waiting(from)).toEqual(['run-1']);
    expect(await to.runs.events('run-1')).toHaveLength(3);
  });

  it('one that is damaged, and copies the others', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'suspended' });
    await begin(from, 'run-2');
    from.damage('run-1', { type: 'event-changed', seq: 1 });
    const done = await copyRuns(from, to, { remove: true });
    expect(done).toMatchObject({ copied: 1, leftCount: 1 });
    expect(done.left[0]).toMatchObject({ runId: 'run-1', failure: { code: 'STORAGE_CORRUPT' } });
    expect(await from.runs.find('run-1')).toMatchObject({ status: 'suspended' });
  });

  it('one that is on its way to another store', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'suspended' });
    const broken = { ...to, runs: { ...to.runs, restore: () => Promise.reject(diskFailure()) } };
    await expect(copyRuns(from, broken, { remove: true })).rejects.toThrow('The disk fails');
    const other = { ...memoryStore(), name: 'another store' };
    const done = await copyRuns(from, other, { remove: true });
    expect(done.left[0]).toMatchObject({ failure: { code: 'INVALID_STATE', context: { to: 'memory' } } });
    expect(await copyRuns(from, to, { remove: true })).toMatchObject({ copied: 1, leftCount: 0 });
    expect(await to.runs.find('run-1')).toMatchObject({
      status: 'suspended',
      reason: 'approval',
      resumeAtMs: 17,
    });
  });

  it('those of a conversation that is another one over there', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { sessionId: 'talk' });
    await from.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run-1');
    await to.sessions.append('talk', [{ role: 'user', content: 'something else' }], 'run-9');
    const done = await copyRuns(from, to, { remove: true });
    expect(done.left[0]).toMatchObject({ runId: 'run-1', failure: { code: 'ALREADY_REGISTERED' } });
    expect(await to.sessions.messages('talk')).toEqual([{ role: 'user', content: 'something else' }]);
  });
});

function diskFailure(): Error {
  return Object.assign(new Error('The disk fails'), {
    failure: createFailure('STORAGE_IO', { message: 'x' }),
  });
}

describe('copyRuns()', () => {
  it('copies a run as it is, and says that it is there when it is repeated', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { sessionId: 'talk' });
    await from.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run-1');
    expect(await copyRuns(from, to)).toMatchObject({ copied: 1, there: 0, removed: 0, sessions: 1 });
    expect(await to.runs.whole('run-1')).toEqual(await from.runs.whole('run-1'));
    expect(await to.sessions.whole('talk')).toEqual(await from.sessions.whole('talk'));
    expect(await copyRuns(from, to)).toMatchObject({ copied: 0, there: 1, sessions: 0, leftCount: 0 });
  });

  it('moves a run with those below it, and its conversation when nobody needs it here any more', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'suspended', agent: 'flow', sessionId: 'talk' });
    await begin(from, 'run-1/a', { agent: 'flow/a', status: 'suspended' });
    await begin(from, 'run-2', { sessionId: 'talk' });
    await from.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run-1');
    const first = await copyRuns(from, to, { remove: true, runIds: ['run-1', 'run-1', 'nobody'] });
    expect(first).toMatchObject({ copied: 1, removed: 1 });
    expect(await to.runs.find('run-1/a')).toMatchObject({ status: 'suspended' });
    expect((await from.runs.list()).runs.map(({ runId }) => runId)).toEqual(['run-2']);
    expect(await from.sessions.find('talk')).toBeDefined();
    await from.sessions.append('talk', [{ role: 'user', content: 'two' }], 'run-2');
    expect(await copyRuns(from, to, { remove: true })).toMatchObject({ copied: 1, sessions: 1 });
    expect(await from.sessions.find('talk')).toBeUndefined();
    expect((await to.sessions.messages('talk')).map(({ content }) => content)).toEqual(['one', 'two']);
    await to.sessions.append('talk', [{ role: 'user', content: 'two' }], 'run-2');
    expect(await to.sessions.messages('talk')).toHaveLength(2);
  });

  it('counts the crash of an owner that vanished, for nobody over there can see it', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'running', isHeld: true });
    from.simulateDeath('anna');
    await copyRuns(from, to, { remove: true });
    expect(await to.runs.find('run-1')).toMatchObject({ status: 'running', crashes: 1 });
  });

  it('hands on a signal that came while the run was copied', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1', { status: 'suspended' });
    const late: Store['runs']['restore'] = async (run) => {
      await from.runs.signal('run-1', { id: 'late', name: 'go', payload: 1 });
      return to.runs.restore(run);
    };
    await copyRuns(from, { ...to, runs: { ...to.runs, restore: late } }, { remove: true });
    expect((await to.runs.signals('run-1')).map(({ id }) => id)).toEqual(['waits', 'late']);
  });

  it('ends at once where it is told to', async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await begin(from, 'run-1');
    await begin(from, 'run-2');
    const stop = new AbortController();
    const copying = copyRuns(from, to, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(copying).rejects.toMatchObject({ name: 'AbortError' });
    expect(await copyRuns(from, to)).toMatchObject({ copied: 1, there: 1 });
  });
});

describe('copyRuns() that dies at any moment', () => {
  /** Dies before or after the n-th operation of one of the two stores; gives false where it came to its end. */
  async function dies(given: Dying): Promise<boolean> {
    const { from, to, which, at, when } = given;
    const life = { isDead: false, isOver: false };
    const faults = {
      [when]: ({ number }: StoreOperation) => {
        if (number !== at) return undefined;
        life.isDead = true;
        return 'crash' as const;
      },
    };
    const stores = [from, to].map((store, index) => store.reopen(index === which ? { faults } : {}));
    const [source, target] = stores as [MemoryStore, MemoryStore]; // Of two, two.
    void copyRuns(source, target, { remove: true, trusted: true }).then(() => (life.isOver = true));
    while (!life.isDead && !life.isOver) await new Promise((resolve) => setImmediate(resolve));
    for (const store of stores) store.kill();
    return life.isDead;
  }

  interface Dying {
    readonly from: MemoryStore;
    readonly to: MemoryStore;
    readonly which: 0 | 1;
    readonly at: number;
    readonly when: 'before' | 'after';
  }

  it.each([
    { which: 0, when: 'before' },
    { which: 0, when: 'after' },
    { which: 1, when: 'before' },
    { which: 1, when: 'after' },
  ] as const)(
    '($when an operation of store $which) leaves no run that two would take up, and ends when it is repeated',
    async ({ which, when }) => {
      let deaths = 0;
      for (let at = 1, isDead = true; isDead; at += 1) {
        const [from, to] = [memoryStore(), memoryStore()];
        await begin(from, 'run-1', { status: 'suspended', agent: 'flow', sessionId: 'talk' });
        await begin(from, 'run-1/a', { agent: 'flow/a', status: 'completed' });
        await begin(from, 'run-2');
        await from.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run-1');
        const before = await Promise.all(
          ['run-1', 'run-1/a', 'run-2'].map((runId) => from.runs.whole(runId)),
        );
        isDead = await dies({ from, to, which, at, when });
        deaths += isDead ? 1 : 0;
        const takers = [...(await waiting(from)), ...(await waiting(to))].filter(
          (runId) => runId === 'run-1',
        );
        expect({ at, takers: takers.length <= 1 }).toEqual({ at, takers: true });
        const done = await copyRuns(from, to, { remove: true, trusted: true });
        expect({ at, left: done.left }).toEqual({ at, left: [] });
        const after = await Promise.all(['run-1', 'run-1/a', 'run-2'].map((runId) => to.runs.whole(runId)));
        expect({ at, after }).toEqual({ at, after: before });
        expect((await from.runs.list()).runs).toEqual([]);
        expect(await to.sessions.messages('talk')).toHaveLength(1);
        expect(await from.sessions.find('talk')).toBeUndefined();
        expect(await waiting(to)).toEqual(['run-1']);
      }
      expect(deaths).toBeGreaterThan(8);
    },
  );
});
