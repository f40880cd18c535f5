import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../../test/postgres/start-postgres.ts';
import type { Postgres } from '../../../test/postgres/start-postgres.ts';
import type { Store } from '../../model/store/store.ts';
import { storeConformance } from '../../testing/store-conformance.ts';
import type { MakeStore } from '../../testing/store-conformance.ts';
import { postgres } from './postgres.ts';

let server: Postgres;
let schemas = 0;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const makeStore: MakeStore = ({ clock }) => {
  schemas += 1;
  const schema = `conformance_${schemas}`;
  const opened: Store[] = [];
  const open = (): Store => {
    const store = postgres(server.address, { clock, schema, maxConnections: 4 });
    opened.push(store);
    return store;
  };
  return {
    store: open(),
    reopen: () => Promise.resolve(open()),
    damage: async (runId, damage) => {
      if (damage.type === 'event-changed') {
        const sql = `UPDATE ${schema}.events SET body = body || ' ' WHERE run_id = $1 AND seq = $2`;
        await server.ask(server.address, sql, [runId, damage.seq]);
      } else {
        await putBack({ schema, runId, events: damage.events });
      }
    },
    close: async () => {
      for (const store of opened) await store.close();
    },
  };
};

describe('postgres()', () => {
  it.each(storeConformance('postgres', makeStore))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

/** As an older copy of the database has it: the last events are gone, and the row knows nothing of them. */
async function putBack(lost: {
  readonly schema: string;
  readonly runId: string;
  readonly events: number;
}): Promise<void> {
  const { schema, runId, events } = lost;
  await server.ask(
    server.address,
    `UPDATE ${schema}.runs SET head_seq = head_seq - $2,
      head_hash = (SELECT hash FROM ${schema}.events AS e WHERE e.run_id = $1 AND e.seq = head_seq - $2)
      WHERE run_id = $1`,
    [runId, events],
  );
  const sql = `DELETE FROM ${schema}.events WHERE run_id = $1 AND seq > (SELECT head_seq FROM ${schema}.runs WHERE run_id = $1)`;
  await server.ask(server.address, sql, [runId]);
}
