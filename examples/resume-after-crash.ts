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

// This file starts itself as a second process, kills it with SIGKILL in the middle of a run, and goes on with the run.
const [, , given] = process.argv;
const isFirstProcess = given !== undefined;
const folder = given ?? mkdtempSync(path.join(tmpdir(), 'rerail-example-'));

const fetchReport = tool({
  name: 'fetch_report',
  description: 'Fetches the report of a city.',
  input: z.object({ city: z.string() }),
  effect: 'read',
  execute: async ({ city }) => {
    console.log(`  fetching the report of ${city}`);
    // The first process never gets the last report: it hangs here until it is killed.
    if (isFirstProcess && city === 'Lima') await new Promise((resolve) => setTimeout(resolve, 60_000));
    return `${city}: all quiet`;
  },
});

const cities = ['Oslo', 'Rome', 'Lima'];
const model = scriptedModel(({ messages }) => {
  const city = cities[messages.filter(({ role }) => role === 'tool').length];
  if (city === undefined) return 'All quiet in Oslo, Rome and Lima.';
  return { toolCalls: [{ name: 'fetch_report', arguments: { city } }] };
});

const store = sqlite(path.join(folder, 'runs.db'));
const agent = createAgent({ name: 'reporter', model, tools: [fetchReport], store });

if (isFirstProcess) {
  await agent.run('Are all cities quiet?', { runId: 'report-1' });
} else {
  console.log('first process:');
  const file = fileURLToPath(import.meta.url);
  const first = spawn(process.execPath, [...process.execArgv, file, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  first.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    if (chunk.includes('Lima')) first.kill('SIGKILL');
  });
  const [, signal] = (await once(first, 'close')) as [unknown, string];
  console.log(`  ${signal}`);

  console.log('second process:');
  const outcome = await agent.resume('report-1'); // what was finished is not done again
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);
  await store.close();
  rmSync(folder, { recursive: true });
}
