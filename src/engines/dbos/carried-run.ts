import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '../../base/json.ts';
import type { EngineSetup } from '../../runtime/record/durable.ts';
import type { NamedSignal } from '../../runtime/record/journal.ts';
import type { MemoryEngine } from '../../runtime/record/memory-engine.ts';
import { createInbox } from '../../runtime/record/memory-inbox.ts';
import type { Inbox, InboxHistory } from '../../runtime/record/memory-inbox.ts';
import type { Mail } from './mail.ts';
import type { Watch } from './failures.ts';
import { workflowIdOf } from './order.ts';
import type { Notice, Order, Returned } from './order.ts';
import type { RunLog } from './run-log.ts';
import type { Dbos, Workflow } from './sdk.ts';

/** What all runs of one agent share. */
export interface AgentHost {
  readonly setup: EngineSetup;
  readonly application: string;
  readonly dbos: Dbos;
  readonly mail: Mail;
  readonly watch: Watch;
  readonly workflow: Workflow;
  readonly maxValueBytes: number;
  /** Performs the programs; what it writes down become steps. */
  readonly memory: MemoryEngine;
  /** Those that are carried here, by run. */
  readonly runs: Map<string, CarriedRun>;
  /** Tokens of workflows that this process has just started: of them nothing is on record. */
  readonly fresh: Set<string>;
  /** The latest start of each run that is on its way: the first one counts, so they are made in turn. */
  readonly starts: Map<string, Promise<void>>;
  isClosed: boolean;
}

/** One generation of a run while its workflow runs here. */
export interface CarriedRun {
  readonly order: Order;
  readonly workflowId: string;
  /** Runs something as this workflow: the caller of a verb may come from anywhere. */
  readonly inWorkflow: <T>(work: () => T) => T;
  /** What has come and what was taken, beside the inbox that the program sees: for the next generation. */
  readonly inbox: Inbox;
  /** Ends the workflow. */
  readonly settle: (returned: Returned) => void;
  readonly fail: (error: unknown) => void;
  /** Positions of calls whose step is on record. */
  readonly recorded: Set<number>;
  /** Positions of calls that were answered before their step was: what comes of it is not heard. */
  readonly answered: Set<number>;
  /** What DBOS threw instead of recording a step, by position. */
  readonly troubles: Map<number, unknown>;
  /** The first of what DBOS threw: the workflow ends with it, for DBOS knows its own errors. */
  trouble: unknown;
  /** The one receiving of letters, of which there is never a second at the same time. */
  collecting: Promise<void>;
  /** The program runs, so letters go to it. */
  isAdopted: boolean;
  /** Its next generation begins: letters go there. */
  isLeaving: boolean;
  cancelled: { readonly reason: string; readonly atMs: number } | undefined;
  /** What the program said last of how far it is. */
  announced: Json | undefined;
  /** What others may know of it: what is written down of `announced` and `waits`. */
  told: Notice;
  /** Names of the signals that the program waits for, the oldest wait first. */
  readonly waits: string[];
  /** The one writing of what others may know of the run, of which there is never a second at the same time. */
  noting: Promise<void>;
}

/** Untaken ones per run; more are refused until some are taken. */
export const maxSignals = 1000;

/** Begins to carry a generation. `returned` settles with what the workflow gives back. Must be called inside the workflow. */
export function createCarriedRun(
  order: Order,
  log: RunLog,
): {
  readonly run: CarriedRun;
  readonly returned: Promise<Returned>;
} {
  const ends: { settle?: CarriedRun['settle']; fail?: CarriedRun['fail'] } = {};
  const returned = new Promise<Returned>((resolve, reject) => {
    ends.settle = resolve;
    ends.fail = reject;
  });
  const run: CarriedRun = {
    order,
    workflowId: workflowIdOf(order),
    inWorkflow: AsyncLocalStorage.snapshot(),
    inbox: createInbox(maxSignals, historyOf(order, log)),
    settle: (given) => ends.settle?.(given),
    fail: (error) => ends.fail?.(error),
    recorded: new Set(),
    answered: new Set(),
    troubles: new Map(),
    trouble: undefined,
    collecting: Promise.resolve(),
    isAdopted: false,
    isLeaving: false,
    cancelled: undefined,
    announced: log.notice.announced,
    told: log.notice,
    waits: [],
    noting: Promise.resolve(),
  };
  return { run, returned };
}

/** Runs something outside any workflow. */
export const outside: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();

/** Never settles. A workflow that no process runs any more must not end: then it would not be resumed. */
export function standStill(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** Signals that are not taken yet, and the ids of all that came. */
export function inboxOf({ inbox }: CarriedRun): {
  readonly signals: readonly NamedSignal[];
  readonly signalIds: readonly string[];
} {
  return { signals: inbox.all(), signalIds: inbox.ids() };
}

/** What has come to a generation, and what it has taken. */
export function historyOf(
  { signals, signalIds }: Order,
  { letters, journal }: Pick<RunLog, 'letters' | 'journal'>,
): InboxHistory {
  const known = new Map(signals.map((signal) => [signal.id, signal]));
  for (const letter of letters)
    if (letter.type === 'signal' && !signalIds.includes(letter.signal.id))
      known.set(letter.signal.id, letter.signal);
  return { signals: [...known.values()], signalIds, journal };
}
