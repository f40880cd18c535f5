import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgent, createWorker, tool } from 'rerail';
import { sqlite } from 'rerail/storage/sqlite';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

// A process begins a dozen runs and is killed with most of them unfinished. A worker goes on with them.
const [, , given] = process.argv;
const isFirstProcess = given !== undefined;
const folder = given ?? mkdtempSync(path.join(tmpdir(), 'rerail-example-'));
const outbox = path.join(folder, 'outbox');
const total = 12;
const finishedByFirst = 5;

const sendLetter = tool({
  name: 'send_letter',
  description: 'Sends a letter to a customer.',
  input: z.object({ customer: z.number().int() }),
  effect: 'idempotent', // may be called again after a crash, always with the same key
  execute: async ({ customer }, { idempotencyKey }) => {
    const letter = path.join(outbox, idempotencyKey);
    if (!existsSync(letter)) writeFileSync(letter, `Dear customer ${customer}`);
    // The first process hangs with these: the letter is out, and nobody has heard of it.
    if (isFirstProcess && customer > finishedByFirst)
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    return 'sent';
  },
});
const model = scriptedModel(({ messages: [question, , answer] }) =>
  answer?.role === 'tool'
    ? 'The letter is out.'
    : { toolCalls: [{ name: 'send_letter', arguments: { customer: Number(question?.content) } }] },
);
const store = sqlite(path.join(folder, 'runs.db'));
const agent = createAgent({ name: 'mailer', model, tools: [sendLetter], store });

if (isFirstProcess) {
  mkdirSync(outbox);
  const customers = Array.from({ length: total }, (_none, index) => index + 1);
  await Promise.all(
    customers.map(async (customer) => {
      const outcome = await agent.run(String(customer), { runId: `letter-${customer}` });
      console.log(outcome.type);
    }),
  );
} else {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), folder];
  const first = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let finished = '';
  first.stdout.on('data', (chunk: Buffer) => {
    finished += chunk.toString();
    if (finished.split('completed').length - 1 === finishedByFirst) first.kill('SIGKILL');
  });
  const [, signal] = (await once(first, 'close')) as [unknown, string];
  const { runs: left } = await store.runs.list({ status: ['running'] });
  console.log(`${signal}: ${total - left.length} of ${total} runs are completed, ${left.length} are not`);

  let taken = 0;
  const worker = createWorker([agent], store, {
    pollMs: 100,
    onEvent: (event) => {
      if (event.type === 'run-finished') taken += 1;
    },
  });
  await worker.start();
  await worker.idle(); // a real one works until SIGTERM, and lets go of its runs then
  await worker.stop();
  const { runs: completed } = await store.runs.list({ status: ['completed'] });
  console.log(`the worker has finished ${taken}: ${completed.length} of ${total} runs are completed`);
  console.log(`letters: ${readdirSync(outbox).length}`); // letters: 12, none of them twice
  await store.close();
  rmSync(folder, { recursive: true });
}
