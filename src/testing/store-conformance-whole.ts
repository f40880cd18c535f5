import type { WholeRun, WholeSession } from '../model/store/whole-run.ts';
import { must } from './model-conformance-probe.ts';
import {
  anna,
  ben,
  bodiesOf,
  claimOf,
  mustEqual,
  note,
  noting,
  refusalOf,
  rowOf,
} from './store-conformance-scene.ts';
import type { StoreRule, StoreScene } from './store-conformance-scene.ts';

/** A run with all that one can have: a row with every field, several generations, signals, a content, a long event. */
async function rich({ store, clock, begin }: StoreScene, runId: string): Promise<WholeRun> {
  const lease = await begin(runId, { sessionId: 'talk', row: { text: 'Grüße', tools: ['pay', 'look'] } });
  await store.blobs.put('a content', runId);
  for (const id of ['a', 'b', 'c'])
    await store.runs.signal(runId, { id, name: `name-${id}`, payload: { id } });
  await clock.advance(1000);
  const row = { code: 'TIMEOUT', reason: 'why', resumeAtMs: 17.5, turns: 3, costUsd: 0.25, crashes: 2 };
  await store.runs.append(lease, { ...noting({ b: 1, a: [null, 'ü\u0000'] }, row), took: ['b'] });
  await clock.advance(1000);
  await store.runs.append(lease, {
    events: [note('x'.repeat(300_000)), note('last')],
    row: { status: 'suspended', beginsGeneration: true },
  });
  await store.runs.release(lease);
  return wholeOf(await store.runs.whole(runId));
}

function wholeOf<T>(whole: T | undefined): T {
  must(whole !== undefined, 'What is there is not given.');
  return whole;
}

/** Another store would be as good: the run goes, and comes back. */
async function moved({ store }: StoreScene, whole: WholeRun): Promise<void> {
  const { runId } = whole.row;
  const contents = await Promise.all(whole.blobs.map((hash) => store.blobs.get(hash)));
  await store.runs.remove(runId);
  for (const content of contents) await store.blobs.put(content ?? '', runId);
  mustEqual(await store.runs.restore(whole), 'restored', 'A run that is not there is not restored.');
}

async function talk({ store, clock }: StoreScene): Promise<WholeSession> {
  await store.sessions.append('talk', [{ role: 'user', content: 'one' }], 'run-1');
  await clock.advance(1000);
  await store.sessions.append('talk', [{ role: 'user', content: 'two' }], 'run-2');
  return wholeOf(await store.sessions.whole('talk'));
}

const runRules: readonly StoreRule[] = [
  {
    name: 'gives all that is kept of a run',
    check: async (scene) => {
      const { store } = scene;
      const whole = await rich(scene, 'run-1');
      mustEqual(whole.row, await rowOf(store, 'run-1'), 'Its row is another one.');
      mustEqual(whole.events, await store.runs.events('run-1'), 'Its events are others.');
      const signals = whole.signals.map(({ id, name, payload, isTaken }) => [id, name, payload, isTaken]);
      const expected = [
        ['a', 'name-a', { id: 'a' }, false],
        ['b', 'name-b', null, true],
        ['c', 'name-c', { id: 'c' }, false],
      ];
      mustEqual(signals, expected, 'Its signals are others.');
      const contents = await Promise.all(whole.blobs.map((hash) => store.blobs.get(hash)));
      must(contents.includes('a content'), 'A content that is kept for it is not named.');
      mustEqual(await store.runs.whole('run-2'), undefined, 'A run that is not there is given.');
    },
  },
  {
    name: 'restores a run as it was, to the hash and the time',
    check: async (scene) => {
      const { store } = scene;
      const whole = await rich(scene, 'run-1');
      await scene.clock.advance(60_000);
      await moved(scene, whole);
      mustEqual(await store.runs.whole('run-1'), whole, 'It is not what it was.');
      const { runs, events, problems } = await store.check();
      mustEqual({ runs, events, problems }, { runs: 1, events: 4, problems: [] }, 'It is not whole.');
    },
  },
  {
    name: 'lets a restored run be found, claimed and added to as any other',
    check: async (scene) => {
      const { store } = scene;
      const whole = await rich(scene, 'run-1');
      await moved(scene, whole);
      const { runs } = await store.runs.list({ text: 'grüße', tool: 'pay', sessionId: 'talk' });
      mustEqual(
        runs.map(({ runId }) => runId),
        ['run-1'],
        'It is not listed.',
      );
      const waiting = await store.runs.waiting({ agents: ['clerk'], ownerId: 'ben', limit: 9 });
      mustEqual(waiting.length, 1, 'Nobody would take it up.');
      const { lease, wasAbandoned } = await claimOf(store, 'run-1', ben);
      mustEqual(wasAbandoned, false, 'Nobody has left it.');
      await store.runs.append(lease, { events: [note('goes on')], took: ['a'] });
      mustEqual((await bodiesOf(store, 'run-1')).slice(-2), ['last', 'goes on'], 'It does not go on.');
      mustEqual((await store.check()).problems, [], 'Its chain is broken.');
    },
  },
  {
    name: 'knows the signals of a restored run, also those that were taken',
    check: async (scene) => {
      const { store } = scene;
      await moved(scene, await rich(scene, 'run-1'));
      const again = ['a', 'b', 'd'].map((id) =>
        store.runs.signal('run-1', { id, name: 'again', payload: 1 }),
      );
      mustEqual(await Promise.all(again), ['duplicate', 'duplicate', 'added'], 'An id is taken twice.');
      const ids = (await store.runs.signals('run-1')).map(({ id }) => id);
      mustEqual(ids, ['a', 'c', 'd'], 'Others wait, or in another order.');
    },
  },
  {
    name: 'refuses whoever held a run before it was restored',
    check: async (scene) => {
      const { store, begin } = scene;
      const lease = await begin('run-1');
      await moved(scene, wholeOf(await store.runs.whole('run-1')));
      await refusalOf(store.runs.append(lease, { events: [note('zombie')] }), ['STORAGE_LOCKED']);
      mustEqual((await rowOf(store, 'run-1')).owner, undefined, 'Somebody holds it.');
    },
  },
  {
    name: 'does not touch a run that is there when one is restored',
    check: async (scene) => {
      const { store } = scene;
      const whole = await rich(scene, 'run-1');
      const { lease } = await claimOf(store, 'run-1', anna);
      await store.runs.append(lease, { events: [note('more')] });
      mustEqual(await store.runs.restore(whole), 'exists', 'It was restored.');
      mustEqual((await bodiesOf(store, 'run-1')).at(-1), 'more', 'Something of it is lost.');
      await store.runs.append(lease, { events: [note('its owner goes on')] });
    },
  },
  {
    name: 'restores no run whose hashes do not hold',
    check: async (scene) => {
      const { store } = scene;
      const whole = await rich(scene, 'run-1');
      await store.runs.remove('run-1');
      const [first, ...rest] = whole.events;
      must(first !== undefined, 'It has no events.');
      const spoilt = [
        { ...whole, events: [{ ...first, body: 'another' }, ...rest] },
        { ...whole, events: [{ ...first, atMs: first.atMs + 1 }, ...rest] },
        { ...whole, events: whole.events.slice(0, -1) },
      ];
      for (const run of spoilt) await refusalOf(store.runs.restore(run), ['STORAGE_CORRUPT']);
      mustEqual(await store.runs.find('run-1'), undefined, 'It was written.');
    },
  },
];

const sessionRules: readonly StoreRule[] = [
  {
    name: 'restores a session as it was, with the runs that have added to it',
    check: async (scene) => {
      const { store, clock } = scene;
      const whole = await talk(scene);
      mustEqual(await store.sessions.whole('silence'), undefined, 'A session that is not there is given.');
      await store.sessions.remove('talk');
      await clock.advance(60_000);
      mustEqual(await store.sessions.restore(whole), 'restored', 'It is not restored.');
      mustEqual(await store.sessions.whole('talk'), whole, 'It is not what it was.');
      await store.sessions.append('talk', [{ role: 'user', content: 'again' }], 'run-2');
      await store.sessions.append('talk', [{ role: 'user', content: 'three' }], 'run-3');
      const contents = (await store.sessions.messages('talk')).map(({ content }) => content);
      mustEqual(contents, ['one', 'two', 'three'], 'A run has added twice, or not at all.');
      mustEqual((await store.check()).problems, [], 'It is not whole.');
    },
  },
  {
    name: 'does not touch a session that is there when one is restored',
    check: async (scene) => {
      const { store } = scene;
      const whole = await talk(scene);
      await store.sessions.append('talk', [{ role: 'user', content: 'three' }], 'run-3');
      mustEqual(await store.sessions.restore(whole), 'exists', 'It was restored.');
      mustEqual((await store.sessions.messages('talk')).length, 3, 'Something of it is lost.');
    },
  },
];

/** Every promise about what goes from one store to another. */
export const wholeRules: readonly StoreRule[] = [...runRules, ...sessionRules];
