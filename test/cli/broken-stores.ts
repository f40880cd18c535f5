import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAgent, tool } from '../../src/index.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { scriptedModel } from '../../src/testing/index.ts';

// Stores in real files, whole ones and ones that something has happened to.

/** Looks like a key, and must never be shown. */
const secret = ['sk', 'proj', 'Zx81kQ0vB7mW4nT2rY9cL5dH3jF6gS1a'].join('-');
/** Of the run that has ended. */
export const ended = 'order-17';
/** Of the run that waits for a person. */
export const waiting = 'order-18';
const manyRuns = 300;

/** One run that has looked something up and ended, and one that waits for a person. */
export async function fillStore(file: string): Promise<void> {
  const store = sqlite(file, { sync: 'normal' });
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object' },
    effect: 'once',
    permission: 'ask',
    execute: () => 'paid',
  });
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object' },
    effect: 'read',
    execute: () => `MARKER of a result with ${secret}`,
  });
  const agentOf = (script: Parameters<typeof scriptedModel>[0]) =>
    createAgent({
      name: 'shop',
      model: scriptedModel(script),
      tools: [pay, look],
      store,
      policy: { retry: { baseDelayMs: 1, minDelayMs: 1 } },
    });
  await agentOf([
    { toolCalls: [{ name: 'look', arguments: { order: 17 } }] },
    { text: `\u001b[2JIt is on its way; the key is ${secret}` },
  ]).run(`Where is it? ${secret}`, { runId: ended });
  await agentOf([{ toolCalls: [{ name: 'pay', arguments: { cents: 5 } }] }]).run('Pay', { runId: waiting });
  await store.close();
}

/** Many runs of one event. */
export async function fillMany(file: string): Promise<void> {
  const store = sqlite(file, { sync: 'normal' });
  const owner = { id: 'somebody', leaseMs: 1000 };
  const events = [{ type: 'note', body: 'x' }];
  const names = Array.from({ length: manyRuns }, (_, index) => `run-${index}`);
  await Promise.all(names.map((runId) => store.runs.create({ runId, agent: 'shop', events }, owner)));
  await store.close();
}

/** A copy of the whole store of a folder, for a test to break. Gives its name. */
export function copyStore(folder: string, name: string, change: (file: string) => void): string {
  for (const end of ['', '-wal', '-heads']) {
    const from = path.join(folder, `whole.db${end}`);
    if (existsSync(from)) cpSync(from, path.join(folder, `${name}${end}`));
  }
  change(path.join(folder, name));
  return name;
}

/** Changes one byte of the result of a tool, wherever it stands: what SQLite no longer needs is left in the file, too. */
export function flipByte(file: string): void {
  const bytes = readFileSync(file);
  const marker = 'MARKER of a result';
  if (!bytes.includes(marker)) throw new Error('The text is not there');
  for (let place = bytes.indexOf(marker); place >= 0; place = bytes.indexOf(marker)) bytes[place] = 0x58;
  writeFileSync(file, bytes);
}

/** As a later program would have written it. */
export function makeNewer(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeUInt32BE(99, 60); // Where the header says the version of the schema.
  writeFileSync(file, bytes);
}

/** As if the end of every run had been lost. */
export function forgetEvents(file: string): void {
  const database = loadDriver()(file);
  database.exec('DELETE FROM events');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** The database of another program. */
export function makeForeign(file: string): void {
  rmSync(file);
  rmSync(`${file}-heads`);
  const database = loadDriver()(file);
  database.exec('CREATE TABLE mine (a)');
  database.close();
}

/** No database at all. */
export function makeText(file: string): void {
  rmSync(`${file}-heads`);
  writeFileSync(file, 'These are notes, and no database. '.repeat(200));
}
