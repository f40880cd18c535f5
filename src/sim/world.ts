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
  /** Calls by which a plan took its steps: they are known by their run and their id. */
  readonly steps: Set<string>;
  readonly model: ModelRecord;
  readonly promised: Promised;
  /** How often each point was come to, and how often a process died there. */
  readonly visits: Map<CrashPoint, number>;
  readonly hits: Map<CrashPoint, number>;
  readonly problems: Problem[];
  /** Absent where nobody reads it. */
  readonly trace: string[] | undefined;
  /** Runs on record: that of the seed, and those below it. */
  runs: number;
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
  /** The answer of the model that asks for it is. */
  isOnRecord: boolean;
  /** Attempts whose end is on record, and was said to be. */
  readonly ended: Set<number>;
}

/** What the provider has counted. */
export interface ModelRecord {
  /** By turn: faults that were given out. */
  readonly faults: Map<string, number>;
  /** By turn: requests that came in, and how often somebody began anew. */
  readonly turns: Map<string, TurnRecord>;
  /** By agent: the turn that it asked about last. */
  readonly latest: Map<string, string>;
  /** Requests that no record knows of. */
  cut: number;
  /** That it has given. */
  answers: number;
}

/** What is known of the attempts at a model in one turn of one agent. */
export interface TurnRecord {
  requests: number;
  starts: number;
}

/** What somebody was told. */
export interface Promised {
  /** Events by the order in which they were handed to the store; those that it never acknowledged are left out. */
  readonly events: { readonly runId: string; readonly order: number; readonly text: string }[];
  order: number;
  readonly messages: string[];
  /** Requests of persons that were answered. */
  readonly answers: Set<string>;
  /** It is on record that the run is cancelled: since when, and by which process. */
  cancelled: { readonly life: number; readonly atMs: number } | undefined;
  /** It was at some time, whether or not anybody has heard of it. */
  wasCancelled: boolean;
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
    // Every process reads the whole record, and so does whoever checks it.
    store: memoryStore({ clock, isFrozen: true }),
    sabotage,
    calls: new Map(),
    keys: new Map(),
    steps: new Set(),
    model: { faults: new Map(), turns: new Map(), latest: new Map(), cut: 0, answers: 0 },
    promised: {
      events: [],
      order: 0,
      messages: [],
      answers: new Set(),
      cancelled: undefined,
      wasCancelled: false,
      hasGoneOn: false,
      outcome: undefined,
    },
    visits: new Map(),
    hits: new Map(),
    problems: [],
    trace: isTraced ? [] : undefined,
    runs: 0,
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

/** Whether nothing new may be begun: those below hear of a cancellation in the same instant, though not at once. */
export function isCancelled({ plan, promised, lives, clock }: World): boolean {
  const { cancelled } = promised;
  if (cancelled === undefined) return false;
  return plan.top.type === 'agent' || lives > cancelled.life || clock.monotonicMs() > cancelled.atMs;
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
    isOnRecord: false,
    ended: new Set(),
  };
  calls.set(callId, record);
  return record;
}

/** What is known of the attempts at a model in one turn of one agent. */
export function turnRecord({ model }: World, turn: string): TurnRecord {
  const known = model.turns.get(turn);
  if (known !== undefined) return known;
  const record = { requests: 0, starts: 1 };
  model.turns.set(turn, record);
  return record;
}

/** Somebody goes on: whatever turn an agent is in, its attempts are counted anew. */
export function beginAnew(world: World): void {
  for (const turn of world.model.latest.values()) turnRecord(world, turn).starts += 1;
}

/** Something that never comes. */
export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
