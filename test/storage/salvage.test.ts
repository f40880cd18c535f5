import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptSalvaged, createAgent, exportRun, importRun, salvageRuns, tool } from '../../src/index.ts';
import type { Agent, SalvagedRun, SalvagedRuns, Store } from '../../src/index.ts';
import type { WholeRun } from '../../src/model/store/whole-run.ts';
import { loadDriver } from '../../src/storage/sqlite/driver.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { scriptedModel, seededRandom } from '../../src/testing/index.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-salvage-'));
const original = path.join(folder, 'original.db');
/** Every run as it was before anything happened to the file. */
const truth = new Map<string, WholeRun>();
const paid: string[] = [];
let made = 0;

function agentOver(store: Store): Agent {
  const payTool = (name: string, permission: 'allow' | 'ask') =>
    tool({
      name,
      description: 'Pays.',
      input: { type: 'object', properties: {} },
      permission,
      execute: () => {
        paid.push('paid');
        return 'paid '.repeat(400);
      },
    });
  const tools = [payTool('pay', 'allow'), payTool('ask', 'ask')];
  const model = scriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const question = JSON.stringify(messages[0]);
    if (question.includes('large')) return 'large '.repeat(60_000);
    if (turn < 3) return { toolCalls: [{ name: question.includes('ask') ? 'ask' : 'pay', arguments: {} }] };
    return question.includes('fail') ? { failure: 'INVALID_REQUEST' } : 'Done.';
  });
  return createAgent({ name: 'shop', model, tools, store });
}

beforeAll(async () => {
  const store = sqlite(original, { sync: 'normal' });
  const agent = agentOver(store);
  const words = ['plain', 'ask', 'fail', 'large'];
  for (let number = 0; number < 18; number += 1)
    await agent.run(`${words[number % 4]} ${number}`, { runId: `run-${String(number).padStart(2, '0')}` });
  await agent.close();
  for (const { runId } of (await store.runs.list({ limit: 100 })).runs)
    truth.set(runId, (await store.runs.whole(runId)) as WholeRun);
  // What a crash leaves: the latest part is in the log only.
  for (const end of ['', '-wal', '-heads'])
    if (existsSync(original + end)) cpSync(original + end, `${original}.kept${end}`);
  await store.close();
  for (const end of ['', '-wal', '-heads']) {
    rmSync(original + end, { force: true });
    if (existsSync(`${original}.kept${end}`)) cpSync(`${original}.kept${end}`, original + end);
  }
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of all files that belong to the store. */
function copyOf(source = original): string {
  const file = path.join(folder, `copy-${(made += 1)}.db`);
  for (const end of ['', '-wal', '-heads']) if (existsSync(source + end)) cpSync(source + end, file + end);
  return file;
}

/** The log in the file, as after a clean end. */
async function settledCopy(): Promise<string> {
  const file = copyOf();
  const store = sqlite(file);
  await store.open();
  await store.close();
  rmSync(`${file}-wal`, { force: true });
  rmSync(`${file}-shm`, { force: true });
  return file;
}

function change(file: string, work: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  work(bytes);
  writeFileSync(file, bytes);
}

interface Salvaged {
  readonly summary: SalvagedRuns;
  readonly told: ReadonlyMap<string, SalvagedRun>;
  readonly to: Store;
}

async function salvage(file: string): Promise<Salvaged> {
  const before = readFileSync(file);
  const from = sqlite(file);
  const to = sqlite(path.join(folder, `saved-${(made += 1)}.db`), { sync: 'normal' });
  const told = new Map<string, SalvagedRun>();
  const summary = await salvageRuns(from, to, { onProgress: (run) => void told.set(run.runId, run) });
  await from.close();
  expect(readFileSync(file).equals(before), 'the damaged file was changed').toBe(true);
  return { summary, told, to };
}

/** Nothing is made up, and what is not whole is marked. */
async function checkSaved({ summary, told, to }: Salvaged): Promise<void> {
  const { runs } = await to.runs.list({ limit: 1000 });
  expect(runs).toHaveLength(summary.whole + summary.cut);
  for (const { runId } of runs) {
    const saved = (await to.runs.whole(runId)) as WholeRun;
    const was = truth.get(runId);
    expect(was, `the run ${runId} was made up`).toBeDefined();
    expect(JSON.stringify(saved.events) === JSON.stringify(was?.events.slice(0, saved.events.length))).toBe(
      true,
    );
    const isWhole = saved.events.length === was?.events.length && saved.row.status === was.row.status;
    const isMarked = saved.row.status === 'parked' && saved.row.reason?.startsWith('salvaged ') === true;
    expect([runId, told.get(runId)?.type === 'whole' ? isWhole : isMarked]).toEqual([runId, true]);
  }
  expect((await to.check()).problems).toEqual([]);
}

const damages: Readonly<Record<string, (file: string, random: () => number) => void>> = {
  'one flipped bit': (file, random) =>
    change(file, (bytes) => {
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    }),
  'many flipped bits': (file, random) =>
    change(file, (bytes) => {
      for (let count = 0; count < 40; count += 1) {
        const at = 100 + Math.floor(random() * (bytes.length - 100));
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      }
    }),
  'a page of garbage': (file, random) =>
    change(file, (bytes) => {
      const page = 1 + Math.floor(random() * (bytes.length / 4096 - 1));
      for (let at = page * 4096; at < Math.min(bytes.length, (page + 1) * 4096); at += 1)
        bytes[at] = Math.floor(random() * 256);
    }),
  'a page of zeros': (file, random) =>
    change(file, (bytes) => {
      const page = 1 + Math.floor(random() * (bytes.length / 4096 - 1));
      bytes.fill(0, page * 4096, (page + 1) * 4096);
    }),
  'a torn page': (file, random) =>
    change(file, (bytes) => {
      const page = 1 + Math.floor(random() * (bytes.length / 4096 - 2));
      bytes.copyWithin(page * 4096 + 2048, (page + 1) * 4096 + 2048, (page + 2) * 4096);
    }),
  'a truncated file': (file, random) => truncateSync(file, Math.floor(statSync(file).size * random())),
};

describe('salvageRuns()', () => {
  it('copies a store that is whole as it is', async () => {
    const saved = await salvage(copyOf());
    expect(saved.summary).toMatchObject({ whole: 18, cut: 0, lost: 0, there: 0, damaged: [] });
    await checkSaved(saved);
    await saved.to.close();
  });

  const seeds = Array.from({ length: 6 }, (_, index) => index + 1);
  const cases = Object.keys(damages).flatMap((damage) => seeds.map((seed) => ({ damage, seed })));

  it.each(cases)(
    'after $damage (seed $seed) keeps what is proven and invents nothing',
    async ({ damage, seed }) => {
      const file = await settledCopy();
      damages[damage]?.(file, seededRandom(seed * 1000 + damage.length));
      const readable = await readableRuns(copyOf(file));
      const saved = await salvage(file);
      await checkSaved(saved);
      // Whatever the damaged store itself can still read whole is kept whole.
      for (const runId of readable) expect([runId, saved.told.get(runId)?.type]).toEqual([runId, 'whole']);
      await saved.to.close();
    },
  );

  it('knows by the record of heads what went with a lost log', async () => {
    const file = copyOf();
    expect(existsSync(`${file}-wal`)).toBe(true);
    rmSync(`${file}-wal`);
    const saved = await salvage(file);
    expect(saved.summary.whole).toBeLessThan(18);
    expect(saved.summary.whole + saved.summary.cut + saved.summary.lost).toBe(18);
    await checkSaved(saved);
    await saved.to.close();
  });

  it('finds nothing in what is no database any more, and says what is lost', async () => {
    const file = await settledCopy();
    change(file, (bytes) => bytes.fill(7));
    const saved = await salvage(file);
    expect(saved.summary).toMatchObject({ whole: 0, cut: 0, lost: 18 });
    await saved.to.close();
  });
});

async function readableRuns(file: string): Promise<readonly string[]> {
  const store = sqlite(file);
  const readable: string[] = [];
  for (const runId of truth.keys()) {
    const whole = await store.runs.whole(runId).catch(() => undefined);
    const was = truth.get(runId);
    if (
      whole !== undefined &&
      whole.events.length === was?.events.length &&
      whole.row.status === was.row.status
    )
      readable.push(runId);
  }
  await store.close();
  return readable;
}

describe('a run whose end was lost', () => {
  /** Event 2 of a run that waits for a person is gone. */
  async function cut(): Promise<Store> {
    const file = await settledCopy();
    const database = loadDriver()(file);
    database.exec("DELETE FROM events WHERE run_id = 'run-01' AND seq = 2");
    database.close();
    const { to, told } = await salvage(file);
    expect(told.get('run-01')).toMatchObject({ type: 'cut', damage: { provenSeq: 1 } });
    return to;
  }

  it.each(['run', 'resume', 'cancel', 'resume with an answer'])('is refused: %s', async (verb) => {
    const store = await cut();
    const agent = agentOver(store);
    const before = paid.length;
    const acts: Readonly<Record<string, () => Promise<unknown>>> = {
      run: async () => {
        const outcome = await agent.run('ask 1', { runId: 'run-01' });
        throw Object.assign(new Error(outcome.type), outcome.type === 'failed' ? outcome.failure : {});
      },
      resume: () => agent.resume('run-01'),
      cancel: () => agent.cancel('run-01'),
      'resume with an answer': () => agent.resume('run-01', { answer: true }),
    };
    await expect(acts[verb]?.()).rejects.toMatchObject({ code: 'STORAGE_DIVERGED' });
    expect(paid).toHaveLength(before);
    await agent.close();
    await store.close();
  });

  it('stays refused after an export and an import', async () => {
    const store = await cut();
    const bundle = await exportRun(store, 'run-01');
    const other = sqlite(path.join(folder, `imported-${(made += 1)}.db`));
    await importRun(other, bundle);
    await expect(agentOver(other).resume('run-01')).rejects.toMatchObject({ code: 'STORAGE_DIVERGED' });
    await other.close();
    await store.close();
  });

  it('goes on once a person has accepted what is there', async () => {
    const store = await cut();
    await acceptSalvaged(store, 'run-01');
    await expect(acceptSalvaged(store, 'run-01')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    const agent = agentOver(store);
    expect(await agent.resume('run-01')).toMatchObject({ type: 'suspended', reason: 'approval' });
    await agent.close();
    await store.close();
  });
});
