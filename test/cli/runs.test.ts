import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runRuns } from '../../src/cli/commands/runs-command.ts';
import { displayWidth } from '../../src/cli/text/wrap.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { laterMs, perform } from './fake-io.ts';
import { secret, startMs, tellStories } from './run-stories.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-runs-'));
const store = path.join(folder, 'runs.db');

beforeAll(() => tellStories(store), 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const list = (flags: Readonly<Record<string, unknown>> = {}, columns = 100) =>
  perform(runRuns, { flags: { store, ...flags } }, { columns });

/** The ids in the order in which they are listed. */
async function idsOf(flags: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const { out } = await list({ ...flags, json: true });
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; run?: { runId: string } });
  return lines.flatMap(({ run }) => (run === undefined ? [] : [run.runId]));
}

describe('rerail runs refuses', () => {
  it.each([
    {
      flags: { status: ['faild'] },
      says: /--status must be one of running, .+, got "faild"\. Type: --status failed/,
    },
    {
      flags: { code: 'RATE_LIMITD' },
      says: /There is no failure code "RATE_LIMITD"\. Type: --code RATE_LIMITED/,
    },
    {
      flags: { since: 'yesterday' },
      says: /--since must be a time as 30m, 2h or 7d, or a date, got "yesterday"/,
    },
    { flags: { limit: '0' }, says: /--limit must be a number from 1 to 1000, got "0"/ },
    { flags: { limit: '1e3' }, says: /--limit must be a number/ },
  ])('$flags', async ({ flags, says }) => {
    const { exitCode, out, err } = await list(flags);
    expect(err).toMatch(says);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
  });

  it('a page that is none', async () => {
    const { exitCode, err } = await list({ page: 'nonsense' });
    expect(err).toMatch(/^rerail: .+\n$/);
    expect(exitCode).not.toBe(0);
  });
});

describe('rerail runs', () => {
  it('says so where nothing fits, and where there is nothing', async () => {
    const none = await list({ tool: 'nothing' });
    expect(none.out).toMatch(new RegExp(`fits\\s+that\\.\nAll of them: rerail runs --store ${store}\n$`));
    const empty = path.join(folder, 'empty.db');
    const made = sqlite(empty);
    await made.open();
    await made.close();
    const { out } = await perform(runRuns, { flags: { store: empty } });
    expect(out).toMatch(/^There is no run in sqlite .+ yet\.$/m);
  });

  it('has a list of none where no run was ever begun, and makes no store', async () => {
    const state = path.join(folder, 'state');
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    const world = { folder: workspace, env: { XDG_STATE_HOME: state, XDG_CONFIG_HOME: state } };
    const { out, err, exitCode } = await perform(runRuns, {}, world);
    expect({ out, err, exitCode }).toEqual({
      out: 'There is no run yet. Begin one: rerail run "…"\n',
      err: '',
      exitCode: 0,
    });
    expect(existsSync(state)).toBe(false);
  });

  it.each([
    { flags: {}, says: /leave --store out/ },
    { flags: { json: true }, says: /leave --store out/ },
  ])('says where it looked for a store that was named, and what to do: $flags', async ({ flags, says }) => {
    const none = path.join(folder, 'none.db');
    const { out, err, exitCode } = await perform(runRuns, { flags: { store: none, ...flags } });
    expect(exitCode).toBe(30);
    expect(err).toContain(none);
    expect(err).toMatch(says);
    const lines = out.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(
      'json' in flags ? [{ type: 'failed', failure: { code: 'STORAGE_NOT_FOUND' } }] : [],
    );
    expect(existsSync(none)).toBe(false);
  });

  it('prints JSON also where no run was ever begun', async () => {
    const state = path.join(folder, 'state');
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace, { recursive: true });
    const world = { folder: workspace, env: { XDG_STATE_HOME: state, XDG_CONFIG_HOME: state } };
    const { out, exitCode } = await perform(runRuns, { flags: { json: true } }, world);
    expect({ said: JSON.parse(out) as unknown, exitCode }).toEqual({
      said: { type: 'end', runs: 0 },
      exitCode: 0,
    });
  });

  it('lists the latest first, in words, and says what to type next', async () => {
    const { out, exitCode } = await list();
    const lines = out.split('\n').map((line) => line.replace(/ {2,}/g, ' | '));
    expect(lines.slice(0, 11)).toEqual([
      'run | began | status | turns | cost | asked',
      'in-doubt | 58 min ago | waits: in doubt | 1 | - | Hang',
      'interrupted | 58 min ago | interrupted | - | - | Hang',
      'long-wait | 59 min ago | waits for its time | 1 | - | Ask',
      'no-key | 1 h ago | waits for a key | 1 | - | Ask',
      'stopped | 1 h ago | stopped: turns | 1 | - | Look',
      'failed | 1 h ago | failed: SERVER_ERROR | 1 | - | Ask',
      'to-approve | 1 h ago | waits for approval | 1 | - | Pay 5 cents',
      'asked-wait | 1 h ago | completed | 1 | - | Ask',
      'fallen-back | 1 h ago | completed | 1 | - | Ask',
      'retried | 1 h ago | completed | 1 | - | Say it. [redacted openai key]',
    ]);
    expect(out).toMatch(new RegExp(`\nNext: rerail why in-doubt --store ${store}\n$`));
    expect(out).not.toContain(secret);
    expect(exitCode).toBe(0);
  });

  it.each([{ columns: 40 }, { columns: 60 }, { columns: 72 }, { columns: 100 }, { columns: 200 }])(
    'fits a screen of $columns columns',
    async ({ columns }) => {
      const { out } = await list({}, columns);
      const rows = out.split('\n').filter((line) => !/^(?:Next|More):/.test(line));
      expect(Math.max(...rows.map(displayWidth))).toBeLessThanOrEqual(columns);
      expect(out).toContain('failed: SERVER_ERROR');
      expect(out).toContain('Pay 5 cents');
    },
  );

  it.each([
    { flags: { status: ['failed', 'stopped'] }, ids: ['stopped', 'failed'] },
    { flags: { status: ['waiting'] }, ids: ['in-doubt', 'long-wait', 'no-key', 'to-approve'] },
    { flags: { status: ['failed,stopped'] }, ids: ['stopped', 'failed'] },
    { flags: { code: 'server_error' }, ids: ['failed'] },
    { flags: { tool: 'look' }, ids: ['stopped'] },
    { flags: { text: 'FROM TWO' }, ids: ['fallen-back'] },
    {
      flags: { since: new Date(startMs + 400_000).toISOString() },
      ids: ['in-doubt', 'interrupted', 'long-wait'],
    },
    {
      flags: { since: `${Math.floor((laterMs - startMs - 400_000) / 1000)}s` },
      ids: ['in-doubt', 'interrupted', 'long-wait'],
    },
  ])('finds by $flags', async ({ flags, ids }) => {
    expect(await idsOf(flags)).toEqual(ids);
  });

  it('goes from page to page by what it says itself', async () => {
    const { out } = await list({ limit: '4' });
    const [, cursor = ''] = /^More: rerail runs --limit 4 --page '?(\S+?)'? --store /m.exec(out) ?? [];
    expect(await idsOf({ limit: '4', page: cursor })).toEqual(
      ['stopped', 'failed', 'to-approve', 'asked-wait'].slice(0, 4),
    );
    expect((await idsOf({ all: true })).length).toBe(10);
  });

  it('shortens long ids as far as they stay one run only', async () => {
    const file = path.join(folder, 'long.db');
    const long = sqlite(file);
    const owner = { id: 'somebody', leaseMs: 1000 };
    const ids = [
      '0b9c1f00-1111-4111-8111-111111111111',
      '0b9c1f00-1112-4111-8111-111111111111',
      'ffffffff-1111-4111-8111-111111111111',
    ];
    for (const runId of ids)
      await long.runs.create({ runId, agent: 'shop', events: [{ type: 'note', body: 'x' }] }, owner);
    await long.close();
    const { out } = await perform(runRuns, { flags: { store: file } });
    const shown = out
      .split('\n')
      .slice(1, 4)
      .map((line) => line.split(' ')[0]);
    expect(new Set(shown)).toEqual(new Set(['0b9c1f00-1111', '0b9c1f00-1112', 'ffffffff']));
  });
});
