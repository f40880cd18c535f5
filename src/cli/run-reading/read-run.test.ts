import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Store } from '../../model/store/store.ts';
import { forkRun } from '../../runtime/transfer/fork-run.ts';
import { importRun } from '../../runtime/transfer/import-run.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import { itemWords } from './item-words.ts';
import { nextSteps } from './next-steps.ts';
import { readRun } from './read-run.ts';
import { allOf, latest } from './run-reading.ts';
import type { RunReading } from './run-reading.ts';
import { whyAnswers } from './why-answers.ts';

const golden = path.resolve(import.meta.dirname, '../../../test/golden');
const bundles = readdirSync(golden)
  .filter((file) => file.endsWith('.bundle.json'))
  .map((file) => ({ name: file.slice(0, -'.bundle.json'.length) }));

async function imported(name: string): Promise<Store> {
  const store = memoryStore();
  await importRun(store, readFileSync(path.join(golden, `${name}.bundle.json`), 'utf8'), { as: name });
  return store;
}

async function read(name: string): Promise<RunReading> {
  return readRun(await imported(name), name);
}

describe('readRun() rejects', () => {
  it('for a run that is not there', async () => {
    await expect(readRun(memoryStore(), 'nobody')).rejects.toThrow('There is no run "nobody"');
  });

  it('for a run of which nothing can be read', async () => {
    const store = await imported('plain-answer');
    const broken = { ...store, runs: { ...store.runs, events: () => Promise.reject(corrupt(1)) } };
    await expect(readRun(broken, 'plain-answer')).rejects.toThrow('a hash does not fit');
  });
});

function corrupt(seq: number): RerailError {
  const failure = { origin: 'storage', message: 'a hash does not fit', context: { seq } } as const;
  return RerailError.from(createFailure('STORAGE_CORRUPT', failure));
}

describe('readRun()', () => {
  it('reads what comes before the damage, and says what follows', async () => {
    const store = await imported('parallel-tools');
    const events: Store['runs']['events'] = (runId, range) =>
      (range?.to ?? Infinity) >= 6 ? Promise.reject(corrupt(6)) : store.runs.events(runId, range);
    const reading = await readRun({ ...store, runs: { ...store.runs, events } }, 'parallel-tools');
    expect(reading.trouble?.code).toBe('STORAGE_CORRUPT');
    expect(reading.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(allOf(reading.items, 'tool')).toHaveLength(3);
  });

  it.each(bundles)('rests every item on events that are there: $name', async ({ name }) => {
    const { items, events, turns, usage, outcome, row } = await read(name);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual(Array.from({ length: row.headSeq }, (_, index) => index + 1));
    for (const { seqs } of items) {
      expect(seqs.length).toBeGreaterThan(0);
      expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
      expect(numbers).toEqual(expect.arrayContaining([...seqs]));
    }
    expect({ turns, requests: usage.requests }).toEqual({
      turns: outcome?.turns,
      requests: outcome?.usage.requests,
    });
  });

  it.each(bundles)('has words for everything, and for why: $name', async ({ name }) => {
    const reading = await read(name);
    const words = reading.items.flatMap((item) => itemWords(item).map(({ text }) => text));
    const answers = whyAnswers(reading, { nowMs: 0 }).flatMap(({ points }) => points.map(({ text }) => text));
    const steps = nextSteps(reading, { command: 'rerail', storeFlag: '', nowMs: 0 });
    expect(
      [...words, ...answers].filter((text) => /undefined|NaN|\[object|unknown model/.test(text)),
    ).toEqual([]);
    expect(answers.length).toBeGreaterThan(0);
    expect(steps.length).toBeGreaterThan(0);
  });

  it('puts a wait together with what asked for it', async () => {
    const { items } = await read('retry-with-waits');
    const [first] = allOf(items, 'wait');
    expect(first).toMatchObject({
      askedBy: 'rerail',
      seqs: [2, 3, 4],
      why: 'backoff of 808 ms, then attempt 2',
    });
    expect(Math.round(first?.tookMs ?? 0)).toBe(808);
  });

  it('puts a call together with the question about it, the answer and its intent', async () => {
    const { items } = await read('approval-over-restart');
    expect(latest(items, 'tool')).toMatchObject({
      tool: 'pay',
      input: '{"cents":5}',
      permission: 'ask',
      answer: { verdict: 'yes', reason: 'a person approved it' },
      end: 'ok',
      seqs: [2, 4, 5, 6],
    });
  });

  it('knows a call that was not run', async () => {
    const { items } = await read('tool-failures');
    const refused = allOf(items, 'tool').find(({ tool }) => tool === 'nothing');
    expect(refused).toMatchObject({ attempt: 0, end: 'failed', failure: { code: 'TOOL_NOT_FOUND' } });
  });

  it('reports takeovers, forks, imports and cancellations', async () => {
    const crashed = await read('in-doubt-asked');
    expect(latest(crashed.items, 'taken-over')).toMatchObject({ crashes: 1, seqs: [4] });
    expect(latest(crashed.items, 'imported')).toMatchObject({ from: 'run-1' });
    const cancelled = await read('cancelled-in-tool');
    expect(latest(cancelled.items, 'cancelled')).toMatchObject({ reason: 'cancelled by the caller' });
    const store = await imported('parallel-tools');
    await forkRun(store, { runId: 'parallel-tools', seq: 5, as: 'fork' });
    const fork = await readRun(store, 'fork');
    expect(latest(fork.items, 'forked')).toMatchObject({ from: 'parallel-tools', seq: 5 });
    expect(whyAnswers(fork, { topic: 'stopped', nowMs: 0 })[0]?.points[0]?.text).toBe(
      'It is a copy of run parallel-tools up to its event 5, and no process has resumed it yet.',
    );
  });

  it('reports when and why a conversation was made shorter', async () => {
    const { items } = await read('overflow');
    expect(latest(items, 'compaction')).toMatchObject({ why: 'overflow', turn: 5 });
    expect(latest((await read('compacted')).items, 'compaction')).toMatchObject({ why: 'budget' });
  });

  it('keeps the times of an imported run', async () => {
    const { events } = await read('retry-with-waits');
    expect(events[0]?.atMs).toBe(Date.UTC(2026, 0, 1));
  });
});
