import { readFile } from 'node:fs/promises';
import { createAgent, RerailError, tool } from 'rerail';
import { replayHistory, temporal } from 'rerail/engines/temporal';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';
import { findBackend, historyFile } from './backend.ts';

// node examples/temporal/main.ts
// With TEMPORAL_ADDRESS an agent is carried by Temporal: one worker asks and goes away, another one is told the answer. Without it, a
// history of that very run is replayed, which takes no server.
const address = process.env['TEMPORAL_ADDRESS'];
const backend = await findBackend();
if (address === undefined) await showReplay();
else await showRun(address);

async function showReplay(): Promise<void> {
  console.log(
    'No server is given, so nothing is carried by one. To see that, start Temporal’s server (temporal server start-dev) and run this ' +
      'again with TEMPORAL_ADDRESS=127.0.0.1:7233. Here is what takes no server: Temporal’s own replayer is given the history of a ' +
      'run, and says whether this version would still do what stands there.',
  );
  const text = await readFile(historyFile(), 'utf8');
  const history = JSON.parse(text) as { readonly events: readonly unknown[] };
  await replayHistory(history, backend);
  console.log(`the history as it is: ${history.events.length} events, and the workflow does what they hold`);
  try {
    // As if the model had called another effect than it did.
    await replayHistory(JSON.parse(text.replaceAll(':tool:', ':telephone:')), backend);
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    console.log(`the same with another step in it: refused as ${error.code}`);
  }
}

async function showRun(server: string): Promise<void> {
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
  const steps = [{ toolCalls: [{ name: 'ship', arguments: { orderId: '17' } }] }, 'Order 17 is on its way.'];
  const makeAgent = () =>
    createAgent({
      name: 'orders',
      model: scriptedModel(
        ({ messages }) => steps[messages.filter(({ role }) => role === 'assistant').length] ?? '',
      ),
      tools: [ship],
      engine: temporal({ address: server, ...backend }),
    });
  const runId = `order-17-${Date.now()}`;
  console.log('first worker:');
  const first = makeAgent();
  console.log(`  ${(await first.run('Send order 17', { runId })).type}`);
  await first.close();
  console.log('second worker:');
  const second = makeAgent();
  const outcome = await second.resume(runId, { answer: { approved: true } });
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);
  await second.close();
}
