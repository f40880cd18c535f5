import { must } from './model-conformance-probe.ts';
import {
  anna,
  ben,
  bodiesOf,
  claimOf,
  leaseMs,
  mustEqual,
  noting,
  refusalOf,
  rowOf,
} from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';

const holding: readonly StoreRule[] = [
  {
    name: 'does not give away a run that somebody has, and says who and until when',
    check: async ({ store, clock, begin }) => {
      await begin('run-1');
      const untilMs = clock.wallMs() + leaseMs;
      await clock.advance(leaseMs - 1000);
      const held = { type: 'held', ownerId: 'anna', untilMs };
      mustEqual(await store.runs.claim('run-1', ben), held, 'The claim is told otherwise.');
    },
  },
  {
    name: 'gives a run that its own owner could not give back to him again, and his old lease is void',
    check: async ({ store, begin }) => {
      const old = await begin('run-1');
      const { lease, wasAbandoned } = await claimOf(store, 'run-1', anna);
      must(!wasAbandoned, 'It is told as abandoned, but its owner is alive.');
      must(lease.epoch > old.epoch, `The epoch went from ${old.epoch} to ${lease.epoch}: it does not grow.`);
    },
  },
  {
    name: 'gives a run away once, however many want it at the same time',
    check: async ({ store, leave }) => {
      await leave('run-1');
      const owners = Array.from({ length: 10 }, (_, index) => ({ id: `owner-${index}`, leaseMs }));
      const claims = await Promise.all(owners.map((owner) => store.runs.claim('run-1', owner)));
      mustEqual(claims.filter(({ type }) => type === 'claimed').length, 1, 'Not exactly one has it.');
    },
  },
  {
    name: 'gives away a run whose lease has run out, and says that it was abandoned',
    check: async ({ store, clock, begin }) => {
      const old = await begin('run-1', { row: { turns: 7 } });
      await clock.advance(leaseMs + 1000);
      const { lease, row, wasAbandoned } = await claimOf(store, 'run-1', ben);
      must(wasAbandoned, 'The owner never gave it back, and it is not told as abandoned.');
      must(lease.epoch > old.epoch, `The epoch went from ${old.epoch} to ${lease.epoch}: it does not grow.`);
      mustEqual([lease.runId, lease.ownerId, row.turns], ['run-1', 'ben', 7], 'Lease or row are wrong.');
      mustEqual(row.owner?.id, 'ben', 'The row does not tell the new owner.');
    },
  },
  {
    name: 'gives away a run that was given back, at once and not as abandoned',
    check: async ({ store, leave }) => {
      await leave('run-1');
      mustEqual((await rowOf(store, 'run-1')).owner, undefined, 'It still has an owner.');
      mustEqual((await claimOf(store, 'run-1', ben)).wasAbandoned, false, 'It is told as abandoned.');
    },
  },
  {
    name: 'tells no owner of a run whose lease has run out',
    check: async ({ store, clock, begin }) => {
      await begin('run-1');
      mustEqual((await rowOf(store, 'run-1')).owner?.id, 'anna', 'The owner is not told.');
      await clock.advance(leaseMs + 1000);
      mustEqual((await rowOf(store, 'run-1')).owner, undefined, 'An owner is told whose lease is over.');
    },
  },
];

const fencing: readonly StoreRule[] = [
  {
    name: 'refuses whoever lost the run to another, and writes nothing of his',
    check: async ({ store, clock, begin }) => {
      const old = await begin('run-1');
      await clock.advance(leaseMs + 1000);
      const { lease } = await claimOf(store, 'run-1', ben);
      const failure = await refusalOf(store.runs.append(old, noting('zombie', { turns: 99 })), [
        'STORAGE_LOCKED',
      ]);
      must(
        !failure.retryable,
        'The failure is called retryable: the lease will never be the current one again.',
      );
      await store.runs.append(lease, noting('mine'));
      mustEqual(
        await bodiesOf(store, 'run-1'),
        ['begun', 'mine'],
        'The events are not those of the new owner.',
      );
      mustEqual((await rowOf(store, 'run-1')).turns, 0, 'The row was changed by the old owner.');
    },
  },
  {
    name: 'leaves the other runs of an owner who lost one alone',
    check: async ({ store, clock, begin }) => {
      const lost = await begin('run-1');
      await clock.advance(leaseMs + 1000);
      const kept = await begin('run-2');
      await claimOf(store, 'run-1', ben);
      const ends = await Promise.allSettled([
        store.runs.append(kept, noting('before')),
        store.runs.append(lost, noting('zombie')),
        store.runs.append(kept, noting('after')),
      ]);
      mustEqual(
        ends.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
        'The wrong ones are refused.',
      );
      mustEqual(await bodiesOf(store, 'run-2'), ['begun', 'before', 'after'], 'Another run was hit.');
    },
  },
  {
    name: 'refuses whoever gave the run back',
    check: async ({ store, begin }) => {
      const lease = await begin('run-1');
      await store.runs.release(lease);
      await refusalOf(store.runs.append(lease, noting('late')), ['STORAGE_LOCKED']);
      mustEqual(await bodiesOf(store, 'run-1'), ['begun'], 'It was written.');
    },
  },
  {
    name: 'lets a late owner go on, as long as nobody has taken the run',
    check: async ({ store, clock, begin }) => {
      const lease = await begin('run-1');
      await clock.advance(leaseMs * 10);
      await store.runs.append(lease, noting('late'));
      mustEqual(await bodiesOf(store, 'run-1'), ['begun', 'late'], 'It was not written.');
    },
  },
  {
    name: 'does nothing where an old lease is given back',
    check: async ({ store, clock, begin }) => {
      const old = await begin('run-1');
      await clock.advance(leaseMs + 1000);
      const { lease } = await claimOf(store, 'run-1', ben);
      await store.runs.release(old);
      mustEqual((await rowOf(store, 'run-1')).owner?.id, 'ben', 'The run of the new owner was given back.');
      await store.runs.append(lease, noting('mine'));
    },
  },
];

const renewing: readonly StoreRule[] = [
  {
    name: 'makes all leases of an owner last anew, and those of nobody else',
    check: async ({ store, clock, begin }) => {
      await Promise.all([begin('run-1'), begin('run-2'), begin('run-3', { owner: ben })]);
      await clock.advance(leaseMs - 1000);
      mustEqual(await store.runs.renew(anna), [], 'Runs are told as lost that are not.');
      await clock.advance(leaseMs - 1000);
      const cara = { id: 'cara', leaseMs };
      const claims = await Promise.all(['run-1', 'run-2', 'run-3'].map((id) => store.runs.claim(id, cara)));
      mustEqual(
        claims.map(({ type }) => type),
        ['held', 'held', 'claimed'],
        'The wrong leases were renewed.',
      );
    },
  },
  {
    name: 'tells an owner which runs he has lost, and not those he gave back',
    check: async ({ store, clock, begin, leave }) => {
      await begin('run-1');
      await begin('run-2');
      await leave('run-3');
      await clock.advance(leaseMs + 1000);
      await claimOf(store, 'run-2', ben);
      await claimOf(store, 'run-3', ben);
      mustEqual(await store.runs.renew(anna), ['run-2'], 'The lost runs are wrong.');
      mustEqual((await store.runs.claim('run-1', ben)).type, 'held', 'What nobody took was not renewed.');
    },
  },
  {
    name: 'has nothing to renew for an owner it does not know',
    check: async ({ store }) => {
      mustEqual(await store.runs.renew({ id: 'nobody', leaseMs }), [], 'It tells of lost runs.');
    },
  },
];

/** Every promise about who may write to a run. */
export const leaseRules: readonly StoreRule[] = [...holding, ...fencing, ...renewing];
