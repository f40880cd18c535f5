import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { readLedger } from '../../kill/ledger.ts';
import { startLife } from '../../kill/life.ts';
import type { Life, Said } from '../../kill/life.ts';
import type { Storm } from '../../kill/storm.ts';
import { bundleForTemporal } from './bundle.ts';
import { installTemporal } from './find-temporal.ts';
import { startServer } from './server/start-server.ts';
import type { SimulatedServer } from './server/start-server.ts';

/** What one life of a worker is started with. */
export interface LifeGiven {
  readonly address: string;
  readonly packages: string;
  /** A file with the bundle of the workflow. */
  readonly codePath: string;
  readonly ledger: string;
  /** Of the runs that were begun. */
  readonly list: string;
  readonly life: number;
  readonly seed: number;
  readonly isLast: boolean;
}

export interface StormOptions {
  readonly seed: number;
  readonly workerKills: number;
  readonly serverKills: number;
}

interface Held {
  readonly program: string;
  readonly base: Omit<LifeGiven, 'life' | 'seed' | 'isLast'>;
  readonly seed: number;
  readonly said: Said[];
  lives: number;
}

/** Lets life after life carry runs while they are killed and the server goes away again and again; then a last one ends everything. */
export async function playStorm(program: string, options: StormOptions): Promise<Storm> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-temporal-storm-'));
  const packages = installTemporal();
  const { code } = await bundleForTemporal(packages);
  const server = await startServer(packages, { taskTimeoutMs: 3000 });
  const file = (name: string): string => path.join(folder, name);
  const base = {
    address: server.address,
    packages,
    codePath: file('bundle.js'),
    ledger: file('ledger.jsonl'),
    list: file('list.jsonl'),
  };
  await writeFile(base.codePath, code);
  await writeFile(base.ledger, '');
  const held: Held = { program, base, seed: options.seed, said: [], lives: 0 };
  try {
    await killAll(held, server, options);
    const last = begin(held, true);
    const { exitCode, signal, err } = await last.ended;
    if (exitCode !== 0)
      held.said.push({ kind: 'trouble', what: `The last life ended with ${exitCode ?? signal}: ${err}` });
    const kills = options.workerKills + options.serverKills;
    return { kills, said: held.said, ledger: readLedger(base.ledger) };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function killAll(held: Held, server: SimulatedServer, options: StormOptions): Promise<void> {
  const random = seededRandom(options.seed);
  let [workers, servers] = [options.workerKills, options.serverKills];
  let life = await ready(held);
  while (workers + servers > 0) {
    await sleep(300 + random() * 700);
    if (random() * (workers + servers) < workers) {
      workers -= 1;
      await end(held, life);
      life = await ready(held);
    } else {
      servers -= 1;
      await server.stop();
      await sleep(random() * 200);
      await server.resume();
    }
  }
  await end(held, life);
}

/** A life that was over before has not outlived what became of the server. */
async function end({ said }: Held, life: Life): Promise<void> {
  life.kill();
  const { signal, exitCode, err } = await life.ended;
  if (signal !== 'SIGKILL')
    said.push({ kind: 'trouble', what: `A life ended by itself with ${exitCode}: ${err}` });
}

async function ready(held: Held): Promise<Life> {
  const life = begin(held, false);
  await life.until(({ kind }) => kind === 'ready');
  return life;
}

function begin(held: Held, isLast: boolean): Life {
  held.lives += 1;
  const { base, lives, seed, said } = held;
  const given: LifeGiven = { ...base, life: lives, seed: seed * 1000 + lives, isLast };
  return startLife(held.program, given, { maxMs: 900_000, onSaid: (one) => void said.push(one) });
}
