import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { readLedger } from './ledger.ts';
import type { LedgerLine } from './ledger.ts';
import { startLife } from './life.ts';
import type { Life, Said } from './life.ts';

/** What one life of the storm is started with. */
export interface StormGiven {
  readonly database: string;
  readonly ledger: string;
  readonly life: number;
  readonly seed: number;
  readonly anchorMs: number;
  readonly by: 'worker' | 'hand';
  /** Who works: single agents, or a flow with a hand-off in it. */
  readonly cast: Cast;
  readonly isLast: boolean;
  /** It kills itself right after so many lines of the ledger, before it can do anything else. */
  readonly killSelfAtLine?: number;
}

export type Cast = 'clerks' | 'office';

/** Everything that was seen from outside. */
export interface Storm {
  readonly kills: number;
  /** By all lives, in order. */
  readonly said: readonly Said[];
  readonly ledger: readonly LedgerLine[];
}

/** When a life ends. */
type Moment =
  | { readonly type: 'after-start' | 'after-ready'; readonly delayMs: number }
  /** It says this for the n-th time. */
  | { readonly type: 'said'; readonly kind: string; readonly times: number }
  | { readonly type: 'self'; readonly line: number };

/** How long it goes on, and where. */
export interface StormOptions {
  readonly seed: number;
  readonly kills: number;
  readonly cast?: Cast;
  /** The address of a database; a file of its own unless told. */
  readonly database?: string;
}

/** Lets life after life work on one database and kills each of them, `kills` times, then lets the last one finish. */
export async function playStorm(
  program: string,
  { seed, kills, cast = 'clerks', database }: StormOptions,
): Promise<Storm> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-storm-'));
  const random = seededRandom(seed);
  const base = {
    database: database ?? path.join(folder, 'runs.db'),
    ledger: path.join(folder, 'ledger.jsonl'),
    anchorMs: Date.now(),
    cast,
  };
  const said: Said[] = [];
  try {
    let killed = 0;
    for (let life = 1; killed < kills; life += 1) {
      // Bounded: a life that is not killed ends with an error that the caller is told of.
      const moment = drawMoment(random);
      const given: StormGiven = {
        ...base,
        life,
        seed: seed * 1000 + life,
        by: random() < 0.5 ? 'worker' : 'hand',
        isLast: false,
        ...(moment.type === 'self' ? { killSelfAtLine: moment.line } : {}),
      };
      const end = await liveUntil(program, given, moment);
      said.push(...end.said);
      if (end.signal !== 'SIGKILL') throw new Error(`Life ${life} of seed ${seed}: ${JSON.stringify(end)}`);
      killed += 1;
    }
    const last = startLife(
      program,
      { ...base, life: 0, seed, by: 'worker', isLast: true },
      { maxMs: 120_000 },
    );
    const { exitCode, err } = await last.ended;
    said.push(...last.said);
    if (exitCode !== 0) said.push({ kind: 'trouble', what: `The last life ended with ${exitCode}: ${err}` });
    return { kills: killed, said, ledger: readLedger(base.ledger) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const kinds = ['effect', 'outcome', 'question', 'answered', 'started'] as const;

function drawMoment(random: Random): Moment {
  const drawn = random();
  if (drawn < 0.1) return { type: 'after-start', delayMs: random() * 150 };
  if (drawn < 0.45) return { type: 'after-ready', delayMs: random() * 150 };
  if (drawn < 0.75) {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'effect';
    return { type: 'said', kind, times: 1 + Math.floor(random() * (kind === 'effect' ? 16 : 4)) };
  }
  return { type: 'self', line: 1 + Math.floor(random() * 30) };
}

interface StormEnd {
  readonly signal: NodeJS.Signals | null;
  readonly exitCode: number | null;
  readonly err: string;
  readonly said: readonly Said[];
}

/** What was waited for may never come. */
const maxLifeMs = 600;

async function liveUntil(program: string, given: StormGiven, moment: Moment): Promise<StormEnd> {
  let times = 0;
  const life: Life = startLife(program, given, {
    maxMs: 30_000,
    onSaid: ({ kind }, self) => {
      if (kind === 'ready' && moment.type === 'after-ready') killLater(self, moment.delayMs);
      if (kind === 'ready' && moment.type !== 'after-ready') killLater(self, maxLifeMs);
      if (moment.type !== 'said' || kind !== moment.kind) return;
      times += 1;
      if (times === moment.times) self.kill();
    },
  });
  if (moment.type === 'after-start') killLater(life, moment.delayMs);
  const ended = await life.ended;
  return { ...ended, said: life.said };
}

function killLater(life: Life, delayMs: number): void {
  void sleep(delayMs, undefined, { ref: false }).then(() => life.kill());
}
