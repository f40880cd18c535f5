// What it costs to keep runs in SQLite: npm run bench:storage. Every contestant is a process of its own, they take turns, and the disk
// is measured beside them. With --check it fails where a bound does not hold; --only=PART takes one part, --dir=FOLDER another disk.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileSystemOf, medianOfEach, microseconds, printTable, ratio } from './storage-report.mjs';

/** @typedef {import('./storage-contestant.mjs').Task} Task */

const only = valueOf('--only=');
const isQuick = process.argv.includes('--quick');
const folder = mkdtempSync(path.join(valueOf('--dir=') ?? tmpdir(), 'rerail-bench-'));

/** @type {string[]} */
const broken = [];
const server = fork(new URL('agent-server.mjs', import.meta.url), { execArgv: [] });
const port = String((await once(server, 'message'))[0]);
const parts = { served, step, many, size, resume, list };

try {
  console.log(`On ${fileSystemOf(folder)}, Node ${process.versions.node}`);
  for (const [name, part] of Object.entries(parts)) if (only === undefined || only === name) await part();
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
if (broken.length > 0)
  console.log(`\nNot held here and now:\n${broken.map((line) => `- ${line}`).join('\n')}`);
if (process.argv.includes('--check') && broken.length > 0) process.exitCode = 1;

async function served() {
  const names = [
    'bare fetch',
    'bare fetch, SQLite',
    'bare node:http',
    'bare node:http, SQLite',
    'Rerail',
    'Rerail, SQLite',
    'Rerail, SQLite, idempotent',
    'Rerail, SQLite, once',
  ];
  const turns = 5;
  const times = await takeTurns(names, {
    task: { type: 'served', turns, runs: isQuick ? 20 : 60 },
    rounds: isQuick ? 3 : 15,
    warmUp: isQuick ? 10 : 30,
  });
  const [byFetch, byHttp] = [figure(times, 'bare fetch, SQLite'), figure(times, 'bare node:http, SQLite')];
  printTable(`A turn against a server that answers at once (conversations of ${turns} turns)`, {
    columns: ['CPU a turn', 'of fetch+SQL', 'of http+SQL', 'wall a turn'],
    rows: [...times].map(([name, [time = Number.NaN, wall = Number.NaN]]) => [
      name,
      microseconds(time),
      ratio(time / byFetch),
      ratio(time / byHttp),
      microseconds(wall),
    ]),
  });
  const ours = figure(times, 'Rerail, SQLite');
  bound('CPU a turn with SQLite, of bare node:http with SQLite', ours / byHttp, { most: 1.5 });
}

async function step() {
  const names = ['bare insert', 'a step of the port', 'Rerail'];
  const times = await takeTurns(names, {
    task: { type: 'step', turns: 300 },
    rounds: isQuick ? 3 : 7,
    // Until the log of the store is as long as it gets.
    warmUp: isQuick ? 6 : 8,
  });
  printTable('A lone durable step, beside one small append with fdatasync to a plain file', {
    columns: ['a step', 'fdatasync', 'step/fdatasync', 'of pairs'],
    rows: [...times].map(([name, [stepUs = Number.NaN, diskUs = Number.NaN, pairs = Number.NaN]]) => [
      name,
      microseconds(stepUs),
      microseconds(diskUs),
      ratio(stepUs / diskUs),
      ratio(pairs),
    ]),
  });
  const [stepUs = Number.NaN, diskUs = Number.NaN] = times.get('a step of the port') ?? [];
  bound('A lone step, of one fdatasync', stepUs / diskUs, { most: 1.5 });
  console.log(
    '"Rerail" is from the answer of a model to its tool, or back: a step, and what an agent does between the two.',
  );
}

async function many() {
  const runs = 64;
  const times = await takeTurns(['disk', 'bare group commit', 'Rerail'], {
    task: { type: 'many', turns: isQuick ? 50 : 100, runs },
    rounds: isQuick ? 3 : 9,
    warmUp: 1,
  });
  const syncs = figure(times, 'disk');
  const limit = syncs * runs;
  printTable(`${runs} runs at once`, {
    columns: ['steps/s', 'of the disk', 'CPU a step'],
    rows: [
      ['one fdatasync at a time', syncs.toFixed(0), '', ''],
      [`the disk, ${runs} a sync`, limit.toFixed(0), '1.00', ''],
      ...['bare group commit', 'Rerail'].map((name) => {
        const [steps = Number.NaN, us = Number.NaN] = times.get(name) ?? [];
        return [name, steps.toFixed(0), ratio(steps / limit), microseconds(us)];
      }),
    ],
  });
  const least = 5000;
  if (limit < least)
    console.log(`This disk allows ${limit.toFixed(0)} steps a second: the bound is not asked for`);
  else bound('Durable steps a second', figure(times, 'Rerail'), { least });
}

async function size() {
  const textCharacters = 500;
  /** @type {Map<number, readonly number[]>} */
  const sizes = new Map();
  for (const turns of [0, 100, 250, 500, 1000]) {
    sizes.set(turns, await fromFresh('Rerail', { type: 'size', turns, textCharacters }));
  }
  const [empty = 0] = sizes.get(0) ?? [];
  /** @param {number} turns */
  const perTurn = (turns) => {
    const [fileBytes = Number.NaN, bodyBytes = Number.NaN] = sizes.get(turns) ?? [];
    return { file: (fileBytes - empty) / turns, bodies: bodyBytes / turns };
  };
  printTable(`A growing conversation, ${textCharacters} characters in each answer and each result`, {
    columns: ['events', 'the file', 'a turn', 'the events', 'a turn'],
    rows: [...sizes].map(([turns, [fileBytes = Number.NaN, bodyBytes = Number.NaN, events = Number.NaN]]) => [
      turns === 0 ? 'an empty store' : `${turns} calls of the model`,
      String(events),
      `${(fileBytes / 1024).toFixed(0)} KB`,
      turns === 0 ? '' : `${perTurn(turns).file.toFixed(0)} B`,
      `${(bodyBytes / 1024).toFixed(0)} KB`,
      turns === 0 ? '' : `${perTurn(turns).bodies.toFixed(0)} B`,
    ]),
  });
  const [early, late] = [perTurn(250), perTurn(1000)];
  bound('Bytes a turn in the file, 1,000 of 250', late.file / early.file, { most: 1.2 });
  bound('Bytes a turn in the events, 1,000 of 250', late.bodies / early.bodies, { most: 1.2 });
}

async function resume() {
  const file = path.join(folder, 'died.db');
  const dying = await start('Rerail');
  // More than 10,000 events, and most of a generation, which is what must be gone through again.
  dying.send({ type: 'die', calls: 5450, file });
  await once(dying, 'exit');
  /** @type {number[][]} */
  const found = [];
  for (let round = 0; round < (isQuick ? 3 : 9); round += 1) {
    found.push(await fromFresh('Rerail', { type: 'resume', file }));
  }
  const [askedMs = Number.NaN, wallMs = Number.NaN, cpuMs = Number.NaN, ...rest] = medianOfEach(found);
  const [events = Number.NaN, replayed = Number.NaN, allMs = Number.NaN] = rest;
  const rows = /** @type {const} */ ([
    ['until the model is asked', askedMs],
    ['until the end', wallMs],
    ['CPU until the end', cpuMs],
    ['all events, read and checked', allMs],
  ]);
  printTable(
    `Resume in a fresh process of a run killed with ${events} events, ${replayed} in its generation`,
    {
      columns: ['time', 'an event'],
      rows: rows.map(([name, ms]) => [name, `${ms.toFixed(0)} ms`, microseconds((ms * 1000) / events)]),
    },
  );
  bound('Seconds to resume', wallMs / 1000, { most: 1 });
  bound('Seconds of CPU to resume', cpuMs / 1000, { most: 1 });
}

async function list() {
  const runs = 10_000;
  const [firstMs = Number.NaN, lastMs = Number.NaN, searchMs = Number.NaN] = await fromFresh('Rerail', {
    type: 'list',
    runs,
  });
  printTable(`Pages of 50 out of ${runs} runs`, {
    columns: ['time'],
    rows: [
      ['the first', `${firstMs.toFixed(2)} ms`],
      ['the last', `${lastMs.toFixed(2)} ms`],
      ['a search by text', `${searchMs.toFixed(2)} ms`],
    ],
  });
  bound('The last page, of the first', lastMs / firstMs, { most: 2 });
}

/**
 * Medians over the rounds; contestants take turns, so that a slow minute hits all.
 *
 * @param {readonly string[]} names
 * @param {{ task: Task, rounds: number, warmUp: number }} load
 */
async function takeTurns(names, { task, rounds, warmUp }) {
  /** @type {Map<string, { child: import('node:child_process').ChildProcess, figures: number[][] }>} */
  const started = new Map();
  for (const name of names) started.set(name, { child: await start(name), figures: [] });
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const { child, figures } of started.values()) {
      const found = await ask(child, task);
      // The first rounds warm up.
      if (round >= 0) figures.push(found);
    }
  }
  for (const { child } of started.values()) child.kill();
  return new Map([...started].map(([name, { figures }]) => [name, medianOfEach(figures)]));
}

/**
 * @param {string} name
 * @param {Task} task
 */
async function fromFresh(name, task) {
  const child = await start(name);
  const figures = await ask(child, task);
  child.kill();
  return figures;
}

/** @param {string} name */
async function start(name) {
  const contestant = new URL('storage-contestant.mjs', import.meta.url);
  const child = fork(contestant, [name, port, folder], { execArgv: [] });
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  return child;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {Task} task
 * @returns {Promise<number[]>} nothing where it gave up, which it has said itself
 */
async function ask(child, task) {
  const over = new AbortController();
  const { signal } = over;
  try {
    if (child.exitCode === null) child.send(task);
    const ended = child.exitCode === null ? once(child, 'exit', { signal }) : [null];
    const [figures] = /** @type {[number[] | number | null]} */ (
      await Promise.race([once(child, 'message', { signal }), ended])
    );
    if (Array.isArray(figures)) return figures;
    broken.push(`${child.spawnargs.at(-3)}: gave up at ${JSON.stringify(task)}`);
    return [];
  } finally {
    over.abort();
  }
}

/**
 * @param {ReadonlyMap<string, readonly number[]>} times
 * @param {string} name
 */
function figure(times, name) {
  return times.get(name)?.[0] ?? Number.NaN;
}

/** @param {string} option */
function valueOf(option) {
  return process.argv.find((word) => word.startsWith(option))?.slice(option.length);
}

/**
 * @param {string} what
 * @param {number} value
 * @param {{ most?: number, least?: number }} limit
 */
function bound(what, value, { most = Infinity, least = -Infinity }) {
  const isHeld = value >= least && value <= most;
  const said = `${what}: ${value.toFixed(2)}, ${most === Infinity ? `at least ${least}` : `at most ${most}`}`;
  console.log(`${isHeld ? '✓' : '✗'} ${said}`);
  if (!isHeld) broken.push(said);
}
