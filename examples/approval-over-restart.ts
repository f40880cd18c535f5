import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgent, tool } from 'rerail';
import { sqlite } from 'rerail/storage/sqlite';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

// One process asks and is killed. Another one, perhaps days later, is told the answer and goes on.
const [, , given] = process.argv;
const folder = given ?? mkdtempSync(path.join(tmpdir(), 'rerail-example-'));

const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ orderId: z.string(), cents: z.number().int() }),
  permission: 'ask',
  execute: ({ orderId, cents }) => {
    console.log(`  refunding ${cents} cents of order ${orderId}`);
    return 'done';
  },
});
const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? 'Order 17 is refunded.'
    : { toolCalls: [{ name: 'refund', arguments: { orderId: '17', cents: 4200 } }] },
);
const store = sqlite(path.join(folder, 'runs.db'));
const agent = createAgent({ name: 'clerk', model, tools: [refund], store });

if (given !== undefined) {
  const waiting = await agent.run('Refund order 17', { runId: 'order-17' });
  console.log(`  ${waiting.type}`);
  await new Promise((resolve) => setTimeout(resolve, 60_000)); // whatever else it does
} else {
  console.log('first process:');
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), folder];
  const first = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  first.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    first.kill('SIGKILL');
  });
  const [, signal] = (await once(first, 'close')) as [unknown, string];
  console.log(`  ${signal}`);

  console.log('second process:');
  const { runs } = await store.runs.list({ status: ['suspended'] });
  for (const { runId, reason } of runs) console.log(`  ${runId} waits for an ${reason}`);
  const asked = await agent.resume('order-17'); // without an answer it only says again what it asks
  if (asked.type === 'suspended' && asked.request?.type === 'approval') {
    const { tool: name, input } = asked.request;
    console.log(`  may it ${name} ${JSON.stringify(input)}? yes`);
  }
  const outcome = await agent.resume('order-17', { answer: { approved: true } });
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);
  // A second click is too late to do anything: the run has its outcome.
  const again = await agent.resume('order-17', { answer: { approved: true } });
  console.log(`  and again: ${again.type}`);
  await store.close();
  rmSync(folder, { recursive: true });
}
