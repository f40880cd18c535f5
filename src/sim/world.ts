import type { RunOutcome } from '../agent/run-outcome.ts';
import { memoryStore } from '../testing/memory-store.ts';
import type { MemoryStore } from '../testing/memory-store.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Invariant, Problem } from './invariants.ts';
import type { Plan } from './plan.ts';
import type { Sabotage } from './sabotage.ts';
import { createSimClock } from './sim-clock.ts';
import type { SimClock } from './sim-clock.ts';

/** All that one simulated run consists of: what would outlive every process, and what is known from outside. */
export interface World {
  readonly plan: Plan;
  readonly clock: SimClock;
  /** The disk: processes have handles of their own. */
  readonly store: MemoryStore;
  readonly sabotage: Sabotage;
  readonly calls: Map<string, CallRecord>;
  readonly keys: Map<string, string>;
  readonly model: ModelRecord;
  readonly promised: Promised;
  /** How often each point was come to, and how often a process died there. */
  readonly visits: Map<CrashPoint, number>;
  readonly hits: Map<CrashPoint, number>;
  readonly problems: Problem[];
  /** Absent where nobody reads it. */
  readonly trace: string[] | undefined;
  lives: number;
  crashes: number;
  faults: number;
  operations: number;
  /** What is planned to be sent and has not been. */
  readonly sendings: Plan['sendings'][number][];
  /** Nothing more may happen: the run has ended, and is only looked at. */
  isOver: boolean;
}

/** What really happened to one call of a tool, as the other side of it knows. */
export interface CallRecord {
  executions: number;
  effects: number;
  failures: number;
  key: string | undefined;
  /** Somebody found out since the last execution that it did not happen. */
  isCleared: boolean;
  isApproved: boolean;
  /** Attempts whose end is on record, and was said to be. */
  readonly ended: Set<number>;
}

/** What the provider has counted. */
export interface ModelRecord {
  /** By turn: faults that were given out. */
  readonly faults: Map<number, number>;
  /** By turn: requests that came in, how many of them no record knows of, and how often somebody began anew. */
  readonly turns: Map<number, { requests: number; cut: number; starts: number }>;
  /** The turn that was asked about last. */
  turn: number;
}

/** What somebody was told. */
export interface Promised {
  /** Events by the order in which they were handed to the store; those that it never acknowledged are left out. */
  readonly events: { readonly order: number; readonly text: string }[];
  order: number;
  readonly messages: string[];
  /** Requests of persons that were answered. */
  readonly answers: Set<string>;
  isCancelled: boolean;
  /** Somebody went on with the run after it had failed or was cancelled. */
  hasGoneOn: boolean;
  outcome: RunOutcome | undefined;
}

/** A world in which nothing has happened. */
export function createWorld(
  plan: Plan,
  { sabotage = {}, isTraced = false }: { readonly sabotage?: Sabotage; readonly isTraced?: boolean },
): World {
  const clock = createSimClock();
  return {
    plan,
    clock,
    store: memoryStore({ clock }),
    sabotage,
    calls: new Map(),
    keys: new Map(),
    model: { faults: new Map(), turns: new Map(), turn: 0 },
    promised: {
      events: [],
      order: 0,
      messages: [],
      answers: new Set(),
      isCancelled: false,
      hasGoneOn: false,
      outcome: undefined,
    },
    visits: new Map(),
    hits: new Map(),
    problems: [],
    trace: isTraced ? [] : undefined,
    lives: 0,
    crashes: 0,
    faults: 0,
    operations: 0,
    sendings: [...plan.sendings],
    isOver: false,
  };
}

/** Tells whoever reads the trace. */
export function tell(world: World, text: string): void {
  world.trace?.push(`${String(world.clock.monotonicMs()).padStart(8)} ms  life ${world.lives}  ${text}`);
}

/** Something did not hold. */
export function report(world: World, invariant: Invariant, message: string): void {
  tell(world, `!! ${invariant}: ${message}`);
  world.problems.push({ invariant, message });
}

/** What is known of a call. */
export function callRecord({ calls }: World, callId: string): CallRecord {
  const known = calls.get(callId);
  if (known !== undefined) return known;
  const record: CallRecord = {
    executions: 0,
    effects: 0,
    failures: 0,
    key: undefined,
    isCleared: false,
    isApproved: false,
    ended: new Set(),
  };
  calls.set(callId, record);
  return record;
}

/** What is known of the attempts at a model in one turn. */
export function turnRecord(
  { model }: World,
  turn: number,
): { requests: number; cut: number; starts: number } {
  const known = model.turns.get(turn);
  if (known !== undefined) return known;
  const record = { requests: 0, cut: 0, starts: 1 };
  model.turns.set(turn, record);
  return record;
}

/** Something that never comes. */
export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
