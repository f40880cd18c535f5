import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import type { Postgres } from '../postgres/start-postgres.ts';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine, Result } from './command-line.ts';

// The real program, and runs that lie in a database instead of a file.

let program: CommandLine;
let server: Postgres;
let folder: string;
let address: string;
const password = 'three-in-the-morning';

beforeAll(async () => {
  [program, server] = await Promise.all([buildCommandLine(), startPostgres()]);
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-cli-postgres-'));
  await mkdir(path.join(folder, 'project'));
  await server.ask(server.address, `CREATE ROLE oncall LOGIN SUPERUSER PASSWORD '${password}'`);
  address = await freshAddress();
}, 60_000);
afterAll(async () => {
  await program.remove();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function freshAddress(): Promise<string> {
  const url = new URL(await server.createDatabase());
  return server.addressOf({ user: 'oncall', password, database: url.pathname.slice(1) });
}

/** Everything that any command has said: nobody's password is in it. */
async function rerail(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  config = 'none',
): Promise<Result> {
  const done = await program.run([...argv, '--workspace', path.join(folder, 'project'), '--config', config], {
    env: { HOME: folder, TERM: 'dumb', RERAIL_MODEL: 'simulated:embedded', ...env },
  });
  const said = `${done.out}${done.err}`;
  expect(said).not.toContain(password);
  expect(said).not.toContain('oncall:');
  return done;
}

const stored = (): Readonly<Record<string, string>> => ({ RERAIL_STORE: address });

describe('rerail with runs in Postgres', { timeout: 60_000 }, () => {
  it('begins a run there, lists it, shows it and says why it ended', async () => {
    const begun = await rerail(['run', 'What is 2+3?', '--run-id', 'sum'], stored());
    expect(begun).toMatchObject({ exitCode: 0 });
    expect(begun.out).toContain('2+3 = 5');
    expect((await rerail(['runs'], stored())).out).toMatch(/^sum .*completed/m);
    expect((await rerail(['show', 'sum'], stored())).out).toContain('2+3 = 5');
    expect((await rerail(['why', 'sum'], stored())).exitCode).toBe(0);
    // By a flag as well, and what is said to be typed next does not repeat the address.
    const listed = await rerail(['runs', '--tool', 'nothing', '--store', address]);
    expect(listed.out).toContain('--store postgres://…');
    // Nothing is written beside an address.
    expect(await readdir(path.join(folder, 'project'))).toEqual([]);
  });

  it('answers a run that waits, and resumes it from another process', async () => {
    await writeFile(path.join(folder, 'project', 'package.json'), '{"type":"module"}');
    const plea = 'The tests fail (node --test). Find out why and fix it.';
    const asked = await rerail([
      'run',
      plea,
      '--run-id',
      'waits',
      '--on-approval',
      'suspend',
      '--store',
      address,
    ]);
    expect(asked.exitCode).toBe(23);
    expect(asked.err).toMatch(/ approve waits .*--store postgres:\/\/…/);
    expect((await rerail(['runs', '--status', 'suspended'], stored())).out).toMatch(/^waits /m);
    const [, hash = ''] = / approve waits --call ([0-9a-f]{12}) /.exec(asked.err) ?? [];
    const rejecting = ['reject', 'waits', '--call', hash, '--reason', 'not now', '--no-resume'];
    const rejected = await rerail(rejecting, stored());
    expect(rejected).toMatchObject({ exitCode: 0 });
    await rerail(['resume', 'waits'], stored());
    expect((await rerail(['runs'], stored())).out).toMatch(/^waits .*completed, 1 denied/m);
    await rm(path.join(folder, 'project', 'package.json'));
  });

  it('shows a run of another program in a schema of its own, and leaves going on to that program', async () => {
    const store = postgres(address, { schema: 'shop' });
    const agent = createAgent({
      name: 'shop',
      model: scriptedModel([{ failure: 'AUTHENTICATION_ERROR' }]),
      store,
    });
    await agent.run('Sell something.', { runId: 'sale' });
    await store.close();
    const env = { RERAIL_STORE: `${address}?schema=shop` };
    expect((await rerail(['runs'], env)).out).toMatch(/^sale .*waits for a key/m);
    const why = (await rerail(['why', 'sale'], env)).out;
    expect(why).toContain('sale: waits for a key');
    expect(why.replaceAll(/\s+/g, ' ')).toContain('in the program that has the agent "shop"');
    expect(why).toContain('await agent.resume("sale")');
    const refused = await rerail(['resume', 'sale'], env);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.err).toContain('the agent "shop" of another program');
  });

  it('takes a bundle in, and looks at everything that is kept', async () => {
    const bundle = path.join(folder, 'sum.json');
    const exported = await rerail(['export', 'sum', '--out', bundle], stored());
    expect(exported).toMatchObject({ exitCode: 0 });
    const imported = await rerail(['import', bundle, '--as', 'sum-again'], stored());
    expect(imported.out).toContain('Imported "sum-again"');
    const replayed = await program.run(['replay', 'sum-again', '--store', address]);
    expect(replayed).toMatchObject({ exitCode: 0 });
    const { out } = await rerail(['doctor', '--store', address]);
    expect(out).toMatch(/^ok +store +postgres 127\.0\.0\.1:\d+\/test_/m);
    expect(out).toMatch(/^ok +holds +\d+ runs, \d+ events, \d+ blobs?$/m);
  });

  it('shows where the store is set, and of its address only the place', async () => {
    const { out } = await rerail(['config'], stored());
    expect(out).toMatch(/^store +postgres 127\.0\.0\.1:\d+\/test_\w+ +\(environment\s+RERAIL_STORE\)$/m);
    const json = await rerail(['config', '--json', '--store', address]);
    expect(json.out).toContain('"value":"postgres 127.0.0.1');
  });
});

describe('a configuration file', { timeout: 60_000 }, () => {
  it('may name a database, and its password is refused there', async () => {
    const file = path.join(folder, 'rerail.config.json');
    await writeFile(file, JSON.stringify({ store: address }));
    const refused = await rerail(['runs'], {}, file);
    expect(refused.exitCode).toBe(2);
    expect(refused.err).toContain('set it in the environment, as RERAIL_STORE');
    const url = new URL(address);
    url.password = '';
    await writeFile(file, JSON.stringify({ store: url.href }));
    const listed = await rerail(['runs'], { PGPASSWORD: password }, file);
    expect(listed.out).toMatch(/^sum /m);
  });
});

describe('rerail with an address that leads nowhere', { timeout: 60_000 }, () => {
  it('makes nothing where it was only to look', async () => {
    const empty = await freshAddress();
    const { exitCode, err } = await rerail(['runs'], { RERAIL_STORE: empty });
    expect(exitCode).toBe(30);
    expect(err).toMatch(
      /There is no store in the schema "rerail" of ".+"\. Nothing was created\..+\(STORAGE_NOT_FOUND\)/,
    );
    expect(await server.ask(empty, `SELECT to_regnamespace('rerail') AS it`)).toEqual([{ it: null }]);
  });

  it.each([
    {
      what: 'a wrong password',
      wrong: (url: URL) => (url.password = 'three-in-the-evening'),
      says: 'Check user and password',
    },
    { what: 'what is no address', wrong: (url: URL) => (url.password = '%zz'), says: 'is not shown here' },
  ])('says what to do about $what', async ({ wrong, says }) => {
    const url = new URL(address);
    wrong(url);
    const { exitCode, err } = await rerail(['runs'], { RERAIL_STORE: url.href });
    expect(exitCode).not.toBe(0);
    expect(err).toContain(says);
    expect(err).not.toContain('three-in');
    expect(err).not.toMatch(/\n\s+at /);
  });
});
