import type { Clock, Random } from '../../base/clock.ts';
import { isRecord } from '../../base/json.ts';
import { systemClock, systemId, systemRandom } from '../../base/system.ts';
import { systemSignals } from '../../base/system-signals.ts';
import type { ProcessSignals } from '../../base/system-signals.ts';
import { configError } from '../../errors/config-error.ts';
import { showName, showValue } from '../../model/check/show-value.ts';
import type { LeaseOwner, Store } from '../../model/store/store.ts';
import type { Agent } from '../create-agent.ts';
import { createTeller } from './worker-event.ts';
import type { WorkerEvent, WorkerListener } from './worker-event.ts';
import { aClock, aFlag, aFunction, aRandom, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';

/** How a worker works. Every field has a default. */
export interface WorkerOptions {
  /** How often the store is asked what waits. 1,000 by default. */
  readonly pollMs?: number;
  /** At most so many runs at once. 8 by default. */
  readonly concurrency?: number;
  /** A run that has ended its process that often is parked. 2 by default. */
  readonly maxCrashes?: number;
  /** How long `stop` and a signal give the runs to come to a stop. 10,000 by default. */
  readonly drainMs?: number;
  /** Receives what the worker does. What it throws never touches the worker. */
  readonly onEvent?: WorkerListener;
  /** Drains on SIGTERM and SIGINT, while it is started. True by default; a test hands in its own signals. */
  readonly signals?: boolean | ProcessSignals;
  /**
   * Whether the process ends after draining for a signal, with the code 143 or 130, and at once for a second signal. Unless
   * set it does so where nothing else in the process listens to the signal.
   */
  readonly exitOnSignal?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Which agents a worker works for. The names in a record are for the reader: runs are found by the agent's own name. */
export type WorkerAgents = readonly Agent<unknown>[] | Readonly<Record<string, Agent<unknown>>>;

/** A worker's options, checked and filled in. */
export interface WorkerParts {
  readonly agents: ReadonlyMap<string, Agent<unknown>>;
  readonly store: Store;
  readonly pollMs: number;
  readonly concurrency: number;
  readonly maxCrashes: number;
  readonly drainMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly tell: (event: WorkerEvent) => void;
  readonly signals: ProcessSignals | undefined;
  readonly exitOnSignal: boolean | undefined;
  /** Under this name the worker itself takes leases, to park a run. */
  readonly owner: LeaseOwner;
}

/** Parking is two writes: long enough for a slow disk. */
const parkLeaseMs = 30_000;

/** Throws a `ConfigError` for what can never work, and fills in the rest. */
export function resolveWorker(agents: WorkerAgents, store: Store, options: WorkerOptions): WorkerParts {
  checkOptions({ of: 'createWorker()', rules: optionRules }, options);
  if (!isRecord(store) || !isRecord(store.runs))
    throw configError(`A worker needs a store, such as sqlite('runs.db'), got ${showValue(store)}`);
  return {
    agents: readAgents(agents),
    store,
    pollMs: options.pollMs ?? 1000,
    concurrency: options.concurrency ?? 8,
    maxCrashes: options.maxCrashes ?? 2,
    drainMs: options.drainMs ?? 10_000,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    tell: createTeller(options.onEvent),
    signals: readSignals(options),
    exitOnSignal: options.exitOnSignal,
    owner: { id: systemId(), leaseMs: parkLeaseMs },
  };
}

const optionRules: Readonly<Record<keyof WorkerOptions, OptionRule>> = {
  pollMs: wholeFrom(10),
  concurrency: wholeFrom(1),
  maxCrashes: wholeFrom(1),
  drainMs: wholeFrom(0),
  onEvent: aFunction,
  signals: {
    isLegal: (value) => aFlag.isLegal(value) || (isRecord(value) && aFunction.isLegal(value['listen'])),
    expected: aFlag.expected,
  },
  exitOnSignal: aFlag,
  clock: aClock,
  random: aRandom,
};

function readAgents(agents: unknown): ReadonlyMap<string, Agent<unknown>> {
  const list: readonly unknown[] = Array.isArray(agents)
    ? agents
    : Object.values(isRecord(agents) ? agents : {});
  if (list.length === 0)
    throw configError(
      `A worker needs a list of agents, or a record of them, with one at least, got ${showValue(agents)}`,
    );
  const byName = new Map<string, Agent<unknown>>();
  for (const agent of list) {
    if (!isAgent(agent))
      throw configError(`A worker works for agents as createAgent() makes them, got ${showValue(agent)}`);
    if (byName.has(agent.name))
      throw configError(
        `Two agents of this worker are called ${showName(agent.name)}: runs are found by the agent's name, so give each its own`,
      );
    byName.set(agent.name, agent);
  }
  return byName;
}

function isAgent(agent: unknown): agent is Agent<unknown> {
  return isRecord(agent) && typeof agent['name'] === 'string' && typeof agent['resume'] === 'function';
}

function wholeFrom(least: number): OptionRule {
  return {
    isLegal: (value) => Number.isSafeInteger(value) && Number(value) >= least,
    expected: `a whole number from ${least} on`,
  };
}

function readSignals({ signals = true }: WorkerOptions): ProcessSignals | undefined {
  if (typeof signals === 'object') return signals;
  return signals ? systemSignals : undefined;
}
