import { isRecord } from '../../src/base/json.ts';
import type { Json } from '../../src/base/json.ts';
import type { RunStore, Store, StoredEvent } from '../../src/model/store/store.ts';
import { typeOf, withRuns } from './broken-store.ts';
import type { PlantedBug } from './planted-bugs.ts';

// Bugs between a run and the runs below it.

export const plantedBelow: readonly PlantedBug[] = [
  {
    bug: 'a run below that is begun again by every process instead of gone on with',
    invariant: 'finished-again',
    sabotage: { store: (store, { life }) => withRuns(store, renamedBelow(store, life)) },
  },
  {
    bug: 'a run below that forgets what it has done when it is taken up',
    invariant: 'once-twice',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          events: async (runId, range) => {
            const events = await store.runs.events(runId, range);
            return isBelow(runId) ? events.filter(({ type }) => type !== 'call') : events;
          },
        }),
    },
  },
  {
    bug: 'a yes to one that is taken for a yes to all',
    invariant: 'gate-opened',
    sabotage: { store: (store) => withRuns(store, { signal: alwaysSaying(store, true) }) },
  },
  {
    bug: 'a yes that is somebody else’s no by the time it comes to the run below',
    invariant: 'acknowledged-lost',
    sabotage: { store: (store) => withRuns(store, { signal: alwaysSaying(store, false) }) },
  },
  {
    bug: 'an answer that does not come to the run below which asked',
    invariant: 'acknowledged-lost',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          signal: (runId, signal) =>
            isBelow(runId) && signal.name === 'resume'
              ? store.runs.signal(runId, { ...signal, payload: withoutAnswer(signal.payload) })
              : store.runs.signal(runId, signal),
        }),
    },
  },
  {
    bug: 'what a run below used up counted once more whenever it is told',
    invariant: 'ledger-wrong',
    sabotage: { store: (store) => withRuns(store, { events: withStrangers(store) }) },
  },
  {
    bug: 'what a run below used up that is told to nobody',
    invariant: 'ledger-wrong',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          events: async (runId, range) =>
            (await store.runs.events(runId, range)).map((event) => withChild(event, undefined)),
        }),
    },
  },
  {
    bug: 'a run below whose end is told to the one above before it is kept',
    invariant: 'never-ends',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          append: (lease, addition) =>
            isBelow(lease.runId) && typeOf(addition) === 'ended'
              ? Promise.resolve()
              : store.runs.append(lease, addition),
        }),
    },
  },
];

/** Of the runs of several agents, those that are not the one which somebody began. */
function isBelow(runId: string): boolean {
  return runId.includes('/');
}

/** Below others every process has names of its own. */
function renamedBelow({ runs }: Store, life: number): Partial<RunStore> {
  const nameOf = (runId: string): string => (isBelow(runId) ? `${runId}#${life}` : runId);
  return {
    create: (run, owner) => runs.create({ ...run, runId: nameOf(run.runId) }, owner),
    claim: (runId, owner) => runs.claim(nameOf(runId), owner),
    find: (runId) => runs.find(nameOf(runId)),
    events: (runId, range) => runs.events(nameOf(runId), range),
    signal: (runId, signal) => runs.signal(nameOf(runId), signal),
    signals: (runId) => runs.signals(nameOf(runId)),
  };
}

/** Somebody's answer lies about, and whoever is asked next below takes it. */
function alwaysSaying({ runs }: Store, approved: boolean): RunStore['signal'] {
  return (runId, signal) => {
    const { payload } = signal;
    const answer = isRecord(payload) ? payload['answer'] : undefined;
    const value = isRecord(answer) ? answer['value'] : undefined;
    if (
      !isBelow(runId) ||
      !isRecord(payload) ||
      !isRecord(answer) ||
      !isRecord(value) ||
      !('approved' in value)
    )
      return runs.signal(runId, signal);
    const said = { ...payload, answer: { ...answer, value: { ...value, approved } } };
    return runs.signal(runId, { ...signal, payload: said });
  };
}

function withoutAnswer(payload: Json): Json {
  return isRecord(payload) ? { ...payload, answer: { given: false } } : payload;
}

/** As if every end of a run below were another run's. */
function withStrangers({ runs }: Store): RunStore['events'] {
  return async (runId, range) =>
    (await runs.events(runId, range)).map((event) => withChild(event, `stranger-${event.seq}`));
}

/** The event with another name of the run below; without that run where there is no name. */
function withChild(event: StoredEvent, name: string | undefined): StoredEvent {
  const text = JSON.stringify(event.body);
  if (!text.includes('"child":')) return event;
  const body = JSON.parse(text, (key, value: unknown) => {
    if (key !== 'child' || !isRecord(value)) return value;
    return name === undefined ? undefined : { ...value, runId: name };
  }) as Json; // It was JSON before.
  return { ...event, body };
}
