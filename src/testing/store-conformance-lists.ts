import type { RunQuery, Store } from '../model/store/store.ts';
import { must } from './model-conformance-probe.ts';
import { anna, mustEqual, note } from './store-conformance-scene.ts';
import type { StoreRule, StoreScene } from './store-conformance-scene.ts';

/** Three runs, a second apart: every filter below knows some from the others. */
async function writeThree({ clock, begin }: StoreScene): Promise<number> {
  const startMs = clock.wallMs();
  await begin('one', {
    agent: 'clerk',
    row: { status: 'completed', text: 'Refund ORDER 17', tools: ['refund'] },
  });
  await clock.advance(1000);
  await begin('two', {
    agent: 'clerk',
    sessionId: 'talk',
    row: { status: 'failed', code: 'TIMEOUT', text: '100 %' },
  });
  await clock.advance(1000);
  await begin('three', {
    agent: 'guide',
    row: { status: 'suspended', text: 'a_b', tools: ['search', 'refund'] },
  });
  return startMs;
}

interface Filtering {
  readonly query: (startMs: number) => RunQuery;
  readonly expected: readonly string[];
}

const filters: Readonly<Record<string, Filtering>> = {
  nothing: { query: () => ({}), expected: ['three', 'two', 'one'] },
  'one status': { query: () => ({ status: ['failed'] }), expected: ['two'] },
  'two statuses': { query: () => ({ status: ['completed', 'suspended'] }), expected: ['three', 'one'] },
  'no status at all': { query: () => ({ status: [] }), expected: [] },
  agent: { query: () => ({ agent: 'clerk' }), expected: ['two', 'one'] },
  session: { query: () => ({ sessionId: 'talk' }), expected: ['two'] },
  code: { query: () => ({ code: 'TIMEOUT' }), expected: ['two'] },
  tool: { query: () => ({ tool: 'refund' }), expected: ['three', 'one'] },
  'a part of a tool name': { query: () => ({ tool: 'fun' }), expected: [] },
  text: { query: () => ({ text: 'order' }), expected: ['one'] },
  'the beginning of a time': { query: (startMs) => ({ fromMs: startMs + 1000 }), expected: ['three', 'two'] },
  'the end of a time': { query: (startMs) => ({ toMs: startMs + 1000 }), expected: ['one'] },
  'all at once': {
    query: (startMs) => ({
      agent: 'guide',
      status: ['suspended'],
      tool: 'search',
      fromMs: startMs,
      text: 'A_B',
    }),
    expected: ['three'],
  },
  'two that no run has together': { query: () => ({ agent: 'guide', code: 'TIMEOUT' }), expected: [] },
};

const filtering = Object.entries(filters).map(([what, { query, expected }]): StoreRule => ({
  name: `lists runs by ${what}`,
  check: async (scene) => {
    const startMs = await writeThree(scene);
    mustEqual(await idsOf(scene.store, query(startMs)), expected, 'The wrong runs are listed.');
  },
}));

const searched = [
  '100%',
  '1000',
  'a_b',
  'axb',
  `it's "so"`,
  'C:\\x',
  'ÄRGER',
  "'; DROP TABLE runs; --",
  '[z]*',
  '',
];
const searches = [
  { text: '%', found: ['100%'] },
  { text: '0%', found: ['100%'] },
  { text: '_', found: ['a_b'] },
  { text: 'A_B', found: ['a_b'] },
  { text: `'S "`, found: [`it's "so"`] },
  { text: '\\', found: ['C:\\x'] },
  { text: 'ärger', found: ['ÄRGER'] },
  { text: "';", found: ["'; DROP TABLE runs; --"] },
  { text: '[Z]*', found: ['[z]*'] },
  { text: 'nowhere', found: [] },
  { text: '', found: searched },
];

const searching = searches.map(({ text, found }): StoreRule => ({
  name: `finds ${JSON.stringify(text)} in texts, as it is written`,
  check: async ({ store, begin }) => {
    for (const [index, each] of searched.entries()) await begin(`run-${index}`, { row: { text: each } });
    const { runs } = await store.runs.list({ text });
    mustEqual(runs.map((run) => run.text).toSorted(), found.toSorted(), 'The wrong texts are found.');
  },
}));

const paging: readonly StoreRule[] = [
  {
    name: 'lists runs of the same moment by their id',
    check: async ({ store, begin }) => {
      for (const runId of ['b', 'c', 'a']) await begin(runId);
      mustEqual(await idsOf(store, {}), ['a', 'b', 'c'], 'The order is wrong.');
    },
  },
  {
    name: 'lists runs in pages, each run once, while others are added and changed',
    check: async ({ store, clock, begin }) => {
      const ids = Array.from({ length: 25 }, (_, index) => `run-${String(index).padStart(2, '0')}`);
      for (const [index, runId] of ids.entries()) {
        if (index % 4 === 0) await clock.advance(10);
        await begin(runId);
      }
      const expected = await idsOf(store, { limit: 100 });
      const seen: string[] = [];
      let cursor: string | undefined;
      // Bounded: six pages hold them all.
      for (let page = 0; page < 6; page += 1) {
        const { runs, next } = await store.runs.list({
          limit: 5,
          ...(cursor === undefined ? {} : { cursor }),
        });
        seen.push(...runs.map(({ runId }) => runId));
        cursor = next;
        if (next === undefined) break;
        await clock.advance(10);
        await begin(`new-${page}`);
      }
      mustEqual(seen, expected, 'Runs are missing, doubled or in another order.');
      must(cursor === undefined, 'The last page says that there is another.');
    },
  },
  {
    name: 'pages through what a filter leaves, past runs of the same moment',
    check: async ({ store, begin }) => {
      for (let index = 0; index < 9; index += 1) {
        await begin(`run-${index}`, { agent: index % 3 === 0 ? 'guide' : 'clerk' });
      }
      const first = await store.runs.list({ agent: 'clerk', limit: 4 });
      must(first.next !== undefined, 'The first page does not say that there is another.');
      const second = await store.runs.list({ agent: 'clerk', limit: 4, cursor: first.next });
      const ids = [...first.runs, ...second.runs].map(({ runId }) => runId);
      mustEqual(ids, ['run-1', 'run-2', 'run-4', 'run-5', 'run-7', 'run-8'], 'The pages are wrong.');
      mustEqual(second.next, undefined, 'The last page says that there is another.');
    },
  },
  {
    name: 'names no further page where the last one is just full',
    check: async ({ store, begin }) => {
      for (const runId of ['a', 'b']) await begin(runId);
      mustEqual((await store.runs.list({ limit: 2 })).next, undefined, 'There is nothing behind it.');
    },
  },
  {
    name: 'lists 50 runs unless told, and at most 1000',
    check: async ({ store }) => {
      const runIds = Array.from({ length: 1001 }, (_, index) => `run-${index}`);
      await Promise.all(
        runIds.map((runId) => store.runs.create({ runId, agent: 'clerk', events: [note(null)] }, anna)),
      );
      const lengths = [await idsOf(store, {}), await idsOf(store, { limit: 5000 })].map(
        ({ length }) => length,
      );
      mustEqual(lengths, [50, 1000], 'The bounds are others.');
    },
  },
];

/** Every promise about listing and searching. */
export const listRules: readonly StoreRule[] = [...filtering, ...searching, ...paging];

async function idsOf(store: Store, query: RunQuery): Promise<readonly string[]> {
  return (await store.runs.list(query)).runs.map(({ runId }) => runId);
}
