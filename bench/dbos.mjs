// Steps of the engine on DBOS beside DBOS's own bare steps, by turns, in one process and one database with fsync: npm run bench:dbos.
// With --check it fails where a step takes more than 1.25 times as long; --quick takes less time.
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { median, printTable, ratio } from './storage-report.mjs';

/**
 * @typedef {(steps: number, runId: string) => Promise<unknown>} Work
 * @typedef {{
 *   readonly registerWorkflow: (work: Work, config: object) => Work,
 *   readonly runStep: (act: () => Promise<number>, config: object) => Promise<number>,
 *   readonly startWorkflow: (work: Work, params: object) => (...args: Parameters<Work>) => Promise<{ getResult: () => Promise<unknown> }>,
 * }} Dbos
 * @typedef {{ readonly gapsMs: readonly number[], readonly stepsPerSecond: number, readonly cpuMs: number }} Measured
 * @typedef {(runIds: readonly string[], steps: number) => Promise<unknown>} Contestant
 */

const isQuick = process.argv.includes('--quick');
const rounds = isQuick ? 3 : 7;
const most = 1.25;
/** @type {string[]} */
const broken = [];
/** When the steps of each run began. @type {Map<string, number[]>} */
const stamps = new Map();
let runs = 0;

const folder = await mkdtemp(path.resolve('node_modules/.cache/bench-'));
const { startPostgres } = /** @type {typeof import('../test/postgres/start-postgres.ts')} */ (
  await load('test/postgres/start-postgres.ts')
);
const { installDbos, loadDbos } = /** @type {typeof import('../test/engines/dbos/find-dbos.ts')} */ (
  await load('test/engines/dbos/find-dbos.ts')
);
const { dbos } = /** @type {typeof import('../src/engines/dbos/index.ts')} */ (
  await load('src/engines/dbos/index.ts')
);
const { systemClock } = /** @type {typeof import('../src/base/system.ts')} */ (
  await load('src/base/system.ts')
);
const server = await startPostgres({ fsync: true });
try {
  const packages = loadDbos(installDbos(path.resolve('test/engines/dbos')));
  const contestants = {
    'bare DBOS.runStep': bare(/** @type {{ DBOS: Dbos }} */ (packages.sdk).DBOS),
    Rerail: await ours(packages),
  };
  const [{ version } = { version: '' }] = await server.ask(server.address, 'SELECT version()');
  console.log(`${String(version).split(' on ')[0]} with fsync, DBOS 5, Node ${process.versions.node}`);
  await compare(contestants, { together: 1, steps: isQuick ? 100 : 300 });
  await compare(contestants, { together: 64, steps: isQuick ? 10 : 30 });
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
if (broken.length > 0)
  console.log(`\nNot held here and now:\n${broken.map((line) => `- ${line}`).join('\n')}`);
process.exit(process.argv.includes('--check') && broken.length > 0 ? 1 : 0);

/**
 * Sources are TypeScript, which Node 20 does not read.
 *
 * @param {string} file
 * @returns {Promise<unknown>}
 */
async function load(file) {
  const bundler = await rolldown({
    input: path.resolve(file),
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
    platform: 'node',
    checks: { bundlerTimings: false },
  });
  const name = `${path.basename(file, '.ts')}.js`;
  await bundler.write({ dir: folder, format: 'esm', entryFileNames: name });
  await bundler.close();
  return import(pathToFileURL(path.join(folder, name)).href);
}

/**
 * @param {Dbos} sdk
 * @returns {Contestant}
 */
function bare(sdk) {
  /** @type {Work} */
  const work = async (steps, runId) => {
    for (let step = 0; step < steps; step += 1)
      await sdk.runStep(
        () => {
          stamp(runId);
          return Promise.resolve(step);
        },
        { name: 'step', retriesAllowed: false },
      );
  };
  const workflow = sdk.registerWorkflow(work, { name: 'bare' });
  return async (runIds, steps) => {
    const started = runIds.map((runId) =>
      sdk.startWorkflow(workflow, { workflowID: `bare-${runId}` })(steps, runId),
    );
    await Promise.all(started.map(async (handle) => (await handle).getResult()));
  };
}

/**
 * @param {ReturnType<typeof loadDbos>} packages
 * @returns {Promise<Contestant>}
 */
async function ours(packages) {
  const create = dbos({ databaseUrl: await server.createDatabase(), logLevel: 'error', ...packages });
  const engine = await create({
    name: 'bench',
    version: '1',
    clock: systemClock,
    program: async (durable, input) => {
      for (let step = 0; step < Number(input); step += 1) await durable.call('step', step);
      return null;
    },
    effects: {
      step: (input, { runId }) => {
        stamp(runId);
        return { type: 'done', value: input };
      },
    },
  });
  return async (runIds, steps) => {
    await Promise.all(runIds.map((runId) => engine.start(steps, { runId, version: '1' })));
    // Whoever asks takes the database's time, so nobody asks before the steps of all are done.
    while ([...stamps.values()].flat().length < runIds.length * steps) await sleep(20);
    for (const runId of runIds) while ((await engine.status(runId)).type !== 'ended') await sleep(50);
  };
}

/** @param {string} runId */
function stamp(runId) {
  const known = stamps.get(runId) ?? [];
  if (known.length === 0) stamps.set(runId, known);
  known.push(performance.now());
}

/**
 * @param {Record<string, Contestant>} contestants
 * @param {{ readonly together: number, readonly steps: number }} task
 */
async function compare(contestants, { together, steps }) {
  /** @type {Map<string, Measured[]>} */
  const measured = new Map(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, contestant] of Object.entries(contestants)) {
      stamps.clear();
      const before = process.cpuUsage();
      await contestant(
        Array.from({ length: together }, () => `run-${(runs += 1)}`),
        steps,
      );
      // The first round warms up.
      const { user, system } = process.cpuUsage(before);
      if (round > 0) measured.get(name)?.push(measure((user + system) / 1000));
    }
  }
  report(measured, { together, steps });
}

/**
 * @param {number} cpuMs
 * @returns {Measured}
 */
function measure(cpuMs) {
  const gapsMs = [...stamps.values()].flatMap((times) =>
    times.slice(1).map((time, index) => time - Number(times[index])),
  );
  const all = [...stamps.values()].flat();
  const seconds = (Math.max(...all) - Math.min(...all)) / 1000;
  return {
    gapsMs: gapsMs.toSorted((a, b) => a - b),
    stepsPerSecond: all.length / seconds,
    cpuMs: cpuMs / all.length,
  };
}

/**
 * @param {Map<string, Measured[]>} measured
 * @param {{ readonly together: number, readonly steps: number }} task
 */
function report(measured, { together, steps }) {
  const figures = [...measured].map(([name, list]) => ({
    name,
    medianMs: median(list.map(({ gapsMs }) => Number(gapsMs[Math.floor(gapsMs.length / 2)]))),
    p99Ms: median(list.map(({ gapsMs }) => Number(gapsMs[Math.floor(gapsMs.length * 0.99)]))),
    stepsPerSecond: median(list.map(({ stepsPerSecond }) => stepsPerSecond)),
    cpuMs: median(list.map(({ cpuMs }) => cpuMs)),
  }));
  const bareMs = Number(figures[0]?.medianMs);
  printTable(`${together} ${together === 1 ? 'run' : 'runs'} of ${steps} steps`, {
    columns: ['a step', 'p99', 'steps/s', 'CPU here', 'of bare'],
    rows: figures.map(({ name, medianMs, p99Ms, stepsPerSecond, cpuMs }) => [
      name,
      `${medianMs.toFixed(2)} ms`,
      `${p99Ms.toFixed(2)} ms`,
      stepsPerSecond.toFixed(0),
      `${cpuMs.toFixed(2)} ms`,
      ratio(medianMs / bareMs),
    ]),
  });
  const ofBare = Number(figures[1]?.medianMs) / bareMs;
  if (!(ofBare <= most))
    broken.push(`a step with ${together} at once, of a bare one: ${ofBare.toFixed(2)}, at most ${most}`);
}
