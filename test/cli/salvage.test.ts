import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExport } from '../../src/cli/commands/export-command.ts';
import { runRuns } from '../../src/cli/commands/runs-command.ts';
import { runShow } from '../../src/cli/commands/show-command.ts';
import { runStoreAccept, runStoreSalvage } from '../../src/cli/commands/store-command.ts';
import { runWhy } from '../../src/cli/commands/why-command.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { copyStore, ended, fillStore, makeForeign, makeText, waiting } from './broken-stores.ts';
import { perform } from './fake-io.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-cli-salvage-'));
beforeAll(() => fillStore(path.join(folder, 'whole.db')), 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
const freshFile = (): string => path.join(folder, `fresh-${(made += 1)}.db`);

/** By SQL, in a copy. */
function damaged(...statements: readonly string[]): string {
  const name = copyStore(folder, `damaged-${(made += 1)}.db`, (file) => {
    const database = loadDriver()(file);
    for (const statement of statements) database.exec(statement);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  });
  return path.join(folder, name);
}

const tail = `DELETE FROM events WHERE run_id = '${ended}' AND seq > 3`;
const row = `UPDATE runs SET status = 'failed' WHERE run_id = '${ended}'`;

describe('a damaged store', () => {
  it.each([
    { name: 'runs', command: runRuns, args: [] },
    { name: 'show', command: runShow, args: [ended] },
    { name: 'why', command: runWhy, args: [ended] },
    { name: 'export', command: runExport, args: [ended] },
  ])('is read as far as it is proven: rerail $name', async ({ command, args }) => {
    const store = damaged(tail, row);
    const before = readFileSync(store);
    const { exitCode, out, err } = await perform(command, { args, flags: { store } }, { columns: 120 });
    expect(out).toContain(ended);
    expect(err).toMatch(/is damaged: /);
    expect(err).toMatch(/store salvage <from> <to>/);
    expect(exitCode).toBe(30);
    expect(readFileSync(store).equals(before)).toBe(true);
  });

  it('marks the run in the list, and lists the others as they are', async () => {
    const { out } = await perform(runRuns, { flags: { store: damaged(tail, row) } }, { columns: 120 });
    expect(out).toMatch(new RegExp(`${ended}.*damaged: its end is lost`));
    expect(out).toMatch(new RegExp(`${waiting}.*waits`));
  });

  it.each([makeForeign, makeText])(
    'that is none of ours is not shown as an empty one: %o',
    async (change) => {
      const store = path.join(folder, copyStore(folder, `foreign-${(made += 1)}.db`, change));
      const { exitCode, out } = await perform(runRuns, { flags: { store } });
      expect({ exitCode, out }).toEqual({ exitCode: 30, out: '' });
    },
  );
});

describe('rerail store salvage', () => {
  it('says that a store is whole, and copies it', async () => {
    const to = freshFile();
    const { exitCode, out } = await perform(runStoreSalvage, { args: [path.join(folder, 'whole.db'), to] });
    expect(out).toMatch(/2 runs are whole, 0 are cut, 0 are lost/);
    expect(exitCode).toBe(0);
    expect((await perform(runRuns, { flags: { store: to } })).out).toContain(waiting);
  });

  it('says of each run what was saved and what was lost, and marks it in the new store', async () => {
    const [from, to] = [damaged(tail), freshFile()];
    const { exitCode, out } = await perform(runStoreSalvage, { args: [from, to] });
    expect(out).toMatch(
      new RegExp(`${ended}: saved events 1 to 3, the rest is lost: event 4 of at least \\d+`),
    );
    expect(out).toMatch(/1 runs are whole, 1 are cut, 0 are lost/);
    expect(exitCode).toBe(30);
    const listed = await perform(runRuns, { flags: { store: to } }, { columns: 120 });
    expect(listed).toMatchObject({ exitCode: 0, err: '' });
    expect(listed.out).toMatch(new RegExp(`${ended}.*damaged: its end is lost`));
    const why = await perform(runWhy, { args: [ended, 'stopped'], flags: { store: to } }, { columns: 120 });
    expect(why.out).toContain('Its end is lost: its record is proven up to event 3. [event 3]');
    const accepted = await perform(runStoreAccept, { args: [ended], flags: { store: to } });
    expect(accepted.out).toContain(`resume ${ended}`);
    const again = await perform(runStoreAccept, { args: [ended], flags: { store: to } });
    expect(again.err).toMatch(/nothing to accept/);
  });

  it('prints lines of JSON', async () => {
    const { out } = await perform(runStoreSalvage, {
      args: [damaged(tail), freshFile()],
      flags: { json: true },
    });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(lines).toMatchObject([
      { type: 'run', runId: ended, result: 'cut', damage: { provenSeq: 3 } },
      { type: 'run', runId: waiting, result: 'whole' },
      { type: 'end', whole: 1, cut: 1, lost: 0 },
    ]);
  });

  it('does not touch a run that is there already', async () => {
    const to = freshFile();
    const from = path.join(folder, 'whole.db');
    await perform(runStoreSalvage, { args: [from, to] });
    const { exitCode, out } = await perform(runStoreSalvage, { args: [from, to] });
    expect(out).toMatch(/not copied, a run of this id is there already/);
    expect(exitCode).toBe(30);
  });
});
