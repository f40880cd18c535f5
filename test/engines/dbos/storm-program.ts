import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { dbos } from '../../../src/engines/dbos/index.ts';
import { createAgent, RerailError } from '../../../src/index.ts';
import type { RunOutcome } from '../../../src/index.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { answerOf, createClerkModel, createClerkTools, plans, writeTask } from '../../kill/clerk.ts';
import { openLedger } from '../../kill/ledger.ts';
import { quickClock } from '../../kill/quick-clock.ts';
import { readGiven, say } from '../../kill/say.ts';
import { loadDbos } from './find-dbos.ts';
import type { LifeGiven } from './storm.ts';

// One life of an executor: DBOS takes up what lives before it have left behind, and new runs begin, until it is killed. The last life
// begins nothing, sees to everything that ever was, and says what it has come to.

const given = readGiven() as LifeGiven; // Of our own test.
const random = seededRandom(given.seed);
const speed = 25;
const clock = quickClock({ anchorMs: given.anchorMs, speed });
const ledger = openLedger(given.ledger, () => undefined);
const agent = createAgent({
  name: 'clerk',
  model: createClerkModel(ledger),
  tools: createClerkTools(ledger, random),
  clock,
  engine: dbos({
    databaseUrl: given.databaseUrl,
    executorId: 'storm',
    logLevel: 'error',
    requestTimeoutMs: 5000 * speed,
    pollIntervalMs: 200 * speed,
    ...loadDbos(given.packages),
  }),
  limits: { timeoutMs: 100_000_000, modelTimeoutMs: 1_000_000, maxToolAttempts: 1000 },
});
const concurrency = 4;
const maxTries = 300;

await agent.serve();
say({ kind: 'ready' });
// Each is written down before it is begun, as somebody does who has a list of orders.
const known = existsSync(given.list) ? readFileSync(given.list, 'utf8').split('\n').filter(Boolean) : [];
const attending = known.map((line) => {
  const { runId, task } = JSON.parse(line) as Ordered;
  return attend(runId, task, () => agent.resume(runId));
});
await Promise.all([...attending, ...(given.isLast ? [] : Array.from({ length: concurrency }, beginRuns))]);
if (given.isLast) await tellEverything();
say({ kind: 'over' });
await agent.close();

interface Ordered {
  readonly runId: string;
  readonly task: string;
}

async function beginRuns(_: unknown, lane: number): Promise<void> {
  for (let number = 1; number <= 40; number += 1) {
    const runId = `${given.life}-${lane}-${number}`;
    const task = writeTask(runId, plans[Math.floor(random() * plans.length)] ?? []);
    appendFileSync(given.list, `${JSON.stringify({ runId, task })}\n`);
    say({ kind: 'started', runId });
    await attend(runId, task, () => agent.run(task, { runId }));
  }
}

/** Sees to a run until it has ended, as somebody does whose connection breaks now and then. */
async function attend(runId: string, task: string, first: () => Promise<RunOutcome>): Promise<void> {
  // The first word may not have arrived.
  const orElse = (): Promise<RunOutcome> => agent.run(task, { runId });
  let outcome = await tell(first, orElse);
  for (let tries = 1; tries < maxTries; tries += 1) {
    if (outcome?.type === 'completed') {
      say({ kind: 'outcome', runId, digest: digestOf(outcome) });
      return askAgain(runId, outcome);
    }
    if (outcome !== undefined && outcome.type !== 'suspended') break;
    const request = outcome?.request;
    if (request === undefined) await sleep(100);
    const options = request === undefined ? {} : { answer: answerOf(ledger, request) };
    outcome = await tell(() => agent.resume(runId, options), orElse);
  }
  say({ kind: 'trouble', runId, what: JSON.stringify(outcome ?? 'no outcome').slice(0, 2000) });
}

/** A request that comes twice, with other words: a name is a run, and nothing of it is done again. */
async function askAgain(runId: string, outcome: RunOutcome): Promise<void> {
  const again = await tell(() => agent.run('Something else.', { runId }));
  // Anything else says that nobody could be asked.
  if (again?.type === 'completed' && digestOf(again) !== digestOf(outcome))
    say({ kind: 'trouble', runId, what: `asked for again, it is ${JSON.stringify(again).slice(0, 500)}` });
}

/** Undefined where nobody could be asked. */
async function tell(
  act: () => Promise<RunOutcome>,
  orElse?: () => Promise<RunOutcome>,
): Promise<RunOutcome | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    if (error.code === 'NOT_REGISTERED' && orElse !== undefined) return tell(orElse);
    if (error.failure.origin !== 'durable') throw error;
    return undefined;
  }
}

async function tellEverything(): Promise<void> {
  for (const line of known) {
    const { runId } = JSON.parse(line) as Ordered;
    const outcome = await agent.run('Something else.', { runId });
    say({ kind: 'final', runId, status: outcome.type, type: outcome.type, digest: digestOf(outcome) });
  }
  say({ kind: 'checked', problems: [] });
}

function digestOf(outcome: RunOutcome): string {
  return createHash('sha256').update(JSON.stringify(outcome)).digest('hex');
}
