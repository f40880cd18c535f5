import { chainStart, hashEvent } from '../model/store/event-chain.ts';
import type { StoredEvent } from '../model/store/store.ts';
import { must } from './model-conformance-probe.ts';
import { anna, ben, bodiesOf, mustEqual, note, noting, refusalOf, rowOf } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const creating: readonly StoreRule[] = [
  {
    name: 'says that a run exists, and leaves it as it is',
    check: async ({ store, begin }) => {
      await begin('run-1', { agent: 'first' });
      const again = { runId: 'run-1', agent: 'second', events: [note('other')] };
      mustEqual(await store.runs.create(again, ben), { type: 'exists' }, 'A second run has the same id.');
      const { agent, headSeq, owner } = await rowOf(store, 'run-1');
      mustEqual([agent, headSeq, owner?.id], ['first', 1, 'anna'], 'The second one changed the first.');
    },
  },
  {
    name: 'begins a run once, where two begin it at the same time',
    check: async ({ store }) => {
      const begun = await Promise.all(
        [anna, ben].map((owner) =>
          store.runs.create({ runId: 'run-1', agent: 'clerk', events: [note(owner.id)] }, owner),
        ),
      );
      mustEqual(begun.map(({ type }) => type).toSorted(), ['created', 'exists'], 'Both or none began it.');
      mustEqual((await bodiesOf(store, 'run-1')).length, 1, 'The events of both are there.');
    },
  },
  {
    name: 'lists a new run with what it was given, and with nothing else',
    check: async ({ store, clock, begin }) => {
      await begin('run-1', { sessionId: 'talk', row: { text: 'Refund', tools: ['refund'] } });
      const { headHash, owner, ...row } = await rowOf(store, 'run-1');
      const atMs = clock.wallMs();
      const expected = {
        runId: 'run-1',
        agent: 'clerk',
        sessionId: 'talk',
        status: 'running',
        text: 'Refund',
      };
      const counted = { createdAtMs: atMs, updatedAtMs: atMs, headSeq: 1, generationSeq: 1 };
      mustEqual(
        row,
        { ...expected, ...counted, tools: ['refund'], turns: 0, crashes: 0 },
        'The row of a new run is wrong.',
      );
      mustEqual(owner, { id: 'anna', untilMs: atMs + anna.leaseMs }, 'Its owner is wrong.');
      must(headHash !== '', 'The row has no hash of the head.');
    },
  },
];

const appending: readonly StoreRule[] = [
  {
    name: 'numbers events from 1 without a gap, in the order of the calls',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1', { events: [note(0), note(1)] });
      const additions = [[2], [3, 4, 5], [], [6]].map((bodies) => ({ events: bodies.map(note) }));
      await Promise.all(additions.map((addition) => store.runs.append(lease, addition)));
      const events = await store.runs.events('run-1');
      mustEqual(
        events.map(({ body }) => body),
        [0, 1, 2, 3, 4, 5, 6],
        'The order is wrong.',
      );
      mustEqual(
        events.map(({ seq }) => seq),
        [1, 2, 3, 4, 5, 6, 7],
        'The numbers are wrong.',
      );
    },
  },
  {
    name: 'refuses a body that is no JSON, and goes on with the next',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1', { events: [note(0)] });
      await store.runs.append(lease, { events: [note(1)] });
      for (const body of [undefined, () => undefined, 1n]) {
        const events = [{ type: 'note', body: body as never }]; // What no type stops at run time.
        const isTaken = await store.runs.append(lease, { events }).then(
          () => true,
          () => false,
        );
        must(!isTaken, `A body of the type ${typeof body} was taken.`);
      }
      await store.runs.append(lease, { events: [note(2)] });
      mustEqual(await bodiesOf(store, 'run-1'), [0, 1, 2], 'The events are others.');
    },
  },
  {
    name: 'keeps the type and the time of each event',
    check: async ({ store, clock, begin }) => {
      const lease = await begin('run-1');
      const startMs = clock.wallMs();
      await clock.advance(1500);
      await store.runs.append(lease, { events: [{ type: 'tool-finished', body: null }] });
      const seen = (await store.runs.events('run-1')).map(({ type, atMs }) => [type, atMs - startMs]);
      mustEqual(
        seen,
        [
          ['note', 0],
          ['tool-finished', 1500],
        ],
        'Type or time is wrong.',
      );
      const { updatedAtMs, createdAtMs } = await rowOf(store, 'run-1');
      mustEqual(updatedAtMs - createdAtMs, 1500, 'The row does not tell when the run was last written to.');
    },
  },
  {
    name: 'chains events by the hash of the one before, and tells the head in the row',
    check: async ({ store, clock, begin }) => {
      const lease = await begin('run-1', { events: [note({ a: 1 }), note('two')] });
      await clock.advance(10);
      await store.runs.append(lease, { events: [note([3])] });
      const events = await store.runs.events('run-1');
      mustEqual(
        events.map(({ hash }) => hash),
        chainOf('run-1', events),
        'The hashes are not the chain.',
      );
      const { headSeq, headHash } = await rowOf(store, 'run-1');
      mustEqual([headSeq, headHash], [3, events[2]?.hash], 'The head in the row is not the last event.');
    },
  },
  ...[
    { range: { from: 2 }, bodies: [2, 3, 4, 5] },
    { range: { to: 2 }, bodies: [1, 2] },
    { range: { from: 2, to: 3 }, bodies: [2, 3] },
    { range: { from: 5, to: 99 }, bodies: [5] },
    { range: { from: 6 }, bodies: [] },
    { range: { from: 4, to: 3 }, bodies: [] },
  ].map(({ range, bodies }): StoreRule => ({
    name: `gives the events ${JSON.stringify(range)} of five`,
    check: async ({ store, begin }) => {
      await begin('run-1', { events: [1, 2, 3, 4, 5].map(note) });
      const events = await store.runs.events('run-1', range);
      mustEqual(
        events.map(({ body }) => body),
        bodies,
        'The wrong ones.',
      );
      mustEqual(
        events.map(({ seq }) => seq),
        bodies,
        'The right ones with wrong numbers.',
      );
    },
  })),
];

const rows: readonly StoreRule[] = [
  {
    name: 'changes what is named of a row, takes away what is null, and leaves the rest',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1', { row: { text: 'asked', costUsd: 0.5, code: 'TIMEOUT', turns: 1 } });
      const change = {
        status: 'suspended',
        reason: 'credit',
        resumeAtMs: 5,
        code: null,
        crashes: 2,
      } as const;
      await store.runs.append(lease, noting('second', { ...change, tools: ['a', 'b'] }));
      const { status, reason, resumeAtMs, code, crashes, text, costUsd, tools, turns } = await rowOf(
        store,
        'run-1',
      );
      mustEqual(
        { status, reason, resumeAtMs, crashes, tools },
        {
          status: 'suspended',
          reason: 'credit',
          resumeAtMs: 5,
          crashes: 2,
          tools: ['a', 'b'],
        },
        'A change is missing.',
      );
      mustEqual(code, undefined, 'The code was not taken away.');
      mustEqual([text, costUsd, turns], ['asked', 0.5, 1], 'What was not named has changed.');
      await store.runs.append(lease, noting('third', { reason: null, resumeAtMs: null, costUsd: null }));
      const last = await rowOf(store, 'run-1');
      mustEqual(
        [last.reason, last.resumeAtMs, last.costUsd],
        [undefined, undefined, undefined],
        'null stayed.',
      );
    },
  },
  {
    name: 'changes a row without an event',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1');
      await store.runs.append(lease, { events: [], row: { status: 'parked' } });
      const { status, headSeq } = await rowOf(store, 'run-1');
      mustEqual([status, headSeq], ['parked', 1], 'The change is missing, or an event was made up.');
    },
  },
  {
    name: 'tells the event that the current generation begins with',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1', { events: [note(1), note(2)] });
      await store.runs.append(lease, { events: [note(3), note(4)], row: { beginsGeneration: true } });
      await store.runs.append(lease, { events: [note(5)], row: { turns: 3 } });
      mustEqual((await rowOf(store, 'run-1')).generationSeq, 3, 'The generation begins elsewhere.');
    },
  },
  {
    name: 'finds the latest event of a type in each run, if it offers that',
    check: async ({ store, begin }) => {
      const { latestOf } = store.runs;
      if (latestOf === undefined) return;
      const of = (type: string) => ({ type, body: null });
      await begin('run-1', { events: [of('a'), of('b'), of('a'), of('c')] });
      await begin('run\u0000\\2', { events: [of('c'), of('b')] });
      await begin('run-3', { events: [of('a')] });
      const found = await latestOf(['run-1', 'run\u0000\\2', 'nobody'], ['a', 'b']);
      const expected = [undefined, 3, 2];
      const given = ['run-3', 'run-1', 'run\u0000\\2'].map((runId) => found.get(runId));
      mustEqual([found.size, ...given], [2, ...expected], 'Others are found.');
      mustEqual((await latestOf([], ['a'])).size, 0, 'One is found that was not asked for.');
    },
  },
];

const unknown: readonly StoreRule[] = [
  {
    name: 'knows nothing of a run that nobody began',
    check: async ({ store }) => {
      const { runs } = store;
      mustEqual(await runs.find('nobody'), undefined, 'It is found.');
      mustEqual(await runs.events('nobody'), [], 'It has events.');
      mustEqual(await runs.signals('nobody'), [], 'It has signals.');
      mustEqual(await runs.claim('nobody', anna), { type: 'unknown' }, 'It can be claimed.');
      mustEqual(await runs.signal('nobody', { id: '1', name: 'go', payload: null }), 'unknown', 'It hears.');
      mustEqual(await runs.remove('nobody'), false, 'It can be removed.');
      mustEqual(await runs.list(), { runs: [] }, 'Something is listed.');
    },
  },
  {
    name: 'refuses to add to a run that nobody began',
    check: async ({ store }) => {
      const lease = { runId: 'nobody', ownerId: 'anna', epoch: 1 };
      await refusalOf(store.runs.append(lease, noting('x')), ['STORAGE_NOT_FOUND', 'STORAGE_LOCKED']);
      mustEqual(await store.runs.find('nobody'), undefined, 'The run is there now.');
      await store.runs.release(lease);
    },
  },
];

/** Every promise about runs, their events and their rows. */
export const eventRules: readonly StoreRule[] = [...creating, ...appending, ...rows, ...unknown];

function chainOf(runId: string, events: readonly StoredEvent[]): readonly string[] {
  let hash = chainStart;
  return events.map(({ seq, atMs, type, body }) => {
    hash = hashEvent(hash, { runId, seq, atMs, type, bodyText: JSON.stringify(body) });
    return hash;
  });
}
