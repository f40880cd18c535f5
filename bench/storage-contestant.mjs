// One contestant of bench/storage.mjs, in a process of its own.
import path from 'node:path';
import { answer, lookUp, prompt } from './agent-task.mjs';
import { dieLate, measureList, measureResume, measureSize } from './storage-long.mjs';
import { cpuUs, median, openPlainFile } from './storage-report.mjs';

const [, , name = '', serverPort = '', folder = ''] = process.argv;

/** @param {string} label */
const fresh = (label) => path.join(folder, `${label}-${process.pid}-${performance.now().toFixed(3)}.db`);

/**
 * Each loads what it needs and nothing of the others.
 *
 * @type {Record<string, (task: { baseURL: string, turns: number }) => Promise<import('./agent-task.mjs').Run>>}
 */
const servedRuns = {
  'bare fetch': async (task) => madeBy((await import('./agent-bare.mjs')).bareFetch, task),
  'bare node:http': async (task) => madeBy((await import('./agent-bare.mjs')).bareHttp, task),
  'bare fetch, SQLite': async ({ baseURL }) => {
    const { askByFetch, createBareRun } = await import('./storage-bare.mjs');
    return createBareRun(askByFetch, { baseURL, file: fresh('served') });
  },
  'bare node:http, SQLite': async ({ baseURL }) => {
    const { askByHttp, createBareRun } = await import('./storage-bare.mjs');
    return createBareRun(askByHttp, { baseURL, file: fresh('served') });
  },
  Rerail: async (task) => madeBy((await import('./agent-rerail.mjs')).rerail, task),
  'Rerail, SQLite': async ({ baseURL }) =>
    (await import('./storage-rerail.mjs')).createKeptRun({ baseURL, file: fresh('served'), effect: 'read' }),
  'Rerail, SQLite, idempotent': async ({ baseURL }) =>
    (await import('./storage-rerail.mjs')).createKeptRun({
      baseURL,
      file: fresh('served'),
      effect: 'idempotent',
    }),
  'Rerail, SQLite, once': async ({ baseURL }) =>
    (await import('./storage-rerail.mjs')).createKeptRun({ baseURL, file: fresh('served'), effect: 'once' }),
};

/**
 * @param {import('./agent-task.mjs').Contestant} contestant
 * @param {{ baseURL: string, turns: number }} task
 */
async function madeBy({ served }, task) {
  if (served === undefined) throw new Error(`${name} asks no server`);
  return served(task);
}

/** @type {Promise<import('./agent-task.mjs').Run> | undefined} */
let servedRun;

/**
 * CPU and wall microseconds a turn, over whole conversations, one after the other.
 *
 * @param {{ turns: number, runs: number }} load
 */
async function measureServed({ turns, runs }) {
  const make = servedRuns[name];
  if (make === undefined) throw new Error(`There is no contestant "${name}"`);
  const run = await (servedRun ??= make({ baseURL: `http://127.0.0.1:${serverPort}/${turns}/0/v1`, turns }));
  const [before, startedMs] = [process.cpuUsage(), performance.now()];
  for (let count = 0; count < runs; count += 1) {
    const text = await run();
    if (text !== answer) throw new Error(`${name} gave another text: ${JSON.stringify(text)}`);
  }
  const wallUs = (performance.now() - startedMs) * 1000;
  return [cpuUs(before) / runs / turns, wallUs / runs / turns];
}

/**
 * The microseconds between two things that a durable step keeps apart: the model's answer and the tool, the tool's result and
 * the model. In between, the disk is asked the same by hand.
 *
 * @param {{ turns: number }} load
 */
async function measureStep({ turns }) {
  const plain = openPlainFile(`${fresh('plain')}.txt`);
  /** @type {number[]} */
  const disk = [];
  /** @type {number[]} */
  const steps = [];
  let leftMs = Number.NaN;
  const mark = () => {
    const stepUs = (performance.now() - leftMs) * 1000;
    if (!Number.isNaN(stepUs)) {
      steps.push(stepUs);
      disk.push(plain.append());
    }
    leftMs = performance.now();
  };
  const contestants = {
    Rerail: stepThrough,
    'a step of the port': stepThroughPort,
    'bare insert': insertSteps,
  };
  await contestants[/** @type {keyof typeof contestants} */ (name)](turns, mark);
  plain.close();
  return [
    median(steps),
    median(disk),
    median(steps.map((step, index) => step / (disk[index] ?? Number.NaN))),
  ];
}

/**
 * One file for all rounds, as a process that has been up for a while has it: a log that still grows takes longer to sync than one
 * that is written over.
 */
const stepFile = fresh('step');

/**
 * @param {number} turns
 * @param {() => void} mark
 */
async function stepThrough(turns, mark) {
  const { createKeptAgent, instantModel, textOf } = await import('./storage-rerail.mjs');
  onStep = mark;
  stepAgent ??= createKeptAgent({
    model: instantModel({ turns, onCall: () => onStep() }),
    file: stepFile,
    execute: (input) => {
      onStep();
      return lookUp(input);
    },
  }).agent;
  textOf(await stepAgent.run(prompt));
}

/**
 * The step alone: a program of calls on the engine, whose journal is in the store. The agent's own work is not in it.
 *
 * @param {number} turns
 * @param {() => void} mark
 */
async function stepThroughPort(turns, mark) {
  const { openPort } = await import('./storage-port.mjs');
  onStep = mark;
  port ??= openPort({ file: stepFile, value: stepBody, onStep: () => onStep() });
  await port.run(turns * 2);
}

/** @type {ReturnType<typeof import('./storage-port.mjs').openPort> | undefined} */
let port;

/** @type {() => void} */
let onStep = () => undefined;
/** @type {import('../dist/index.js').Agent | undefined} */
let stepAgent;

/**
 * @param {number} turns
 * @param {() => void} mark
 */
async function insertSteps(turns, mark) {
  const { openStepTable } = await import('./storage-bare.mjs');
  stepTable ??= openStepTable(stepFile);
  const run = crypto.randomUUID();
  for (let step = 0; step < turns * 2; step += 1) {
    mark();
    stepTable.keep(run, step, stepBody);
    await Promise.resolve();
  }
}

/** @type {ReturnType<typeof import('./storage-bare.mjs').openStepTable> | undefined} */
let stepTable;

/** As long as what an agent keeps of a model's call. */
const stepBody = { type: 'call', text: 'a'.repeat(900) };

/**
 * Durable steps a second of many runs at once: answers of the model and results of the tool.
 *
 * @param {{ turns: number, runs: number }} load
 */
async function measureMany(load) {
  if (name === 'disk') return measureDisk(2 * load.turns);
  return name === 'Rerail' ? runMany(load) : insertMany(load);
}

/** @param {number} count */
function measureDisk(count) {
  const plain = openPlainFile(`${fresh('plain')}.txt`);
  const startedMs = performance.now();
  for (let index = 0; index < count; index += 1) plain.append();
  const spentMs = performance.now() - startedMs;
  plain.close();
  return [(count / spentMs) * 1000, 0];
}

/** @param {{ turns: number, runs: number }} load */
async function runMany({ turns, runs }) {
  const { createKeptAgent, instantModel, textOf } = await import('./storage-rerail.mjs');
  const { agent, store } = createKeptAgent({ model: instantModel({ turns }), file: fresh('many') });
  await store.open();
  const [before, startedMs] = [process.cpuUsage(), performance.now()];
  const outcomes = await Promise.all(Array.from({ length: runs }, () => agent.run(prompt)));
  const [spentMs, spentUs] = [performance.now() - startedMs, cpuUs(before)];
  for (const outcome of outcomes) textOf(outcome);
  await store.close();
  const steps = runs * (2 * turns - 1);
  return [(steps / spentMs) * 1000, spentUs / steps];
}

/** One transaction for one step of each run: as well as a group commit can do. @param {{ turns: number, runs: number }} load */
async function insertMany({ turns, runs }) {
  const { openStepTable } = await import('./storage-bare.mjs');
  const table = openStepTable(fresh('many'));
  const [before, startedMs] = [process.cpuUsage(), performance.now()];
  for (let step = 0; step < 2 * turns - 1; step += 1) {
    table.keepAll(Array.from({ length: runs }, (_, run) => ({ run: `run ${run}`, step, body: stepBody })));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [spentMs, spentUs] = [performance.now() - startedMs, cpuUs(before)];
  table.close();
  const steps = runs * (2 * turns - 1);
  return [(steps / spentMs) * 1000, spentUs / steps];
}

/**
 * @typedef {{ type: 'served', turns: number, runs: number }
 *   | { type: 'step', turns: number }
 *   | { type: 'many', turns: number, runs: number }
 *   | { type: 'size', turns: number, textCharacters: number }
 *   | { type: 'die', calls: number, file: string }
 *   | { type: 'resume', file: string }
 *   | { type: 'list', runs: number }} Task
 */

/**
 * @param {Task} task
 * @returns {Promise<number[]>}
 */
async function perform(task) {
  switch (task.type) {
    case 'served':
      return measureServed(task);
    case 'step':
      return measureStep(task);
    case 'many':
      return measureMany(task);
    case 'size':
      return measureSize({ ...task, newFile: fresh('long') });
    case 'die':
      return dieLate(task);
    case 'resume':
      return measureResume({ ...task, newFile: fresh('long') });
    default:
      return measureList({ ...task, newFile: fresh('long') });
  }
}

process.on('message', (/** @type {Task} */ task) => {
  perform(task).then(
    (figures) => process.send?.(figures),
    (/** @type {unknown} */ error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
