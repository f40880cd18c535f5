import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { Lease } from '../../src/model/store/store.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { openDatabase } from '../../src/storage/sqlite/open-database.ts';
import { migrations } from '../../src/storage/sqlite/schema.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';

// A process of its own, for what only a process can do: die, stand still, have a small disk. Says what it did, line by line.

const [command = '', file = '', argument = ''] = process.argv.slice(2);
const owner = { id: `owner-${process.pid}`, leaseMs: 3_600_000 };
const note = (body: string | number) => ({ type: 'note', body });

function say(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function begin(runId: string, leaseMs = owner.leaseMs): Promise<Lease> {
  const created = await store.runs.create(
    { runId, agent: 'agent', events: [note(1)] },
    { ...owner, leaseMs },
  );
  if (created.type !== 'created') throw new Error(`The run ${runId} was there before`);
  return created.lease;
}

const failureOf = (thrown: unknown): unknown =>
  RerailError.isInstance(thrown)
    ? { code: thrown.code, ...thrown.failure.context }
    : { code: String(thrown) };

const store = sqlite(file);

const commands: Readonly<Record<string, () => Promise<void>>> = {
  /** Holds a run with a short lease, and writes to it when it is told. */
  hold: async () => {
    const lease = await begin('held', Number(argument));
    say('ready');
    for await (const word of createInterface({ input: process.stdin })) {
      say(await store.runs.append(lease, { events: [note(word)] }).then(() => 'written', failureOf));
    }
  },
  /** Writes until it is killed, and says what was acknowledged. */
  write: async () => {
    const lease = await begin(argument);
    for (let seq = 1; ; seq += 1) {
      say(seq);
      await store.runs.append(lease, { events: [note(seq + 1)] });
    }
  },
  /** Writes beside others, and ends. */
  share: async () => {
    const lease = await begin(`run-${process.pid}`);
    for (let seq = 2; seq <= Number(argument); seq += 1)
      await store.runs.append(lease, { events: [note(seq)] });
    await store.close();
  },
  /** Dies after so many statements of a migration. */
  migrate: () => {
    const die = (): void => void process.kill(process.pid, 'SIGKILL');
    const statements = [
      'CREATE TABLE extra_1 (a)',
      'CREATE TABLE extra_2 (a)',
      `INSERT INTO extra_1 VALUES (1)`,
    ];
    const dying = { version: 2, statements: [...statements.slice(0, Number(argument)), die] };
    openDatabase({
      file,
      openFile: loadDriver(),
      sync: 'full',
      busyTimeoutMs: 1000,
      migrations: [...migrations, dying],
      isExpected: true,
    });
    return Promise.resolve();
  },
  /** The disk is full at the n-th write, for every n; afterwards there is space again. */
  fill: async () => {
    const lease = await begin('filled');
    let acknowledged = 1;
    for (let round = 0; round < Number(argument); round += 1) {
      for (let count = 0; count < round; count += 1) {
        await store.runs.append(lease, { events: [note('x'.repeat(500))] });
        acknowledged += 1;
      }
      fillDisk();
      // What is already allotted is written still; then it ends.
      let failure: unknown = 'none';
      for (let count = 0; count < 2000 && failure === 'none'; count += 1) {
        failure = await store.runs
          .append(lease, { events: [note('x'.repeat(3000))] })
          .then(() => 'none', failureOf);
        if (failure === 'none') acknowledged += 1;
      }
      rmSync(ballast);
      say({ failure, acknowledged, kept: (await store.runs.events('filled')).length });
    }
    await store.close();
    say((await sqlite(file).check()).problems);
  },
  /** Takes a run up. */
  claim: async () => {
    say(await store.runs.claim(argument, owner).then(({ type }) => type, failureOf));
  },
};

const ballast = path.join(path.dirname(file), 'ballast');

function fillDisk(): void {
  const { bavail, bsize } = statfsSync(path.dirname(file));
  writeFileSync(ballast, Buffer.alloc(bavail * bsize));
}

await commands[command]?.();
