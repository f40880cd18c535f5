import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgent, createWorker, RerailError } from '../../src/index.ts';
import type { Agent, RunEvent, RunOutcome, RunRow, Store } from '../../src/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { answerOf, createClerkModel, createClerkTools, plans, writeTask } from './clerk.ts';
import type { Plan } from './clerk.ts';
import { openLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { createOffice, writeOfficeTask } from './office.ts';
import type { Surroundings } from './office.ts';
import { quickClock } from './quick-clock.ts';
import { readGiven, say } from './say.ts';
import type { StormGiven } from './storm.ts';

// One life of a process that carries many runs: it goes on with what lives before it have left behind and begins new runs, until
// it is killed. The last life begins nothing, ends everything, and says what it finds of every run that ever was.

const given = readGiven() as StormGiven; // Of our own test.
const random = seededRandom(given.seed);
const clock = quickClock({ anchorMs: given.anchorMs, speed: 25 });
const store: Store = given.database.startsWith('postgres:')
  ? postgres(given.database, { clock })
  : sqlite(given.database, { clock });
let linesLeft = given.killSelfAtLine ?? Infinity;
const ledger: Ledger = openLedger(given.ledger, (line) => {
  linesLeft -= 1;
  if (linesLeft <= 0) process.kill(process.pid, 'SIGKILL');
  if (line.kind !== 'asked') say({ kind: 'effect' });
});
const agents: ReadonlyMap<string, Agent> =
  given.cast === 'office'
    ? new Map([['office', createOffice(ledger, { random, ...surroundings() })]])
    : createClerks();
const anyStatus = ['completed', 'stopped', 'failed', 'cancelled', 'running', 'suspended', 'parked'] as const;
const concurrency = 4;
/** Runs that somebody here sees to. */
const attended = new Set<string>();

await store.open();
say({ kind: 'ready' });
if (given.isLast) await live();
else await Promise.all([live(), beginRuns()]);
if (given.isLast) await tellEverything();
await store.close();
say({ kind: 'over' });

function createClerks(): ReadonlyMap<string, Agent> {
  const parts = {
    model: createClerkModel(ledger),
    tools: createClerkTools(ledger, random),
    ...surroundings(),
  };
  return new Map(['clerk', 'cashier'].map((name) => [name, createAgent({ name, ...parts })]));
}

function surroundings(): Surroundings {
  return {
    store,
    clock,
    leaseMs: 3_000_000,
    // A call that is killed again and again before it happens is made again as often.
    limits: { timeoutMs: 100_000_000, modelTimeoutMs: 1_000_000, maxToolAttempts: 1000 },
    callbacks: {
      onEvent: (event, { runId }) => {
        if (event.type === 'run-started') say({ kind: 'started', runId });
        const { type, ...told } = innermost(event);
        if (type === 'approval-answered' && 'id' in told) say({ kind: 'answered', runId, id: told.id });
      },
    },
  };
}

/** What a run below tells comes in an envelope for every run above. */
function innermost(event: RunEvent): RunEvent {
  return event.type === 'child-event' ? innermost(event.event) : event;
}

/** Goes on with what is there: by a worker, with a person who answers and takes up what was parked; or all by hand. */
async function live(): Promise<void> {
  if (given.by === 'worker') {
    const worker = createWorker([...agents.values()], store, {
      clock,
      signals: false,
      concurrency: 32,
      onEvent: (event) => {
        if (event.type === 'run-finished') void attend(event.runId, () => Promise.resolve(event.outcome));
        if (event.type === 'run-parked') void takeUp(event.runId);
        if (event.type === 'run-refused') say({ kind: 'trouble', what: event });
      },
    });
    await worker.start();
    await Promise.all((await unfinished(['suspended', 'parked'])).map(({ runId }) => takeUp(runId)));
    if (!given.isLast) return;
    while ((await unfinished()).length > 0) await worker.idle().then(() => sleep(20));
    await worker.stop();
    return;
  }
  await Promise.all((await unfinished()).map(({ runId }) => takeUp(runId)));
}

async function unfinished(
  status: readonly RunRow['status'][] = ['running', 'suspended', 'parked'],
  isBelow = false,
): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  let page = await store.runs.list({ status, limit: 1000 });
  rows.push(...page.runs);
  while (page.next !== undefined) {
    page = await store.runs.list({ status, limit: 1000, cursor: page.next });
    rows.push(...page.runs);
  }
  // Those below are seen to by the ones above.
  return rows.filter(({ runId }) => isBelow === runId.includes('/'));
}

async function beginRuns(): Promise<void> {
  let begun = 0;
  const runOne = async (): Promise<void> => {
    while (begun < 40) {
      begun += 1;
      const runId = `${given.life}-${begun}`;
      const task = drawTask(runId);
      const agent = [...agents.values()].at(random() < 0.5 ? 0 : -1) as Agent; // There is one at least.
      await attend(runId, () => agent.run(task, { runId }));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runOne));
}

function drawTask(runId: string): string {
  const draw = (): Plan => plans[Math.floor(random() * plans.length)] ?? [];
  return given.cast === 'office' ? writeOfficeTask(runId, draw) : writeTask(runId, draw());
}

/** As somebody does who finds the run in a list. */
async function takeUp(runId: string): Promise<void> {
  // An answer that lies there already, from an earlier life, is not given twice; a worker finds it by itself.
  const isAnswered = (await store.runs.signals(runId)).some(({ name }) => name === 'resume');
  if (isAnswered && given.by === 'worker') return;
  await attend(runId, async () => {
    const row = await store.runs.find(runId);
    if (row?.status !== 'suspended' || isAnswered) return resume(runId);
    const events = await store.runs.events(runId, { from: row.generationSeq });
    const asked = events.findLast(({ type }) => type === 'suspended')?.body as { readonly request?: unknown };
    return resume(runId, asked.request);
  });
}

/** Sees to a run until it has ended. */
async function attend(runId: string, next: () => Promise<RunOutcome>): Promise<void> {
  if (attended.has(runId)) return;
  attended.add(runId);
  try {
    let outcome = await next();
    while (outcome.type === 'suspended' && outcome.request !== undefined) {
      say({ kind: 'question', runId, id: outcome.request.id, reason: outcome.reason });
      outcome = await resume(runId, outcome.request);
    }
    if (outcome.type === 'completed') say({ kind: 'outcome', runId, digest: digestOf(outcome) });
    else say({ kind: 'trouble', runId, what: outcome });
  } catch (error) {
    say({ kind: 'trouble', runId, what: RerailError.isInstance(error) ? error.failure : String(error) });
  } finally {
    attended.delete(runId);
  }
}

/** Somebody else in this process may be about to take it: then it is tried again. */
async function resume(runId: string, request?: unknown): Promise<RunOutcome> {
  const agent = agents.get((await store.runs.find(runId))?.agent ?? '') as Agent; // It was listed.
  const options = request === undefined ? {} : { answer: answerOf(ledger, request) };
  for (let tries = 1; ; tries += 1) {
    // Bounded by the tries.
    try {
      return await agent.resume(runId, options);
    } catch (error) {
      if (tries === 50 || !RerailError.isInstance(error) || error.code !== 'STORAGE_LOCKED') throw error;
      await sleep(10);
    }
  }
}

function digestOf(outcome: RunOutcome): string {
  return createHash('sha256').update(JSON.stringify(outcome)).digest('hex');
}

async function tellEverything(): Promise<void> {
  for (const { runId, status } of await unfinished(anyStatus, true))
    say({ kind: 'final', runId, status, type: status });
  for (const { runId, agent, status } of await unfinished(anyStatus)) {
    const outcome = await (agents.get(agent) as Agent).resume(runId); // They are named above.
    say({ kind: 'final', runId, status, type: outcome.type, digest: digestOf(outcome) });
  }
  say({ kind: 'checked', ...(await store.check()) });
}
