// Steps of the engine on Restate beside Restate's own bare steps, by turns: npm run bench:restate. With --check it fails where a
// step takes more than 1.25 times as long; --quick takes less time.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http2';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * @typedef {{ readonly run: (name: string, act: () => Promise<number>) => Promise<number> }} Context
 * @typedef {{
 *   readonly service: (definition: object) => unknown,
 *   readonly createEndpointHandler: (options: object) => import('../src/engines/restate/index.ts').RequestHandler,
 * }} Sdk
 * @typedef {{ readonly gapsMs: readonly number[], readonly stepsPerSecond: number, readonly cpuUs: number }} Measured
 * @typedef {(runs: number, steps: number) => Promise<void>} Contestant
 */

const isQuick = process.argv.includes('--quick');
const rounds = isQuick ? 3 : 9;
const most = 1.25;
const cache = path.resolve('node_modules/.cache');
await mkdir(cache, { recursive: true });
const folder = await mkdtemp(path.join(cache, 'bench-'));
const { freePort, startRestate } = /** @type {typeof import('../test/engines/restate/server.ts')} */ (
  await load('test/engines/restate/server.ts')
);
const { installRestate } = /** @type {typeof import('../test/engines/restate/install.ts')} */ (
  await load('test/engines/restate/install.ts')
);
const { restate } = /** @type {typeof import('../src/engines/restate/index.ts')} */ (
  await load('src/engines/restate/index.ts')
);
const { systemClock } = /** @type {typeof import('../src/base/system.ts')} */ (
  await load('src/base/system.ts')
);
const sdk = /** @type {Sdk} */ (installRestate().sdk);
const server = await startRestate();
/** When the steps of each run began. @type {Map<string, number[]>} */
const stamps = new Map();
let turns = 0;
let gate = createGate(0, 0);

try {
  const contestants = {
    'bare ctx.run': await bare(),
    // As a tool is called. What is compared hears no signals either.
    Rerail: await ours('tools', { isDeaf: true }),
    // As a model is called, which may be told something meanwhile.
    'hears signals': await ours('models', {}),
  };
  let isHeld = true;
  for (const [runs, steps] of /** @type {const} */ ([
    [1, isQuick ? 200 : 500],
    [64, isQuick ? 100 : 200],
  ])) {
    const measured = await takeTurns(contestants, runs, steps);
    isHeld = print(measured, runs, steps) && isHeld;
  }
  if (process.argv.includes('--check') && !isHeld) process.exitCode = 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();

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
  const name = `${path.basename(path.dirname(file))}-${path.basename(file, '.ts')}.js`;
  await bundler.write({ dir: folder, format: 'esm', entryFileNames: name });
  await bundler.close();
  return import(pathToFileURL(path.join(folder, name)).href);
}

/** @returns {Promise<Contestant>} */
async function bare() {
  const service = sdk.service({
    name: 'bare',
    handlers: {
      go: async (
        /** @type {Context} */ context,
        /** @type {{ runId: string, steps: number }} */ { runId, steps },
      ) => {
        for (let step = 0; step < steps; step += 1)
          await context.run('step', async () => {
            await stamp(runId);
            return step;
          });
      },
    },
  });
  const handler = sdk.createEndpointHandler({ services: [service], logger: () => undefined });
  const port = await freePort();
  createServer(handler).listen(port, '127.0.0.1');
  await post(`${server.adminUrl}/deployments`, { uri: `http://127.0.0.1:${port}` });
  return (runs, steps) =>
    each(runs, (runId) => post(`${server.ingressUrl}/bare/go`, { runId, steps: steps + 1 }));
}

/**
 * @param {string} name
 * @param {import('../src/runtime/record/durable.ts').DurableCallOptions} options
 * @returns {Promise<Contestant>}
 */
async function ours(name, options) {
  const { ingressUrl, adminUrl } = server;
  const port = await freePort();
  const engine = await restate({ ingressUrl, adminUrl, serve: { port }, sdk })({
    name,
    version: '1',
    clock: systemClock,
    program: async (durable, input) => {
      for (let step = 0; step < Number(input); step += 1) await durable.call('step', step, options);
      return null;
    },
    effects: {
      step: async (input, { runId }) => {
        await stamp(runId);
        return { type: 'done', value: input };
      },
    },
  });
  return (runs, steps) =>
    each(runs, async (runId) => {
      await engine.start(steps + 1, { runId, version: '1' });
      // Whoever asks takes the worker's time, so nobody asks before the steps of all runs are done.
      await gate.finished;
      while ((await engine.status(runId)).type !== 'ended') await sleep(50);
    });
}

/**
 * @param {number} runs
 * @param {(runId: string) => Promise<unknown>} act
 */
async function each(runs, act) {
  turns += 1;
  await Promise.all(Array.from({ length: runs }, (_, index) => act(`${turns}-${index}`)));
}

/**
 * Notes when a step begins. The first one of each run waits for those of all others, so that what it takes to begin a run is not
 * taken for the time of a step.
 *
 * @param {string} runId
 */
function stamp(runId) {
  const known = stamps.get(runId);
  if (known === undefined) {
    stamps.set(runId, []);
    if (stamps.size === gate.runs) gate.open();
    return gate.opened;
  }
  known.push(performance.now());
  if (known.length === gate.steps) gate.finishOne();
  return undefined;
}

/**
 * Opens when all runs have begun, and is finished when all have taken their steps.
 *
 * @param {number} runs
 * @param {number} steps
 */
function createGate(runs, steps) {
  /** @type {() => void} */
  let open = () => undefined;
  const opened = /** @type {Promise<void>} */ (new Promise((resolve) => (open = resolve)));
  /** @type {() => void} */
  let finish = () => undefined;
  const finished = /** @type {Promise<void>} */ (new Promise((resolve) => (finish = resolve)));
  let left = runs;
  const finishOne = () => {
    left -= 1;
    if (left === 0) finish();
  };
  return { runs, steps, opened, open, finished, finishOne };
}

/**
 * @param {Record<string, Contestant>} contestants
 * @param {number} runs
 * @param {number} steps
 */
async function takeTurns(contestants, runs, steps) {
  /** @type {Record<string, Measured[]>} */
  const measured = {};
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, contestant] of Object.entries(contestants)) {
      stamps.clear();
      gate = createGate(runs, steps);
      const before = process.cpuUsage();
      await contestant(runs, steps);
      const { user, system } = process.cpuUsage(before);
      // The first round warms up.
      if (round > 0) (measured[name] ??= []).push({ ...measure(), cpuUs: (user + system) / (runs * steps) });
    }
  }
  return measured;
}

/** @returns {Omit<Measured, 'cpuUs'>} */
function measure() {
  const all = [...stamps.values()];
  const gapsMs = all.flatMap((times) => times.slice(1).map((time, index) => time - (times[index] ?? time)));
  const flat = all.flat();
  const tookMs = flat.reduce((a, b) => Math.max(a, b)) - flat.reduce((a, b) => Math.min(a, b));
  return { gapsMs, stepsPerSecond: (flat.length / tookMs) * 1000 };
}

/**
 * @param {Record<string, Measured[]>} measured
 * @param {number} runs
 * @param {number} steps
 */
function print(measured, runs, steps) {
  console.log(`\n${runs} ${runs === 1 ? 'run' : 'runs'} of ${steps} steps, ${rounds} rounds by turns`);
  const medians = Object.entries(measured).map(([name, all]) => {
    const gaps = all.flatMap(({ gapsMs }) => gapsMs);
    const median = at(gaps, 0.5);
    const rate = at(
      all.map(({ stepsPerSecond }) => stepsPerSecond),
      0.5,
    );
    const cpuUs = at(
      all.map((round) => round.cpuUs),
      0.5,
    );
    console.log(
      `  ${name.padEnd(14)} median ${median.toFixed(2)} ms, p99 ${at(gaps, 0.99).toFixed(2)} ms, ${rate.toFixed(0)} steps/s, ${cpuUs.toFixed(0)} µs of CPU a step`,
    );
    return median;
  });
  const [base = Number.NaN, own = Number.NaN, hearing = Number.NaN] = medians;
  console.log(`  a step takes ${(own / base).toFixed(2)} times as long, at most ${most} is allowed`);
  console.log(`  one that hears signals ${(hearing / base).toFixed(2)} times`);
  return own / base <= most;
}

/**
 * @param {readonly number[]} values
 * @param {number} share
 */
function at(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * @param {string} url
 * @param {unknown} body
 */
async function post(url, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}
