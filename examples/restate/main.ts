import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createAgent, tool } from 'rerail';
import { restate } from 'rerail/engines/restate';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';
import { startBackend } from './backend.ts';

// node examples/restate/main.ts
// A worker reserves the goods and is killed while the run waits for a person. The run waits in Restate; another worker ships them.
const { addresses, sdk, isWorker, stop } = await startBackend();
const { ingressUrl, adminUrl, port } = addresses;

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
// Who serves carries runs; who does not only starts them, asks for them and answers.
const engine = restate({ ingressUrl, adminUrl, sdk, ...(isWorker ? { serve: { port } } : {}) });
const agent = createAgent({ name: 'orders', model, tools: [reserve, ship], engine });

async function startWorker(): Promise<ChildProcess> {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), JSON.stringify(addresses)];
  const worker = spawn(process.execPath, argv, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(worker, 'message');
  return worker;
}

async function killWorker(worker: ChildProcess): Promise<void> {
  worker.kill('SIGKILL');
  await once(worker, 'close');
}

if (isWorker) {
  await agent.serve();
  process.send?.('ready');
} else {
  console.log('first worker:');
  const first = await startWorker();
  const waiting = await agent.run('Send order 17', { runId: 'order-17' });
  console.log(`  ${waiting.type}`);
  await killWorker(first);
  console.log('  SIGKILL');

  console.log('second worker:');
  const second = await startWorker();
  const outcome = await agent.resume('order-17', { answer: { approved: true } });
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);
  await killWorker(second);
  await agent.close();
  await stop();
}
