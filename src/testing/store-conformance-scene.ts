import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../base/json.ts';
import type { FailureCode } from '../errors/codes.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type {
  Claimed,
  Lease,
  LeaseOwner,
  NewEvent,
  NewRun,
  RowChange,
  RunRow,
  Store,
} from '../model/store/store.ts';
import type { StoreDamage } from './memory-store.ts';
import { must } from './model-conformance-probe.ts';
import { simulatedClock } from './simulated-clock.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { MakeStore, StoreFeature } from './store-conformance.ts';

/** A promise of the port, and how to see whether it is kept. */
export interface StoreRule {
  readonly name: string;
  readonly needs?: StoreFeature;
  readonly check: (scene: StoreScene) => Promise<void>;
}

/** One fresh store, and what a case does to it. */
export interface StoreScene {
  readonly store: Store;
  readonly clock: SimulatedClock;
  readonly reopen: () => Promise<Store>;
  readonly damage: (runId: string, damage: StoreDamage) => Promise<void>;
  /** Begins a run with one event, of the agent `clerk` and the owner `anna` unless told. */
  readonly begin: (runId: string, beginning?: Beginning) => Promise<Lease>;
  /** The same, and nobody has it. */
  readonly leave: (runId: string, beginning?: Beginning) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Whatever differs from the usual. */
export interface Beginning extends Partial<Omit<NewRun, 'runId'>> {
  readonly owner?: LeaseOwner;
}

/** How long the leases of the suite last. */
export const leaseMs = 30_000;
/** Who begins runs. */
export const anna: LeaseOwner = { id: 'anna', leaseMs };
/** Who takes them over. */
export const ben: LeaseOwner = { id: 'ben', leaseMs };

/** Opens a store for one case. */
export async function createStoreScene(makeStore: MakeStore): Promise<StoreScene> {
  const clock = simulatedClock();
  const { store, reopen, damage, close } = await makeStore({ clock });
  const reopened: Store[] = [];
  const begin: StoreScene['begin'] = async (runId, { owner = anna, ...rest } = {}) => {
    const created = await store.runs.create(
      { runId, agent: 'clerk', events: [note('begun')], ...rest },
      owner,
    );
    must(created.type === 'created', `A run with the new id ${JSON.stringify(runId)} could not be begun.`);
    return created.lease;
  };
  return {
    store,
    clock,
    begin,
    leave: async (runId, beginning) => store.runs.release(await begin(runId, beginning)),
    reopen: async () => {
      must(reopen !== undefined, 'The store cannot be reopened: name "reopen" as unsupported.');
      const again = await reopen();
      reopened.push(again);
      return again;
    },
    damage: async (runId, kind) => {
      must(damage !== undefined, 'The store cannot be damaged: name "damage" as unsupported.');
      await damage(runId, kind);
    },
    close: async () => {
      for (const again of reopened) await again.close();
      await store.close();
      await close?.();
    },
  };
}

/** An event of the suite. */
export function note(body: Json): NewEvent {
  return { type: 'note', body };
}

/** An addition of one event with a change of the row. */
export function noting(body: Json, row: RowChange = {}): { events: readonly NewEvent[]; row: RowChange } {
  return { events: [note(body)], row };
}

/** Throws where two values differ, in any depth. */
export function mustEqual(actual: unknown, expected: unknown, sentence: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 500);
  throw new Error(`${sentence} Expected ${show(expected)}, got ${show(actual)}.`);
}

/** The row of a run that must be there. */
export async function rowOf(store: Store, runId: string): Promise<RunRow> {
  const row = await store.runs.find(runId);
  must(row !== undefined, `The run ${JSON.stringify(runId)} is not found.`);
  return row;
}

/** The bodies of a run's events. */
export async function bodiesOf(store: Store, runId: string): Promise<readonly Json[]> {
  return (await store.runs.events(runId)).map(({ body }) => body);
}

/** The claim of a run that must be free. */
export async function claimOf(
  store: Store,
  runId: string,
  owner: LeaseOwner,
): Promise<Extract<Claimed, { readonly type: 'claimed' }>> {
  const claimed = await store.runs.claim(runId, owner);
  must(claimed.type === 'claimed', `A run that can be taken is told as ${claimed.type}.`);
  return claimed;
}

/** The failure that a verb must reject with: one of the storage, with one of these codes. */
export async function refusalOf(
  verb: Promise<unknown>,
  codes: readonly FailureCode[],
): Promise<RerailError['failure']> {
  const error: unknown = await verb.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  must(error !== undefined, `Nothing was refused. Expected ${codes.join(' or ')}.`);
  must(RerailError.isInstance(error), 'It rejected with something that is no RerailError.');
  const { failure } = error;
  must(failure.origin === 'storage', `The origin of the failure is "${failure.origin}", not "storage".`);
  must(
    codes.includes(failure.code),
    `Expected ${codes.join(' or ')}, got ${failure.code}: ${failure.message}`,
  );
  return failure;
}
