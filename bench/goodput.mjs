// How much gets done while a provider misbehaves: npm run bench:chaos. Tasks of five dependent steps against the chaos server, with
// none, some and half of all requests going wrong; how long a task takes beside a careful loop; what an outage costs. With --check it
// fails where a target is missed.
import { startChaosServer } from '../dist/chaos/index.js';
import { retryPresets } from '../dist/model/index.js';
import { createFaults } from './goodput-faults.mjs';
import { requestsPerCall } from './goodput-outage.mjs';
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
/** Only the median task and the outage. */
const isPaceOnly = process.argv.includes('--pace');
const rates = [0, 0.1, 0.3, 0.5].filter((rate) => !isPaceOnly && (onlyRate < 0 || rate === onlyRate));

/** Every wait of the presets is a hundredth of what it is; attempts, doubling, cap and spread stay. */
const scale = 100;
/** Instead of 120 s. Not a hundredth: good answers need their time, and this machine is busy. */
const timeoutMs = 2000;
/** A task that has not ended by then hangs. */
const hardBoundMs = 120_000;

/** What people write who know what they do: as patient as ours, and quick. @type {Retry} */
const carefulRetry = { ...retryPresets.patient, baseDelayMs: 50, minDelayMs: 0 };

/** @param {Retry} retry */
const scaled = (retry) => ({
  ...retry,
  baseDelayMs: retry.baseDelayMs / scale,
  maxDelayMs: retry.maxDelayMs / scale,
  quickDelayMs: (retry.quickDelayMs ?? retry.baseDelayMs) / scale,
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
 *   completed: number, correct: number, hangs: number, doubled: number, requests: number, wallMs: number, medianMs: number,
 *   endings: ReadonlyMap<string, number>,
 * }} Score
 */

/**
 * @param {Pick<(typeof contestants)[number], 'retry' | 'load'>} contestant
 * @param {number} rate
 * @param {number} [atOnce]
 * @returns {Promise<Score>}
 */
async function play({ retry, load }, rate, atOnce = concurrency) {
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
    retry,
  });
  const startedMs = performance.now();
  /** @type {Ending[]} */
  const ends = [];
  /** @type {number[]} */
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next < tasks) {
      const task = next;
      next += 1;
      const beganMs = performance.now();
      ends[task] = await bounded(perform(task));
      times.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
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
    medianMs: times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? NaN,
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
    const score = await play({ ...contestant, retry: scaled(contestant.retry) }, rate);
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
    '\nTargets for Rerail: nothing false, nothing hangs, nothing doubled; done at 10, 30 and 50 %: 99.5, 97 and 85 % by default, 100, 99.8 and' +
    '\n99.5 % patiently.',
);
if (only === '' && onlyRate < 0) {
  await comparePace();
  await countOutage();
}
if (missed.length > 0) console.log(`\nMissed here and now:\n${missed.map((line) => `- ${line}`).join('\n')}`);
// A hanging contestant would hold the process.
process.exit(process.argv.includes('--check') && missed.length > 0 ? 1 : 0);

/** The median task with 30 % of the requests faulty. Every wait is as long as it is in life; the timeouts are those of above, for both. */
async function comparePace() {
  const atOnce = 10;
  const careful = await play({ retry: carefulRetry, load: loadExpert }, 0.3, atOnce);
  const ours = await play({ retry: retryPresets.patient, load: loadRerail }, 0.3, atOnce);
  const ratio = ours.medianMs / careful.medianMs;
  console.log(
    `\nThe median task at 30 %, ${atOnce} at once, with waits as they are: ${Math.round(careful.medianMs)} ms by a careful loop with a backoff of 50 ms,` +
      `\n${Math.round(ours.medianMs)} ms by Rerail, patient: ${ratio.toFixed(2)} times as long. Target: at most twice.`,
  );
  if (ratio > 2) missed.push(`The median task takes ${ratio.toFixed(2)} times as long as by a careful loop`);
}

async function countOutage() {
  for (const name of /** @type {const} */ (['standard', 'patient'])) {
    const count = await requestsPerCall(name);
    console.log(
      `In an outage without end, 1,000 calls of 20 callers under ${name} send ${count.toFixed(2)} requests each. Target: 1.2.`,
    );
    if (count > 1.2) missed.push(`${name} sends ${count.toFixed(2)} requests a call in an outage`);
  }
}

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
  const place = [0.1, 0.3, Infinity].findIndex((most) => rate <= most);
  return (name.endsWith('patient') ? [1, 0.998, 0.995] : [0.995, 0.97, 0.85])[place] ?? 0;
}
