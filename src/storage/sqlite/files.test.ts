import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm, truncate } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../base/json.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import type { Message } from '../../model/message.ts';
import type { Created, Lease, Store } from '../../model/store/store.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { chooseDriver, loadDriver } from './driver.ts';
import { openDatabase } from './open-database.ts';
import { migrations } from './schema.ts';
import { sqlite } from './sqlite.ts';

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

/** Where the header of a file says the version of its schema. */
const versionOffset = 60;

const owner = { id: 'owner-1', leaseMs: 30_000 };
const note = (body: Json) => ({ type: 'note', body });

function open(name = file, options: Parameters<typeof sqlite>[1] = {}): Store {
  const store = sqlite(name, { sync: 'normal', ...options });
  opened.push(store);
  return store;
}

function leaseOf(created: Created): Lease {
  if (created.type !== 'created') throw new Error('The run was there before');
  return created.lease;
}

async function begin(store: Store, runId: string, bodies: readonly Json[] = ['begun']): Promise<Lease> {
  return leaseOf(await store.runs.create({ runId, agent: 'agent', events: bodies.map(note) }, owner));
}

const codeOf = (error: unknown): string => (error as RerailError).code;

const failsWith = (code: string) => expect.objectContaining({ code, origin: 'storage' }) as unknown;

describe('sqlite() refuses at once', () => {
  it.each([
    { why: 'a store in memory', make: () => sqlite(':memory:'), message: /leave out "store"/ },
    { why: 'no path', make: () => sqlite(''), message: /needs the path/ },
    { why: 'an address', make: () => sqlite('file:runs.db'), message: /not an address/ },
    {
      why: 'an unknown sync',
      make: () => sqlite('x', { sync: 'off' as 'full' }),
      message: /"sync".*"full" or "normal".*"off"/,
    },
    {
      why: 'an unknown durability',
      make: () => sqlite('x', { durability: 'maybe' as 'required' }),
      message: /"durability"/,
    },
    {
      why: 'a negative wait',
      make: () => sqlite('x', { busyTimeoutMs: -1 }),
      message: /"busyTimeoutMs".*-1/,
    },
    {
      why: 'a wait that is no number',
      make: () => sqlite('x', { busyTimeoutMs: Number.NaN }),
      message: /NaN/,
    },
    {
      why: 'an option it does not have',
      make: () => sqlite('x', { mode: 1 } as object),
      message: /no option "mode"/,
    },
  ])('$why', ({ make, message }) => {
    expect(make).toThrow(message);
  });

  it('a machine without SQLite, and says what to install', () => {
    const missing = {
      type: 'missing',
      message: '"@photostructure/sqlite" is not installed: npm install @photostructure/sqlite',
    } as const;
    expect(() => chooseDriver(undefined, () => missing)).toThrow(/npm install @photostructure\/sqlite/);
  });
});

describe('opening', () => {
  it('leaves a newer schema as it is', async () => {
    const newer = open();
    await begin(newer, 'run-1');
    await newer.close();
    const bytes = readFileSync(file);
    bytes.writeUInt32BE(99, versionOffset);
    writeFileSync(file, bytes);
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    const before = readFileSync(file);
    await expect(open().open()).rejects.toEqual(failsWith('STORAGE_NEWER_SCHEMA'));
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it('notices a newer schema that is only in the log', async () => {
    await open().open();
    const other = loadDriver()(file);
    other.exec('PRAGMA user_version = 99');
    await expect(open().open()).rejects.toEqual(failsWith('STORAGE_NEWER_SCHEMA'));
    other.close();
  });

  it.each([
    { what: 'no database at all', make: () => writeFileSync(file, 'Dear diary, '.repeat(1000)) },
    { what: 'half a page of noise', make: () => writeFileSync(file, Buffer.alloc(700, 7)) },
    {
      what: 'the database of another program',
      make: () => {
        const database = loadDriver()(file);
        database.exec('CREATE TABLE theirs (a)');
        database.close();
      },
    },
  ])('leaves $what as it is', async ({ make }) => {
    make();
    const before = readFileSync(file);
    await expect(open().open()).rejects.toEqual(failsWith('STORAGE_CORRUPT'));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('writes through no link that was put where a new file of its own would be', async () => {
    const victim = path.join(folder, 'victim');
    writeFileSync(victim, 'mine');
    for (const name of [`-heads.${process.pid}.new`, `.v1.bak.${process.pid}.new`])
      symlinkSync(victim, `${file}${name}`);
    const store = sqlite(file);
    opened.push(store);
    await store.open?.();
    await store.runs.list({ limit: 1 });
    expect(existsSync(`${file}-heads`)).toBe(true);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
  });

  it('makes a missing folder and files that only their owner can read', async () => {
    const deep = path.join(folder, 'a', 'b', 'runs.db');
    const store = open(deep);
    await begin(store, 'run-1');
    const modes = ['', '-wal', '-shm', '-heads'].map((end) => statSync(deep + end).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
    expect(statSync(path.dirname(deep)).mode & 0o777).toBe(0o700);
  });

  it('sets the sync that it was told, and the log', async () => {
    const base = { file, openFile: loadDriver(), busyTimeoutMs: 100, migrations, isExpected: false } as const;
    const values = (['full', 'normal'] as const).map((sync) => {
      const database = openDatabase({ ...base, sync });
      const found = database.prepare('PRAGMA synchronous').get();
      const mode = database.prepare('PRAGMA journal_mode').get();
      database.close();
      return [{ ...(found as object) }, { ...(mode as object) }];
    });
    expect(values).toEqual([
      [{ synchronous: 2 }, { journal_mode: 'wal' }],
      [{ synchronous: 1 }, { journal_mode: 'wal' }],
    ]);
  });

  it('migrates as a whole or not at all, and keeps a copy until the next start', () => {
    const base = {
      file,
      openFile: loadDriver(),
      busyTimeoutMs: 100,
      sync: 'normal',
      isExpected: false,
    } as const;
    const names = (): unknown => {
      const database = loadDriver()(file, { readOnly: true });
      const found = database.prepare(`SELECT name FROM sqlite_master WHERE name LIKE 'extra%'`).all();
      const version = database.prepare('PRAGMA user_version').get() as { user_version: number };
      database.close();
      return [version.user_version, found.length];
    };
    openDatabase({ ...base, migrations }).close();
    const statements = ['CREATE TABLE extra_1 (a)', 'CREATE TABLE extra_2 (a)'];
    for (let count = 0; count <= statements.length; count += 1) {
      const broken = { version: 2, statements: [...statements.slice(0, count), 'SELECT nonsense'] };
      expect(() => openDatabase({ ...base, migrations: [...migrations, broken] })).toThrow(/nonsense/);
      expect(names()).toEqual([1, 0]);
    }
    const next = [...migrations, { version: 2, statements }];
    openDatabase({ ...base, migrations: next }).close();
    expect(names()).toEqual([2, 2]);
    expect(existsSync(`${file}.v1.bak`)).toBe(true);
    expect(statSync(`${file}.v1.bak`).mode & 0o777).toBe(0o600);
    openDatabase({ ...base, migrations: next }).close();
    expect(existsSync(`${file}.v1.bak`)).toBe(false);
  });
});

describe('a database that is gone', () => {
  it.each([
    { how: 'deleted', spoil: async () => rm(file) },
    { how: 'emptied', spoil: async () => truncate(file, 0) },
    { how: 'replaced by another', spoil: async () => putAnother() },
  ])('is told when it was $how before the start, and nothing is made in its place', async ({ spoil }) => {
    const first = open();
    await begin(first, 'run-1');
    await first.close();
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    await spoil();
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    await expect(open().open()).rejects.toEqual(failsWith('STORAGE_LOST'));
    expect(statSync(file, { throwIfNoEntry: false })?.size).toBe(size);
  });

  it.each([
    { how: 'deleted', spoil: async () => rm(file) },
    { how: 'emptied', spoil: async () => truncate(file, 0) },
    { how: 'replaced by another', spoil: async () => putAnother() },
  ])('is told when it was $how while it was open', async ({ spoil }) => {
    const store = open();
    const lease = await begin(store, 'run-1');
    await spoil();
    await expect(store.runs.append(lease, { events: [note(1)] })).rejects.toEqual(failsWith('STORAGE_LOST'));
    await expect(store.runs.events('run-1')).rejects.toEqual(failsWith('STORAGE_LOST'));
  });

  async function putAnother(): Promise<void> {
    const other = sqlite(path.join(folder, 'other.db'));
    await other.open();
    await other.close();
    renameSync(path.join(folder, 'other.db'), file);
  }
});

describe('an older copy', () => {
  it('makes the runs that have lost something diverge, and no others; what is accepted goes on', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    await begin(store, 'run-2');
    await store.close();
    copyFileSync(file, `${file}.old`);
    const later = open();
    await later.runs.append(lease, { events: [note(2)] });
    await begin(later, 'run-3');
    await later.close();
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    copyFileSync(`${file}.old`, file);

    const after = open();
    await expect(after.runs.events('run-1')).rejects.toEqual(failsWith('STORAGE_DIVERGED'));
    await expect(after.runs.claim('run-1', owner)).rejects.toEqual(failsWith('STORAGE_DIVERGED'));
    await expect(after.runs.find('run-3')).rejects.toEqual(failsWith('STORAGE_DIVERGED'));
    await expect(begin(after, 'run-3')).rejects.toEqual(failsWith('STORAGE_DIVERGED'));
    expect(await after.runs.events('run-2')).toHaveLength(1);
    const { problems } = await after.check();
    expect(problems.map(({ code, runId }) => [code, runId])).toEqual([
      ['STORAGE_DIVERGED', 'run-1'],
      ['STORAGE_DIVERGED', 'run-3'],
    ]);
    await after.runs.acceptHead('run-1');
    await after.runs.acceptHead('run-3');
    await after.close();
    const accepted = open();
    expect(await accepted.runs.events('run-1')).toHaveLength(1);
    await begin(accepted, 'run-3');
    expect((await accepted.check()).problems).toEqual([]);
  });

  it('is noticed wherever the log was cut', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    for (let count = 2; count <= 12; count += 1)
      await store.runs.append(lease, { events: [note('x'.repeat(900))] });
    // Written a moment later than the events.
    await vi.waitFor(() => expect(readFileSync(`${file}-heads`, 'latin1')).toMatch(/ h 12 \S+ "run-1"/));
    const log = readFileSync(`${file}-wal`);
    const random = seededRandom(7);
    const cuts = Array.from({ length: 40 }, () => Math.floor(random() * log.length));
    const found: string[] = [];
    for (const [index, cut] of [0, 32, ...cuts].entries()) {
      // Another name for each: one of the drivers holds a closed file until its statements are collected.
      const copy = path.join(folder, `copy-${index}.db`);
      for (const end of ['', '-heads']) copyFileSync(file + end, copy + end);
      writeFileSync(`${copy}-wal`, log.subarray(0, cut));
      const cutStore = open(copy);
      found.push(
        await cutStore.runs.events('run-1').then(
          (events) => `${events.length} events`,
          (error: unknown) => codeOf(error),
        ),
      );
      await cutStore.close();
    }
    const told = ['STORAGE_DIVERGED', 'STORAGE_LOST'];
    expect(found.filter((code) => !told.includes(code))).toEqual([]);
    expect(found).toContain('STORAGE_DIVERGED');
  });
});

describe('a flipped bit', () => {
  it('is noticed wherever it changes what is read', async () => {
    const { pristine, read } = await fillStore();
    const bytes = readFileSync(file);
    const heads = readFileSync(`${file}-heads`);
    const random = seededRandom(20_261_115);
    const silent: number[] = [];
    let noticed = 0;
    for (let count = 0; count < 300; count += 1) {
      const place = Math.floor(random() * bytes.length * 8);
      const flipped = Buffer.from(bytes);
      flipped[place >> 3] = (flipped[place >> 3] ?? 0) ^ (1 << (place & 7));
      const copy = path.join(folder, `copy-${count}.db`);
      writeFileSync(copy, flipped);
      writeFileSync(`${copy}-heads`, heads);
      const store = sqlite(copy, { sync: 'normal' });
      const answers = await read(store);
      await store.close();
      const isSame = JSON.stringify(answers) === JSON.stringify(pristine);
      if (isSame) continue;
      if (
        answers.some(
          (answer, index) =>
            answer.type === 'read' && answer.text !== (pristine[index] as { text: string }).text,
        )
      )
        silent.push(place);
      else noticed += 1;
    }
    expect(silent).toEqual([]);
    expect(noticed).toBeGreaterThan(30);
  });

  it('in an event leaves the events before it and the other runs alone', async () => {
    const store = open();
    await begin(store, 'run-1', ['first', 'find-me-and-flip-me', 'third']);
    const other = await begin(store, 'run-2');
    await store.close();
    const bytes = readFileSync(file);
    const place = bytes.indexOf('find-me-and-flip-me');
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const after = open();
    const failure = await after.runs
      .events('run-1')
      .catch((error: unknown) => (error as RerailError).failure);
    expect(failure).toMatchObject({ code: 'STORAGE_CORRUPT', context: { runId: 'run-1', seq: 2 } });
    expect(await after.runs.events('run-1', { to: 1 })).toHaveLength(1);
    await after.runs.append(other, { events: [note(2)] });
    expect(await after.runs.events('run-2')).toHaveLength(2);
  });

  type Answer =
    { readonly type: 'read'; readonly text: string } | { readonly type: 'failed'; readonly code: string };

  async function fillStore(): Promise<{
    pristine: readonly Answer[];
    read: (store: Store) => Promise<readonly Answer[]>;
  }> {
    const store = open();
    const hashes: string[] = [];
    const runIds = Array.from({ length: 8 }, (_, index) => `run-${index}`);
    for (const runId of runIds) {
      const lease = await begin(store, runId, ['begun', { text: 'a longer body '.repeat(20) }]);
      await store.runs.append(lease, {
        events: [note(runId)],
        row: { text: `Asked ${runId}`, tools: ['search'], turns: 2 },
      });
      await store.runs.signal(runId, { id: 's-1', name: 'resume', payload: { yes: true } });
      hashes.push(await store.blobs.put(`content of ${runId} `.repeat(50), runId));
      const messages: readonly Message[] = [{ role: 'user', content: `Hello from ${runId}` }];
      await store.sessions.append('session', messages, runId);
      await store.runs.release(lease);
    }
    const read = async (from: Store): Promise<readonly Answer[]> => {
      const looks: readonly (() => Promise<unknown>)[] = [
        () => from.runs.list(),
        () => from.runs.list({ text: 'asked', tool: 'search' }),
        () => from.sessions.list(),
        () => from.sessions.messages('session'),
        ...runIds.flatMap((runId) => [
          () => from.runs.find(runId),
          () => from.runs.events(runId),
          () => from.runs.signals(runId),
        ]),
        ...hashes.map((hash) => () => from.blobs.get(hash)),
      ];
      const answers: Answer[] = [];
      for (const look of looks) {
        answers.push(
          await look().then(
            (value): Answer => ({ type: 'read', text: JSON.stringify(value) ?? 'undefined' }),
            (error: unknown): Answer => ({ type: 'failed', code: codeOf(error) }),
          ),
        );
      }
      return answers;
    };
    const pristine = await read(store);
    await store.close();
    return { pristine, read };
  }
});

describe('the file of heads', () => {
  it('is bounded, and says the same afterwards', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    const lines = readFileSync(`${file}-heads`, 'latin1');
    await store.close();
    writeFileSync(
      `${file}-heads`,
      lines + `${lines.split('\n').findLast((line) => line.includes('run-1'))}\n`.repeat(20_000),
    );
    const after = open();
    await after.runs.append(lease, { events: [note(2)] });
    expect(statSync(`${file}-heads`).size).toBeLessThan(1000);
    expect(await after.runs.events('run-1')).toHaveLength(2);
  });

  it('may be half written, may be missing, and is then behind', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    writeFileSync(`${file}-heads`, readFileSync(`${file}-heads`, 'latin1').slice(0, -20));
    await store.runs.append(lease, { events: [note(2)] });
    expect(await store.runs.events('run-1')).toHaveLength(2);
    await store.close();
    rmSync(`${file}-heads`);
    const after = open();
    expect(await after.runs.events('run-1')).toHaveLength(2);
    expect(existsSync(`${file}-heads`)).toBe(true);
  });
});

describe('a closed store', () => {
  it('says so, and has written everything before', async () => {
    const store = open();
    const lease = await begin(store, 'run-1');
    const last = store.runs.append(lease, { events: [note(2)] });
    await store.close();
    await expect(last).resolves.toBeUndefined();
    await expect(store.runs.find('run-1')).rejects.toThrow(/is closed/);
    expect(await open().runs.events('run-1')).toHaveLength(2);
  });
});
