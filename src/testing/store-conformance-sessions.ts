import type { Message } from '../model/message.ts';
import { must } from './model-conformance-probe.ts';
import { mustEqual } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

/** Every promise about conversations across runs. */
export const sessionRules: readonly StoreRule[] = [
  {
    name: 'adds the messages of a run to a session once, however often it is told to',
    check: async ({ store }) => {
      await store.sessions.append('talk', says('one', 'two'), 'run-1');
      await Promise.all([1, 2].map(() => store.sessions.append('talk', says('three'), 'run-2')));
      await store.sessions.append('talk', says('again'), 'run-1');
      mustEqual(
        await store.sessions.messages('talk'),
        says('one', 'two', 'three'),
        'The conversation is wrong.',
      );
    },
  },
  {
    name: 'lets one run add to two sessions',
    check: async ({ store }) => {
      await store.sessions.append('talk', says('one'), 'run-1');
      await store.sessions.append('other', says('two'), 'run-1');
      mustEqual(await store.sessions.messages('other'), says('two'), 'The second session is wrong.');
      mustEqual(await store.sessions.messages('talk'), says('one'), 'The first session is wrong.');
    },
  },
  {
    name: 'gives messages of every kind back as they were',
    check: async ({ store }) => {
      const messages: readonly Message[] = [
        { role: 'user', content: [{ type: 'text', text: 'a\u0000b \ud83d 你好', cache: true }] },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', callId: '1', name: 'x', argumentsText: '{"a":' }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', callId: '1', name: 'x', content: '', isError: true }],
        },
      ];
      await store.sessions.append('talk', messages, 'run-1');
      mustEqual(await store.sessions.messages('talk'), messages, 'They are altered.');
    },
  },
  ...[
    { last: 2, left: ['two', 'three'] },
    { last: 99, left: ['one', 'two', 'three'] },
    { last: 0, left: [] },
  ].map(({ last, left }): StoreRule => ({
    name: `gives the last ${last} messages of three, in order`,
    check: async ({ store }) => {
      await store.sessions.append('talk', says('one', 'two'), 'run-1');
      await store.sessions.append('talk', says('three'), 'run-2');
      mustEqual(await store.sessions.messages('talk', { last }), says(...left), 'The wrong ones.');
    },
  })),
  {
    name: 'tells of a session when it was made and changed, and how long it is',
    check: async ({ store, clock }) => {
      const createdAtMs = clock.wallMs();
      await store.sessions.append('talk', says('one'), 'run-1');
      await clock.advance(1000);
      await store.sessions.append('talk', says('two', 'three'), 'run-2');
      const row = { sessionId: 'talk', createdAtMs, updatedAtMs: createdAtMs + 1000, messages: 3 };
      mustEqual(await store.sessions.find('talk'), row, 'The session is told wrongly.');
      mustEqual(await store.sessions.list(), { sessions: [row] }, 'It is listed otherwise.');
    },
  },
  {
    name: 'creates a session by no messages at all',
    check: async ({ store }) => {
      await store.sessions.append('talk', [], 'run-1');
      mustEqual((await store.sessions.find('talk'))?.messages, 0, 'There is none.');
    },
  },
  {
    name: 'takes back the last messages, and does not let the same run add them again',
    check: async ({ store }) => {
      await store.sessions.append('talk', says('one', 'two', 'three'), 'run-1');
      mustEqual(await store.sessions.trim('talk', 2), 2, 'Not as many were removed.');
      await store.sessions.append('talk', says('two', 'three'), 'run-1');
      mustEqual(await store.sessions.messages('talk'), says('one'), 'The wrong ones are left.');
      mustEqual(
        [await store.sessions.trim('talk', 99), await store.sessions.trim('talk', 1)],
        [1, 0],
        'Told wrongly.',
      );
      await store.sessions.append('talk', says('new'), 'run-2');
      mustEqual(await store.sessions.messages('talk'), says('new'), 'It cannot go on afterwards.');
    },
  },
  {
    name: 'removes a session, and begins it anew afterwards',
    check: async ({ store }) => {
      await store.sessions.append('talk', says('one'), 'run-1');
      await store.sessions.append('other', says('two'), 'run-1');
      mustEqual(
        [await store.sessions.remove('talk'), await store.sessions.remove('talk')],
        [true, false],
        'Told wrongly.',
      );
      mustEqual(await store.sessions.find('talk'), undefined, 'It is still found.');
      mustEqual(await store.sessions.messages('other'), says('two'), 'Another session is hit.');
      await store.sessions.append('talk', says('anew'), 'run-1');
      mustEqual(await store.sessions.messages('talk'), says('anew'), 'It cannot begin anew.');
    },
  },
  {
    name: 'knows nothing of a session that nobody wrote to',
    check: async ({ store }) => {
      const { sessions } = store;
      mustEqual(await sessions.find('nobody'), undefined, 'It is found.');
      mustEqual(await sessions.messages('nobody', { last: 3 }), [], 'It has messages.');
      mustEqual(
        [await sessions.trim('nobody', 3), await sessions.remove('nobody')],
        [0, false],
        'Told wrongly.',
      );
      mustEqual(await sessions.list(), { sessions: [] }, 'It is listed.');
    },
  },
  {
    name: 'lists sessions in pages, each once, while others are added',
    check: async ({ store, clock }) => {
      const names = Array.from({ length: 11 }, (_, index) => `talk-${String(index).padStart(2, '0')}`);
      for (const [index, name] of names.entries()) {
        if (index % 3 === 0) await clock.advance(10);
        await store.sessions.append(name, says('hello'), 'run-1');
      }
      const seen: string[] = [];
      let cursor: string | undefined;
      // Bounded: four pages hold them all.
      for (let page = 0; page < 4; page += 1) {
        const { sessions, next } = await store.sessions.list({
          limit: 3,
          ...(cursor === undefined ? {} : { cursor }),
        });
        seen.push(...sessions.map(({ sessionId }) => sessionId));
        cursor = next;
        if (next === undefined) break;
        await clock.advance(10);
        await store.sessions.append(`new-${page}`, says('hello'), 'run-1');
      }
      const old = seen.filter((name) => name.startsWith('talk-'));
      mustEqual(old.toSorted(), names, 'Sessions are missing or doubled.');
      must(cursor === undefined, 'The last page says that there is another.');
    },
  },
  {
    name: 'keeps a session whose runs are removed',
    check: async ({ store, leave }) => {
      await leave('run-1', { sessionId: 'talk' });
      await store.sessions.append('talk', says('one'), 'run-1');
      await store.runs.remove('run-1');
      mustEqual(await store.sessions.messages('talk'), says('one'), 'It went with the run.');
    },
  },
];

function says(...texts: readonly string[]): readonly Message[] {
  return texts.map((content) => ({ role: 'user', content }));
}
