import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../src/base/clock.ts';
import { restate } from '../../../src/engines/restate/index.ts';
import { createAgent, RerailError } from '../../../src/index.ts';
import type { Agent, RunOutcome } from '../../../src/index.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { answerOf, createClerkTools, writeTask } from '../../kill/clerk.ts';
import type { Plan } from '../../kill/clerk.ts';
import { callOf, readLedger } from '../../kill/ledger.ts';
import type { EffectLine, Ledger } from '../../kill/ledger.ts';
import { startLife } from '../../kill/life.ts';
import type { Life, Said } from '../../kill/life.ts';
import type { Storm } from '../../kill/storm.ts';
import { installRestate } from './install.ts';
import { freePort, startRestate } from './server.ts';
import type { RestateServer } from './server.ts';

/** What a worker is started with. */
export interface WorkerGiven {
  readonly ledger: string;
  readonly seed: number;
  readonly port: number;
  readonly sdkPath: string;
  readonly ingressUrl: string;
  readonly adminUrl: string;
}

export interface StormOptions {
  readonly seed: number;
  readonly workerKills: number;
  readonly serverKills: number;
  readonly plans: readonly Plan[];
}

interface Held {
  readonly program: string;
  readonly given: WorkerGiven;
  readonly server: RestateServer;
  readonly agent: Agent;
  readonly random: Random;
  readonly said: Said[];
  readonly runIds: string[];
  worker: Life;
  isOver: boolean;
}

const concurrency = 4;
const maxTries = 300;

/** Lets runs be carried by a worker while it and the server are killed again and again, and then lets everything end. */
export async function playStorm(program: string, options: StormOptions): Promise<Storm> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-restate-storm-'));
  const { sdk, sdkPath } = installRestate();
  const server = await startRestate();
  const { ingressUrl, adminUrl } = server;
  const ledger = path.join(folder, 'ledger.jsonl');
  await writeFile(ledger, '');
  const { seed, workerKills, serverKills } = options;
  const given = { ledger, seed, port: await freePort(), sdkPath, ingressUrl, adminUrl };
  const random = seededRandom(seed);
  const agent = createAgent({
    name: 'clerk',
    model: scriptedModel([]),
    tools: createClerkTools(writtenLedger(ledger), random),
    engine: restate({ ingressUrl, sdk, limits: { requestTimeoutMs: 2000, signalTimeoutMs: 2000 } }),
  });
  const worker = startLife(program, given, { maxMs: 600_000 });
  const held: Held = { program, given, server, agent, random, said: [], runIds: [], worker, isOver: false };
  try {
    await worker.until(({ kind }) => kind === 'ready');
    await Promise.all([
      ...Array.from({ length: concurrency }, () => beginRuns(held, options.plans)),
      killAll(held, { workerKills, serverKills }).finally(() => (held.isOver = true)),
    ]);
    await tellEverything(held);
    return { kills: workerKills + serverKills, said: held.said, ledger: readLedger(ledger) };
  } finally {
    held.worker.kill();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function killAll(
  held: Held,
  { workerKills, serverKills }: Pick<StormOptions, 'workerKills' | 'serverKills'>,
): Promise<void> {
  let [workers, servers] = [workerKills, serverKills];
  while (workers + servers > 0) {
    await sleep(held.random() * 400);
    if (held.random() * (workers + servers) < workers) {
      workers -= 1;
      held.worker.kill();
      await held.worker.ended;
      held.worker = startLife(held.program, held.given, { maxMs: 600_000 });
      await held.worker.until(({ kind }) => kind === 'ready');
    } else {
      servers -= 1;
      await held.server.kill();
      await held.server.startAgain();
    }
  }
}

async function beginRuns(held: Held, plans: readonly Plan[]): Promise<void> {
  while (!held.isOver) {
    const plan = plans[Math.floor(held.random() * plans.length)] ?? [];
    const runId = `run-${held.runIds.length + 1}`;
    held.runIds.push(runId);
    held.said.push({ kind: 'started', runId });
    await attend(held, runId, writeTask(runId, plan));
  }
}

/** Sees to a run until it has ended, as somebody does whose connection breaks now and then. */
async function attend(held: Held, runId: string, task: string): Promise<void> {
  const { agent, said, given } = held;
  let outcome = await tell(() => agent.run(task, { runId }));
  for (let tries = 1; tries < maxTries; tries += 1) {
    if (outcome?.type === 'completed') {
      said.push({ kind: 'outcome', runId, digest: digestOf(outcome) });
      return askAgain(held, runId, outcome);
    }
    if (outcome !== undefined && outcome.type !== 'suspended') break;
    const request = outcome?.request;
    if (request === undefined) await sleep(100);
    const options = request === undefined ? {} : { answer: answerOf(writtenLedger(given.ledger), request) };
    outcome = await tell(() => agent.resume(runId, options), {
      // The first word did not arrive.
      orElse: () => agent.run(task, { runId }),
    });
  }
  said.push({ kind: 'trouble', runId, what: JSON.stringify(outcome ?? 'no outcome').slice(0, 500) });
}

/** A request that comes twice, with other words: a name is a run, and nothing of it is done again. */
async function askAgain({ agent, said }: Held, runId: string, outcome: RunOutcome): Promise<void> {
  const again = await tell(() => agent.run('Something else.', { runId }));
  // Anything else says that nobody could be asked.
  if (again?.type === 'completed' && digestOf(again) !== digestOf(outcome))
    said.push({ kind: 'trouble', runId, what: `asked for again: ${JSON.stringify(again).slice(0, 500)}` });
}

/** Undefined where nobody could be asked. */
async function tell(
  act: () => Promise<RunOutcome>,
  { orElse }: { readonly orElse?: () => Promise<RunOutcome> } = {},
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

async function tellEverything({ agent, said, runIds }: Held): Promise<void> {
  for (const runId of runIds) {
    const outcome = await agent.run('Something else.', { runId });
    said.push({ kind: 'final', runId, status: outcome.type, type: outcome.type, digest: digestOf(outcome) });
  }
  said.push({ kind: 'checked', problems: [] });
}

function digestOf(outcome: RunOutcome): string {
  return createHash('sha256').update(JSON.stringify(outcome)).digest('hex');
}

/** As it is on the disk now: another process writes it. */
function writtenLedger(file: string): Ledger {
  const find = (fits: (line: EffectLine) => boolean): EffectLine | undefined =>
    readLedger(file).findLast((line): line is EffectLine => line.kind === 'effect' && fits(line));
  return {
    add: () => {
      throw new Error('Only the worker writes the ledger');
    },
    find: (key) => find((line) => line.key === key),
    findCall: (call) => find((line) => callOf(line) === call),
  };
}
