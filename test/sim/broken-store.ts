import { isRecord } from '../../src/base/json.ts';
import type { Addition, RunStore, Store } from '../../src/model/store/store.ts';

/** The store with some of its verbs broken. */
export function withRuns(store: Store, changes: Partial<RunStore>): Store {
  return { ...store, runs: { ...store.runs, ...changes } };
}

/** Of the first event that is written. */
export function typeOf({ events }: Addition): string | undefined {
  return events[0]?.type;
}

/** Which effect it is about, where it is about one. */
export function effectOf(event: { readonly body: unknown } | undefined): unknown {
  return isRecord(event?.body) ? event.body['effect'] : undefined;
}
