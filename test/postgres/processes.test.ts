import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/model/store/store.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { startLife } from '../kill/life.ts';
import type { Life } from '../kill/life.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import type { ChildGiven } from './postgres-child.ts';
import { startPostgres } from './start-postgres.ts';
import type { Postgres } from './start-postgres.ts';

let program: Program;
let server: Postgres;
let address = '';
let store: Store;
beforeAll(async () => {
  [program, server] = await Promise.all([bundleProgram('test/postgres/postgres-child.ts'), startPostgres()]);
});
afterAll(async () => {
  await program.remove();
  await server.stop();
});
beforeEach(async () => {
  address = await server.createDatabase();
  store = postgres(address);
  await store.open();
});

function start(command: ChildGiven['command'], leaseMs = 3_600_000): Life {
  const given: ChildGiven = { address, command, leaseMs };
  return startLife(program.file, given);
}

/** As if the owner were on another machine, where nobody can see whether he is alive. */
const moveAway = () => server.ask(address, `UPDATE rerail.runs SET process = 'boot:other:pid:[1] 1 1'`);

const ben = { id: 'ben', leaseMs: 30_000 };

async function bodies(runId: string): Promise<readonly unknown[]> {
  return (await store.runs.events(runId)).map(({ body }) => body);
}

describe('a process that holds a run', () => {
  it('and is killed on this machine gives it up at once, with all that it was told is written', async () => {
    const child = start('hold');
    await child.until(({ kind, body }) => kind === 'wrote' && Number(body) >= 20);
    child.kill();
    await child.ended;
    const claimed = await store.runs.claim('held', ben);
    expect(claimed).toMatchObject({ type: 'claimed', wasAbandoned: true });
    const acknowledged = child.said.filter(({ kind }) => kind === 'wrote').length;
    const written = await bodies('held');
    expect(written).toEqual(written.map((_none, index) => index));
    expect(written.length).toBeGreaterThan(acknowledged);
    await store.close();
  });

  it('and is killed on another machine keeps it until its lease has run out by the clock of the database', async () => {
    const child = start('hold', 1500);
    await child.until(({ kind }) => kind === 'wrote');
    child.kill();
    await child.ended;
    await moveAway();
    const held = await store.runs.claim('held', ben);
    expect(held).toMatchObject({ type: 'held' });
    let claimed = held;
    while (claimed.type === 'held') claimed = await store.runs.claim('held', ben);
    expect(claimed).toMatchObject({ type: 'claimed', wasAbandoned: true });
    const [row] = await server.ask(address, 'SELECT extract(epoch from now()) * 1000 AS now_ms');
    const { untilMs } = held as Extract<typeof held, { readonly type: 'held' }>; // As was just seen.
    expect(Number(row?.['now_ms'])).toBeGreaterThanOrEqual(untilMs);
    await store.close();
  });

  it('and stood still while another took it over is refused when it wakes up', async () => {
    const child = start('hold');
    await child.until(({ kind, body }) => kind === 'wrote' && Number(body) >= 5);
    child.kill('SIGSTOP');
    await moveAway();
    await server.ask(address, 'UPDATE rerail.runs SET lease_until = 0');
    const claimed = await store.runs.claim('held', ben);
    expect(claimed).toMatchObject({ type: 'claimed' });
    const before = await bodies('held');
    child.kill('SIGCONT');
    expect(await child.until(({ kind }) => kind === 'refused')).toMatchObject({ code: 'STORAGE_LOCKED' });
    expect(await bodies('held')).toEqual(before);
    await store.close();
  });
});

describe('several processes', () => {
  it('that fight for one run write to it one at a time, and none loses anything', async () => {
    await store.runs.create({ runId: 'prize', agent: 'clerk', events: [] }, { id: 'nobody', leaseMs: 1 });
    const children = [start('fight'), start('fight'), start('fight')];
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends.map(({ exitCode, err }) => [exitCode, err])).toEqual(children.map(() => [0, '']));
    const written = await bodies('prize');
    expect(written).toHaveLength(3 * 15 * 2);
    const pairs = written.filter((_none, index) => index % 2 === 0);
    expect(pairs).toEqual(written.filter((_none, index) => index % 2 === 1));
    expect((await store.check()).problems).toEqual([]);
    await store.close();
  });

  it('carry one run: one asks, another answers, and what is done is done once', async () => {
    const asking = start('ask');
    expect(await asking.until(({ kind }) => kind === 'outcome')).toMatchObject({ type: 'suspended' });
    expect((await asking.ended).exitCode).toBe(0);
    const answering = start('answer');
    expect(await answering.until(({ kind }) => kind === 'outcome')).toMatchObject({ type: 'completed' });
    expect(answering.said.filter(({ kind }) => kind === 'paid')).toHaveLength(1);
    expect(await store.runs.find('asked')).toMatchObject({ status: 'completed' });
    await answering.ended;
    await store.close();
  });

  it('a worker takes over what a dead worker of another machine has left, when its lease has run out', async () => {
    await start('ask').ended;
    const dead = start('die', 1500);
    const paid = await dead.until(({ kind }) => kind === 'paid');
    dead.kill();
    await dead.ended;
    await moveAway();
    expect(await store.runs.waiting({ agents: ['clerk'], ownerId: 'ben', limit: 9 })).toEqual([]);
    const worker = start('work', 1500);
    expect(await worker.until(({ kind }) => kind === 'finished')).toMatchObject({ type: 'completed' });
    // Nobody knows whether it was paid, so it is paid by the same key, which the other side knows.
    expect(worker.said.filter(({ kind }) => kind === 'paid')).toEqual([paid]);
    worker.kill();
    await worker.ended;
    await store.close();
  });
});
