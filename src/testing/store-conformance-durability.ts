import { must } from './model-conformance-probe.ts';
import {
  anna,
  ben,
  bodiesOf,
  claimOf,
  leaseMs,
  mustEqual,
  note,
  noting,
  refusalOf,
  rowOf,
} from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const reopening: readonly StoreRule[] = [
  {
    name: 'shows a second process every event, row and signal that was acknowledged',
    needs: 'reopen',
    check: async ({ store, begin, reopen }) => {
      const lease = await begin('run-1', { row: { text: 'asked' } });
      await store.runs.append(lease, noting('second', { turns: 1 }));
      await store.runs.signal('run-1', { id: 'a', name: 'go', payload: 1 });
      const again = await reopen();
      mustEqual(await again.runs.events('run-1'), await store.runs.events('run-1'), 'The events differ.');
      mustEqual(await again.runs.find('run-1'), await rowOf(store, 'run-1'), 'The rows differ.');
      mustEqual(await again.runs.signals('run-1'), await store.runs.signals('run-1'), 'The signals differ.');
      mustEqual(await bodiesOf(again, 'run-1'), ['begun', 'second'], 'Not all is there.');
    },
  },
  {
    name: 'shows a second process every blob and session that was acknowledged',
    needs: 'reopen',
    check: async ({ store, begin, reopen }) => {
      await begin('run-1');
      const hash = await store.blobs.put('content', 'run-1');
      await store.sessions.append('talk', [{ role: 'user', content: 'hello' }], 'run-1');
      const again = await reopen();
      mustEqual(await again.blobs.get(hash), 'content', 'The blob is gone.');
      mustEqual(await again.blobs.put('content', 'run-1'), hash, 'The same content has another hash there.');
      mustEqual(await again.sessions.find('talk'), await store.sessions.find('talk'), 'The session differs.');
      await again.sessions.append('talk', [{ role: 'user', content: 'hello' }], 'run-1');
      mustEqual((await store.sessions.messages('talk')).length, 1, 'The run could add twice.');
    },
  },
  {
    name: 'holds a second process to the leases and the signals of the first',
    needs: 'reopen',
    check: async ({ store, begin, reopen }) => {
      await begin('run-1');
      await store.runs.signal('run-1', { id: 'a', name: 'go', payload: null });
      const again = await reopen();
      mustEqual((await again.runs.claim('run-1', ben)).type, 'held', 'The run has two owners.');
      const create = again.runs.create({ runId: 'run-1', agent: 'clerk', events: [note(0)] }, ben);
      mustEqual(await create, { type: 'exists' }, 'The run was begun twice.');
      const kept = await again.runs.signal('run-1', { id: 'a', name: 'go', payload: null });
      mustEqual(kept, 'duplicate', 'The signal was kept twice.');
    },
  },
  {
    name: 'refuses the first process once a second one has taken its run',
    needs: 'reopen',
    check: async ({ store, clock, begin, reopen }) => {
      const old = await begin('run-1');
      const again = await reopen();
      await clock.advance(leaseMs + 1000);
      const { lease, wasAbandoned } = await claimOf(again, 'run-1', ben);
      must(wasAbandoned, 'The run is not told as abandoned.');
      await refusalOf(store.runs.append(old, noting('zombie')), ['STORAGE_LOCKED']);
      await again.runs.append(lease, noting('mine'));
      mustEqual(await store.runs.renew(anna), ['run-1'], 'The first one is not told that it lost the run.');
      mustEqual(await bodiesOf(store, 'run-1'), ['begun', 'mine'], 'The events are wrong.');
    },
  },
  {
    name: 'keeps what two processes write at the same time',
    needs: 'reopen',
    check: async ({ store, begin, reopen }) => {
      const again = await reopen();
      const mine = await begin('run-1');
      const other = await again.runs.create({ runId: 'run-2', agent: 'clerk', events: [note('begun')] }, ben);
      must(other.type === 'created', 'The second process cannot begin a run.');
      const numbers = Array.from({ length: 20 }, (_, index) => index);
      await Promise.all(
        numbers.flatMap((number) => [
          store.runs.append(mine, noting(number)),
          again.runs.append(other.lease, noting(number)),
        ]),
      );
      for (const runId of ['run-1', 'run-2']) {
        mustEqual(await bodiesOf(store, runId), ['begun', ...numbers], `The events of ${runId} are wrong.`);
      }
    },
  },
];

const damage: readonly StoreRule[] = [
  {
    name: 'names run and number of an event that is not what was written, and reads those before it',
    needs: 'damage',
    check: async (scene) => {
      const { store, begin } = scene;
      await begin('run-1', { events: [1, 2, 3].map(note) });
      await begin('run-2');
      await scene.damage('run-1', { type: 'event-changed', seq: 2 });
      const { context } = await refusalOf(store.runs.events('run-1'), ['STORAGE_CORRUPT']);
      mustEqual([context['runId'], context['seq']], ['run-1', 2], 'The failure names another place.');
      mustEqual((await store.runs.events('run-1', { to: 1 })).length, 1, 'What is whole cannot be read.');
      mustEqual(await bodiesOf(store, 'run-2'), ['begun'], 'Another run is hit.');
      const { problems } = await store.check();
      mustEqual(
        problems.map(({ code, runId, seq }) => [code, runId, seq]),
        [['STORAGE_CORRUPT', 'run-1', 2]],
        'A look at everything finds something else.',
      );
    },
  },
  {
    name: 'notices that the latest events are lost, and goes on once that is accepted',
    needs: 'damage',
    check: async (scene) => {
      const { store, begin } = scene;
      const lease = await begin('run-1', { events: [1, 2, 3].map(note) });
      await scene.damage('run-1', { type: 'tail-lost', events: 1 });
      await refusalOf(store.runs.events('run-1'), ['STORAGE_DIVERGED']);
      await refusalOf(store.runs.append(lease, noting('on')), ['STORAGE_DIVERGED']);
      const [problem] = (await store.check()).problems;
      mustEqual(
        [problem?.code, problem?.runId],
        ['STORAGE_DIVERGED', 'run-1'],
        'A look at everything misses it.',
      );
      await store.runs.acceptHead('run-1');
      mustEqual((await store.check()).problems, [], 'It is still told as a problem.');
      await store.runs.append(lease, noting('on'));
      mustEqual(await bodiesOf(store, 'run-1'), [1, 2, 'on'], 'It does not go on from what is there.');
    },
  },
];

const whole: readonly StoreRule[] = [
  {
    name: 'counts what it keeps, and finds nothing wrong',
    check: async ({ store, begin }) => {
      mustEqual(await store.check(), { runs: 0, events: 0, blobs: 0, problems: [] }, 'It is not empty.');
      await begin('run-1', { events: [note(1), note(2)] });
      await begin('run-2');
      await store.blobs.put('content', 'run-1');
      mustEqual(await store.check(), { runs: 2, events: 3, blobs: 1, problems: [] }, 'It counts otherwise.');
    },
  },
  {
    name: 'changes nothing about a whole run whose head is accepted',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1', { events: [note(1), note(2)] });
      const before = await rowOf(store, 'run-1');
      await store.runs.acceptHead('run-1');
      mustEqual(await rowOf(store, 'run-1'), before, 'The row has changed.');
      await store.runs.append(lease, noting(3));
      mustEqual(await bodiesOf(store, 'run-1'), [1, 2, 3], 'The events have changed.');
    },
  },
  {
    name: 'can be opened again and again',
    check: async ({ store, begin }) => {
      await Promise.all([store.open(), store.open()]);
      await begin('run-1');
      await store.open();
      mustEqual(await bodiesOf(store, 'run-1'), ['begun'], 'The run is gone.');
      must(store.name !== '', 'The store has no name.');
    },
  },
];

/** Every promise about what outlives a process, and what was spoilt meanwhile. */
export const durabilityRules: readonly StoreRule[] = [...reopening, ...damage, ...whole];
