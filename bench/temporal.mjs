// Steps of the engine on Temporal beside Temporal's own bare activities, by turns, in one process: npm run bench:temporal. The SDK is the
// real one; the server is the simulated one of the tests, unless TEMPORAL_ADDRESS names another. So the ratios mean something, and the
// times only with a real server. With --check it fails where a step takes more than 1.25 times as long; --quick takes less time.
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { median, printTable, ratio } from './storage-report.mjs';

/**
 * @typedef {{ readonly gapsMs: readonly number[], readonly stepsPerSecond: number }} Measured
 * @typedef {(runId: string, steps: number) => Promise<unknown>} Contestant
 * @typedef {Parameters<ReturnType<typeof import('../src/engines/temporal/index.ts').temporal>>[0]} EngineSetup
 * @typedef {{ readonly run: () => Promise<void>, readonly shutdown: () => void }} Worker
 * @typedef {{
 *   readonly Worker: { readonly create: (options: object) => Promise<Worker> },
 *   readonly NativeConnection: { readonly connect: (options: object) => Promise<{ readonly close: () => Promise<void> }> },
 * }} WorkerPackage
 * @typedef {{
 *   readonly Connection: { readonly connect: (options: object) => Promise<unknown> },
 *   readonly Client: new (options: object) => { readonly workflow: WorkflowClient },
 * }} ClientPackage
 * @typedef {{
 *   readonly execute: (name: string, options: object) => Promise<unknown>,
 *   readonly getHandle: (workflowId: string) => { readonly result: () => Promise<unknown> },
 * }} WorkflowClient
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
const { installTemporal, requireIn } =
  /** @type {typeof import('../test/engines/temporal/find-temporal.ts')} */ (
    await load('test/engines/temporal/find-temporal.ts')
  );
const { bundleForTemporal } = /** @type {typeof import('../test/engines/temporal/bundle.ts')} */ (
  await load('test/engines/temporal/bundle.ts')
);
const { startServer } = /** @type {typeof import('../test/engines/temporal/server/start-server.ts')} */ (
  await load('test/engines/temporal/server/start-server.ts')
);
const { programs } = /** @type {typeof import('../test/engines/temporal/programs.ts')} */ (
  await load('test/engines/temporal/programs.ts')
);
const { temporal } = /** @type {typeof import('../src/engines/temporal/index.ts')} */ (
  await load('src/engines/temporal/index.ts')
);
const { systemClock } = /** @type {typeof import('../src/base/system.ts')} */ (
  await load('src/base/system.ts')
);

const packages = installTemporal(path.resolve('test/engines/temporal'));
const stub = path.resolve('test/engines/temporal/sandbox-node.ts');
const { code } = await bundleForTemporal(packages, {
  entry: path.resolve('bench/temporal-workflow.mjs'),
  alias: { 'node:timers/promises': stub, 'node:util': stub },
});
const given = process.env['TEMPORAL_ADDRESS'];
const server = given === undefined ? await startServer(packages) : undefined;
const address = server?.address ?? String(given);
try {
  const engine = await temporal({ address, packagesFrom: packages, workflowBundle: { code } })(setup());
  const client = await openClient();
  const contestants = { 'bare activities': await bare(client), Rerail: ours(engine, client) };
  console.log(
    `${given === undefined ? 'A simulated server' : given}, SDK 1.24, Node ${process.versions.node}`,
  );
  await compare(contestants, { together: 1, steps: isQuick ? 50 : 150 });
  await compare(contestants, { together: 64, steps: isQuick ? 5 : 15 });
} finally {
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

/** @returns {Promise<WorkflowClient>} */
async function openClient() {
  const { Connection, Client } = /** @type {ClientPackage} */ (requireIn(packages)('@temporalio/client'));
  return new Client({ connection: await Connection.connect({ address }) }).workflow;
}

/**
 * A workflow of somebody who knows nothing of Rerail, with a worker of its own.
 *
 * @param {WorkflowClient} client
 * @returns {Promise<Contestant>}
 */
async function bare(client) {
  const { Worker, NativeConnection } = /** @type {WorkerPackage} */ (
    requireIn(packages)('@temporalio/worker')
  );
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue: 'bare',
    workflowBundle: { code },
    activities: {
      /** @param {{ readonly runId: string, readonly step: number }} asked */
      bareStep: async ({ runId, step }) => {
        stamp(runId);
        return step;
      },
    },
  });
  void worker.run();
  return (runId, steps) =>
    client.execute('bareSteps', { taskQueue: 'bare', workflowId: `bare-${runId}`, args: [steps, runId] });
}

/** @returns {EngineSetup} */
function setup() {
  return {
    name: 'bench',
    version: '1',
    clock: systemClock,
    program: programs.steps,
    facts: () => ({ program: 'steps' }),
    effects: {
      effect: (input, { runId }) => {
        stamp(runId);
        return { type: 'done', value: input };
      },
    },
  };
}

/**
 * @param {Awaited<ReturnType<ReturnType<typeof temporal>>>} engine
 * @param {WorkflowClient} client
 * @returns {Contestant}
 */
function ours(engine, client) {
  return async (runId, steps) => {
    await engine.start({ count: steps }, { runId, version: '1' });
    // Waited for as the bare one is: a status that is asked while the run ends is answered by a replay of all its steps, and that would
    // be charged to the steps of the runs beside it.
    await client.getHandle(`rerail:bench:${runId}`).result();
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
      await Promise.all(Array.from({ length: together }, () => contestant(`run-${(runs += 1)}`, steps)));
      // The first round warms up.
      if (round > 0) measured.get(name)?.push(measure());
    }
  }
  report(measured, { together, steps });
}

/** @returns {Measured} */
function measure() {
  const gapsMs = [...stamps.values()].flatMap((times) =>
    times.slice(1).map((time, index) => time - Number(times[index])),
  );
  const all = [...stamps.values()].flat();
  const seconds = (Math.max(...all) - Math.min(...all)) / 1000;
  return { gapsMs: gapsMs.toSorted((a, b) => a - b), stepsPerSecond: all.length / seconds };
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
  }));
  const bareMs = Number(figures[0]?.medianMs);
  printTable(`${together} ${together === 1 ? 'run' : 'runs'} of ${steps} steps`, {
    columns: ['a step', 'p99', 'steps/s', 'of bare'],
    rows: figures.map(({ name, medianMs, p99Ms, stepsPerSecond }) => [
      name,
      `${medianMs.toFixed(2)} ms`,
      `${p99Ms.toFixed(2)} ms`,
      stepsPerSecond.toFixed(0),
      ratio(medianMs / bareMs),
    ]),
  });
  const ofBare = Number(figures[1]?.medianMs) / bareMs;
  if (!(ofBare <= most))
    broken.push(`a step with ${together} at once, of a bare one: ${ofBare.toFixed(2)}, at most ${most}`);
}
