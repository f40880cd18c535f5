import { crashPoints } from './crash-points.ts';
import { invariants } from './invariants.ts';
import { simulateRun, simulateRuns } from './simulate.ts';
import type { SeedRange, SimulatedRun, Simulation } from './simulate.ts';

/** What the command writes to, and measures with. */
export interface CommandHost {
  readonly write: (line: string) => void;
  /** CPU time of this process, in milliseconds. */
  readonly cpuMs: () => number;
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
  const startMs = host.cpuMs();
  const simulation = await simulateRuns(asked);
  const perSecond = Math.round(simulation.runs / ((host.cpuMs() - startMs) / 1000));
  for (const line of describeSimulation(simulation)) host.write(line);
  host.write(`${perSecond} runs a second of CPU time`);
  return hasHeld(simulation) ? 0 : 1;
}

/** Whether everything held, and every crash point was come to where there were enough seeds for that. */
export function hasHeld({ failed, missed, runs }: Simulation): boolean {
  return failed.length === 0 && (missed.length === 0 || runs < gateRuns);
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
  const { runs, lives, crashes, faults, ends, missed, failed } = simulation;
  const ended = [...ends].map(([end, times]) => `${times} ${end}`).join(', ');
  const hit = crashPoints.length - missed.length;
  return [
    `${runs} runs in ${lives} processes: ${ended}`,
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
