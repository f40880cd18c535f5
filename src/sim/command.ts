import { crashPoints } from './crash-points.ts';
import { invariants } from './invariants.ts';
import { joinSimulations, maxFailed, simulateRun } from './simulate.ts';
import type { SeedRange, SimulatedRun, Simulation } from './simulate.ts';

export { simulateRuns } from './simulate.ts';
export type { SeedRange, Simulation };

/** What the command writes to, and measures with. */
export interface CommandHost {
  readonly write: (line: string) => void;
  /** The time, in milliseconds. */
  readonly nowMs: () => number;
  /** How many seeds are simulated at a time; each elsewhere, by `simulate`. */
  readonly workers: number;
  readonly simulate: (range: SeedRange) => Promise<Simulation>;
}

/** So many seeds must come to every crash point; fewer may miss some by chance. */
export const gateRuns = 2000;

const usage = `Usage: npm run simulate -- [--seed N | --seeds FROM..TO | --runs N]
  --seed N          one run, with everything that happens in it
  --seeds FROM..TO  the runs of these seeds
  --runs N          the runs of the seeds from 0 on; ${gateRuns} unless told`;

/** Simulates what the arguments ask for. Gives the exit code: 1 where something did not hold, 2 for misuse. */
export async function simulateCommand(given: readonly string[], host: CommandHost): Promise<number> {
  const asked = readArguments(given);
  if (asked === undefined) {
    host.write(usage);
    return 2;
  }
  if (asked.from === asked.to) return showRun(asked.from, host);
  const { simulation, rates } = await simulateAll(asked, host);
  for (const line of describeSimulation(simulation)) host.write(line);
  const workers = host.workers === 1 ? 'one thread' : `${host.workers} threads`;
  const { all, late } = rates;
  host.write(
    `${Math.round(all.runs)} runs a second (${Math.round(all.seeds)} seeds) on ${workers}, ` +
      `${Math.round(late.runs)} (${Math.round(late.seeds)}) in the last half`,
  );
  return hasHeld(simulation) ? 0 : 1;
}

interface Simulated {
  readonly simulation: Simulation;
  /** A second: of all of them, and of the last half, when the code is warm. */
  readonly rates: { readonly all: Rate; readonly late: Rate };
}

/** A seed of several agents is one seed and several runs. */
interface Rate {
  readonly seeds: number;
  readonly runs: number;
}

/** Shares the seeds out among the workers, a few at a time: some take longer than others. */
async function simulateAll({ from, to }: SeedRange, host: CommandHost): Promise<Simulated> {
  const startMs = host.nowMs();
  const marks: (Rate & { readonly atMs: number })[] = [];
  const parts: Simulation[] = [];
  let next = from;
  let [seeds, runs] = [0, 0];
  const work = async (): Promise<void> => {
    while (next <= to && parts.every(({ failed }) => failed.length < maxFailed)) {
      const first = next;
      next += seedsAtOnce;
      const part = await host.simulate({ from: first, to: Math.min(to, next - 1) });
      parts.push(part);
      seeds += part.seeds;
      runs += part.runs;
      marks.push({ seeds, runs, atMs: host.nowMs() });
    }
  };
  await Promise.all(Array.from({ length: host.workers }, work));
  const endMs = host.nowMs();
  const half = marks.find((mark) => mark.seeds >= seeds / 2);
  const all = rateOf({ seeds, runs }, endMs - startMs);
  const late =
    half === undefined || half.seeds === seeds
      ? all
      : rateOf({ seeds: seeds - half.seeds, runs: runs - half.runs }, endMs - half.atMs);
  return { simulation: joinSimulations(parts), rates: { all, late } };
}

const seedsAtOnce = 100;

function rateOf({ seeds, runs }: Rate, ms: number): Rate {
  return ms === 0 ? { seeds: 0, runs: 0 } : { seeds: (seeds / ms) * 1000, runs: (runs / ms) * 1000 };
}

/** Whether everything held, and every crash point was come to where there were enough seeds for that. */
export function hasHeld({ failed, missed, seeds }: Simulation): boolean {
  return failed.length === 0 && (missed.length === 0 || seeds < gateRuns);
}

/** Nothing where the arguments make no sense. */
function readArguments(given: readonly string[]): SeedRange | undefined {
  const [name, value, ...rest] = given;
  if (name === undefined) return { from: 0, to: gateRuns - 1 };
  if (value === undefined || rest.length > 0) return undefined;
  const [from, to] = value.split('..').map((text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined));
  if (from === undefined) return undefined;
  if (name === '--seed' && to === undefined) return { from, to: from };
  if (name === '--runs' && to === undefined && from > 1) return { from: 0, to: from - 1 };
  return name === '--seeds' && to !== undefined && to > from ? { from, to } : undefined;
}

async function showRun(seed: number, { write }: CommandHost): Promise<number> {
  const run = await simulateRun(seed, { isTraced: true });
  for (const line of run.trace) write(line);
  write(`Seed ${seed}: ${run.end} after ${run.lives} processes, ${run.faults} failures of the disk`);
  for (const line of describeProblems(run)) write(line);
  return run.problems.length === 0 ? 0 : 1;
}

/** What came of many runs, line by line. */
export function describeSimulation(simulation: Simulation): readonly string[] {
  const { seeds, runs, lives, crashes, faults, ends, missed, failed } = simulation;
  const ended = [...ends].map(([end, times]) => `${times} ${end}`).join(', ');
  const hit = crashPoints.length - missed.length;
  return [
    `${seeds} seeds, ${runs} runs in ${lives} processes: ${ended}`,
    `${crashes} crashes at ${hit} of ${crashPoints.length} points, ${faults} failures of the disk`,
    ...(missed.length === 0 ? [] : [`No process died ${missed.join(', ')}`]),
    ...failed.flatMap((run) => [...describeProblems(run), `  npm run simulate -- --seed ${run.seed}`]),
  ];
}

function describeProblems({ seed, problems }: SimulatedRun): readonly string[] {
  return problems.map(
    ({ invariant, message }) => `Seed ${seed}: ${invariant} (${invariants[invariant]}): ${message}`,
  );
}
