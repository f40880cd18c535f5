import type { Message } from '../../src/model/message.ts';
import type { Addition, RunStore, Store, StoredEvent } from '../../src/model/store/store.ts';
import type { Tool } from '../../src/model/tool.ts';
import type { Invariant } from '../../src/sim/invariants.ts';
import type { Sabotage, SabotagedProcess } from '../../src/sim/sabotage.ts';
import { effectOf, typeOf, withRuns } from './broken-store.ts';

// Parts that are broken in one way each, as a bug of ours, or of somebody's store, would break them.

/** A bug, and the invariant that must notice it. */
export interface PlantedBug {
  readonly bug: string;
  readonly invariant: Invariant;
  readonly sabotage: Sabotage;
}

/** In one agent, or in anybody's store. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    bug: 'a store that acknowledges before it writes',
    invariant: 'acknowledged-lost',
    sabotage: {
      store: (store, about) => withRuns(store, { append: writtenLater(store, about, () => true) }),
    },
  },
  {
    bug: 'a store that loses what was appended last',
    invariant: 'acknowledged-lost',
    sabotage: { store: (store) => withRuns(store, { append: oneBehind(store) }) },
  },
  {
    bug: 'an end that is told before it is kept',
    invariant: 'acknowledged-lost',
    sabotage: {
      store: (store, about) =>
        withRuns(store, { append: writtenLater(store, about, (addition) => typeOf(addition) === 'ended') }),
    },
  },
  {
    bug: 'an answer of a person that is taken and not kept',
    invariant: 'acknowledged-lost',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          signal: (runId, signal) =>
            signal.name === 'resume' ? Promise.resolve('added') : store.runs.signal(runId, signal),
        }),
    },
  },
  {
    bug: 'a message that lives only in the process that took it',
    invariant: 'acknowledged-lost',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          signal: (runId, signal) =>
            signal.name === 'message' ? Promise.resolve('added') : store.runs.signal(runId, signal),
        }),
    },
  },
  {
    bug: 'a cancellation that the next process does not find',
    invariant: 'acknowledged-lost',
    sabotage: {
      store: (store) => withRuns(store, { events: without(store, ({ type }) => type === 'cancelled') }),
    },
  },
  {
    bug: 'a tool that changes something and says that it only reads',
    invariant: 'begun-unwritten',
    sabotage: {
      tool: (tool) => (tool.effect === 'idempotent' ? changed(tool, { effect: 'read' }) : tool),
    },
  },
  {
    bug: 'a keeper that forgets intents',
    invariant: 'once-twice',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          append: (lease, addition) =>
            effectOf(addition.events[0]) === 'intend'
              ? Promise.resolve()
              : store.runs.append(lease, addition),
        }),
    },
  },
  {
    bug: 'an engine that replays an effect',
    invariant: 'finished-again',
    sabotage: {
      store: (store) => withRuns(store, { events: without(store, (event) => effectOf(event) === 'tool') }),
    },
  },
  {
    bug: 'a ledger that is reset when a run is resumed',
    invariant: 'ledger-wrong',
    sabotage: { store: (store) => withRuns(store, { events: withoutFailedAttempts(store) }) },
  },
  {
    bug: 'a conversation with a call that has no result',
    invariant: 'history-invalid',
    sabotage: {
      model: (model) => ({
        ...model,
        call: (request, options) => model.call({ ...request, messages: dangling(request.messages) }, options),
      }),
    },
  },
  {
    bug: 'an idempotency key that depends on the process',
    invariant: 'key-changed',
    sabotage: {
      tool: (tool, { life }) =>
        changed(tool, {
          execute: (input, context) => {
            const idempotencyKey = `${context.idempotencyKey}${life}`;
            return tool.execute(input, { ...context, idempotencyKey });
          },
        }),
    },
  },
  {
    bug: 'a gate that is open',
    invariant: 'gate-opened',
    sabotage: { tool: (tool) => changed(tool, { permission: 'allow' }) },
  },
  {
    bug: 'an ended run that is begun again',
    invariant: 'end-changed',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          claim: async (runId, owner) => {
            const claimed = await store.runs.claim(runId, owner);
            if (claimed.type !== 'claimed' || claimed.row.status !== 'completed') return claimed;
            return { ...claimed, row: { ...claimed.row, status: 'running' } };
          },
          find: async (runId) => {
            const row = await store.runs.find(runId);
            return row?.status === 'completed' ? { ...row, status: 'running' } : row;
          },
        }),
    },
  },
  {
    bug: 'a sleep that never ends',
    invariant: 'never-ends',
    sabotage: {
      store: (store) =>
        withRuns(store, {
          append: (lease, addition) =>
            typeOf(addition) === 'sleep' ? new Promise(() => undefined) : store.runs.append(lease, addition),
        }),
    },
  },
];

/** Long enough that a process can die meanwhile. */
const laterMs = 50;

function writtenLater(
  { runs }: Store,
  { clock }: SabotagedProcess,
  isMeant: (addition: Addition) => boolean,
): RunStore['append'] {
  return (lease, addition) => {
    if (!isMeant(addition)) return runs.append(lease, addition);
    // What becomes of it nobody hears: that is the bug.
    clock.after(laterMs, () => void runs.append(lease, addition).catch(() => undefined));
    return Promise.resolve();
  };
}

function oneBehind({ runs }: Store): RunStore['append'] {
  let write: () => Promise<void> = () => Promise.resolve();
  return async (lease, addition) => {
    const before = write;
    write = () => runs.append(lease, addition);
    await before();
  };
}

function without({ runs }: Store, isHidden: (event: StoredEvent) => boolean): RunStore['events'] {
  return async (runId, range) => (await runs.events(runId, range)).filter((event) => !isHidden(event));
}

/** As if the attempts since the last answer had not been made. */
function withoutFailedAttempts({ runs }: Store): RunStore['events'] {
  return async (runId, range) => {
    const events = [...(await runs.events(runId, range))];
    const isAttempt = (event: StoredEvent | undefined): boolean =>
      event?.type === 'sleep' || event?.type === 'taken-over' || effectOf(event) === 'model';
    while (isAttempt(events.at(-1))) events.pop();
    return events;
  };
}

function dangling(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ role }, index) => role !== 'tool' || index < messages.length - 1);
}

/** A tool is frozen, and known by a mark that a plain copy lacks. */
function changed(tool: Tool, changes: Partial<Tool>): Tool {
  return Object.defineProperties(
    { ...tool, ...changes },
    Object.fromEntries(
      Object.getOwnPropertySymbols(tool).map((mark) => [
        mark,
        Object.getOwnPropertyDescriptor(tool, mark) ?? {},
      ]),
    ),
  );
}
