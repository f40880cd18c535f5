import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { dbos } from '../../../src/engines/dbos/dbos.ts';
import { engineConformance } from '../../../src/testing/engine-conformance.ts';
import type { CreateEngine, EngineSetup, EngineUnderTest } from '../../../src/testing/engine-conformance.ts';
import { startPostgres } from '../../postgres/start-postgres.ts';
import type { Postgres } from '../../postgres/start-postgres.ts';
import { findDbos } from './find-dbos.ts';
import { quiet } from './scene.ts';

/** A process has one DBOS, so the cases take it in turns; each has an executor id of its own, and sees no runs of the others. */
describe('dbos()', { timeout: 60_000 }, () => {
  const packages = findDbos();
  let postgres: Postgres;
  let databaseUrl = '';
  let cases = 0;
  let engines = 0;

  beforeAll(async () => {
    postgres = await startPostgres();
    databaseUrl = await postgres.createDatabase();
  }, 120_000);

  afterAll(() => postgres.stop());
  beforeEach(() => void (cases += 1));

  const createEngine: CreateEngine = (setup) => {
    engines += 1;
    return open(setup, `suite-${engines}`);
  };

  async function open({ program, effects }: EngineSetup, name: string): Promise<EngineUnderTest> {
    const create = dbos({ databaseUrl, executorId: `case-${cases}`, logger: quiet, ...packages });
    const engine = await create({ name, program, effects, version: '1', clock: systemClock });
    return {
      engine,
      reopen: async ({ program: changed = program, signals = [] }) => {
        await engine.close();
        const again = await open({ program: changed, effects, clock: systemClock }, name);
        for (const { runId, name: signal, message } of signals)
          await again.engine.signal(runId, signal, message);
        return again;
      },
      journalBytes: (runId) => journalBytes(name, runId),
      close: () => engine.close(),
    };
  }

  async function journalBytes(name: string, runId: string): Promise<number> {
    const sql = `SELECT sum(length(output))::int AS bytes FROM dbos.operation_outputs WHERE workflow_uuid = $1`;
    const [row] = await postgres.ask(databaseUrl, sql, [`rerail:${name}:${runId}:1`]);
    return Number(row?.['bytes']);
  }

  it.each(engineConformance(createEngine).map(({ name, run }) => [name, run] as const))('%s', (_name, run) =>
    expect(run()).resolves.toBeUndefined(),
  );
});
