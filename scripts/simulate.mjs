// Runs the deterministic simulation: `npm run simulate -- --seed 17` shows one run, without arguments it is the gate's.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { simulateCommand, simulateRuns } from '../dist/sim/command.js';

/**
 * @typedef {import('../dist/sim/command.js').SeedRange} SeedRange
 * @typedef {import('../dist/sim/command.js').Simulation} Simulation
 */

// Nobody looks at where errors were made here, and to find it out is a good part of what they cost.
Error.stackTraceLimit = 0;

const workers = Math.min(availableParallelism(), 8);

if (isMainThread) await main();
else {
  parentPort?.on('message', (/** @type {SeedRange} */ range) => {
    void simulateRuns(range).then((part) => parentPort?.postMessage(part));
  });
}

async function main() {
  /** @type {Worker[]} */
  const idle = [];
  /** @type {Worker[]} */
  const all = [];
  process.exitCode = await simulateCommand(process.argv.slice(2), {
    write: (line) => console.log(line),
    nowMs: () => performance.now(),
    workers,
    simulate: async (range) => {
      const worker = idle.pop() ?? startWorker();
      worker.postMessage(range);
      const [part] = /** @type {[Simulation]} */ (await once(worker, 'message'));
      idle.push(worker);
      return part;
    },
  });
  for (const worker of all) worker.unref();

  function startWorker() {
    // A run leaves much behind and keeps nothing: a larger nursery is swept less often.
    const worker = new Worker(new URL(import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 256 },
    });
    all.push(worker);
    return worker;
  }
}
