// What bench/storage.mjs asks about long runs and many of them.
import { copyFileSync, existsSync, statSync } from 'node:fs';
import { lookUp, prompt } from './agent-task.mjs';
import { cpuUs, median } from './storage-report.mjs';

/**
 * Bytes of the file once its log is taken in, bytes of all events, and their number.
 *
 * @param {{ newFile: string, turns: number, textCharacters: number }} load
 */
export async function measureSize({ newFile: file, turns, textCharacters }) {
  const { createKeptAgent, instantModel, textOf } = await import('./storage-rerail.mjs');
  const filler = 'The result is in order. '.repeat(textCharacters).slice(0, textCharacters);
  const { agent, store } = createKeptAgent({
    model: instantModel({ turns, text: filler }),
    file,
    execute: (input) => `${lookUp(input)} ${filler}`,
  });
  await store.open();
  if (turns > 0) textOf(await agent.run(prompt, { runId: 'long' }));
  const events = await store.runs.events('long');
  const bodyBytes = events.reduce((sum, { body }) => sum + Buffer.byteLength(JSON.stringify(body)), 0);
  await store.close();
  return [statSync(file).size, bodyBytes, events.length];
}

/**
 * Carries a run until the model has been asked so often and then dies, as by `kill -9`.
 *
 * @param {{ calls: number, file: string }} load
 */
export async function dieLate({ calls, file }) {
  const { createKeptAgent, instantModel } = await import('./storage-rerail.mjs');
  let asked = 0;
  const onCall = () => {
    asked += 1;
    if (asked > calls) process.kill(process.pid, 'SIGKILL');
  };
  const { agent } = createKeptAgent({ file, model: instantModel({ turns: calls * 2, onCall }) });
  await agent.run(prompt, { runId: 'long' });
  return [];
}

/**
 * Takes up a copy of a run that died: milliseconds until the model is asked again, until the end, and of CPU; then the number of
 * its events, how many of them are of its last generation, and the milliseconds to read all.
 *
 * @param {{ newFile: string, file: string }} load
 */
export async function measureResume({ newFile: copy, file }) {
  const { createKeptAgent, instantModel, textOf } = await import('./storage-rerail.mjs');
  for (const end of ['', '-wal', '-heads']) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  let askedMs = Number.NaN;
  const onCall = () => void (askedMs = performance.now());
  const { agent, store } = createKeptAgent({ model: instantModel({ turns: 0, onCall }), file: copy });
  const [before, startedMs] = [process.cpuUsage(), performance.now()];
  textOf(await agent.resume('long'));
  const [spentMs, spentUs] = [performance.now() - startedMs, cpuUs(before)];
  const readMs = performance.now();
  const events = await store.runs.events('long');
  const allMs = performance.now() - readMs;
  await store.close();
  const takenOver = events.findIndex(({ type }) => type === 'taken-over');
  const replayed = takenOver - events.findLastIndex(({ type }) => type === 'began');
  return [askedMs - startedMs, spentMs, spentUs / 1000, takenOver, replayed, allMs];
}

/**
 * Milliseconds for the first page of so many runs, the last one, and one of a search by text.
 *
 * @param {{ newFile: string, runs: number }} load
 */
export async function measureList({ newFile, runs }) {
  const { sqlite } = await import('../dist/storage/sqlite/index.js');
  const store = sqlite(newFile);
  const owner = { id: 'bench', leaseMs: 60_000 };
  for (let from = 0; from < runs; from += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, runs - from) }, async (_, index) => {
        const events = [{ type: 'began', body: {} }];
        const row = {
          status: /** @type {const} */ ('completed'),
          text: `Question ${from + index} of a person`,
        };
        const run = { runId: `run-${from + index}`, agent: 'bench', events, row };
        const created = await store.runs.create(run, owner);
        if (created.type === 'created') await store.runs.release(created.lease);
      }),
    );
  }
  /** @type {number[]} */
  const pages = [];
  /** @type {string | undefined} */
  let cursor;
  let listed = 0;
  do {
    const startedMs = performance.now();
    const page = await store.runs.list(cursor === undefined ? {} : { cursor });
    pages.push(performance.now() - startedMs);
    listed += page.runs.length;
    cursor = page.next;
  } while (cursor !== undefined);
  if (listed !== runs) throw new Error(`Listed ${listed} of ${runs} runs`);
  const startedMs = performance.now();
  await store.runs.list({ text: 'question 7 of' });
  const searchMs = performance.now() - startedMs;
  await store.close();
  // The very first page also finds the code cold.
  return [median(pages.slice(1, 11)), median(pages.slice(-11, -1)), searchMs];
}
