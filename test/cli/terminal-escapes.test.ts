import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import type { CliIo } from '../../src/cli/start/io.ts';
import { simulated } from '../../src/providers/simulated/simulated.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { importRun } from '../../src/runtime/transfer/import-run.ts';
import { exportRun } from '../../src/runtime/transfer/export-run.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { tool } from '../../src/tools/tool.ts';

// Whatever a store holds may come from outside: names of runs, agents and tools, questions, answers, reasons, failures.

const hostile = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m\u202e\r\u007f';
const folder = mkdtempSync(path.join(tmpdir(), 'rerail-escapes-'));
const store = path.join(folder, 'runs.db');
/** What this program itself writes to a terminal. */
const escape = '\u001b';
const ours = new RegExp(String.raw`${escape}\[(?:0|1|2|3|31|32|36|38;5;178)m`, 'g');
const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;

const ids = { asks: `asks${hostile}`, done: `done${hostile}`, failed: `failed${hostile}` };

beforeAll(async () => {
  const runs = sqlite(store);
  const pay = tool({
    name: 'pay_invoice',
    description: `Pays. ${hostile}`,
    input: { type: 'object', properties: { invoice: { type: 'string' } } },
    effect: 'once',
    permission: 'ask',
    execute: () => hostile,
  });
  const fail = tool({
    name: 'pay_invoice',
    description: 'Pays.',
    input: { type: 'object', properties: { invoice: { type: 'string' } } },
    effect: 'read',
    execute: () => {
      throw new Error(hostile);
    },
  });
  const name = `agent${hostile}`;
  const asking = createAgent({ name, model: simulated(), tools: [pay], store: runs });
  await asking.run(`Pay invoice 9 ${hostile}`, { runId: ids.asks, sessionId: `s${hostile}` });
  const failing = createAgent({
    name,
    model: simulated(),
    tools: [fail],
    store: runs,
    limits: { maxTurns: 1 },
  });
  await failing.run(`Pay invoice 9 ${hostile}`, { runId: ids.failed });
  await createAgent({ name, model: simulated(), store: runs }).run(hostile, { runId: ids.done });
  await importRun(runs, await exportRun(runs, ids.done), { as: `copy${hostile}` });
  await runs.close();
}, 30_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function shown(argv: readonly string[], isTerminal: boolean): Promise<string> {
  const said: string[] = [];
  const sink = { write: (text: string) => said.push(text) };
  const io: CliIo = {
    stdout: sink,
    stderr: sink,
    stdin: async function* read() {
      yield Buffer.from('');
    },
    readFile: () => {
      throw new Error('not in these tests');
    },
    isTerminal: { stdin: isTerminal, stdout: isTerminal, stderr: isTerminal },
    columns: 80,
    env: { XDG_STATE_HOME: path.join(folder, 'state') },
    now: () => Date.now(),
    folder,
    home: path.join(tmpdir(), 'nobody'),
    terminal: undefined,
    command: 'rerail',
    version: '1.2.3',
  };
  await runCommandLine(argv, io);
  return said.join('');
}

const some = ['asks', 'done', 'failed', 'copy'];
const rows: readonly (readonly string[])[] = [
  ['runs'],
  ['runs', '--json'],
  ['runs', '--limit', '1'],
  ['runs', '--text', hostile],
  ['runs', '--status', hostile],
  ['show', hostile],
  [hostile],
  ['run', '--nothing', hostile],
  ['import', hostile],
  ['doctor'],
  ['show', 'a'],
  ['resume', 'done'],
  ['cancel', 'done'],
  ['cancel', 'copy'],
  ['approve', 'asks'],
  ['reject', 'asks', '--reason', hostile],
  ...some.flatMap((run) => [
    ['show', run],
    ['show', run, '--json'],
    ['why', run],
    ['why', run, '--json'],
    ['explain', run, '--static'],
    ['replay', run],
    ['export', run],
    ['resume', run],
  ]),
];

describe('terminal escapes in what a store holds (D11)', { timeout: 60_000 }, () => {
  it.each(rows.map((argv) => ({ argv })))('are not obeyed by $argv', async ({ argv }) => {
    const isNamed = argv.some((word) => word.includes('--store'));
    const all = isNamed || (argv.length === 1 && argv[0] === hostile) ? argv : [...argv, '--store', store];
    for (const isTerminal of [true, false]) {
      const text = await shown(all, isTerminal);
      expect(text).not.toBe('');
      expect(text.replaceAll(ours, '')).not.toMatch(obeyed);
    }
  });

  it('names a run so that a shell finds it again', async () => {
    const text = await shown(['runs', '--store', store], false);
    expect(text).toMatch(/Next: rerail (?:why|show) \$'[a-z]+\\u001b/);
  });

  it('exports what can be imported again', async () => {
    const text = await shown(['export', 'done', '--store', store], false);
    expect(JSON.parse(text)).toMatchObject({ run: { runId: ids.done } });
  });
});
