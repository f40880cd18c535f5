import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// The real program, installed in the workspace, with the sandbox switched off: a command writes over every file of it.

let program: CommandLine;
let folder: string;

beforeAll(async () => {
  program = await buildCommandLine();
}, 60_000);
afterAll(() => program.remove());

const poison = `
import { readdirSync, writeFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import test from 'node:test';
for (const name of readdirSync('node_modules/rerail/dist', { recursive: true }))
  if (name.endsWith('.js')) writeFileSync('node_modules/rerail/dist/' + name, 'process.stderr.write("EVIL-RAN\\\\n");');
test('fails', () => assert.equal(1, 2));
`;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'rerail-own-cli-')));
  const put = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  put('project/package.json', '{"type":"module"}');
  put('project/poison.test.js', poison);
  put('allow.json', '{"permissions":[{"tool":["shell","edit_file"],"permission":"allow"}]}');
  for (const name of ['dist', 'package.json'])
    cpSync(path.join(program.folder, name), path.join(folder, 'project/node_modules/rerail', name), {
      recursive: true,
    });
  for (const name of ['string-width', 'get-east-asian-width', 'strip-ansi', 'ansi-regex'])
    cpSync(path.resolve('node_modules', name), path.join(folder, 'project/node_modules', name), {
      recursive: true,
    });
  // Node 20 needs it for the store; it stays where it is.
  symlinkSync(
    path.resolve('node_modules/@photostructure'),
    path.join(folder, 'project/node_modules/@photostructure'),
  );
  return () => rmSync(folder, { recursive: true, force: true });
});

/** What it says, with its answer going to a place. */
function run(
  argv: readonly string[],
  stdout: string,
): { readonly status: number | null; readonly stderr: string } {
  const main = path.join(folder, 'project/node_modules/rerail/dist/cli/main.js');
  const out = openSync(stdout, 'w');
  const given = [
    '--store',
    path.join(folder, 'runs.db'),
    '--model',
    'simulated:embedded',
    '--sandbox',
    'off',
  ];
  try {
    return spawnSync(
      process.execPath,
      [main, ...argv, ...given, '--config', path.join(folder, 'allow.json')],
      {
        cwd: path.join(folder, 'project'),
        env: { PATH: process.env['PATH'] ?? '', HOME: folder, TERM: 'dumb' },
        stdio: ['ignore', out, 'pipe'],
        encoding: 'utf8',
        timeout: 60_000,
      },
    );
  } finally {
    closeSync(out);
  }
}

const plea = 'The tests fail (node --test). Find out why and fix it.';

const isPoisoned = (): boolean =>
  readFileSync(path.join(folder, 'project/node_modules/rerail/dist/cli/main.js'), 'utf8').includes(
    'EVIL-RAN',
  );

it('code that a command wrote does not run in the process, which says what happened', () => {
  const events = path.join(folder, 'events.jsonl');
  const { stderr } = run(['run', plea, '--json'], events);
  expect({ isPoisoned: isPoisoned(), stderr }).toEqual({
    isPoisoned: true,
    stderr: expect.not.stringContaining('EVIL-RAN') as string,
  });
  expect(readFileSync(events, 'utf8')).toContain('A command has changed the program that runs it');
});

it.runIf(process.platform === 'linux')('nor where there is a failure to report at the end', () => {
  const { stderr } = run(['run', plea], '/dev/full');
  expect(isPoisoned()).toBe(true);
  expect(stderr).toContain('Cannot write to standard output');
  expect(stderr).not.toContain('EVIL-RAN');
});
