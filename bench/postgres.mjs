// What it costs to keep runs in Postgres: npm run bench:postgres. A server of its own, with fsync, is started on a loopback port; the
// store and a bare pool of `pg` take turns on it. With --check it fails where a bound does not hold.
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { Pool } from 'pg';
import { rolldown } from 'rolldown';
import { postgres } from '../dist/storage/postgres/index.js';
import { median, microseconds, printTable, ratio } from './storage-report.mjs';

const isQuick = process.argv.includes('--quick');
const turns = isQuick ? 30 : 150;
const warmUpTurns = 10;
const bound = 1.25;
const body = { type: 'call', text: 'a'.repeat(900) };
/** @type {string[]} */
const broken = [];

/** @typedef {(run: number, step: number) => Promise<unknown>} Keep */
/** @typedef {{ name: string, keep: Keep }} Contestant */

const folder = await mkdtemp(path.resolve('node_modules/.cache/bench-'));
const { startPostgres } = await loadServer();
const server = await startPostgres({ fsync: true, maxConnections: 150 });
try {
  const [{ version } = { version: '' }] = await server.ask(server.address, 'SELECT version()');
  console.log(`${String(version).split(' on ')[0]}, pg, Node ${process.versions.node}, fsync on`);
  for (const runs of [1, 64]) await compare(runs);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
if (broken.length > 0)
  console.log(`\nNot held here and now:\n${broken.map((line) => `- ${line}`).join('\n')}`);
if (process.argv.includes('--check') && broken.length > 0) process.exitCode = 1;

/** The helper of the tests is TypeScript, which Node 20 does not read. */
async function loadServer() {
  const bundler = await rolldown({
    input: path.resolve('test/postgres/start-postgres.ts'),
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
    platform: 'node',
    checks: { bundlerTimings: false },
  });
  await bundler.write({ dir: folder, format: 'esm', entryFileNames: 'server.js' });
  await bundler.close();
  return /** @type {typeof import('../test/postgres/start-postgres.ts')} */ (
    await import(path.join(folder, 'server.js'))
  );
}

/** @param {number} runs */
async function compare(runs) {
  // In short turns, one after the other: whatever else the machine does meanwhile meets all of them alike.
  const steps = runs === 1 ? 20 : 3;
  const pool = new Pool({ connectionString: server.address, max: runs });
  await pool.query(`CREATE TABLE IF NOT EXISTS steps
    (run text, step bigint, at_ms bigint, type text, body text, hash text, PRIMARY KEY (run, step))`);
  const store = postgres(server.address, { schema: `bench_${runs}` });
  const leases = await Promise.all(
    Array.from({ length: runs }, async (_none, run) => {
      const owner = { id: 'bench', leaseMs: 3_600_000 };
      const created = await store.runs.create({ runId: `run-${run}`, agent: 'bench', events: [] }, owner);
      if (created.type !== 'created') throw new Error('The run is there already');
      return created.lease;
    }),
  );
  let numbers = 0;
  const insert = { name: 'insert', text: 'INSERT INTO steps VALUES ($1, $2, $3, $4, $5, $6)' };
  /** @param {number} run */
  const values = (run) => [
    `${runs}-${run}`,
    (numbers += 1),
    Date.now(),
    'call',
    JSON.stringify(body),
    'a'.repeat(43),
  ];
  /** @type {readonly Contestant[]} */
  const contestants = [
    { name: 'bare: INSERT', keep: (run) => pool.query({ ...insert, values: values(run) }) },
    {
      name: 'bare: BEGIN, INSERT, COMMIT',
      keep: async (run) => {
        const client = await pool.connect();
        await client.query('BEGIN');
        await client.query({ ...insert, values: values(run) });
        await client.query('COMMIT');
        client.release();
      },
    },
    {
      name: 'Rerail',
      keep: (run) => {
        const lease = leases[run];
        if (lease === undefined) throw new Error('There is no such run');
        return store.runs.append(lease, { events: [{ type: 'call', body }] });
      },
    },
  ];
  /** @type {Map<string, Measured>} */
  const measured = new Map(contestants.map(({ name }) => [name, { times: [], tookMs: 0 }]));
  for (let turn = -warmUpTurns; turn < turns; turn += 1) {
    for (const { name, keep } of contestants) {
      const found = await measure(keep, { runs, steps });
      const all = measured.get(name);
      if (turn < 0 || all === undefined) continue;
      all.times.push(...found.times);
      all.tookMs += found.tookMs;
    }
  }
  const figures = new Map([...measured].map(([name, found]) => [name, figuresOf(found)]));
  report(runs, figures);
  await store.close();
  await pool.end();
}

/** @typedef {{ times: number[], tookMs: number }} Measured */
/** @typedef {{ latencyUs: number, lateUs: number, perSecond: number }} Figures */

/**
 * @param {Keep} keep
 * @param {{ runs: number, steps: number }} load
 * @returns {Promise<Measured>}
 */
async function measure(keep, { runs, steps }) {
  /** @type {number[]} */
  const times = [];
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: runs }, async (_none, run) => {
      for (let step = 0; step < steps; step += 1) {
        const leftMs = performance.now();
        await keep(run, step);
        times.push((performance.now() - leftMs) * 1000);
      }
    }),
  );
  return { times, tookMs: performance.now() - startedMs };
}

/**
 * @param {Measured} measured
 * @returns {Figures}
 */
function figuresOf({ times, tookMs }) {
  const sorted = times.toSorted((one, other) => one - other);
  return {
    latencyUs: median(times),
    lateUs: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    perSecond: (times.length * 1000) / tookMs,
  };
}

/**
 * @param {number} runs
 * @param {ReadonlyMap<string, Figures>} figures
 */
function report(runs, figures) {
  const bare = figures.get('bare: INSERT')?.latencyUs ?? Number.NaN;
  printTable(`${runs} ${runs === 1 ? 'run' : 'runs at once'}`, {
    columns: ['a step', 'of INSERT', 'p99', 'steps/s'],
    rows: [...figures].map(([name, { latencyUs, lateUs, perSecond }]) => [
      name,
      microseconds(latencyUs),
      ratio(latencyUs / bare),
      microseconds(lateUs),
      perSecond.toFixed(0),
    ]),
  });
  const ours = (figures.get('Rerail')?.latencyUs ?? Number.NaN) / bare;
  if (!(ours <= bound))
    broken.push(`A step with ${runs} runs takes ${ratio(ours)} of a bare INSERT; at most ${bound}`);
}
