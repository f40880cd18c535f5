import type { Json } from '../base/json.ts';
import { must } from './model-conformance-probe.ts';
import { anna, bodiesOf, mustEqual, note, noting, rowOf } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const deepLevels = 500;
const largeCharacters = 300 * 1024;

const bodies: Readonly<Record<string, Json>> = {
  'plain values': [null, true, false, 0, -1.5, '', [], {}],
  'half a surrogate pair': ['\ud83d', 'a\udc00b', { '\ud83d': 1 }],
  'a NUL and other control characters': { text: 'a\u0000b\u0001\u001f\u007f\u2028\u2029\ufeff' },
  'letters of any script': ['Grüße', '你好', '🚂', 'e\u0301', '\u{10ffff}'],
  // By JSON.parse, which makes a key of it; a literal would set the prototype.
  'keys with a meaning of their own': JSON.parse(
    '{"__proto__":{"isAdmin":true},"constructor":1,"toString":null,"":2,"then":3}',
  ) as Json,
  'very large and very small numbers': [Number.MAX_VALUE, 5e-324, 2 ** 53 + 2, 1e21, -1e-7, 0.1 + 0.2],
  'values in great depth': Array.from({ length: deepLevels }).reduce<Json>(
    (inner) => ({ inner: [inner] }),
    'x',
  ),
  'a body of 300 KB': { text: '{"a": "\\ü🚂"}'.repeat(largeCharacters / 12), rest: [1, 2, 3] },
  'keys in the order they were in': { b: 1, a: 2, c: { z: 1, y: 2 } },
  'quotes, backslashes and line ends': `'"\\ \r\n\t; -- /* $1 ? :a @b`,
};

const round = Object.entries(bodies).map(([what, body]): StoreRule => ({
  name: `gives back ${what}, by an event and by a signal`,
  check: async ({ store, begin }) => {
    await begin('run-1', { events: [note(body)] });
    await store.runs.signal('run-1', { id: '1', name: 'x', payload: body });
    const [event] = await store.runs.events('run-1');
    const [signal] = await store.runs.signals('run-1');
    const text = JSON.stringify(body);
    must(JSON.stringify(event?.body) === text, 'The body of the event came back altered.');
    must(JSON.stringify(signal?.payload) === text, 'The payload of the signal came back altered.');
  },
}));

const ids: Readonly<Record<string, string>> = {
  quotes: `it's "the" \`one\``,
  'slashes and dots': '../../etc/passwd/..\\x',
  'letters of any script': 'Grüße-你好-🚂',
  'signs of a query': `%_*?[a]'; DROP TABLE runs; --`,
  'a name of the language': '__proto__',
  'line ends and blanks': ' a\n b\t ',
  '500 characters': 'x'.repeat(500),
};

const names = Object.entries(ids).map(([what, id]): StoreRule => ({
  name: `knows a run, an agent, a signal and a session by an id of ${what}`,
  check: async ({ store, begin, leave }) => {
    await leave(`${id}x`);
    const lease = await begin(id, { agent: id, sessionId: id, row: { tools: [id], code: id } });
    await store.runs.signal(id, { id, name: id, payload: id });
    await store.runs.append(lease, { events: [{ type: id, body: id }], took: [id] });
    const { runs, next } = await store.runs.list({ agent: id, sessionId: id, tool: id, code: id });
    mustEqual([runs.map(({ runId }) => runId), next], [[id], undefined], 'It is not listed alone.');
    mustEqual(
      (await store.runs.events(id)).map(({ type }) => type),
      ['note', id],
      'Its events are wrong.',
    );
    mustEqual(
      await store.runs.signal(id, { id, name: id, payload: id }),
      'duplicate',
      'The signal is unknown.',
    );
    await store.sessions.append(id, [{ role: 'user', content: id }], id);
    mustEqual((await store.sessions.messages(id)).length, 1, 'The session is unknown.');
    mustEqual([await store.runs.remove(id), await store.runs.find(id)], [true, undefined], 'It stays.');
    mustEqual((await rowOf(store, `${id}x`)).headSeq, 1, 'Another run is hit.');
  },
}));

const together: readonly StoreRule[] = [
  {
    name: 'keeps what it was given, whatever the caller does to it afterwards',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1');
      const inner = { value: 'as written' };
      const tools = ['as written'];
      const appending = store.runs.append(lease, noting({ inner }, { tools }));
      inner.value = 'changed later';
      tools.push('changed later');
      await appending;
      mustEqual(
        await bodiesOf(store, 'run-1'),
        ['begun', { inner: { value: 'as written' } }],
        'The event changed.',
      );
      mustEqual((await rowOf(store, 'run-1')).tools, ['as written'], 'The row changed.');
    },
  },
  {
    name: 'gives each reader his own copy',
    check: async ({ store, begin }) => {
      await begin('run-1', { events: [note({ value: 1 })] });
      const [first] = await store.runs.events('run-1');
      must(typeof first?.body === 'object' && first.body !== null, 'The event is not there.');
      Reflect.set(first.body, 'value', 'spoilt');
      mustEqual(await bodiesOf(store, 'run-1'), [{ value: 1 }], 'A reader can change what is kept.');
    },
  },
  {
    name: 'keeps 100 additions to 10 runs at the same time, each run in its order',
    check: async ({ store, begin }) => {
      const runIds = Array.from({ length: 10 }, (_, index) => `run-${index}`);
      const leases = await Promise.all(runIds.map((runId) => begin(runId, { events: [note(0)] })));
      const rounds = Array.from({ length: 10 }, (_, index) => index + 1);
      await Promise.all(
        rounds.flatMap((body) =>
          leases.map((lease) => store.runs.append(lease, noting(body, { turns: body }))),
        ),
      );
      for (const runId of runIds) {
        mustEqual(await bodiesOf(store, runId), [0, ...rounds], `The events of ${runId} are wrong.`);
        const { turns, headSeq } = await rowOf(store, runId);
        mustEqual([turns, headSeq], [10, 11], `The row of ${runId} is not as the last addition left it.`);
      }
    },
  },
  {
    name: 'keeps 1000 events of one run, and those added at once',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1', { owner: anna });
      const numbers = Array.from({ length: 500 }, (_, index) => index);
      await store.runs.append(lease, { events: numbers.map(note) });
      await Promise.all(numbers.map((number) => store.runs.append(lease, noting(number))));
      mustEqual(await bodiesOf(store, 'run-1'), ['begun', ...numbers, ...numbers], 'Some are lost or moved.');
    },
  },
];

/** Every promise about values and names of any kind, and many at once. */
export const valueRules: readonly StoreRule[] = [...round, ...names, ...together];
