import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createAgent, createWorker, tool } from 'rerail';
import { postgres } from 'rerail/storage/postgres';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';
import { openDatabase, runSchema } from './database.ts';

// node examples/postgres/main.ts
// Two worker processes share a dozen runs. One is killed in the middle of its half; the other one takes over, and no letter goes out twice.
const [, , name] = process.argv;
const database = await openDatabase();

const sendLetter = tool({
  name: 'send_letter',
  description: 'Sends a letter to a customer.',
  input: z.object({ customer: z.number().int() }),
  effect: 'idempotent', // may be called again after a crash, always with the same key
  execute: async ({ customer }, { idempotencyKey }) => {
    await database.send({ key: idempotencyKey, customer, by: name ?? '' });
    // The first worker hangs with these: the letter is out, and nobody has heard of it.
    if (name === 'worker-1' && customer > 2) {
      console.log(`hangs with letter-${customer}`);
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    return 'sent';
  },
});
const model = scriptedModel(({ messages: [question, , answer] }) =>
  answer?.role === 'tool'
    ? 'The letter is out.'
    : { toolCalls: [{ name: 'send_letter', arguments: { customer: Number(question?.content) } }] },
);
const store = postgres(database.address, { schema: runSchema });
const agent = createAgent({ name: 'mailer', model, tools: [sendLetter], store });

if (name === undefined) await watch();
else await work(name === 'worker-1' ? [1, 2, 3, 4, 5, 6] : [7, 8, 9, 10, 11, 12]);

/** What runs on each machine: begins runs of its own, and carries on whatever others have left. */
async function work(customers: readonly number[]): Promise<void> {
  const worker = createWorker([agent], store, {
    pollMs: 100,
    onEvent: (event) => {
      if (event.type === 'run-finished') console.log(`taken over ${event.runId}`);
    },
  });
  await worker.start();
  const runs = customers.map(async (customer) => {
    await agent.run(String(customer), { runId: `letter-${customer}` });
    console.log(`finished letter-${customer}`);
  });
  await Promise.all(runs);
}

async function watch(): Promise<void> {
  await store.open();
  const [first, second] = [start('worker-1'), start('worker-2')];
  await first.until(6); // two are finished, with four it hangs
  first.child.kill('SIGKILL');
  const [, signal] = (await once(first.child, 'close')) as [unknown, string];
  console.log(`worker-1: ${signal}, with 2 of its 6 runs finished`);
  await second.until(10);
  const taken = second.lines.filter((line) => line.startsWith('taken over')).length;
  console.log(`worker-2: has finished its own 6, and ${taken} that worker-1 left`);
  second.child.kill('SIGTERM'); // it lets go of what it carries, and ends
  await once(second.child, 'close');

  console.log('the ledger:');
  const ledger = await database.readLedger();
  for (const { customer, by } of ledger) console.log(`  letter ${customer}, sent by ${by}`);
  const { runs } = await store.runs.list({ status: ['completed'] });
  console.log(`runs completed: ${runs.length}, letters: ${ledger.length}`); // 12 and 12
  await store.close();
  await database.remove();
}

interface Started {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  /** Waits until it has said so many lines. */
  readonly until: (count: number) => Promise<void>;
}

function start(worker: string): Started {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), worker, database.address];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => lines.push(...chunk.toString().trimEnd().split('\n')));
  return {
    child,
    lines,
    until: async (count) => {
      while (lines.length < count && child.exitCode === null) await once(child.stdout, 'data');
    },
  };
}
