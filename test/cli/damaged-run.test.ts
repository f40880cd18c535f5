import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExplain } from '../../src/cli/commands/explain-command.ts';
import { runRuns } from '../../src/cli/commands/runs-command.ts';
import { runShow } from '../../src/cli/commands/show-command.ts';
import { runWhy } from '../../src/cli/commands/why-command.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { copyStore, ended, fillStore, waiting } from './broken-stores.ts';
import { perform } from './fake-io.ts';
import type { Done } from './fake-io.ts';

// A run of which an event in the middle is gone: what comes before it is shown, and what the list says of its end is no fact.

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-cli-damaged-'));
const whole = path.join(folder, 'whole.db');
const store = path.join(folder, 'damaged.db');

beforeAll(async () => {
  await fillStore(whole);
  copyStore(folder, 'damaged.db', (file) => {
    const database = loadDriver()(file);
    database.exec(`DELETE FROM events WHERE run_id = '${ended}' AND seq = 3`);
    database.exec(`DELETE FROM events WHERE run_id = '${waiting}' AND seq = 2`);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Flags = Readonly<Record<string, unknown>>;
const wide = { columns: 200 };
const show = (run: string, flags: Flags = {}): Promise<Done> =>
  perform(runShow, { args: [run], flags: { store, ...flags } }, wide);
const why = (args: readonly string[], flags: Flags = {}): Promise<Done> =>
  perform(runWhy, { args, flags: { store, ...flags } }, wide);
const runs = (flags: Flags): Promise<Done> => perform(runRuns, { flags: { store, ...flags } }, wide);
const linesOf = ({ out }: Done): readonly Flags[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Flags);

describe('a run whose record is damaged in the middle', () => {
  it('is shown as far as it is proven, with its status as what the list says, and exit code 30', async () => {
    const before = readFileSync(store);
    const { out, exitCode } = await show(ended);
    expect(out).toMatch(/^status +damaged: says completed, not proven$/m);
    expect(out).toMatch(/From event 3 on the record cannot be read: STORAGE_CORRUPT/);
    expect(out).toMatch(/rerail store salvage <from> <to>/);
    expect(exitCode).toBe(30);
    expect((await show(ended, { turn: '1' })).exitCode).toBe(30);
    expect(readFileSync(store).equals(before)).toBe(true);
  });

  it('does not have its status as one for programs either', async () => {
    const shown = await show(ended, { json: true });
    expect(JSON.parse(shown.out)).toMatchObject({
      words: 'damaged: says completed, not proven',
      row: { status: 'damaged', says: 'completed' },
      trouble: { code: 'STORAGE_CORRUPT' },
    });
    const answered = await why([ended], { json: true });
    expect(JSON.parse(answered.out)).toMatchObject({
      status: 'damaged',
      says: 'completed',
      words: 'damaged: says completed, not proven',
      trouble: { code: 'STORAGE_CORRUPT' },
    });
    const explained = await perform(runExplain, {
      args: [ended],
      flags: { store, static: true, json: true },
    });
    expect(JSON.parse(explained.out)).toMatchObject({ status: 'damaged', says: 'completed' });
    expect([shown, answered, explained].map(({ exitCode }) => exitCode)).toEqual([30, 30, 30]);
  });

  it.each([
    { run: ended, says: 'completed', claims: /It (?:did not stop early|completed)/ },
    { run: waiting, says: 'suspended', claims: /It waits for|It is not waiting|It waits/ },
  ])(
    'is answered for with what is proven: rerail why of one that says $says',
    async ({ run, says, claims }) => {
      const { out, exitCode } = await why([run]);
      expect(out).toMatch(new RegExp(`^${run}: damaged: says .*, not proven$`, 'm'));
      expect(out.replaceAll(/\s+/g, ' ')).toContain(
        `The list says that the run is ${says}, which is not proven.`,
      );
      expect(out).not.toMatch(claims);
      expect(exitCode).toBe(30);
      const asked = await why([run, 'waiting']);
      expect(asked.out).toContain('What can be read of its record does not say.');
      expect(asked.exitCode).toBe(30);
    },
  );

  it('is found by rerail runs --check, and others are not marked', async () => {
    const checked = await runs({ check: true });
    expect(checked.out).toMatch(new RegExp(`${ended}.*damaged: says completed`));
    expect(checked.out).toMatch(/Next: rerail why/);
    expect(checked.exitCode).toBe(30);
    const lines = linesOf(await runs({ check: true, json: true }));
    expect(lines).toContainEqual(
      expect.objectContaining({
        words: 'damaged: says completed, not proven',
        run: expect.objectContaining({ runId: ended, status: 'damaged', says: 'completed' }) as unknown,
      }),
    );
    const good = await runs({ store: whole, check: true });
    expect(good.out).not.toContain('damaged:');
    expect(good.exitCode).toBe(0);
  });
});
