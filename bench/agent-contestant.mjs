// One contestant of bench/agent.mjs, in a process of its own: another library's garbage and types must not slow it down.
import { answer } from './agent-task.mjs';

const [, , name = '', port = ''] = process.argv;

/**
 * Each loads what it needs and nothing of the others.
 *
 * @type {Record<string, () => Promise<import('./agent-task.mjs').Contestant>>}
 */
const contestants = {
  'bare fetch': async () => (await import('./agent-bare.mjs')).bareFetch,
  'bare node:http': async () => (await import('./agent-bare.mjs')).bareHttp,
  'bare loop': async () => (await import('./agent-bare.mjs')).bareLoop,
  Rerail: async () => (await import('./agent-rerail.mjs')).rerail,
  'Rerail, stream()': async () => (await import('./agent-rerail.mjs')).rerailStream,
  'Rerail, watched model': async () => (await import('./agent-rerail.mjs')).rerailGuarded,
  'AI SDK generateText': async () => (await import('./peers/ai-sdk.mjs')).generate,
  'AI SDK streamText': async () => (await import('./peers/ai-sdk.mjs')).stream,
  'OpenAI Agents': async () => (await import('./peers/openai-agents.mjs')).openaiAgents,
  LangChain: async () => (await import('./peers/langchain.mjs')).langchain,
  Mastra: async () => (await import('./peers/mastra.mjs')).mastra,
};
const contestant = await contestants[name]?.();
if (contestant === undefined) throw new Error(`There is no contestant "${name}"`);
const { served, inProcess } = contestant;

/** @type {Map<string, Promise<import('./agent-task.mjs').Run>>} */
const made = new Map();

/**
 * @param {string} id
 * @param {() => Promise<import('./agent-task.mjs').Run> | import('./agent-task.mjs').Run} make
 */
function once(id, make) {
  const known = made.get(id) ?? Promise.resolve(make());
  made.set(id, known);
  return known;
}

/** @param {{ turns: number, latencyMs: number }} task */
function servedRun({ turns, latencyMs }) {
  if (served === undefined) throw new Error(`${name} asks no server`);
  return once(`served ${turns} ${latencyMs}`, () =>
    served({ baseURL: `http://127.0.0.1:${port}/${turns}/${latencyMs}/v1`, turns }),
  );
}

/** @type {(turn: number) => void} */
let onTurn = () => undefined;

/** @param {number} turns */
function inProcessRun(turns) {
  if (inProcess === undefined) throw new Error(`${name} has no model in the process`);
  return once(`in process ${turns}`, () => inProcess({ turns, onTurn: (turn) => onTurn(turn) }));
}

/** @param {import('./agent-task.mjs').Run} run */
async function check(run) {
  const text = await run();
  if (text !== answer) throw new Error(`${name} gave another text: ${JSON.stringify(text)}`);
}

/** @param {NodeJS.CpuUsage} [before] */
function cpuUs(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * CPU microseconds per turn over whole conversations, one after the other.
 *
 * @param {import('./agent-task.mjs').Run} run
 * @param {{ turns: number, runs: number }} load
 */
async function measure(run, { turns, runs }) {
  const before = process.cpuUsage();
  for (let count = 0; count < runs; count += 1) await check(run);
  return cpuUs(before) / runs / turns;
}

/**
 * CPU microseconds per turn inside each window of a long conversation: the median of so many conversations.
 *
 * @param {{ turns: number, windows: readonly (readonly [number, number])[], repeat: number }} load
 */
async function measureWindows({ turns, windows, repeat }) {
  const run = await inProcessRun(turns);
  /** @type {number[][]} */
  const figures = windows.map(() => []);
  for (let count = 0; count < repeat; count += 1) {
    /** @type {Map<number, number>} */
    const marks = new Map(windows.flat().map((turn) => [turn, Number.NaN]));
    onTurn = (turn) => {
      if (marks.has(turn)) marks.set(turn, cpuUs());
    };
    await check(run);
    for (const [index, [from, to]] of windows.entries()) {
      const spent = (marks.get(to) ?? Number.NaN) - (marks.get(from) ?? Number.NaN);
      figures[index]?.push(spent / (to - from));
    }
  }
  onTurn = () => undefined;
  return figures.map((list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN);
}

/**
 * Many conversations at once. One goes before them, so that what is loaded late is loaded.
 *
 * @param {{ turns: number, latencyMs: number, runs: number }} load
 */
async function measureMany({ turns, latencyMs, runs }) {
  const run = await servedRun({ turns, latencyMs });
  await check(run);
  const startedMs = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: runs }, () => check(run)));
  return [performance.now() - startedMs, process.resourceUsage().maxRSS / 1024, cpuUs(before) / 1000];
}

/**
 * @typedef {{ type: 'served', turns: number, runs: number }
 *   | { type: 'in-process', turns: number, runs: number }
 *   | { type: 'windows', turns: number, windows: [number, number][], repeat: number }
 *   | { type: 'many', turns: number, latencyMs: number, runs: number }} Task
 */

/**
 * @param {Task} task
 * @returns {Promise<number[]>}
 */
async function perform(task) {
  switch (task.type) {
    case 'served':
      return [await measure(await servedRun({ ...task, latencyMs: 0 }), task)];
    case 'in-process':
      return [await measure(await inProcessRun(task.turns), task)];
    case 'windows':
      return measureWindows(task);
    default:
      return measureMany(task);
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
