import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { startPostgres } from './start-postgres.ts';

let program: Program;
beforeAll(async () => {
  program = await bundleProgram('examples/postgres/main.ts');
});
afterAll(() => program.remove());

interface End {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number | null;
}

async function start(given: Readonly<Record<string, string | undefined>>): Promise<End> {
  const env = { ...process.env, NODE_OPTIONS: undefined, DATABASE_URL: undefined, ...given };
  const child = spawn(process.execPath, [program.file], { env, timeout: 60_000, killSignal: 'SIGKILL' });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, err, exitCode: child.exitCode };
}

const senderOf = (customer: number): string => (customer <= 6 ? 'worker-1' : 'worker-2');
const expected = [
  'worker-1: SIGKILL, with 2 of its 6 runs finished',
  'worker-2: has finished its own 6, and 4 that worker-1 left',
  'the ledger:',
  ...Array.from({ length: 12 }, (_none, index) => `  letter ${index + 1}, sent by ${senderOf(index + 1)}`),
  'runs completed: 12, letters: 12',
];

describe('the example', () => {
  it('starts a server of its own, kills a worker, and sends every letter once', async () => {
    const { out, err, exitCode } = await start({});
    expect({ lines: out.trimEnd().split('\n'), err, exitCode }).toEqual({
      lines: expected,
      err: '',
      exitCode: 0,
    });
  });

  it('takes the database that DATABASE_URL names, and leaves nothing in it', async () => {
    const server = await startPostgres();
    try {
      const address = await server.createDatabase();
      const { out, exitCode } = await start({ DATABASE_URL: address });
      expect({ lines: out.trimEnd().split('\n'), exitCode }).toEqual({ lines: expected, exitCode: 0 });
      const schemas = await server.ask(
        address,
        `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rerail%'`,
      );
      expect(schemas).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it('says what to do where there is no server to be had', async () => {
    const { err, exitCode } = await start({ RERAIL_POSTGRES_BIN: '/nowhere' });
    expect(exitCode).toBe(1);
    expect(err).toContain('Name a database of yours: DATABASE_URL=');
    expect(err).not.toMatch(/^\s+at /m);
  });
});
