import { must } from './model-conformance-probe.ts';
import { mustEqual } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const contents = {
  'an empty text': '',
  'a NUL and other control characters': 'a\u0000b\u0001\u001f\u007f',
  'letters of any script': 'Grüße, 你好, 🚂, e\u0301',
  'half a surrogate pair': 'a\ud83d b',
  'quotes and backslashes': `'"\\ \n\r\n`,
  'three megabytes': 'Grüße 🚂 '.repeat(350_000),
};

const round = Object.entries(contents).map(([what, content]): StoreRule => ({
  name: `gives ${what} back from a blob as it was`,
  check: async ({ store, begin }) => {
    await begin('run-1');
    const hash = await store.blobs.put(content, 'run-1');
    must((await store.blobs.get(hash)) === content, 'The content came back altered, or not at all.');
  },
}));

const byHash: readonly StoreRule[] = [
  {
    name: 'keeps the same content once, by the same hash',
    check: async ({ store, begin }) => {
      await begin('run-1');
      await begin('run-2');
      const hashes = await Promise.all(
        ['run-1', 'run-1', 'run-2'].map((runId) => store.blobs.put('the same', runId)),
      );
      const other = await store.blobs.put('another', 'run-1');
      mustEqual(new Set(hashes).size, 1, 'The same content has several hashes.');
      must(!hashes.includes(other), 'Two contents have the same hash.');
      mustEqual((await store.check()).blobs, 2, 'Not as many blobs are counted as there are contents.');
    },
  },
  {
    name: 'tells half a surrogate pair from the character that stands for nothing',
    check: async ({ store, begin }) => {
      await begin('run-1');
      const [half, replaced] = [
        await store.blobs.put('\ud83d', 'run-1'),
        await store.blobs.put('\ufffd', 'run-1'),
      ];
      mustEqual(
        [await store.blobs.get(half), await store.blobs.get(replaced)],
        ['\ud83d', '\ufffd'],
        'One is lost.',
      );
    },
  },
  {
    name: 'knows nothing of a hash that nobody was given',
    check: async ({ store }) => {
      const unknown = [await store.blobs.get('0'.repeat(64)), await store.blobs.get('')];
      mustEqual(unknown, [undefined, undefined], 'It gives a content.');
    },
  },
  {
    name: 'keeps a blob for a run that is not begun yet',
    check: async ({ store, begin }) => {
      const hash = await store.blobs.put('the input', 'run-1');
      await begin('run-1');
      mustEqual(await store.blobs.get(hash), 'the input', 'It is gone.');
    },
  },
  ...(['remove', 'prune'] as const).map((verb): StoreRule => ({
    name: `${verb}s a blob with the last run that needs it`,
    check: async ({ store, clock, leave }) => {
      await leave('run-1', { row: { status: 'completed' } });
      await clock.advance(10_000);
      await leave('run-2', { row: { status: 'completed' } });
      const own = await store.blobs.put('own', 'run-1');
      const shared = await store.blobs.put('shared', 'run-1');
      await store.blobs.put('shared', 'run-2');
      if (verb === 'remove') await store.runs.remove('run-1');
      else await store.runs.prune({ maxAgeMs: 5000 });
      mustEqual(
        [await store.blobs.get(own), await store.blobs.get(shared)],
        [undefined, 'shared'],
        'Wrong ones went.',
      );
      if (verb === 'remove') await store.runs.remove('run-2');
      else await store.runs.prune({ maxRuns: 0 });
      mustEqual(await store.blobs.get(shared), undefined, 'Nobody needs it, and it is still there.');
    },
  })),
];

/** Every promise about content that is kept by its hash. */
export const blobRules: readonly StoreRule[] = [...round, ...byHash];
