import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { systemClock } from '../../base/system.ts';
import type { Lease, RunQuery, Store } from '../../model/store/store.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { decodeContent, decodeText, encodeContent, encodeText } from '../common/stored-text.ts';
import { loadDriver } from './driver.ts';
import { createHeld, getRow } from './held.ts';
import { sqlite } from './sqlite.ts';
import { toStorageError } from './storage-errors.ts';
import { enqueue, read } from './write-queue.ts';

let folder = '';
let file = '';
let opened: Store[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-sqlite-'));
  file = path.join(folder, 'runs.db');
});

afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
  rmSync(folder, { recursive: true, force: true });
});

const owner = { id: 'owner-1', leaseMs: 30_000 };
const other = { id: 'owner-2', leaseMs: 30_000 };
const note = (body: Json) => ({ type: 'note', body });

function open(options: Parameters<typeof sqlite>[1] = {}): Store {
  const store = sqlite(file, { sync: 'normal', ...options });
  opened.push(store);
  return store;
}

async function begin(store: Store, runId: string): Promise<Lease> {
  const created = await store.runs.create({ runId, agent: 'agent', events: [note('begun')] }, owner);
  if (created.type !== 'created') throw new Error('The run was there before');
  return created.lease;
}

describe('what is written in one turn', () => {
  it('is one transaction, and what is refused takes nothing else with it', async () => {
    const store = open();
    const [first, second] = [await begin(store, 'run-1'), await begin(store, 'run-2')];
    const results = await Promise.allSettled([
      store.runs.append(first, { events: [note(2)] }),
      store.runs.append({ ...second, epoch: second.epoch - 1 }, { events: [note(2)] }),
      store.runs.append({ ...second, runId: 'unknown' }, { events: [note(2)] }),
      store.runs.append(second, { events: [note(2)], row: { turns: 1 } }),
      store.runs.append(second, { events: [note(3)] }),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(results[1]).toMatchObject({
      reason: {
        code: 'STORAGE_LOCKED',
        failure: { retryable: false, context: { leaseLost: true, runId: 'run-2' } },
      },
    });
    expect(results[2]).toMatchObject({ reason: { code: 'STORAGE_NOT_FOUND' } });
    expect((await store.runs.events('run-2')).map(({ body }) => body)).toEqual(['begun', 2, 3]);
    expect((await store.check()).problems).toEqual([]);
  });

  it('fails as a whole where the disk fails; the file is opened anew, and read again', async () => {
    const held = createHeld({ file, sync: 'normal', clock: systemClock, busyTimeoutMs: 100 });
    const before = await read(held, (connection) => connection);
    const broken = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
    const results = await Promise.allSettled([
      enqueue(held, ({ connection }) =>
        getRow(connection, `UPDATE meta SET value = '7' WHERE name = 'epochs'`),
      ),
      enqueue(held, () => {
        throw broken;
      }),
    ]);
    expect(results).toMatchObject([
      { status: 'rejected', reason: { code: 'STORAGE_IO', failure: { context: { sqliteCode: 10 } } } },
      { status: 'rejected', reason: { code: 'STORAGE_IO' } },
    ]);
    const value = await read(held, (connection) => {
      expect(connection).not.toBe(before);
      return getRow(connection, `SELECT value FROM meta WHERE name = 'epochs'`)?.['value'];
    });
    expect(value).toBe('0');
    held.connection?.database.close();
  });

  it('gives back what the driver says, in words and with a step to take', () => {
    const found = [1, 5, 6, 517, 8, 1032, 10, 522, 11, 13, 14, 26].map((errcode) =>
      toStorageError(Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode }), file),
    );
    expect(found.map((error) => (error as { readonly code: string }).code.slice(8))).toEqual([
      'CORRUPT',
      'LOCKED',
      'LOCKED',
      'LOCKED',
      'READ_ONLY',
      'READ_ONLY',
      'IO',
      'IO',
      'CORRUPT',
      'FULL',
      'IO',
      'CORRUPT',
    ]);
    expect(
      found.every(
        (error) => (error as { readonly failure: { readonly hint?: string } }).failure.hint !== undefined,
      ),
    ).toBe(true);
    const unnumbered = Object.assign(new Error('database disk image is malformed'), {
      code: 'ERR_SQLITE_ERROR',
    });
    expect(toStorageError(unnumbered, file)).toMatchObject({ code: 'STORAGE_CORRUPT' });
    const errnos = ['ENOSPC', 'EROFS', 'EACCES', 'EIO'].map((code) =>
      toStorageError(Object.assign(new Error('x'), { code, syscall: 'write' }), file),
    );
    expect(errnos).toMatchObject([
      { code: 'STORAGE_FULL' },
      { code: 'STORAGE_READ_ONLY' },
      { code: 'STORAGE_READ_ONLY' },
      { code: 'STORAGE_IO' },
    ]);
  });

  it('is refused as read-only by a connection that may not write', async () => {
    const held = createHeld({ file, sync: 'normal', clock: systemClock, busyTimeoutMs: 100 });
    await read(held, (connection) => connection.database.exec('PRAGMA query_only = ON'));
    const written = enqueue(held, ({ connection }) => connection.database.exec(`DELETE FROM meta`));
    await expect(written).rejects.toMatchObject({ code: 'STORAGE_READ_ONLY' });
    held.connection?.database.close();
  });
});

describe('a lease', () => {
  it('that another store has taken is refused to the first, in the transaction that would write', async () => {
    const clock = simulatedClock();
    const [first, second] = [open({ clock }), open({ clock })];
    const lease = await begin(first, 'run-1');
    await clock.advance(30_001);
    expect(await second.runs.claim('run-1', other)).toMatchObject({ type: 'claimed', wasAbandoned: true });
    const late = first.runs.append(lease, { events: [note(2)] });
    await expect(late).rejects.toMatchObject({ failure: { context: { leaseLost: true } } });
    expect(await first.runs.renew(owner)).toEqual(['run-1']);
    expect((await second.check()).problems).toEqual([]);
  });

  it('does not last for ever where the clock was set back', async () => {
    const clock = simulatedClock();
    const store = open({ clock });
    await begin(store, 'run-1');
    clock.jumpWall(-86_400_000);
    const query = { agents: ['agent'], ownerId: 'owner-2', limit: 10 };
    expect(await store.runs.waiting(query)).toEqual([]);
    await clock.advance(30_001);
    expect(await store.runs.waiting(query)).toMatchObject([{ why: 'interrupted' }]);
    expect(await store.runs.claim('run-1', other)).toMatchObject({ type: 'claimed' });
  });
});

describe('an addition that changes nothing that is listed', () => {
  it('writes its events alone; whoever looks finds the true head and time', async () => {
    const clock = simulatedClock();
    const [store, second] = [open({ clock }), open({ clock })];
    const lease = await begin(store, 'run-1');
    await begin(store, 'run-2');
    await clock.advance(1000);
    await store.runs.append(lease, { events: [note(2), note(3)] });
    const database = loadDriver()(file, { readOnly: true });
    const kept = database.prepare(`SELECT head_seq FROM runs WHERE run_id = 'run-1'`).get();
    database.close();
    expect({ ...(kept as object) }).toEqual({ head_seq: 1 });
    const events = await second.runs.events('run-1');
    const row = await second.runs.find('run-1');
    expect(row).toMatchObject({ headSeq: 3, headHash: events[2]?.hash, updatedAtMs: events[2]?.atMs });
    expect((await second.runs.list()).runs).toContainEqual(row);
    await clock.advance(30_001);
    const waiting = await second.runs.waiting({ agents: ['agent'], ownerId: 'owner-2', limit: 10 });
    expect(waiting.map(({ row: { runId, headSeq } }) => [runId, headSeq])).toEqual([
      ['run-2', 1],
      ['run-1', 3],
    ]);
  });

  it('is chained to what another store has added by the same lease', async () => {
    const [first, second] = [open(), open()];
    const lease = await begin(first, 'run-1');
    for (const store of [second, first, first, second, first])
      await store.runs.append(lease, { events: [note('more')] });
    expect(await first.runs.events('run-1')).toHaveLength(6);
    expect((await second.check()).problems).toEqual([]);
  });

  it('is refused where another store has removed the run, or made it anew', async () => {
    const [first, second] = [open(), open()];
    const lease = await begin(first, 'run-1');
    await first.runs.append(lease, { events: [note(2)] });
    await second.runs.remove('run-1');
    await expect(first.runs.append(lease, { events: [note(3)] })).rejects.toMatchObject({
      code: 'STORAGE_NOT_FOUND',
    });
    await begin(second, 'run-1');
    await expect(first.runs.append(lease, { events: [note(3)] })).rejects.toMatchObject({
      failure: { context: { leaseLost: true } },
    });
    expect(await first.runs.events('run-1')).toHaveLength(1);
  });

  it('whose event is damaged is told by the events, and the row keeps to what it can vouch for', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    await store.runs.append(lease, { events: [note(2)] });
    const database = loadDriver()(file);
    database.exec(`UPDATE events SET hash = 'changed' WHERE run_id = 'run-1' AND seq = 2`);
    database.close();
    await store.close();
    const after = open();
    expect(await after.runs.find('run-1')).toMatchObject({ headSeq: 1 });
    await expect(after.runs.events('run-1')).rejects.toMatchObject({ origin: 'storage' });
  });
});

describe('the record of heads', () => {
  it('says nothing of a run that another store has removed before it was written', async () => {
    const [first, second] = [open(), open()];
    const lease = await begin(first, 'run-1');
    await first.runs.append(lease, { events: [note(2)] });
    await second.runs.remove('run-1');
    await first.close();
    expect(await second.runs.find('run-1')).toBeUndefined();
    expect(await open().runs.find('run-1')).toBeUndefined();
  });

  it('says nothing of a run that was added to and removed at once', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    await Promise.all([store.runs.append(lease, { events: [note(2)] }), store.runs.remove('run-1')]);
    await store.close();
    expect(await open().runs.find('run-1')).toBeUndefined();
  });

  it('is written at once when a run is given back, and when the store is closed', async () => {
    const store = open();
    const [first, second] = [await begin(store, 'run-1'), await begin(store, 'run-2')];
    await store.runs.append(first, { events: [note(2)] });
    await store.runs.release(first);
    expect(readFileSync(`${file}-heads`, 'latin1')).toMatch(/ h 2 \S+ "run-1"/);
    await store.runs.append(second, { events: [note(2)] });
    await store.close();
    expect(readFileSync(`${file}-heads`, 'latin1')).toMatch(/ h 2 \S+ "run-2"/);
  });
});

describe('texts', () => {
  it('come back as they were, whatever they hold', () => {
    const text = fc.string({ unit: fc.nat({ max: 0xff_ff }).map((code) => String.fromCharCode(code)) });
    const parts = fc.array(
      fc.oneof(text, fc.constantFrom('\0', '\\', '"', '\ud800', '\udc00', '\\u0000', '😀')),
    );
    fc.assert(
      fc.property(parts, (list) => {
        const whole = list.join('');
        const { stored, hash } = encodeContent(whole);
        expect(decodeText(encodeText(whole))).toBe(whole);
        expect(decodeContent(stored, hash)).toBe(whole);
        expect(/\0|\p{Surrogate}/u.test(encodeText(whole) + stored)).toBe(false);
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  it('that are long are kept once, and go when nobody needs them', async () => {
    const store = open();
    const body = { text: 'long \0\ud800 '.repeat(40_000) };
    const [first, second] = [await begin(store, 'run-1'), await begin(store, 'run-2')];
    await store.runs.append(first, { events: [note(body)] });
    await store.runs.append(second, { events: [note(body)] });
    expect((await store.check()).blobs).toBe(1);
    expect((await store.runs.events('run-1', { from: 2 }))[0]?.body).toEqual(body);
    await store.runs.remove('run-1');
    expect((await store.runs.events('run-2'))[1]?.body).toEqual(body);
    await store.runs.remove('run-2');
    expect(await store.check()).toEqual({ runs: 0, events: 0, blobs: 0, problems: [] });
  });
});

describe('ten thousand runs', () => {
  it('are listed page by page, the last as quickly as the first', async () => {
    const store = open();
    const lease = await begin(store, 'run-00000');
    await store.runs.append(lease, {
      events: [],
      row: { status: 'completed', text: 'The 50% answer_', tools: ['search'] },
    });
    await Promise.all(
      Array.from({ length: 9999 }, (_, index) =>
        store.runs.create(
          { runId: `run-${String(index + 1).padStart(5, '0')}`, agent: 'agent', events: [] },
          owner,
        ),
      ),
    );
    const timed = async (query: RunQuery): Promise<number> => {
      const costs: number[] = [];
      for (let count = 0; count < 7; count += 1) {
        const startMs = performance.now();
        await store.runs.list(query);
        costs.push(performance.now() - startMs);
      }
      return Math.min(...costs);
    };
    const seen = new Set<string>();
    let cursor: string | undefined;
    let last: string | undefined;
    for (let pages = 0; pages < 100; pages += 1) {
      const { runs, next } = await store.runs.list({
        limit: 100,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const { runId } of runs) seen.add(runId);
      last = cursor ?? last;
      cursor = next;
    }
    expect([seen.size, cursor]).toEqual([10_000, undefined]);
    const firstMs = await timed({ limit: 100 });
    const lastMs = await timed({ limit: 100, cursor: last ?? '' });
    expect(lastMs).toBeLessThan(firstMs * 4);
    const found = await store.runs.list({ text: '50% ANSWER_', tool: 'search', status: ['completed'] });
    expect(found.runs.map(({ runId }) => runId)).toEqual(['run-00000']);
    expect((await store.runs.list({ text: '%' })).runs).toHaveLength(1);
    expect((await store.runs.list({ text: `' OR 1=1 --` })).runs).toEqual([]);
    await store.runs.append(lease, { events: [note(1)] });
    expect(await store.runs.prune({ maxRuns: 0 })).toBe(0);
    await store.runs.release(lease);
    expect(await store.runs.prune({ maxRuns: 0 })).toBe(1);
  });
});

describe('check()', () => {
  it('stops when it is told to', async () => {
    const store = open();
    await begin(store, 'run-1');
    const controller = new AbortController();
    const checking = store.check({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(checking).rejects.toThrow('enough');
  });

  it('names every run whose events are not what was written', async () => {
    const store = open();
    await begin(store, 'run-1');
    await begin(store, 'run-2');
    await begin(store, 'run-3');
    const database = loadDriver()(file);
    database.exec(`UPDATE events SET body = '"changed"' WHERE run_id = 'run-1'`);
    database.exec(`UPDATE runs SET turns = 9 WHERE run_id = 'run-3'`);
    database.close();
    const { problems } = await store.check();
    expect(problems.map(({ code, runId }) => [code, runId])).toEqual([
      ['STORAGE_CORRUPT', 'run-1'],
      ['STORAGE_CORRUPT', 'run-3'],
    ]);
  });
});
