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

// A tool needs to know something that only a person can say. Its process is killed while it waits; another one takes the answer.
const [, , given] = process.argv;
const folder = given ?? mkdtempSync(path.join(tmpdir(), 'rerail-example-'));

const book = tool({
  name: 'book',
  description: 'Books a seat on a train.',
  input: z.object({ to: z.string() }),
  execute: async ({ to }, { ask }) => {
    // Ask first and act afterwards: the tool is called again from its start when an answer is there.
    const seat = await ask(`Window or aisle, on the train to ${to}?`);
    console.log(`  booking a seat at the ${seat}`);
    return `booked: ${seat}`;
  },
});
const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? 'You have a seat.'
    : { toolCalls: [{ name: 'book', arguments: { to: 'Oslo' } }] },
);
const store = sqlite(path.join(folder, 'runs.db'));
const agent = createAgent({ name: 'clerk', model, tools: [book], store });

if (given !== undefined) {
  const waiting = await agent.run('A seat to Oslo, please', { runId: 'oslo' });
  if (waiting.type === 'suspended') console.log(`  suspended: ${waiting.reason}`);
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
  const asked = await agent.resume('oslo'); // without an answer it only says again what it asks
  if (asked.type === 'suspended' && asked.request?.type === 'question')
    console.log(`  ${asked.request.question}`);
  const outcome = await agent.resume('oslo', { answer: 'aisle' });
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);
  await store.close();
  rmSync(folder, { recursive: true });
}
