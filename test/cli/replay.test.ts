import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { chainEvents, writeBundle } from '../../src/runtime/transfer/run-bundle.ts';
import type { RunBundle } from '../../src/runtime/transfer/run-bundle.ts';
import { copyStore, ended, fillStore, flipByte, waiting } from './broken-stores.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// A busy machine starts processes slowly.
vi.setConfig({ testTimeout: 60_000 });

const golden = path.resolve(import.meta.dirname, '../golden');
const bundleFile = (name: string): string => path.join(golden, `${name}.bundle.json`);

let line: CommandLine;
const home = mkdtempSync(path.join(tmpdir(), 'rerail-replay-home-'));

beforeAll(async () => {
  line = await buildCommandLine();
  await fillStore(at('whole.db'));
}, 120_000);

afterAll(async () => {
  await line.remove();
  rmSync(home, { recursive: true });
});

const at = (name: string): string => path.join(line.folder, name);

describe('rerail replay refuses', () => {
  const bundle = readFileSync(bundleFile('plain-answer'), 'utf8');

  it.each([
    { what: 'a file that is not there', argv: ['none.json'], says: /no such file.+CONFIG_ERROR/, exit: 2 },
    {
      what: 'no file',
      argv: [],
      says: /rerail replay needs <file>\. Type: node \S*main\.js replay order-17\.json/,
      exit: 2,
    },
    { what: 'a number that is none', argv: ['-', '--to', '0'], says: /--to must be the number/, exit: 2 },
    { what: 'no bundle', argv: ['-'], stdin: 'hello', says: /it is not JSON.+STORAGE_CORRUPT/, exit: 30 },
    {
      what: 'a bundle that was changed',
      argv: ['-'],
      stdin: bundle.replace('clerk', 'clark'),
      says: /its checksum does not fit.+STORAGE_CORRUPT/,
      exit: 30,
    },
    {
      what: 'a bundle that was cut',
      argv: ['-'],
      stdin: bundle.slice(0, -40),
      says: /STORAGE_CORRUPT/,
      exit: 30,
    },
    {
      what: 'a newer bundle',
      argv: ['-'],
      stdin: bundle.replace('"version":1,', '"version":2,'),
      says: /STORAGE_NEWER_SCHEMA/,
      exit: 30,
    },
    {
      what: 'a run that is not in the store',
      argv: ['none', '--store', 'whole.db'],
      says: /There is no run "none".+STORAGE_NOT_FOUND/,
      exit: 30,
    },
    {
      what: 'a store that is not there',
      argv: ['none', '--store', 'none.db'],
      says: /There is no store at "[^"]*none\.db".+STORAGE_NOT_FOUND/,
      exit: 30,
    },
  ])('$what', async ({ argv, stdin, says, exit }) => {
    const { exitCode, out, err } = await line.run(['replay', ...argv], stdin === undefined ? {} : { stdin });
    expect(err).toMatch(says);
    expect(err).toMatch(/^rerail: .+\n$/);
    expect({ exitCode, out }).toEqual({ exitCode: exit, out: '' });
    expect(existsSync(at('none.db'))).toBe(false);
  });

  it('a run whose record is damaged, and names it', async () => {
    const name = copyStore(line.folder, 'flipped.db', flipByte);
    const { exitCode, err } = await line.run(['replay', ended, '--store', name]);
    expect(err).toMatch(/order-17.+STORAGE_CORRUPT/);
    expect(exitCode).toBe(30);
  });
});

describe('rerail replay', () => {
  it('shows the steps before one that does not fit', async () => {
    const content = JSON.parse(readFileSync(bundleFile('plain-answer'), 'utf8')) as RunBundle;
    const changed = content.events.map((event) =>
      event.type === 'ended' ? { ...event, body: { status: 'cancelled' } } : event,
    );
    const stdin = writeBundle({ ...content, events: chainEvents(content.run.runId, changed) });
    const { exitCode, out, err } = await line.run(['replay', '-'], { stdin });
    expect(out).toMatch(/The model answered\. \[ended\]\n$/);
    expect(err).toMatch(/^rerail: .+event 3 says that it ended \("cancelled"\).+\(STORAGE_CORRUPT\)\n$/);
    expect(exitCode).toBe(30);
  });

  it('shows a bundle step by step, with waits, recoveries and the outcome', async () => {
    const { exitCode, out, err } = await line.run(['replay', bundleFile('retry-with-waits')]);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toMatch(/^2026-01-01, in UTC\n +1 {2}00:00:00\.000 {2}The run started\. \[calling-model\]\n/);
    expect(out).toMatch(
      /^ +2 {2}.+Attempt 1 at the model failed: RATE_LIMITED\. \[waiting\]\n +recovery +retry: /m,
    );
    expect(out).toMatch(/^ +3 {2}.+A wait of 808 ms started\. \[waiting\]$/m);
    expect(out).toMatch(/^answer +“A whole answer\.”$/m);
    expect(out).toMatch(/^replayed +12 events, without model, tools or network$/m);
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it('shows waits and recoveries in gold where colour is forced', async () => {
    const options = { env: { FORCE_COLOR: '1' } };
    const { out } = await line.run(['replay', bundleFile('retry-with-waits')], options);
    expect(out).toContain('\u001b[38;5;178mA wait of 808 ms started. [waiting]\u001b[0m');
    expect(out).toContain('\u001b[38;5;178mretry: ');
  });

  it('says what a run that is in doubt waits for', async () => {
    const { out } = await line.run(['replay', bundleFile('in-doubt-asked')]);
    expect(out).toMatch(/^ +failure +UNKNOWN_OUTCOME\n +recovery +ask-person: /m);
    expect(out).toMatch(/^ +suspended +in-doubt: pay \{"cents":5\}/m);
  });

  it('stops at the event that was named', async () => {
    const { exitCode, out } = await line.run(['replay', bundleFile('retry-with-waits'), '--to', '3']);
    expect(out).toMatch(/^open +the run has not ended here: waiting$/m);
    expect(out).toMatch(/^replayed +3 events/m);
    expect(exitCode).toBe(0);
  });

  it('prints a line for every step, and one for the end', async () => {
    const { out } = await line.run(['replay', bundleFile('approval-open'), '--json']);
    const lines = linesOf(out);
    expect(lines.map(({ type }) => type)).toEqual(['step', 'step', 'step', 'end']);
    expect(lines[1]).toMatchObject({
      step: { seq: 2, type: 'call', phase: 'suspended', turn: 1, text: 'The model called one tool.' },
    });
    const outcome = JSON.parse(
      readFileSync(path.join(golden, 'approval-open.outcome.json'), 'utf8'),
    ) as object;
    expect(lines[3]).toEqual({ type: 'end', events: 3, phase: 'suspended', outcome });
  });

  it('shows a stored run, without its secrets and nothing that a terminal would obey', async () => {
    const [text, json] = await Promise.all([
      line.run(['replay', ended, '--store', 'whole.db']),
      line.run(['replay', ended, '--store', 'whole.db', '--json']),
    ]);
    expect(text.out).toMatch(/The tool "look" ended: ok\./);
    expect(text.out).toMatch(
      /^answer +“<U\+001B>\[2JIt is on its way; the key is \[redacted openai key\]”$/m,
    );
    expect(linesOf(json.out).at(-1)).toMatchObject({ type: 'end', outcome: { type: 'completed', turns: 2 } });
    for (const { out, exitCode } of [text, json]) {
      expect(out).not.toContain('Zx81kQ0v');
      expect(out).not.toContain('\u001b');
      expect(exitCode).toBe(0);
    }
  });
});

function linesOf(out: string): readonly Readonly<Record<string, unknown>>[] {
  return out
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>);
}

describe('rerail export', () => {
  const store = ['--store', 'whole.db'];

  it.each([
    { what: 'a run that is not there', argv: ['none', ...store], says: /There is no run "none"/, exit: 30 },
    {
      what: 'a store that is not there',
      argv: [ended, '--store', 'none.db'],
      says: /There is no store/,
      exit: 30,
    },
    { what: 'no store', argv: [ended], says: /There is no run yet: .+ --store runs\.db/, exit: 30 },
    {
      what: 'a file that is there',
      argv: [ended, ...store, '--out', 'package.json'],
      says: /is there already, and nothing is overwritten/,
      exit: 2,
    },
    {
      what: 'a folder that is not there',
      argv: [ended, ...store, '--out', 'none/x.json'],
      says: /Cannot write "none\/x\.json": ENOENT/,
      exit: 20,
    },
  ])('refuses $what', async ({ argv, says, exit }) => {
    const before = readFileSync(at('package.json'), 'utf8');
    // The store of whoever runs the tests is none of theirs, and a folder in the workspace would not be taken.
    const env = { XDG_STATE_HOME: path.join(home, 'state'), XDG_CONFIG_HOME: path.join(home, 'config') };
    const { exitCode, out, err } = await line.run(['export', ...argv], { env });
    expect(err).toMatch(says);
    expect({ exitCode, out }).toEqual({ exitCode: exit, out: '' });
    expect(readFileSync(at('package.json'), 'utf8')).toBe(before);
  });

  it('writes a private bundle without secrets, which replays to the same steps', async () => {
    const toFile = await line.run(['export', ended, ...store, '--out', 'order-17.json']);
    expect(toFile).toMatchObject({ exitCode: 0, err: '' });
    expect(toFile.out).toMatch(/^Written to "order-17\.json"\./);
    expect(statSync(at('order-17.json')).mode & 0o777).toBe(0o600);
    const toPipe = await line.run(['export', ended, ...store]);
    expect(readFileSync(at('order-17.json'), 'utf8')).toBe(toPipe.out);
    expect(toPipe.out).not.toContain('Zx81kQ0v');
    const [fromBundle, fromPipe, fromStore] = await Promise.all([
      line.run(['replay', 'order-17.json']),
      line.run(['replay', '-'], { stdin: toPipe.out }),
      line.run(['replay', ended, ...store]),
    ]);
    expect(fromBundle).toMatchObject({ exitCode: 0, err: '' });
    expect(fromPipe.out).toBe(fromBundle.out);
    expect(fromStore.out).toBe(fromBundle.out);
  });

  it('writes a run that waits, which keeps waiting', async () => {
    const { exitCode, out } = await line.run(['export', waiting, ...store]);
    const run = { runId: waiting, status: 'suspended' };
    expect(JSON.parse(out)).toMatchObject({ format: 'rerail-run', run });
    expect(exitCode).toBe(0);
  });
});
