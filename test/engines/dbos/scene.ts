import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { dbos } from '../../../src/engines/dbos/dbos.ts';
import type { DbosOptions } from '../../../src/engines/dbos/options.ts';
import { RerailError } from '../../../src/errors/rerail-error.ts';
import type {
  CreateEngine,
  DurableProgram,
  Effect,
  Engine,
  RunStatus,
} from '../../../src/runtime/record/durable.ts';
import { startPostgres } from '../../postgres/start-postgres.ts';
import type { Postgres } from '../../postgres/start-postgres.ts';
import { installDbos, loadDbos } from './find-dbos.ts';

/** A Postgres for the tests of one file, and what they make over it. */
export interface Scene {
  /** Where the SDK is installed. */
  readonly packages: string;
  readonly postgres: () => Postgres;
  readonly databaseUrl: () => string;
  /** The engine as an agent takes it. */
  readonly engine: (options?: Partial<DbosOptions>) => CreateEngine;
  readonly open: (part: Part, options?: Partial<DbosOptions>) => Promise<Engine>;
}

/** What an engine is made for. */
export interface Part {
  readonly name?: string;
  readonly program: DurableProgram;
  readonly effects?: Readonly<Record<string, Effect>>;
}

/** DBOS tells much of a database that is killed; here nobody reads it. */
export const quiet: NonNullable<DbosOptions['logger']> = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Starts a Postgres before the tests of a file, and ends it after them. */
export function useDbos(): Scene {
  const packages = installDbos();
  const loaded = loadDbos(packages);
  let postgres: Postgres;
  let databaseUrl = '';
  beforeAll(async () => {
    postgres = await startPostgres();
    databaseUrl = await postgres.createDatabase();
  }, 120_000);
  afterAll(() => postgres.stop());
  const engine: Scene['engine'] = (options = {}) =>
    dbos({ databaseUrl, logger: quiet, ...loaded, ...options });
  return {
    packages,
    engine,
    postgres: () => postgres,
    databaseUrl: () => databaseUrl,
    open: async ({ name = 'scene', program, effects = {} }, options = {}) =>
      engine(options)({ name, program, effects, version: '1', clock: systemClock }),
  };
}

/** Asks until the run has ended. */
export async function whenOver(engine: Engine, runId = 'run'): Promise<RunStatus> {
  for (let tries = 0; tries < 1200; tries += 1) {
    const status = await engine.status(runId).catch(() => undefined);
    if (status?.type === 'ended' || status?.type === 'broken') return status;
    await sleep(25);
  }
  throw new Error(`The run "${runId}" never ends`);
}

/** The code and the origin of what is thrown. */
export async function failureOf(
  act: () => Promise<unknown>,
): Promise<{ readonly code: string; readonly origin: string }> {
  const { code, failure } = await errorOf(act);
  return { code, origin: failure.origin };
}

/** What is thrown. */
export async function errorOf(act: () => Promise<unknown>): Promise<RerailError> {
  try {
    await act();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('It did not fail');
}

/** Waits for one signal. */
export const waiting: DurableProgram = async (durable) => {
  await durable.waitFor('go');
  return 'gone';
};
