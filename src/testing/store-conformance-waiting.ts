import type { RowChange, Store, StoredStatus, WaitingRun } from '../model/store/store.ts';
import { anna, ben, leaseMs, mustEqual, rowOf } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const go = { id: '1', name: 'go', payload: null };

interface Leaving {
  /** What the run is left as, by an owner who gave it back. */
  readonly row: (nowMs: number) => RowChange;
  readonly isSignalled?: boolean;
  readonly why: readonly WaitingRun['why'][];
}

/** Seen an hour after it was left. */
const leavings: Readonly<Record<string, Leaving>> = {
  'a running run that was given back': { row: () => ({}), why: ['interrupted'] },
  'a suspended run whose time has come': {
    row: (nowMs) => ({ status: 'suspended', resumeAtMs: nowMs + 1000 }),
    why: ['due'],
  },
  'a suspended run whose time has not come': {
    row: (nowMs) => ({ status: 'suspended', resumeAtMs: nowMs + 7_200_000 }),
    why: [],
  },
  'a suspended run that waits for a person': { row: () => ({ status: 'suspended' }), why: [] },
  'a suspended run that was signalled': {
    row: () => ({ status: 'suspended' }),
    isSignalled: true,
    why: ['signalled'],
  },
  'a suspended run that was signalled before its time': {
    row: (nowMs) => ({ status: 'suspended', resumeAtMs: nowMs + 7_200_000 }),
    isSignalled: true,
    why: ['signalled'],
  },
  'a parked run': { row: () => ({ status: 'parked' }), why: [] },
  'a parked run that was signalled': { row: () => ({ status: 'parked' }), isSignalled: true, why: [] },
  'a completed run that was signalled': { row: () => ({ status: 'completed' }), isSignalled: true, why: [] },
  'a failed run': { row: () => ({ status: 'failed' }), why: [] },
};

const kinds = Object.entries(leavings).map(([what, { row, isSignalled = false, why }]): StoreRule => ({
  name: `gives ${what} ${why.length === 0 ? 'to nobody' : `as ${why.join()}`}`,
  check: async ({ store, clock, leave }) => {
    await leave('run-1', { row: row(clock.wallMs()) });
    if (isSignalled) await store.runs.signal('run-1', go);
    await clock.advance(3_600_000);
    const waiting = await store.runs.waiting({ agents: ['clerk'], ownerId: 'ben', limit: 10 });
    mustEqual(
      waiting.map((run) => run.why),
      why,
      'It is told otherwise.',
    );
  },
}));

const holding: readonly StoreRule[] = [
  {
    name: 'gives a running run as interrupted once the lease of its owner has run out',
    check: async ({ store, clock, begin }) => {
      await begin('run-1');
      mustEqual(await waitingIds(store), [], 'It is given while its owner has it.');
      await clock.advance(leaseMs + 1000);
      const [first] = await store.runs.waiting({ agents: ['clerk'], ownerId: 'ben', limit: 10 });
      mustEqual([first?.row.runId, first?.why], ['run-1', 'interrupted'], 'It is not given afterwards.');
      mustEqual(first?.row, await rowOf(store, 'run-1'), 'Its row is not the one that is found.');
    },
  },
  {
    name: 'gives no run to somebody who has it, nor while another has it',
    check: async ({ store, clock, begin }) => {
      await begin('mine', { owner: ben });
      await clock.advance(leaseMs + 1000);
      await begin('held', { row: { status: 'suspended', resumeAtMs: clock.wallMs() } });
      await store.runs.signal('held', go);
      mustEqual(await waitingIds(store), [], 'One of them is given.');
    },
  },
  {
    name: 'gives runs of the wanted agents only, at most so many, the longest waiting first',
    check: async ({ store, clock, leave }) => {
      for (const runId of ['d', 'b', 'c', 'a']) {
        await leave(runId, { agent: runId === 'b' ? 'guide' : 'clerk' });
        await clock.advance(1000);
      }
      mustEqual(await waitingIds(store), ['d', 'c', 'a'], 'The runs of an agent are wrong.');
      const some = await store.runs.waiting({ agents: ['clerk', 'guide'], ownerId: 'ben', limit: 3 });
      mustEqual(
        some.map(({ row }) => row.runId),
        ['d', 'b', 'c'],
        'The first three are wrong.',
      );
      mustEqual(
        await store.runs.waiting({ agents: [], ownerId: 'ben', limit: 3 }),
        [],
        'No agent is wanted.',
      );
    },
  },
];

const everyStatus: readonly StoredStatus[] = [
  'running',
  'suspended',
  'completed',
  'stopped',
  'cancelled',
  'failed',
  'parked',
];

const removing: readonly StoreRule[] = [
  {
    name: 'prunes ended runs that are too old, and no others',
    check: async ({ store, clock, leave }) => {
      for (const status of everyStatus) await leave(`old-${status}`, { row: { status } });
      await clock.advance(10_000);
      await leave('new-completed', { row: { status: 'completed' } });
      await clock.advance(1000);
      mustEqual(await store.runs.prune({ maxAgeMs: 5000 }), 4, 'Not as many were removed.');
      mustEqual(
        await idsOf(store),
        ['new-completed', 'old-parked', 'old-running', 'old-suspended'],
        'The wrong ones were removed.',
      );
    },
  },
  {
    name: 'prunes the oldest ended runs where there are too many',
    check: async ({ store, clock, leave }) => {
      for (let index = 0; index < 6; index += 1) {
        await leave(`run-${index}`, { row: { status: index === 0 ? 'suspended' : 'failed' } });
        await clock.advance(1000);
      }
      mustEqual(await store.runs.prune({ maxRuns: 2 }), 3, 'Not as many were removed.');
      mustEqual(await idsOf(store), ['run-0', 'run-4', 'run-5'], 'The wrong ones were removed.');
    },
  },
  {
    name: 'prunes nothing without a rule',
    check: async ({ store, clock, leave }) => {
      await leave('run-1', { row: { status: 'completed' } });
      await clock.advance(365 * 24 * 3_600_000);
      mustEqual(await store.runs.prune({}), 0, 'Something was removed.');
      mustEqual(await idsOf(store), ['run-1'], 'Something is gone.');
    },
  },
  {
    name: 'removes a run with all that belongs to it, and no other',
    check: async ({ store, leave }) => {
      for (const runId of ['run-1', 'run-2']) {
        await leave(runId);
        await store.runs.signal(runId, go);
      }
      mustEqual(
        [await store.runs.remove('run-1'), await store.runs.remove('run-1')],
        [true, false],
        'Told wrongly.',
      );
      mustEqual(await store.runs.find('run-1'), undefined, 'It is still found.');
      mustEqual(
        [await store.runs.events('run-1'), await store.runs.signals('run-1')],
        [[], []],
        'A rest is left.',
      );
      mustEqual(
        [(await store.runs.events('run-2')).length, (await store.runs.signals('run-2')).length],
        [1, 1],
        'The other is hit.',
      );
    },
  },
  {
    name: 'begins a removed run anew with nothing of the old one',
    check: async ({ store, begin, leave }) => {
      await leave('run-1', { row: { text: 'old', status: 'failed', code: 'TIMEOUT' } });
      await store.runs.signal('run-1', go);
      await store.runs.remove('run-1');
      await begin('run-1', { owner: anna });
      const { text, headSeq, code } = await rowOf(store, 'run-1');
      mustEqual([text, headSeq, code], ['', 1, undefined], 'Something of the old one is there.');
      mustEqual(await store.runs.signal('run-1', go), 'added', 'It knows a signal of the old one.');
    },
  },
];

/** Every promise about runs that wait for somebody, and runs that go. */
export const waitingRules: readonly StoreRule[] = [...kinds, ...holding, ...removing];

async function waitingIds(store: Store): Promise<readonly string[]> {
  const waiting = await store.runs.waiting({ agents: ['clerk'], ownerId: 'ben', limit: 10 });
  return waiting.map(({ row }) => row.runId);
}

async function idsOf(store: Store): Promise<readonly string[]> {
  return (await store.runs.list()).runs.map(({ runId }) => runId).toSorted();
}
