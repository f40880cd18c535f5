import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosServer } from '../../src/chaos/index.ts';
import { failureTraits } from '../../src/errors/index.ts';
import type { FailureCode } from '../../src/errors/index.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

// The real program against a provider that refuses, as docs/cli.md promises its exit codes.

let program: CommandLine;
let folder: string;
let chaos: ChaosServer;

beforeAll(async () => {
  program = await buildCommandLine();
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-exit-codes-test-'));
  await mkdir(path.join(folder, 'project'));
  chaos = await startChaosServer();
}, 60_000);

afterAll(async () => {
  await chaos.close();
  await program.remove();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly exitCode: number | null;
  readonly err: string;
}

const rerail = (...argv: readonly string[]): Promise<Ended> => rerailWith({}, ...argv);

function rerailWith(env: Readonly<Record<string, string>>, ...argv: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program.main, ...argv],
      {
        cwd: path.join(folder, 'project'),
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          TERM: 'dumb',
          NODE_NO_WARNINGS: '1',
          RERAIL_RETRY: 'none',
          OPENAI_API_KEY: 'test-key',
          OPENAI_BASE_URL: chaos.url,
          ANTHROPIC_API_KEY: 'test-key',
          ANTHROPIC_BASE_URL: chaos.url,
          ...env,
        },
        timeout: 40_000,
        killSignal: 'SIGKILL',
      },
      (_error, _out, err) => resolve({ exitCode: child.exitCode, err }),
    );
    child.stdin?.end();
  });
}

type Row = readonly [fault: string, code: FailureCode, exitCode: number];

const rows: readonly Row[] = [
  ['auth', 'AUTHENTICATION_ERROR', 10],
  ['forbidden', 'PERMISSION_DENIED', 10],
  ['quota', 'QUOTA_EXCEEDED', 11],
  ['billing', 'QUOTA_EXCEEDED', 11],
  ['rate-limit', 'RATE_LIMITED', 12],
  ['overloaded', 'OVERLOADED', 12],
  ['server-error', 'SERVER_ERROR', 13],
  ['model-not-found', 'MODEL_NOT_FOUND', 14],
  ['bad-request', 'INVALID_REQUEST', 14],
  ['content-filter', 'CONTENT_FILTERED', 15],
  ['wrong-content-type', 'INVALID_RESPONSE', 16],
];

const models = ['openai:gpt-5.4', 'anthropic:claude-sonnet-5'] as const;

describe('the exit code', { timeout: 90_000 }, () => {
  it.each(models.flatMap((model) => rows.map((row) => [model, ...row] as const)))(
    'of run and resume with %s after %s is that of %s, %i',
    async (...[model, fault, code, exitCode]) => {
      const runId = `${fault}-${model.replaceAll(/\W/g, '-')}`;
      chaos.setFaults({ script: Array.from({ length: 20 }, () => fault) } as never); // Each name is one of the faults.
      const ran = await rerail('run', 'hi', '--model', model, '--run-id', runId);
      expect(ran.err).toContain(code);
      expect(ran.exitCode).toBe(exitCode);
      expect(failureTraits[code].exitCode).toBe(exitCode);
      if (code === 'CONTENT_FILTERED') return; // A stopped run is not resumed.
      const resumed = await rerail('resume', runId);
      expect(resumed.exitCode).toBe(exitCode);
    },
  );
});

describe('a run of a real model in a shell without its key', { timeout: 90_000 }, () => {
  const noKeys = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', OPENAI_BASE_URL: '', ANTHROPIC_BASE_URL: '' };

  it.each(['failed', 'suspended'])('that is %s is not continued by the embedded model', async (status) => {
    const fault = status === 'failed' ? 'server-error' : 'quota';
    chaos.setFaults({ script: Array.from({ length: 20 }, () => fault) });
    await rerail('run', 'hi', '--model', 'openai:gpt-5.4', '--run-id', `keyless-${status}`);
    const commands = [
      ['resume', `keyless-${status}`],
      ...(status === 'failed' ? [] : [['run', 'hi', '--run-id', `keyless-${status}`]]),
    ];
    for (const words of commands) {
      const { exitCode, err } = await rerailWith(noKeys, ...words);
      expect({ exitCode, err }).toEqual({
        exitCode: 10,
        err: expect.stringMatching(
          /used openai:gpt-5\.4, and OPENAI_API_KEY is not set: .*Nothing was done.*--model <provider>:<model>/,
        ) as string,
      });
    }
    const chosen = await rerailWith(noKeys, 'resume', `keyless-${status}`, '--model', 'simulated:embedded');
    expect(chosen.exitCode).toBe(0);
  });
});
