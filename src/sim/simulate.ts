import { carryRun } from './carry-run.ts';
import { checkRun } from './check-run.ts';
import { crashPoints } from './crash-points.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Problem } from './invariants.ts';
import { planRun } from './plan.ts';
import type { Sabotage } from './sabotage.ts';
import { createWorld } from './world.ts';

/** What came of one seed. */
export interface SimulatedRun {
  readonly seed: number;
  /** Empty where everything held. */
  readonly problems: readonly Problem[];
  /** Where processes died, and how often. */
  readonly hits: ReadonlyMap<CrashPoint, number>;
  /** Runs that were begun: one, or with those of several agents more. */
  readonly runs: number;
  readonly lives: number;
  readonly faults: number;
  /** How it ended: `completed`, `failed` …; `open` where it did not. */
  readonly end: string;
  /** What happened, line by line, where it was asked for. */
  readonly trace: readonly string[];
}

export interface SimulateOptions {
  readonly isTraced?: boolean;
  readonly sabotage?: Sabotage;
}

/** One run with all its processes. The same seed gives the same run. */
export async function simulateRun(seed: number, options: SimulateOptions = {}): Promise<SimulatedRun> {
  const world = createWorld(planRun(seed), options);
  const carried = await carryRun(world);
  if (carried !== undefined && world.problems.length === 0) await checkRun(world, carried);
  const { problems, hits, runs, lives, faults, trace = [] } = world;
  return { seed, problems, hits, runs, lives, faults, end: carried?.outcome.type ?? 'open', trace };
}

/** Which seeds: both ends included. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/** What came of many seeds. */
export interface Simulation {
  readonly seeds: number;
  /** Of them, those of several agents counted one by one. */
  readonly runs: number;
  readonly lives: number;
  readonly crashes: number;
  readonly faults: number;
  readonly ends: ReadonlyMap<string, number>;
  readonly hits: ReadonlyMap<CrashPoint, number>;
  /** Crash points at which no process has died. */
  readonly missed: readonly CrashPoint[];
  /** The first that went wrong, at most so many. */
  readonly failed: readonly SimulatedRun[];
}

/** So many that went wrong are enough to look at. */
export const maxFailed = 20;

/** Many runs, one after the other. Stops where too many have gone wrong. */
export async function simulateRuns(
  { from, to }: SeedRange,
  options: SimulateOptions = {},
): Promise<Simulation> {
  const hits = new Map<CrashPoint, number>();
  const ends = new Map<string, number>();
  const failed: SimulatedRun[] = [];
  let [seeds, runs, lives, faults, crashes] = [0, 0, 0, 0, 0];
  for (let seed = from; seed <= to && failed.length < maxFailed; seed += 1) {
    const run = await simulateRun(seed, options);
    seeds += 1;
    runs += run.runs;
    lives += run.lives;
    faults += run.faults;
    ends.set(run.end, (ends.get(run.end) ?? 0) + 1);
    crashes += addCounts(hits, run.hits);
    if (run.problems.length > 0) failed.push(run);
  }
  return { seeds, runs, lives, crashes, faults, ends, hits, missed: missedBy(hits), failed };
}

/** What came of several simulations, as if it had been one. */
export function joinSimulations(parts: readonly Simulation[]): Simulation {
  const hits = new Map<CrashPoint, number>();
  const ends = new Map<string, number>();
  const sum = (name: 'seeds' | 'runs' | 'lives' | 'crashes' | 'faults'): number =>
    parts.reduce((total, part) => total + part[name], 0);
  for (const part of parts) {
    addCounts(hits, part.hits);
    addCounts(ends, part.ends);
  }
  const failed = parts.flatMap((part) => part.failed).toSorted((one, other) => one.seed - other.seed);
  return {
    seeds: sum('seeds'),
    runs: sum('runs'),
    lives: sum('lives'),
    crashes: sum('crashes'),
    faults: sum('faults'),
    ends,
    hits,
    missed: missedBy(hits),
    failed: failed.slice(0, maxFailed),
  };
}

function addCounts<Key>(counts: Map<Key, number>, more: ReadonlyMap<Key, number>): number {
  let added = 0;
  for (const [key, times] of more) {
    counts.set(key, (counts.get(key) ?? 0) + times);
    added += times;
  }
  return added;
}

function missedBy(hits: ReadonlyMap<CrashPoint, number>): readonly CrashPoint[] {
  return crashPoints.filter((point) => !hits.has(point));
}
