import type { NewSignal, Store } from '../model/store/store.ts';
import { ben, bodiesOf, claimOf, leaseMs, mustEqual, note, refusalOf } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const maxSignals = 1000;

/** Every promise about signals. */
export const signalRules: readonly StoreRule[] = [
  {
    name: 'keeps a signal once by its id, with what came first',
    check: async ({ store, begin }) => {
      await begin('run-1');
      const first = await store.runs.signal('run-1', answer('a', 'first'));
      const second = await store.runs.signal('run-1', answer('a', 'second'));
      mustEqual([first, second], ['added', 'duplicate'], 'The signal is told otherwise.');
      mustEqual(await payloadsOf(store, 'run-1'), ['first'], 'The wrong ones are kept.');
    },
  },
  {
    name: 'keeps a signal once, where it comes twice at the same time',
    check: async ({ store, begin }) => {
      await begin('run-1');
      const kept = await Promise.all([1, 2, 3].map((n) => store.runs.signal('run-1', answer('a', n))));
      mustEqual(kept.toSorted(), ['added', 'duplicate', 'duplicate'], 'It was kept more than once.');
    },
  },
  {
    name: 'knows a signal again after it was taken',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1');
      await store.runs.signal('run-1', answer('a'));
      await store.runs.append(lease, { events: [note('took')], took: ['a'] });
      mustEqual(await store.runs.signal('run-1', answer('a')), 'duplicate', 'It is delivered a second time.');
      mustEqual(await store.runs.signals('run-1'), [], 'It is kept a second time.');
    },
  },
  {
    name: 'tells two runs apart that are sent the same id',
    check: async ({ store, begin }) => {
      await begin('run-1');
      await begin('run-2');
      await store.runs.signal('run-1', answer('a', 1));
      mustEqual(await store.runs.signal('run-2', answer('a', 2)), 'added', 'It is told as a duplicate.');
      mustEqual(await payloadsOf(store, 'run-2'), [2], 'It is not kept.');
    },
  },
  {
    name: 'keeps signals while nobody carries the run, the oldest first, with name and time',
    check: async ({ store, clock, leave }) => {
      await leave('run-1', { row: { status: 'suspended' } });
      const startMs = clock.wallMs();
      await store.runs.signal('run-1', { id: 'z', name: 'approve', payload: { yes: true } });
      await clock.advance(100);
      await store.runs.signal('run-1', { id: 'a', name: 'cancel', payload: null });
      await claimOf(store, 'run-1', ben);
      mustEqual(
        await store.runs.signals('run-1'),
        [
          { id: 'z', name: 'approve', payload: { yes: true }, atMs: startMs },
          { id: 'a', name: 'cancel', payload: null, atMs: startMs + 100 },
        ],
        'The signals are wrong.',
      );
    },
  },
  {
    name: 'keeps signals of the same moment in the order in which they came',
    check: async ({ store, begin }) => {
      await begin('run-1');
      const ids = ['c', 'a', 'b', '10', '9'];
      for (const id of ids) await store.runs.signal('run-1', answer(id, id));
      mustEqual(await payloadsOf(store, 'run-1'), ids, 'The order is wrong.');
    },
  },
  {
    name: 'takes those signals that an addition names, and leaves the others',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1');
      for (const id of ['a', 'b', 'c']) await store.runs.signal('run-1', answer(id, id));
      await store.runs.append(lease, { events: [note('took')], took: ['c', 'a'] });
      mustEqual(await payloadsOf(store, 'run-1'), ['b'], 'The wrong ones are left.');
    },
  },
  {
    name: 'takes no signal where the addition is refused',
    check: async ({ store, clock, begin }) => {
      const old = await begin('run-1');
      await store.runs.signal('run-1', answer('a', 'kept'));
      await clock.advance(leaseMs + 1000);
      await claimOf(store, 'run-1', ben);
      await refusalOf(store.runs.append(old, { events: [note('zombie')], took: ['a'] }), ['STORAGE_LOCKED']);
      mustEqual(
        await payloadsOf(store, 'run-1'),
        ['kept'],
        'A signal went with an addition that was refused.',
      );
      mustEqual(await bodiesOf(store, 'run-1'), ['begun'], 'The events were written.');
    },
  },
  {
    name: `is full after ${maxSignals} signals that nobody takes, still knows duplicates, and has room once one is taken`,
    check: async ({ store, begin }) => {
      const lease = await begin('run-1');
      const ids = Array.from({ length: maxSignals }, (_, index) => `id-${index}`);
      await Promise.all(ids.map((id) => store.runs.signal('run-1', answer(id))));
      mustEqual((await store.runs.signals('run-1')).length, maxSignals, 'Not all are kept.');
      mustEqual(await store.runs.signal('run-1', answer('more')), 'full', 'One more is told otherwise.');
      mustEqual(
        await store.runs.signal('run-1', answer('id-7')),
        'duplicate',
        'A known one is told otherwise.',
      );
      mustEqual((await store.runs.signals('run-1')).length, maxSignals, 'One more is kept.');
      await store.runs.append(lease, { events: [note('took')], took: ['id-0'] });
      mustEqual(await store.runs.signal('run-1', answer('more')), 'added', 'There is no room for another.');
    },
  },
];

function answer(id: string, payload: NewSignal['payload'] = null): NewSignal {
  return { id, name: 'answer', payload };
}

async function payloadsOf(store: Store, runId: string): Promise<readonly unknown[]> {
  return (await store.runs.signals(runId)).map(({ payload }) => payload);
}
