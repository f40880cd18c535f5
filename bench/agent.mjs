// What a turn of an agent costs: npm run bench:agent, and npm run bench:peers for the other runtimes as well. Every contestant is a
// process of its own, they take turns, and the server is another one. With --check it fails where a bound does not hold.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** @typedef {import('./agent-contestant.mjs').Task} Task */

const wantsPeers = process.argv.includes('--peers');
const only = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length);
const isQuick = process.argv.includes('--quick');
const ours = ['Rerail', 'Rerail, stream()'];
const peers = ['AI SDK generateText', 'AI SDK streamText', 'OpenAI Agents', 'LangChain', 'Mastra'];

if (wantsPeers && !existsSync(new URL('peers/node_modules', import.meta.url))) {
  throw new Error('The peers are not installed: npm ci --prefix bench/peers');
}

/** @type {string[]} */
const broken = [];
const server = fork(new URL('agent-server.mjs', import.meta.url), { execArgv: [] });
const port = String((await once(server, 'message'))[0]);

const parts = { served, 'in-process': inProcess, many, import: importCost };
for (const [name, part] of Object.entries(parts)) if (only === undefined || only === name) await part();

server.kill();
if (broken.length > 0)
  console.log(`\nNot held here and now:\n${broken.map((line) => `- ${line}`).join('\n')}`);
if (process.argv.includes('--check') && broken.length > 0) process.exitCode = 1;

async function served() {
  const names = ['bare fetch', 'bare node:http', ...ours, ...(wantsPeers ? peers : [])];
  const turns = 5;
  const times = await takeTurns(names, {
    task: () => ({ type: 'served', turns, runs: isQuick ? 20 : 60 }),
    rounds: isQuick ? 3 : 15,
    // As a server that has been up for some minutes: whoever has more code takes longer to be compiled.
    warmUp: isQuick ? 10 : 30,
  });
  const [byFetch, byHttp] = [figure(times, 'bare fetch'), figure(times, 'bare node:http')];
  printTable(`A turn against a server that answers at once (conversations of ${turns} turns)`, {
    columns: ['CPU a turn', 'of fetch', 'of http'],
    rows: [...times].map(([name, [time = Number.NaN]]) => [
      name,
      microseconds(time),
      ratio(time / byFetch),
      ratio(time / byHttp),
    ]),
  });
  for (const name of ours) {
    bound(`${name}: CPU a turn, of bare fetch`, figure(times, name) / byFetch, 0.8);
    bound(`${name}: CPU a turn, of bare node:http`, figure(times, name) / byHttp, 1.5);
  }
}

async function inProcess() {
  const mine = ['bare loop', 'Rerail', 'Rerail, watched model'];
  const names = [...mine, ...(wantsPeers ? peers : [])];
  const short = await takeTurns(names, {
    // As much work for the compiler, whoever takes longer: what is fast needs more of it to be warm.
    task: (name) => ({ type: 'in-process', turns: 5, runs: peers.includes(name) ? 50 : 1000 }),
    rounds: isQuick ? 3 : 15,
  });
  /** @type {[number, number][]} */
  const windows = [
    [25, 75],
    [350, 400],
  ];
  /** @type {[number, number]} */
  const late = [950, 1050];
  const rounds = isQuick ? 3 : 7;
  const long = await takeTurns(names, {
    task: (name) => ({ type: 'windows', turns: 410, windows, repeat: peers.includes(name) ? 1 : 20 }),
    rounds,
  });
  const longest = await takeTurns(mine, {
    task: () => ({ type: 'windows', turns: 1060, windows: [...windows, late], repeat: 20 }),
    rounds,
  });
  printTable('A turn with a model in the process, no sockets', {
    columns: ['in 5 turns', 'turn 50', 'turn 375', 'growth', 'turn 1000', 'growth'],
    rows: names.map((name) => {
      const [atFifty = Number.NaN, atHundreds = Number.NaN] = long.get(name) ?? [];
      const [atFiftyAgain = Number.NaN, , atThousand] = longest.get(name) ?? [];
      return [
        name,
        microseconds(figure(short, name)),
        microseconds(atFifty),
        microseconds(atHundreds),
        ratio(atHundreds / atFifty),
        atThousand === undefined ? '' : microseconds(atThousand),
        atThousand === undefined ? '' : ratio(atThousand / atFiftyAgain),
      ];
    }),
  });
  for (const name of ['Rerail', 'Rerail, watched model']) {
    const [atFifty = Number.NaN, , atThousand = Number.NaN] = longest.get(name) ?? [];
    bound(`${name}: µs a turn in conversations of 5`, figure(short, name), 100);
    bound(`${name}: µs a turn around turn 50`, atFifty, 100);
    bound(`${name}: turn 1000 of turn 50`, atThousand / atFifty, 1.2);
  }
}

async function many() {
  const names = ['bare fetch', 'bare node:http', ...ours, ...(wantsPeers ? peers : [])];
  const [runs, turns, latencyMs] = [1000, 5, 50];
  const rounds = isQuick ? 1 : 5;
  /** @type {Map<string, number[][]>} */
  const figures = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const child = await start(name);
      if (child === undefined) continue;
      const found = await ask(child, { type: 'many', runs, turns, latencyMs });
      if (found !== undefined) figures.get(name)?.push(found);
      child.kill();
    }
  }
  const medians = new Map([...figures].map(([name, list]) => [name, medianOfEach(list)]));
  const [wall = Number.NaN, memory = Number.NaN] = medians.get('bare fetch') ?? [];
  printTable(
    `${runs} conversations of ${turns} turns at once, ${latencyMs} ms of latency, a fresh process each`,
    {
      columns: ['wall time', 'of fetch', 'peak RSS', 'of fetch', 'CPU'],
      rows: [...medians].map(([name, [wallMs = Number.NaN, peakMb = Number.NaN, cpuMs = Number.NaN]]) => [
        name,
        `${wallMs.toFixed(0)} ms`,
        ratio(wallMs / wall),
        `${peakMb.toFixed(0)} MB`,
        ratio(peakMb / memory),
        `${cpuMs.toFixed(0)} ms`,
      ]),
    },
  );
  for (const name of ours) {
    const [wallMs = Number.NaN, peakMb = Number.NaN] = medians.get(name) ?? [];
    bound(`${name}: wall time of many, of bare fetch`, wallMs / wall, 1);
    bound(`${name}: peak memory of many, of bare fetch`, peakMb / memory, 1);
  }
}

async function importCost() {
  const rounds = isQuick ? 3 : 10;
  /** @type {number[]} */
  const empty = [];
  /** @type {number[]} */
  const loaded = [];
  for (let round = 0; round < rounds; round += 1) {
    empty.push(await processCpuMs([]));
    loaded.push(await processCpuMs([new URL('../dist/index.js', import.meta.url).href]));
  }
  const cost = median(loaded) - median(empty);
  printTable("CPU of import 'rerail' in a fresh process", {
    columns: ['CPU'],
    rows: [
      ['an empty process', `${median(empty).toFixed(1)} ms`],
      ["with import 'rerail'", `${median(loaded).toFixed(1)} ms`],
      ['the import', `${cost.toFixed(1)} ms`],
    ],
  });
  bound('ms of CPU to import it', cost, 60);
}

/**
 * @param {readonly string[]} given
 * @returns {Promise<number>}
 */
async function processCpuMs(given) {
  const child = fork(new URL('agent-import.mjs', import.meta.url), given, { execArgv: [] });
  const cpuMs = Number((await once(child, 'message'))[0]);
  child.kill();
  return cpuMs;
}

/**
 * Medians over the rounds; contestants take turns, so that a slow minute hits all.
 *
 * @param {readonly string[]} names
 * @param {{ task: (name: string) => Task, rounds: number, warmUp?: number }} load
 */
async function takeTurns(names, { task, rounds, warmUp = 2 }) {
  /** @type {Map<string, { child: import('node:child_process').ChildProcess, figures: number[][] }>} */
  const started = new Map();
  for (const name of names) {
    const child = await start(name);
    if (child !== undefined) started.set(name, { child, figures: [] });
  }
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, { child, figures }] of started) {
      const found = await ask(child, task(name));
      if (found === undefined) started.delete(name);
      // The first rounds warm up.
      else if (round >= 0) figures.push(found);
    }
  }
  for (const { child } of started.values()) child.kill();
  return new Map([...started].map(([name, { figures }]) => [name, medianOfEach(figures)]));
}

/** @param {string} name */
async function start(name) {
  const child = fork(new URL('agent-contestant.mjs', import.meta.url), [name, port], { execArgv: [] });
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (child.exitCode === null) return child;
  broken.push(`${name}: could not be started`);
  return undefined;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {Task} task
 * @returns {Promise<number[] | undefined>} nothing where it gave up, which it has said itself
 */
async function ask(child, task) {
  const over = new AbortController();
  const { signal } = over;
  child.send(task);
  try {
    const ended = once(child, 'exit', { signal });
    const [figures] = /** @type {[number[] | number | null]} */ (
      await Promise.race([once(child, 'message', { signal }), ended])
    );
    if (Array.isArray(figures)) return figures;
    broken.push(`${child.spawnargs.at(-2)}: gave up at ${JSON.stringify(task)}`);
    return undefined;
  } finally {
    over.abort();
  }
}

/** @param {readonly (readonly number[])[]} rounds */
function medianOfEach(rounds) {
  return (rounds[0] ?? []).map((_, index) => median(rounds.map((figures) => figures[index] ?? Number.NaN)));
}

/** @param {readonly number[]} list */
function median(list) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}

/**
 * @param {ReadonlyMap<string, readonly number[]>} times
 * @param {string} name
 */
function figure(times, name) {
  return times.get(name)?.[0] ?? Number.NaN;
}

/** @param {number} time */
function microseconds(time) {
  return time > 10_000 ? `${(time / 1000).toFixed(1)} ms` : `${time.toFixed(time < 10 ? 1 : 0)} µs`;
}

/** @param {number} value */
function ratio(value) {
  return value.toFixed(2);
}

/**
 * @param {string} title
 * @param {{ columns: readonly string[], rows: readonly (readonly string[])[] }} table
 */
function printTable(title, { columns, rows }) {
  console.log(`\n${title}`);
  for (const [name = '', ...cells] of [['', ...columns], ...rows]) {
    console.log(name.padEnd(26) + cells.map((cell) => cell.padStart(12)).join(''));
  }
}

/**
 * @param {string} what
 * @param {number} value
 * @param {number} most
 */
function bound(what, value, most) {
  const isHeld = value <= most;
  console.log(`${isHeld ? '✓' : '✗'} ${what}: ${value.toFixed(2)}, at most ${most}`);
  if (!isHeld) broken.push(`${what}: ${value.toFixed(2)}, at most ${most}`);
}
