import type { Store } from '../model/store/store.ts';
import { mustEqual } from './store-conformance-scene.ts';
import type { StoreRule, StoreScene } from './store-conformance-scene.ts';

/** Every promise about runs that stand below others: see `model/run-tree.ts`. */
export const belowRules: readonly StoreRule[] = [
  {
    name: 'lists the runs below one, at every depth, and no others',
    check: async (scene) => {
      await leaveFamily(scene);
      mustEqual(
        await idsOf(scene.store, 'run-1'),
        ['run-1/a', 'run-1/a/b', 'run-1/c'],
        'The wrong ones are listed.',
      );
      mustEqual(await idsOf(scene.store, 'nobody'), [], 'Some are listed below a run that is not there.');
    },
  },
  {
    name: 'lists the runs that stand below none',
    check: async (scene) => {
      await leaveFamily(scene);
      mustEqual(
        await idsOf(scene.store, false),
        // Nobody is above the one, and the other only has a name like those.
        ['gone/a', 'run-1', 'run-1/own', 'run-10'],
        'The wrong ones are listed.',
      );
    },
  },
  {
    name: 'removes a run with those below it',
    check: async (scene) => {
      await leaveFamily(scene);
      mustEqual(await scene.store.runs.remove('run-1'), true, 'It says that nothing was there.');
      mustEqual(
        await idsOf(scene.store, undefined),
        ['gone/a', 'run-1/own', 'run-10'],
        'The wrong ones are left.',
      );
    },
  },
  {
    name: 'prunes no run without the one above it, and counts them as one',
    check: async (scene) => {
      await scene.leave('waits', { row: { status: 'suspended' } });
      await scene.leave('waits/a', { agent: 'clerk/a', row: { status: 'completed' } });
      await leaveFamily(scene);
      await scene.clock.advance(10_000);
      mustEqual(await scene.store.runs.prune({ maxRuns: 4 }), 0, 'Something was removed.');
      mustEqual(await scene.store.runs.prune({ maxAgeMs: 5000 }), 4, 'Not as many were removed.');
      mustEqual(await idsOf(scene.store, undefined), ['waits', 'waits/a'], 'The wrong ones are left.');
    },
  },
];

async function leaveFamily({ leave }: StoreScene): Promise<void> {
  const row = { status: 'completed' } as const;
  for (const runId of ['run-1', 'run-10', 'run-1/own']) await leave(runId, { row });
  await leave('run-1/a', { agent: 'clerk/a', row });
  await leave('run-1/a/b', { agent: 'clerk/a/b', row });
  await leave('run-1/c', { agent: 'clerk/c', row });
  await leave('gone/a', { agent: 'clerk/a', row });
}

async function idsOf(store: Store, below: string | false | undefined): Promise<readonly string[]> {
  const { runs } = await store.runs.list(below === undefined ? {} : { below });
  return runs.map(({ runId }) => runId).toSorted((one, other) => (one < other ? -1 : 1));
}
