import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runDoctor } from './doctor-command.ts';
import { worstCaseText } from '../doctor/doctor-config.ts';
import type { CliIo } from '../start/io.ts';

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'rerail-doctor-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function makeFolder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = path.join(root, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), content, { mode: 0o755 });
  }
  return folder;
}

interface Asked {
  readonly folder: string;
  readonly env?: CliIo['env'];
  readonly flags?: Readonly<Record<string, unknown>>;
}

interface Told {
  readonly exitCode: number;
  readonly out: string;
}

async function ask({ folder, env = {}, flags = {} }: Asked): Promise<Told> {
  let out = '';
  const io: CliIo = {
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => undefined },
    stdin: nothing,
    readFile: nothing,
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: 200,
    env,
    now: () => Date.now(),
    folder,
    home: makeFolder('home'),
    terminal: undefined,
    command: 'npx rerail',
    version: '1.2.3',
  };
  const exitCode = await runDoctor({ args: [], flags }, io);
  return { exitCode, out };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // Nobody reads here.
}

interface Report {
  readonly checks: readonly { readonly name: string; readonly status: string; readonly text: string }[];
  readonly worstCase: { readonly requestsPerTurn: number };
  readonly failures: readonly unknown[];
  readonly isWell: boolean;
}

const reportOf = ({ out }: Told): Report => JSON.parse(out) as Report;

describe('rerail doctor', () => {
  it('fails where the configuration is wrong, and says where', async () => {
    const folder = makeFolder('wrong', { 'c.json': '{\n  "limits": { "maxTurn": 5 }\n}\n' });
    const told = await ask({ folder, flags: { config: 'c.json' } });
    expect(told.out).toMatch(/^failure {2}config +.*c\.json:2/m);
    expect(told.out).toMatch(/did\s+you\s+mean\s+"maxTurns"/);
    expect(told.out).toMatch(/^CONFIG_ERROR$/m);
    expect(told.exitCode).toBe(2);
  });

  it('fails where a key cannot be one, once, and shows it nowhere', async () => {
    const env = { ANTHROPIC_API_KEY: '"sk-ant-veryverysecretvalue"' };
    const told = await ask({ folder: makeFolder('keys'), env, flags: { json: true } });
    const { failures, isWell } = reportOf(told);
    expect({ failures: failures.length, isWell, exitCode: told.exitCode }).toEqual({
      failures: 1,
      isWell: false,
      exitCode: 10,
    });
    expect(told.out).not.toContain('veryverysecret');
  });

  it('fails where there is no such folder', async () => {
    const told = await ask({ folder: path.join(root, 'none'), flags: { json: true } });
    expect(told.exitCode).toBe(2);
    expect(
      reportOf(told)
        .checks.filter(({ status }) => status === 'failure')
        .map(({ name }) => name),
    ).toContain('sandbox');
  });

  it('runs nothing of a folder that is not trusted, and uses no key of it', async () => {
    const touch = (name: string): string => path.join(root, 'hostile', name);
    const folder = makeFolder('hostile', {
      'rerail.config.ts': `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(touch('pwned'))}, ''); export default {};`,
      '.env': 'ANTHROPIC_API_KEY=sk-ant-fromthefolder',
      'node_modules/.bin/bwrap': `#!/bin/sh\ntouch ${touch('pwned')}\n`,
      bwrap: `#!/bin/sh\ntouch ${touch('pwned')}\n`,
    });
    const env = { PATH: `${folder}:${folder}/node_modules/.bin:${process.env['PATH'] ?? ''}` };
    const told = await ask({ folder, env, flags: { json: true, online: true } });
    expect(existsSync(touch('pwned'))).toBe(false);
    expect(told.out).not.toContain('fromthefolder');
    expect(reportOf(told).checks.filter(({ name }) => name === 'provider')).toEqual([]);
    expect(reportOf(told).checks).toContainEqual(
      expect.objectContaining({ status: 'warning', text: expect.stringMatching(/trust/) as string }),
    );
  });

  it('says what was looked at, a line for each, and what to type next', async () => {
    const env = { OPENAI_API_KEY: 'sk-proj-abc', LANG: 'C.UTF-8' };
    const { exitCode, out } = await ask({ folder: makeFolder('fine'), env });
    expect(out).toMatch(/^ok {7}rerail {6}1\.2\.3$/m);
    expect(out).toMatch(/^ok {7}clock {7}\d{4}-\d\d-\d\d /m);
    expect(out).toMatch(/^ok {7}keys {8}OPENAI_API_KEY set$/m);
    expect(out).toMatch(/^ok {7}provider {4}Not asked\. Type: npx rerail doctor --online$/m);
    expect(out).toMatch(/^ok {7}model {7}openai:.*because OPENAI_API_KEY is set/m);
    expect(out).toMatch(/^ok {7}worst case {2}A turn: at most \d+ requests, \d+ min/m);
    expect(out).toMatch(/^warning {2}config {6}There is no other model than openai:/m);
    expect(out).not.toContain('sk-proj-abc');
    expect(exitCode).toBe(0);
  });

  it('prints one object for programs, with the worst case of this configuration', async () => {
    const config = '{ "model": "simulated", "retry": "none", "limits": { "maxContinuations": 0 } }';
    const folder = makeFolder('json');
    const file = path.join(makeFolder('elsewhere', { 'c.json': config }), 'c.json');
    const told = await ask({ folder, flags: { json: true, config: file } });
    expect(reportOf(told)).toMatchObject({ isWell: true, failures: [], worstCase: { requestsPerTurn: 2 } });
    expect(told.out.indexOf('\n')).toBe(told.out.length - 1);
  });
});

describe('worstCaseText()', () => {
  it('says what has no bound', () => {
    const text = worstCaseText({
      requestsPerCall: Infinity,
      requestsPerTurn: Infinity,
      requestsPerRun: Infinity,
      longestTurnMs: 61_000,
      longestRunMs: 30_000,
      costPerTurnUsd: Infinity,
      assumedTokens: { input: 1000, output: 10 },
      withoutPrice: ['a:b'],
      warnings: [],
    });
    expect(text).toBe(
      'A turn: at most any number of requests, 1 min 1 s, any cost at 1,000 tokens in and 10 out for each request, and what a:b may cost. A run: at most any number of requests, 30 s.',
    );
  });
});
