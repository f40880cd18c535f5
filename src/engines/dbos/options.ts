import { defined } from '../../base/defined.ts';
import { configError } from '../../errors/config-error.ts';
import { loadDbosSdk } from './sdk.ts';
import type { Dbos } from './sdk.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** How `dbos()` is set up. All agents of a process that use it share one DBOS, so they must agree. */
export interface DbosOptions {
  /** Of the Postgres that DBOS keeps its tables in: `postgres://user:password@host:5432/database`. */
  readonly databaseUrl: string;
  /**
   * Which process this is, over restarts. After a crash the process with the same id resumes the runs; no other one does. Give
   * each that lives at the same time one of its own. `local` by default.
   */
  readonly executorId?: string;
  /** Under which name the runs of several applications are kept apart in one database. `rerail` by default. */
  readonly applicationName?: string;
  /**
   * DBOS resumes only runs of its own version. `rerail-1` by default: whether a program still fits its journal is checked step by
   * step here, so a new deployment continues the runs of the old one.
   */
  readonly applicationVersion?: string;
  /** The schema of DBOS's tables. `dbos` by default. */
  readonly schema?: string;
  /** Connections of DBOS; this engine has two more. 10 by default. */
  readonly poolSize?: number;
  /** How often letters of other processes are looked for. 500 ms by default. */
  readonly pollIntervalMs?: number;
  /** How long a verb of the host may take where the database does not answer. 10 s by default. */
  readonly requestTimeoutMs?: number;
  /** The largest input, outcome, signal or result, as JSON. 16 MiB by default. */
  readonly maxValueBytes?: number;
  /** Of what DBOS says on the console. `warn` by default. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Receives what DBOS says instead of the console, on every level. */
  readonly logger?: DbosLogger;
  /** The SDK, from a caller that has loaded it. */
  readonly sdk?: unknown;
  /** The driver, likewise. */
  readonly pg?: unknown;
}

/** A caller that receives what DBOS says. */
export type DbosLogger = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (entry: unknown) => void>>;

/** The options with their defaults, and the SDK loaded. */
export interface ResolvedOptions extends Required<Omit<DbosOptions, 'sdk' | 'pg' | 'logger'>> {
  readonly dbos: Dbos;
  readonly logger?: DbosLogger;
  readonly pg: unknown;
}

const optionNames = [
  'databaseUrl',
  'executorId',
  'applicationName',
  'applicationVersion',
  'schema',
  'poolSize',
  'pollIntervalMs',
  'requestTimeoutMs',
  'maxValueBytes',
  'logLevel',
  'logger',
  'sdk',
  'pg',
] as const satisfies readonly (keyof DbosOptions)[];

/** Checks what can never work, before anything is done. Throws a `ConfigError`. */
export function checkDbosOptions(given: DbosOptions): void {
  checkOptions({ of: 'dbos()', rules: optionNames }, given);
  const { databaseUrl, ...options } = given;
  if (typeof databaseUrl !== 'string' || !/^postgres(?:ql)?:\/\//.test(databaseUrl))
    throw configError(
      '"databaseUrl" of dbos() must be the address of a Postgres, such as postgres://user@host/database with a password if it needs one',
    );
  for (const name of ['executorId', 'applicationName', 'applicationVersion', 'schema'] as const) {
    const value = options[name];
    if (value !== undefined && !/^[\w.-]{1,64}$/.test(value))
      throw configError(
        `"${name}" of dbos() must be 1 to 64 letters, digits, "_", "-" and ".", got ${JSON.stringify(value)}`,
      );
  }
  for (const name of ['poolSize', 'pollIntervalMs', 'requestTimeoutMs', 'maxValueBytes'] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isFinite(value) && value >= 1))
      throw configError(`"${name}" of dbos() must be a number from 1, got ${String(value)}`);
  }
}

/** The options with their defaults. Loads the SDK. */
export function resolveDbosOptions({ sdk, pg, ...options }: DbosOptions): ResolvedOptions {
  return {
    executorId: 'local',
    applicationName: 'rerail',
    applicationVersion: 'rerail-1',
    schema: 'dbos',
    poolSize: 10,
    pollIntervalMs: 500,
    requestTimeoutMs: 10_000,
    maxValueBytes: 16 * 1024 * 1024,
    logLevel: 'warn',
    ...defined(options),
    dbos: loadDbosSdk(sdk).DBOS,
    pg,
  };
}
