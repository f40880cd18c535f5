import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { assert } from '../../base/assert.ts';
import type { Store } from '../../model/store/store.ts';
import { storeConformance } from '../../testing/store-conformance.ts';
import type { MakeStore } from '../../testing/store-conformance.ts';
import { loadDriver } from './driver.ts';
import type { Database } from './driver.ts';
import { readHash } from './head-check.ts';
import type { Connection } from './held.ts';
import { findRecord, updateRecord } from './run-record.ts';
import { sqlite } from './sqlite.ts';

const makeStore: MakeStore = async ({ clock }) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-sqlite-'));
  const file = path.join(folder, 'runs.db');
  const opened: Store[] = [];
  const open = (): Store => {
    const store = sqlite(file, { clock, sync: 'normal' });
    opened.push(store);
    return store;
  };
  return {
    store: open(),
    reopen: () => Promise.resolve(open()),
    damage: (runId, damage) => {
      const database = loadDriver()(file);
      if (damage.type === 'event-changed') {
        const sql = `UPDATE events SET body = body || ' ' WHERE run_id = ? AND seq = ?`;
        database.prepare(sql).run(runId, damage.seq);
      } else {
        putBack(database, runId, damage.events);
      }
      database.close();
    },
    close: async () => {
      for (const store of opened) await store.close();
      await rm(folder, { recursive: true });
    },
  };
};

describe('sqlite()', () => {
  it.each(storeConformance('sqlite', makeStore))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

/** As an older copy of the file has it: the last events are gone, and the row knows nothing of them. */
function putBack(database: Database, runId: string, events: number): void {
  const connection = { database, statements: new Map() } as unknown as Connection; // All that a record needs.
  const record = findRecord(connection, runId);
  assert(record !== undefined, 'There is no such run');
  const headSeq = record.headSeq - events;
  const headHash = readHash(connection, runId, headSeq) ?? '';
  updateRecord(connection, { ...record, headSeq, headHash }, record);
  database.prepare('DELETE FROM events WHERE run_id = ? AND seq > ?').run(runId, headSeq);
}
