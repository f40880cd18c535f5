import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createAgent, tool } from 'rerail';
import { dbos } from 'rerail/engines/dbos';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';
import { startBackend } from './backend.ts';

// node examples/dbos/main.ts
// One process asks and is killed. Another one with the same executor id takes the run up from Postgres, and is told the answer.
const backend = await startBackend();

const reserve = tool({
  name: 'reserve',
  description: 'Reserves the goods of an order.',
  input: z.object({ orderId: z.string() }),
  effect: 'idempotent',
  execute: ({ orderId }) => {
    console.log(`  reserving order ${orderId}`);
    return 'reserved';
  },
});
const ship = tool({
  name: 'ship',
  description: 'Ships an order.',
  input: z.object({ orderId: z.string() }),
  permission: 'ask',
  execute: ({ orderId }) => {
    console.log(`  shipping order ${orderId}`);
    return 'shipped';
  },
});
const steps = [
  { toolCalls: [{ name: 'reserve', arguments: { orderId: '17' } }] },
  { toolCalls: [{ name: 'ship', arguments: { orderId: '17' } }] },
  'Order 17 is on its way.',
];
const model = scriptedModel(
  ({ messages }) => steps[messages.filter(({ role }) => role === 'assistant').length] ?? '',
);
const agent = createAgent({
  name: 'orders',
  model,
  tools: [reserve, ship],
  engine: dbos({ executorId: 'worker-1', logLevel: 'error', ...backend.options }),
});

if (backend.isChild) {
  const waiting = await agent.run('Send order 17', { runId: 'order-17' });
  console.log(`  ${waiting.type}`);
  await new Promise((resolve) => setTimeout(resolve, 60_000)); // whatever else it does
} else {
  console.log('first process:');
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), backend.options.databaseUrl];
  const first = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  first.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    if (chunk.includes('suspended')) first.kill('SIGKILL');
  });
  const [, signal] = (await once(first, 'close')) as [unknown, string];
  console.log(`  ${signal}`);

  console.log('second process:');
  const outcome = await agent.resume('order-17', { answer: { approved: true } });
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);
  await agent.close();
  await backend.stop();
}
