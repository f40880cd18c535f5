import type { Cancel, Clock } from '../../base/clock.ts';
import { configError } from '../../errors/config-error.ts';
import { outside } from './carried-run.ts';
import { bounded, launchFailure } from './failures.ts';
import { openMail } from './mail.ts';
import type { Mail } from './mail.ts';
import { openPool } from './open-pool.ts';
import type { ResolvedOptions } from './options.ts';
import { loadPg } from './sdk.ts';
import type { Dbos, PgPool } from './sdk.ts';

/** DBOS while it runs, with its connections and ours. */
export interface Launched {
  readonly options: ResolvedOptions;
  readonly clock: Clock;
  readonly dbos: Dbos;
  readonly mail: Mail;
  /** DBOS's own connections. */
  readonly pool: PgPool;
}

/** So many times a request's time: the first launch makes the tables. */
const launchTimes = 6;
/** Of one connection, by the driver's own watch. */
const maxConnectMs = 10_000;

/** Throws where the DBOS of this process is not ours to launch. */
export function checkFree({ dbos }: ResolvedOptions): void {
  if (!dbos.isInitialized()) return;
  throw configError(
    'DBOS is launched already, by other code: the engine "dbos" launches it itself, with the workflows that are registered by then. Leave out DBOS.launch()',
  );
}

/** Launches DBOS, which resumes what processes with this executor id have left. Its workflows must be registered. */
export async function launchDbos(options: ResolvedOptions, clock: Clock): Promise<Launched> {
  const { dbos, databaseUrl, schema, executorId, poolSize, requestTimeoutMs } = options;
  const to = {
    driver: loadPg(options.pg),
    databaseUrl,
    connectTimeoutMs: Math.min(requestTimeoutMs, maxConnectMs),
  };
  const mail = openMail({ ...to, schema });
  const pool = openPool({ ...to, name: `rerail_dbos_${executorId}`, max: poolSize, isPatient: true });
  const launched: Launched = { options, clock, dbos, mail, pool };
  try {
    dbos.setConfig(configOf(options, pool));
    const watch = { clock, mail, requestTimeoutMs: launchTimes * requestTimeoutMs };
    await bounded(watch, { words: 'launch DBOS' }, () => outside(() => dbos.launch()));
  } catch (error) {
    const failure = await launchFailure(mail, error);
    // What was half opened is closed; why it could not be opened is what is reported.
    await shutDown(launched).catch(() => undefined);
    throw failure;
  }
  // It is only a warning: where it cannot be found out, the next launch reports it.
  void outside(() => warnOfOthers(launched)).catch(() => undefined);
  return launched;
}

function configOf(options: ResolvedOptions, pool: PgPool): Readonly<Record<string, unknown>> {
  const { databaseUrl, schema, executorId, applicationName, applicationVersion, logLevel, logger } = options;
  return {
    // Of what DBOS resumes again, every process of the same application and version may take a part, also one that has other
    // agents. So that runs stay with their executor, each is an application of its own, whose versions no other has.
    name: ownOf(options, applicationName),
    systemDatabaseUrl: databaseUrl,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: schema,
    executorID: executorId,
    applicationVersion: ownOf(options, applicationVersion),
    logLevel,
    ...(logger === undefined ? {} : { logger }),
  };
}

function ownOf({ executorId }: ResolvedOptions, name: string): string {
  return `${name}/${executorId}`;
}

/** Ends DBOS. A database that does not answer must not keep the process from ending: what is on record stays there. */
export async function shutDown({ options, clock, dbos, mail, pool }: Launched): Promise<void> {
  const ending = async (): Promise<void> => {
    try {
      await outside(() => dbos.shutdown());
    } finally {
      await Promise.all([pool.end(), mail.close()]);
    }
  };
  let stop: Cancel = () => undefined;
  const late = new Promise<void>((resolve) => {
    stop = clock.after(options.requestTimeoutMs, resolve);
  });
  try {
    await Promise.race([ending(), late]);
  } finally {
    stop();
  }
}

/** Looked at for the warning; more are not counted. */
const maxOthers = 1000;

/** DBOS resumes runs of its own version only, and says nothing of the others: they would stand still unseen. */
async function warnOfOthers({ dbos, options }: Launched): Promise<void> {
  const { executorId, applicationVersion } = options;
  const rows = await dbos.listWorkflows({
    workflowName,
    status: ['PENDING', 'ENQUEUED'],
    executorId,
    limit: maxOthers,
    loadInput: false,
    loadOutput: false,
  });
  const versions = rows.map((row) => (row.applicationVersion ?? '').replace(/\/[^/]*$/, ''));
  const others = versions.filter((version) => version !== applicationVersion);
  if (others.length === 0) return;
  const names = [...new Set(others)].map((version) => `"${version}"`).join(', ');
  dbos.logger.warn(
    `${others.length} runs of executor "${executorId}" are paused: application version ${names} started them, and this one is "${applicationVersion}". Start a process with the version that started them, or name it as applicationVersion of dbos() again`,
  );
}

/** Under which the one workflow of this engine is registered. */
export const workflowName = 'rerail';
