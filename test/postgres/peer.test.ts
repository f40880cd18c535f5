import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLife } from '../kill/life.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { startPostgres } from './start-postgres.ts';

let program: Program;
let elsewhere: string;
beforeAll(async () => {
  program = await bundleProgram('test/postgres/peer-program.ts');
  // Outside of the project, where no package is found.
  elsewhere = await mkdtemp(path.join(os.tmpdir(), 'rerail-peer-'));
  await copyFile(program.file, path.join(elsewhere, 'program.js'));
  await writeFile(path.join(elsewhere, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await program.remove();
  await rm(elsewhere, { recursive: true, force: true });
});

describe('the driver "pg"', () => {
  it('is loaded when the store is first used, and not before', async () => {
    const server = await startPostgres();
    const life = startLife(program.file, { address: server.address });
    expect(await life.ended).toMatchObject({ exitCode: 0, err: '' });
    expect(life.said).toMatchObject([
      { kind: 'imported', isLoaded: false },
      { kind: 'made', isLoaded: false },
      { kind: 'opened', isLoaded: true },
    ]);
    await server.stop();
  });

  it('that is not installed is asked for by a sentence that can be typed', async () => {
    const life = startLife(path.join(elsewhere, 'program.js'), {
      address: 'postgres://anna:s3cret-and-long@127.0.0.1:1/agents',
    });
    expect(await life.ended).toMatchObject({ exitCode: 0, err: '' });
    expect(life.said.at(-1)).toMatchObject({
      kind: 'failed',
      failure: {
        code: 'CONFIG_ERROR',
        message: 'The postgres store needs the driver "pg": "pg" is not installed: npm install pg',
        hint: 'Run: npm install pg',
      },
    });
    expect(JSON.stringify(life.said)).not.toContain('s3cret');
  });
});
