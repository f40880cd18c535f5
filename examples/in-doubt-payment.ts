import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgent, tool } from 'rerail';
import { sqlite } from 'rerail/storage/sqlite';
import { scriptedModel } from 'rerail/testing';
import { z } from 'zod';

// A process is killed after the bank has taken the money, and before anybody has heard of it. Is the invoice paid?
const [, , given, killed] = process.argv;
const folder = given ?? mkdtempSync(path.join(tmpdir(), 'rerail-example-'));
const bank = path.join(folder, 'bank.txt'); // one line for each payment
const isPaid = (invoice: string): boolean => readFileSync(bank, 'utf8').split('\n').includes(invoice);

const definition = {
  name: 'pay',
  description: 'Pays an invoice.',
  input: z.object({ invoice: z.string() }),
  timeoutMs: 500,
  // effect: 'once' is the default: what may have happened is never silently repeated
  execute: async ({ invoice }: { readonly invoice: string }) => {
    appendFileSync(bank, `${invoice}\n`);
    console.log(`  the bank has paid invoice ${invoice}`);
    await new Promise((resolve) => setTimeout(resolve, 400)); // its answer takes time, and is never heard
    return 'paid';
  },
};
const plainPay = tool(definition);
const verifiedPay = tool({ ...definition, verify: ({ invoice }) => ({ happened: isPaid(invoice) }) });

const store = sqlite(path.join(folder, 'runs.db'));
const createPayer = (invoice: string, pay: typeof plainPay) => {
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? `Invoice ${invoice} is paid.`
      : { toolCalls: [{ name: 'pay', arguments: { invoice } }] },
  );
  return createAgent({ name: `payer-${invoice}`, model, tools: [pay], store });
};
const plain = createPayer('17', plainPay);
const verified = createPayer('18', verifiedPay);

if (killed !== undefined) {
  await (killed === '17' ? plain : verified).run(`Pay invoice ${killed}`, { runId: killed });
} else {
  console.log('without verify:');
  await payAndCrash('17');
  const waiting = await plain.resume('17');
  if (waiting.type === 'suspended') console.log(`  ${waiting.reason}: ${waiting.request?.why}`);
  // A person looks at the bank's own list. Nothing is paid before they have answered.
  const settled = await plain.resume('17', { answer: { happened: isPaid('17') } });
  if (settled.type === 'completed') console.log(`  ${settled.text}`);

  console.log('with verify:');
  await payAndCrash('18');
  const outcome = await verified.resume('18'); // looks when the time of the call is over, and asks nobody
  if (outcome.type === 'completed') console.log(`  ${outcome.text}`);

  console.log('payments:', readFileSync(bank, 'utf8').trim().split('\n').join(', ')); // payments: 17, 18
  await store.close();
  rmSync(folder, { recursive: true });
}

/** Runs this file as another process, and kills it as soon as the bank has the money. */
async function payAndCrash(invoice: string): Promise<void> {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), folder, invoice];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [unknown, string];
  console.log(`  ${signal}`);
}
