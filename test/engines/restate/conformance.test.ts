import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { restate } from '../../../src/engines/restate/restate.ts';
import { engineConformance } from '../../../src/testing/engine-conformance.ts';
import type { CreateEngine, EngineSetup, EngineUnderTest } from '../../../src/testing/engine-conformance.ts';
import { installRestate } from './install.ts';
import { freePort, startRestate } from './server.ts';
import type { RestateServer } from './server.ts';

// Every case has an agent of its own at a port of its own, on one server that is never told of a crash.

const held: { server: RestateServer | undefined; sdk: unknown; opened: number } = {
  server: undefined,
  sdk: undefined,
  opened: 0,
};

function serverOf(): RestateServer {
  if (held.server === undefined) throw new Error('The server is not up');
  return held.server;
}

const createEngine: CreateEngine = async (setup) => {
  held.opened += 1;
  return open(setup, { name: `case-${held.opened}`, port: await freePort() });
};

interface Place {
  readonly name: string;
  readonly port: number;
}

async function open({ program, effects, clock }: EngineSetup, place: Place): Promise<EngineUnderTest> {
  const { name, port } = place;
  const { ingressUrl, adminUrl, query } = serverOf();
  const engine = await restate({
    ingressUrl,
    adminUrl,
    serve: { port },
    sdk: held.sdk,
    limits: { closeWaitMs: 1 },
  })({ name, program, effects, version: '1', clock: systemClock });
  return {
    engine,
    reopen: async ({ program: changed = program, signals = [] }) => {
      await engine.close();
      for (const { runId, name: signal, message } of signals) {
        const path = `rerail.${name}.run/${encodeURIComponent(runId)}/signal/send`;
        const body = JSON.stringify({ name: signal, ...message });
        const headers = { 'content-type': 'application/json' };
        const { status } = await fetch(`${ingressUrl}/${path}`, { method: 'POST', headers, body });
        expect(status).toBe(202);
      }
      return open({ program: changed, effects, clock }, place);
    },
    journalBytes: async (runId) => {
      const rows = await query(
        `SELECT SUM(LENGTH(j.entry_json)) AS bytes FROM sys_journal j JOIN sys_invocation i ON i.id = j.id
         WHERE i.target_service_name = 'rerail.${name}.program' AND i.target_handler_name = 'carry'`,
      );
      expect(runId).not.toBe('');
      return Number(rows[0]?.['bytes']);
    },
    close: () => engine.close(),
  };
}

describe('restate() on a real server', () => {
  beforeAll(async () => {
    held.sdk = installRestate().sdk;
    held.server = await startRestate();
  }, 300_000);

  afterAll(() => held.server?.stop());

  const cases = engineConformance(createEngine);
  it.each(cases.map(({ name, run }) => [name, run] as const))(
    '%s',
    async (_name, run) => {
      await expect(run()).resolves.toBeUndefined();
    },
    60_000,
  );
});
