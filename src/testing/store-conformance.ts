import type { Clock } from '../base/clock.ts';
import type { Store } from '../model/store/store.ts';
import type { ConformanceCase } from './model-conformance.ts';
import { belowRules } from './store-conformance-below.ts';
import { blobRules } from './store-conformance-blobs.ts';
import { durabilityRules } from './store-conformance-durability.ts';
import { eventRules } from './store-conformance-events.ts';
import { leaseRules } from './store-conformance-leases.ts';
import { listRules } from './store-conformance-lists.ts';
import { createStoreScene } from './store-conformance-scene.ts';
import type { StoreRule } from './store-conformance-scene.ts';
import { sessionRules } from './store-conformance-sessions.ts';
import { signalRules } from './store-conformance-signals.ts';
import { valueRules } from './store-conformance-values.ts';
import { waitingRules } from './store-conformance-waiting.ts';
import { wholeRules } from './store-conformance-whole.ts';
import type { StoreDamage } from './memory-store.ts';

/** A store as the suite sees it. It is fresh: nothing is in it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** A second handle on the same data, as another process would open it; without a word to the first. */
  readonly reopen?: () => Promise<Store>;
  /** Spoils what is kept behind the back of the store, as a disk or an old backup does. */
  readonly damage?: (runId: string, damage: StoreDamage) => Promise<void> | void;
  /** Closes what is open, and takes away what was made for the case. */
  readonly close?: () => Promise<void>;
}

/** How the suite gets a store. It measures time with this clock, which the suite moves. */
export type MakeStore = (setup: { readonly clock: Clock }) => Promise<StoreUnderTest> | StoreUnderTest;

/** What a store may lack; the cases that need it are left out. */
export type StoreFeature = 'reopen' | 'damage';

/**
 * The promises that every store keeps, as cases for any test runner. Their names begin with the name of the store.
 *
 * @example for (const { name, run } of storeConformance('sqlite', makeStore)) it(name, run);
 */
export function storeConformance(
  storeName: string,
  makeStore: MakeStore,
  { unsupported = [] }: { readonly unsupported?: readonly StoreFeature[] } = {},
): readonly ConformanceCase[] {
  return rules
    .filter(({ needs }) => needs === undefined || !unsupported.includes(needs))
    .map(({ name, check }) => ({
      name: `${storeName} ${name}`,
      run: async () => {
        const scene = await createStoreScene(makeStore);
        try {
          await check(scene);
        } finally {
          await scene.close();
        }
      },
    }));
}

const rules: readonly StoreRule[] = [
  ...eventRules,
  ...leaseRules,
  ...signalRules,
  ...listRules,
  ...waitingRules,
  ...belowRules,
  ...blobRules,
  ...sessionRules,
  ...valueRules,
  ...durabilityRules,
  ...wholeRules,
];
