import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { readLedger } from '../../kill/ledger.ts';
import { startLife } from '../../kill/life.ts';
import type { Life, Said } from '../../kill/life.ts';
import type { Storm } from '../../kill/storm.ts';
import { startPostgres } from '../../postgres/start-postgres.ts';
import type { Postgres } from '../../postgres/start-postgres.ts';
import { installDbos } from './find-dbos.ts';

/** What one life of the executor is started with. */
export interface LifeGiven {
  readonly databaseUrl: string;
  readonly packages: string;
  readonly ledger: string;
  /** Of the runs that were begun. */
  readonly list: string;
  readonly anchorMs: number;
  readonly life: number;
  readonly seed: number;
  readonly isLast: boolean;
}

export interface StormOptions {
  readonly seed: number;
  readonly workerKills: number;
  readonly databaseKills: number;
}

interface Held {
  readonly program: string;
  readonly base: Omit<LifeGiven, 'life' | 'seed' | 'isLast'>;
  readonly seed: number;
  readonly said: Said[];
  lives: number;
}

/** Lets life after life carry runs while they and the database are killed again and again, and then lets a last one end everything. */
export async function playStorm(program: string, options: StormOptions): Promise<Storm> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-dbos-storm-'));
  const postgres = await startPostgres();
  const base = {
    databaseUrl: await postgres.createDatabase(),
    packages: installDbos(),
    ledger: path.join(folder, 'ledger.jsonl'),
    list: path.join(folder, 'list.jsonl'),
    anchorMs: Date.now(),
  };
  await writeFile(base.ledger, '');
  const held: Held = { program, base, seed: options.seed, said: [], lives: 0 };
  try {
    await killAll(held, postgres, options);
    const last = begin(held, true);
    const { exitCode, signal, err } = await last.ended;
    if (exitCode !== 0)
      held.said.push({ kind: 'trouble', what: `The last life ended with ${exitCode ?? signal}: ${err}` });
    const kills = options.workerKills + options.databaseKills;
    return { kills, said: held.said, ledger: readLedger(base.ledger) };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function killAll(held: Held, postgres: Postgres, options: StormOptions): Promise<void> {
  const random = seededRandom(options.seed);
  let [workers, databases] = [options.workerKills, options.databaseKills];
  let life = await ready(held);
  while (workers + databases > 0) {
    await sleep(random() * 600);
    if (random() * (workers + databases) < workers) {
      workers -= 1;
      await end(held, life);
      life = await ready(held);
    } else {
      databases -= 1;
      await postgres.kill();
      await sleep(random() * 200);
      await postgres.start();
    }
  }
  await end(held, life);
}

/** A life that was over before has not outlived what became of the database. */
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
  return startLife(held.program, given, { maxMs: 300_000, onSaid: (one) => void said.push(one) });
}
