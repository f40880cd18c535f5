// How much gets done while a provider misbehaves: npm run bench:chaos. Tasks of five dependent steps against the chaos server, with
// none, some and half of all requests going wrong. With --check it fails where a target is missed.
import { startChaosServer } from '../dist/chaos/index.js';
import { retryPresets } from '../dist/model/index.js';
import { createFaults } from './goodput-faults.mjs';
import { createWork, lastTokenOf, think } from './goodput-task.mjs';

/**
 * @typedef {import('../dist/model/index.js').RetryPolicy} Retry
 * @typedef {ReturnType<typeof createWork>} Work
 * @typedef {{ isCompleted: boolean, text: string, ending: string }} Ending
 * @typedef {(given: { baseURL: string, work: Work, timeoutMs: number, retry: Retry }) => Promise<(task: number) => Promise<Ending>>} Create
 */

const numberOf = (/** @type {string} */ name, /** @type {number} */ otherwise) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise);
const [tasks, concurrency, seed] = [numberOf('tasks', 300), numberOf('concurrency', 20), numberOf('seed', 7)];
const onlyRate = numberOf('rate', -1);
/** Only what the chaos server draws where nobody names kinds; the oddities are left out as well. */
const isEveryday = process.argv.includes('--everyday');
const isVerbose = process.argv.includes('--verbose');
const only = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length) ?? '';
const rates = [0, 0.1, 0.3, 0.5].filter((rate) => onlyRate < 0 || rate === onlyRate);

/** Every wait of the presets is a hundredth of what it is; attempts, doubling, cap and spread stay. */
const scale = 100;
/** Instead of 120 s. Not a hundredth: good answers need their time, and this machine is busy. */
const timeoutMs = 2000;
/** A task that has not ended by then hangs. */
const hardBoundMs = 120_000;

/** @param {Retry} retry */
const scaled = (retry) => ({
  ...retry,
  baseDelayMs: retry.baseDelayMs / scale,
  maxDelayMs: retry.maxDelayMs / scale,
  minDelayMs: retry.minDelayMs / scale,
});

/** @type {readonly { name: string, retry: Retry, load: () => Promise<Create> }[]} */
const contestants = [
  { name: 'usual loop', retry: retryPresets.standard, load: loadUsual },
  { name: 'expert loop', retry: retryPresets.standard, load: loadExpert },
  { name: 'Rerail, defaults', retry: retryPresets.standard, load: loadRerail },
  { name: 'Rerail, patient', retry: retryPresets.patient, load: loadRerail },
];

async function loadUsual() {
  return (await import('./goodput-loops.mjs')).createUsual;
}

async function loadExpert() {
  return (await import('./goodput-loops.mjs')).createExpert;
}

async function loadRerail() {
  return (await import('./goodput-rerail.mjs')).createRerail;
}

/**
 * @typedef {{
 *   completed: number, correct: number, hangs: number, doubled: number, requests: number, wallMs: number,
 *   endings: ReadonlyMap<string, number>,
 * }} Score
 */

/**
 * @param {(typeof contestants)[number]} contestant
 * @param {number} rate
 * @returns {Promise<Score>}
 */
async function play({ retry, load }, rate) {
  const faults = createFaults({ rate, seed });
  const server = await startChaosServer({
    seed,
    faults: isEveryday ? { rate } : (request) => faults.faultOf(request),
    model: think,
    maxRecords: 0,
  });
  const work = createWork();
  const create = await load();
  const perform = await create({
    baseURL: server.baseURL('openai-chat'),
    work,
    timeoutMs,
    retry: scaled(retry),
  });
  const startedMs = performance.now();
  /** @type {Ending[]} */
  const ends = [];
  let next = 0;
  const worker = async () => {
    while (next < tasks) {
      const task = next;
      next += 1;
      ends[task] = await bounded(perform(task));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const wallMs = performance.now() - startedMs;
  const { requests } = server.counters();
  await server.close();

  const completed = ends.flatMap((end, task) => (end.isCompleted ? [{ ...end, task }] : []));
  /** @type {Map<string, number>} */
  const endings = new Map();
  const correct = completed.filter(({ text, task }) => text.includes(lastTokenOf(task)));
  const isCorrect = new Set(correct.map(({ task }) => task));
  for (const [task, end] of ends.entries()) {
    if (isCorrect.has(task)) continue;
    const ending = end.isCompleted ? `false: ${JSON.stringify(end.text)}` : end.ending;
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
  }
  return {
    completed: completed.length,
    correct: correct.length,
    hangs: endings.get(hanging.ending) ?? 0,
    doubled: work.doubled(),
    requests: requests / completed.length,
    wallMs,
    endings,
  };
}

/** @type {Ending} */
const hanging = { isCompleted: false, text: '', ending: 'hangs' };

/** @param {Promise<Ending>} run */
async function bounded(run) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const bound = new Promise((resolve) => {
    timer = setTimeout(() => resolve(hanging), hardBoundMs);
  });
  try {
    return /** @type {Ending} */ (await Promise.race([run, bound]));
  } catch (error) {
    return { isCompleted: false, text: '', ending: `threw: ${String(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

console.log(
  `${tasks} tasks of 5 dependent steps, ${concurrency} at once, seed ${seed}. Waits between attempts are a hundredth of the\n` +
    `presets' own, and an attempt has ${timeoutMs} ms instead of 120 s; attempts, doubling, cap and jitter are the presets' own.\n` +
    `The faults are ${isEveryday ? 'the everyday ones of the chaos server' : 'all that may pass'}.\n`,
);
const columns = ['faulty', 'completed', 'correct', 'false', 'hangs', 'doubled', 'requests', 'time'];
console.log(''.padEnd(20) + columns.map((column) => column.padStart(11)).join(''));

/** @type {string[]} */
const missed = [];
for (const rate of rates) {
  for (const contestant of contestants.filter(({ name }) => name.startsWith(only))) {
    const score = await play(contestant, rate);
    const cells = [
      `${rate * 100} %`,
      percent(score.completed),
      percent(score.correct),
      String(score.completed - score.correct),
      String(score.hangs),
      String(score.doubled),
      score.requests.toFixed(1),
      `${(score.wallMs / 1000).toFixed(1)} s`,
    ];
    console.log(contestant.name.padEnd(20) + cells.map((cell) => cell.padStart(11)).join(''));
    if (isVerbose) {
      const most = [...score.endings].toSorted(([, one], [, other]) => other - one).slice(0, 20);
      for (const [ending, count] of most) console.log(`    ${count} × ${ending.slice(0, 300)}`);
    }
    judge(contestant.name, rate, score);
  }
}
console.log(
  '\nrequests: sent, for each task that was completed; 6 are needed. false: completed, but with another answer. doubled: steps done twice.' +
    '\nTargets for Rerail: nothing false, nothing hangs, nothing doubled; at 30 % 95 % done by default and 99.5 % patiently, at 50 % 98 % patiently.',
);
if (missed.length > 0) console.log(`\nMissed here and now:\n${missed.map((line) => `- ${line}`).join('\n')}`);
// A hanging contestant would hold the process.
process.exit(process.argv.includes('--check') && missed.length > 0 ? 1 : 0);

/** @param {number} count */
function percent(count) {
  return `${((100 * count) / tasks).toFixed(1)} %`;
}

/**
 * @param {string} name
 * @param {number} rate
 * @param {Score} score
 */
function judge(name, rate, score) {
  if (!name.startsWith('Rerail')) return;
  const { completed, correct, hangs, doubled } = score;
  for (const [what, count] of Object.entries({ false: completed - correct, hangs, doubled })) {
    if (count > 0) missed.push(`${name} at ${rate * 100} %: ${count} ${what}`);
  }
  const least = leastShare(name, rate);
  if (correct / tasks < least)
    missed.push(`${name} at ${rate * 100} %: ${percent(correct)} done, not ${least * 100} %`);
}

/**
 * @param {string} name
 * @param {number} rate
 */
function leastShare(name, rate) {
  if (rate === 0) return 1;
  if (name.endsWith('patient')) return rate <= 0.3 ? 0.995 : 0.98;
  return rate <= 0.3 ? 0.95 : 0;
}
