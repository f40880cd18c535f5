import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { ProcessSignals, SignalNotice } from '../../base/system-signals.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Lease, RowChange, Store } from '../../model/store/store.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import type { MemoryStore, StoreFaults } from '../../testing/memory-store.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { SimulatedClock } from '../../testing/simulated-clock.ts';
import type { Agent } from '../create-agent.ts';
import { createWorker } from './create-worker.ts';
import type { Worker } from './create-worker.ts';
import type { WorkerEvent } from './worker-event.ts';
import type { WorkerOptions } from './worker-options.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const begun = { type: 'began', body: { generation: 1, version: '1', input: null, facts: {} } };
const dead = { id: 'dead', leaseMs: 10 * dayMs };
const carrier = { id: 'carrier', leaseMs: 30_000 };

/** What a fake agent does with a run in hand, and how the run is listed then. */
interface Step {
  readonly outcome?: 'completed' | 'suspended' | 'failed' | 'cancelled';
  readonly resumeAt?: number;
  readonly reason?: 'long-wait' | 'storage' | 'released';
  /** Nothing is written, as with a store that fails. */
  readonly isUnwritten?: boolean;
  readonly throws?: Failure;
  readonly takesMs?: number;
  /** Until somebody settles it. */
  readonly until?: Promise<unknown>;
  readonly tookSignals?: boolean;
}

interface Scene {
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  readonly worker: Worker;
  readonly events: WorkerEvent[];
  /** Ids, in the order in which they were resumed. */
  readonly resumed: string[];
  readonly most: () => number;
  readonly told: (type: WorkerEvent['type']) => readonly WorkerEvent[];
}

interface SceneOptions {
  readonly act?: (runId: string, times: number) => Step;
  readonly options?: Omit<WorkerOptions, 'clock' | 'onEvent'>;
  readonly release?: (runId: string) => Promise<void>;
  readonly faults?: StoreFaults;
  readonly onEvent?: (event: WorkerEvent, worker: Worker) => void;
}

function setUp({ act = () => ({}), options = {}, faults, onEvent, release }: SceneOptions = {}): Scene {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  const events: WorkerEvent[] = [];
  const resumed: string[] = [];
  const live = { now: 0, most: 0 };
  const resume = async (runId: string): Promise<RunOutcome> => {
    resumed.push(runId);
    live.now += 1;
    live.most = Math.max(live.most, live.now);
    try {
      return await carry({ store, clock }, runId, act(runId, resumed.filter((id) => id === runId).length));
    } finally {
      live.now -= 1;
    }
  };
  const seen = faults === undefined ? store : store.reopen({ faults });
  const worker = createWorker([fakeAgent('helper', resume, release)], seen, {
    signals: false,
    random: () => 0.5,
    ...options,
    clock,
    onEvent: (event) => {
      events.push(event);
      onEvent?.(event, worker);
    },
  });
  const told = (type: WorkerEvent['type']): readonly WorkerEvent[] =>
    events.filter((event) => event.type === type);
  return { clock, store, worker, events, resumed, most: () => live.most, told };
}

function fakeAgent(
  name: string,
  resume: Agent<unknown>['resume'],
  release: Agent<unknown>['release'] = () => Promise.reject(new Error('never')),
): Agent<unknown> {
  const unused = (): never => {
    throw new Error('a worker resumes and releases');
  };
  const others = { run: unused, runOrThrow: unused, ask: unused, stream: unused };
  const ends = { serve: unused, close: unused, journal: unused, takeOver: unused };
  return { name, ...others, ...ends, resume, release, cancel: unused, inject: unused };
}

/** As the runtime does it: claim, count the crash, carry on, write the end, give back. */
async function carry(
  { store, clock }: { readonly store: Store; readonly clock: SimulatedClock },
  runId: string,
  step: Step,
): Promise<RunOutcome> {
  const { outcome = 'completed', resumeAt, throws, takesMs, until } = step;
  const claimed = await store.runs.claim(runId, carrier);
  if (claimed.type !== 'claimed') throw lockedError(claimed.type === 'held' ? claimed.untilMs : 0);
  const { lease, row, wasAbandoned } = claimed;
  if (wasAbandoned)
    await store.runs.append(lease, {
      events: [{ type: 'taken-over', body: {} }],
      row: { crashes: row.crashes + 1 },
    });
  try {
    if (throws !== undefined) throw RerailError.from(throws);
    if (takesMs !== undefined) await new Promise<void>((resolve) => clock.after(takesMs, resolve));
    const isReleased = (await until) === 'released';
    const signals = step.tookSignals === true ? await store.runs.signals(runId) : [];
    const change: RowChange = { status: outcome, resumeAtMs: resumeAt ?? null };
    if (step.isUnwritten !== true && !isReleased)
      await store.runs.append(lease, {
        events: [{ type: 'ended', body: {} }],
        row: change,
        took: signals.map(({ id }) => id),
      });
  } finally {
    await store.runs.release(lease);
  }
  const end: unknown = await until;
  return fakeOutcome(runId, end === 'released' ? { outcome: 'suspended', reason: end } : step);
}

function fakeOutcome(
  runId: string,
  { outcome: type = 'completed', resumeAt, reason = 'long-wait' }: Step & { readonly reason?: string },
): RunOutcome {
  const facts = { runId, messages: [], turns: 1, recoveries: [], usage: {} };
  const failure = type === 'failed' ? { failure: brokenFailure } : {};
  // The worker looks at the type and the time only.
  return { ...facts, ...failure, type, reason, resumeAt } as unknown as RunOutcome;
}

const brokenFailure = createFailure('INTERNAL', { origin: 'agent', message: 'The driver broke' });
const changedFailure = createFailure('INVALID_STATE', { origin: 'durable', message: 'The program changed' });
const fullFailure = createFailure('STORAGE_FULL', { origin: 'storage', message: 'The disk is full' });

function lockedError(untilMs: number): RerailError {
  const message = 'Somebody else carries the run';
  return RerailError.from(
    createFailure('STORAGE_LOCKED', { origin: 'storage', message, context: { untilMs } }),
  );
}

/** A run whose process has died; given back in good order with `isReleased`. */
async function addRun(
  { store }: Pick<Scene, 'store'>,
  runId: string,
  { row = {}, isReleased = false }: { readonly row?: RowChange; readonly isReleased?: boolean } = {},
): Promise<void> {
  const created = await store.runs.create(
    { runId, agent: 'helper', events: [begun], row: { status: 'running', ...row } },
    dead,
  );
  expect(created.type).toBe('created');
  const { lease } = created as { readonly lease: Lease };
  if (isReleased || row.status === 'suspended') await store.runs.release(lease);
  else store.simulateDeath(dead.id);
}

async function statusOf({ store }: Scene, runId: string): Promise<string | undefined> {
  return (await store.runs.find(runId))?.status;
}

describe('createWorker() refuses', () => {
  const agent = fakeAgent('helper', () => Promise.reject(new Error('never')));
  const store = memoryStore();
  it.each([
    { what: 'no agents', agents: [], options: {}, words: /with one at least/ },
    { what: 'something else than an agent', agents: [{ name: 'x' }], options: {}, words: /createAgent/ },
    { what: 'two agents of one name', agents: [agent, agent], options: {}, words: /Two agents .* "helper"/ },
    { what: 'an unknown option', agents: [agent], options: { polMs: 1 }, words: /did you mean "pollMs"/ },
    { what: 'a poll without a pause', agents: [agent], options: { pollMs: 0 }, words: /from 10 on, got 0/ },
    { what: 'no places', agents: [agent], options: { concurrency: 0 }, words: /"concurrency"/ },
    { what: 'a listener that is none', agents: [agent], options: { onEvent: 1 }, words: /"onEvent"/ },
    { what: 'signals that are none', agents: [agent], options: { signals: 'yes' }, words: /"signals"/ },
  ])('$what', ({ agents, options, words }) => {
    const make = (): unknown =>
      createWorker(agents as readonly Agent<unknown>[], store, options as WorkerOptions);
    expect(make).toThrow(words);
    expect(make).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
  });

  it('a store that is none', () => {
    expect(() => createWorker({ agent }, {} as Store)).toThrow(/needs a store/);
  });

  it('to be started again after it was stopped', async () => {
    const { worker } = setUp();
    await worker.start();
    await worker.stop();
    const again = setUp().worker;
    await again.stop();
    await expect(again.start()).rejects.toThrow(/create another one/);
  });
});

describe('a store that fails', () => {
  it('is told of, asked again ever more seldom, and never hurried', async () => {
    let failing = true;
    const faults: StoreFaults = {
      before: ({ verb }) => (failing && verb === 'read' ? fullFailure : undefined),
    };
    const scene = setUp({ faults });
    await addRun(scene, 'a');
    await scene.worker.start();
    const idle = scene.worker.idle();
    for (let asked = 0; asked < 50; asked += 1) {
      void scene.worker.idle();
      await scene.clock.advance(100);
    }
    expect(scene.told('storage-failed')).toHaveLength(3);
    await scene.clock.advance(hourMs);
    const waits = scene.told('storage-failed').map((event) => ('retryInMs' in event ? event.retryInMs : 0));
    expect(waits.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(minuteMs);
    expect(waits.length).toBeGreaterThan(60);
    expect(waits.length).toBeLessThan(85);
    failing = false;
    await scene.clock.runUntil(idle);
    expect(scene.resumed).toEqual(['a']);
    await scene.worker.stop();
    expect(scene.clock.pending()).toBe(0);
  });

  it('by never answering is told of, and what it says too late changes nothing', async () => {
    let answered = 0;
    const faults: StoreFaults = {
      before: ({ verb }) => {
        if (verb !== 'read') return undefined;
        answered += 1;
        return answered === 1 ? 'crash' : undefined;
      },
    };
    const scene = setUp({ faults });
    await addRun(scene, 'a');
    await scene.clock.runUntil(scene.worker.start());
    expect(scene.told('storage-failed')).toHaveLength(1);
    await scene.clock.runUntil(scene.worker.idle());
    expect(scene.resumed).toEqual(['a']);
    await scene.worker.stop();
  });
});

describe('a store that is slow', () => {
  it('and answers after it was asked again does not make the worker take more than it may', async () => {
    const scene = setUp();
    const { worker, resumed } = slowWorker(scene, [65_000, 0], { takesMs: hourMs });
    await addRun(scene, 'a');
    await addRun(scene, 'b');
    await scene.clock.runUntil(worker.start());
    await scene.clock.advance(10_000);
    expect(resumed).toHaveLength(1);
    expect(worker.running).toEqual(resumed);
    await scene.clock.runUntil(worker.stop());
  });

  it('does not make idle() believe an answer from before it was asked', async () => {
    const scene = setUp();
    const { worker, resumed } = slowWorker(scene, [100], {});
    const started = worker.start();
    await addRun(scene, 'a');
    const idle = worker.idle();
    await scene.clock.runUntil(Promise.all([started, idle]));
    expect(resumed).toEqual(['a']);
    expect(await statusOf(scene, 'a')).toBe('completed');
    await worker.stop();
  });
});

/** A worker whose store looks at once and tells what it saw later: by so much at each poll. */
function slowWorker(
  { store, clock }: Scene,
  delaysMs: readonly number[],
  step: Step,
): { readonly worker: Worker; readonly resumed: readonly string[] } {
  const resumed: string[] = [];
  let polls = 0;
  const slow: Store = {
    ...store,
    runs: {
      ...store.runs,
      waiting: async (query) => {
        const delayMs = delaysMs[polls] ?? 0;
        polls += 1;
        const found = await store.runs.waiting(query);
        await new Promise<void>((resolve) => clock.after(delayMs, resolve));
        return found;
      },
    },
  };
  const agent = fakeAgent('helper', (runId) => {
    resumed.push(runId);
    return carry({ store, clock }, runId, step);
  });
  const worker = createWorker([agent], slow, { signals: false, clock, concurrency: 1 });
  return { worker, resumed };
}

describe('a run that cannot be taken up', () => {
  it.each([
    { what: 'resume rejects', step: { throws: changedFailure }, told: 'run-refused' as const },
    {
      what: 'the run fails',
      step: { outcome: 'failed' as const, isUnwritten: true },
      told: 'run-finished' as const,
    },
    { what: 'the end is not written', step: { isUnwritten: true }, told: 'run-finished' as const },
  ])('is not tried again while nothing changes: $what', async ({ step, told }) => {
    const scene = setUp({ act: () => step });
    await addRun(scene, 'a', { isReleased: true });
    await scene.worker.start();
    await scene.clock.advance(10 * minuteMs);
    expect(scene.resumed).toEqual(['a']);
    expect(scene.told(told)).toHaveLength(1);
    await scene.worker.stop();
  });

  it('is tried again when something has changed', async () => {
    const scene = setUp({
      act: (_runId, times) => (times === 1 ? { throws: changedFailure } : { tookSignals: true }),
    });
    await addRun(scene, 'a', { row: { status: 'suspended' } });
    await scene.store.runs.signal('a', { id: 's1', name: 'resume', payload: null });
    await scene.worker.start();
    await scene.clock.advance(minuteMs);
    expect(scene.resumed).toEqual(['a']);
    await scene.store.runs.signal('a', { id: 's2', name: 'resume', payload: null });
    await scene.clock.advance(minuteMs);
    expect(scene.resumed).toEqual(['a', 'a']);
    expect(await statusOf(scene, 'a')).toBe('completed');
    await scene.worker.stop();
  });

  it.each([
    { what: 'resume rejects', step: { throws: fullFailure } },
    {
      what: 'the run says so',
      step: { outcome: 'suspended', reason: 'storage', isUnwritten: true },
    },
  ] as const)(
    'because the disk is full is tried again by itself, ever more seldom: $what',
    async ({ step }) => {
      const scene = setUp({ act: (_runId, times) => (times < 30 ? step : {}) });
      await addRun(scene, 'a', { isReleased: true });
      await scene.worker.start();
      await scene.clock.advance(10 * minuteMs);
      expect(scene.resumed.length).toBeGreaterThan(8);
      expect(scene.resumed.length).toBeLessThan(22);
      await scene.clock.advance(hourMs);
      expect(await statusOf(scene, 'a')).toBe('completed');
      await scene.worker.stop();
    },
  );

  it('because somebody here released it is taken up again', async () => {
    const step = { outcome: 'suspended', reason: 'released', isUnwritten: true } as const;
    const scene = setUp({ act: (_runId, times) => (times === 1 ? step : {}) });
    await addRun(scene, 'a', { isReleased: true });
    await scene.worker.start();
    await scene.clock.advance(1000);
    expect(await statusOf(scene, 'a')).toBe('completed');
    await scene.worker.stop();
  });

  it('does not hide the ones behind it', async () => {
    const scene = setUp({
      act: (runId) => (runId.startsWith('bad') ? { throws: changedFailure } : {}),
      options: { concurrency: 2 },
    });
    for (let number = 0; number < 40; number += 1) await addRun(scene, `bad-${number}`, { isReleased: true });
    await scene.worker.start();
    await scene.worker.idle();
    await scene.clock.advance(minuteMs);
    await addRun(scene, 'good', { isReleased: true });
    await scene.clock.advance(2000);
    expect(await statusOf(scene, 'good')).toBe('completed');
    expect(scene.resumed).toHaveLength(41);
    await scene.worker.stop();
  });

  it('because somebody else holds it is told of without being refused, and taken when he gives it back', async () => {
    const scene = setUp();
    await addRun(scene, 'a');
    const other = { id: 'other', leaseMs: 20_000 };
    const waiting = scene.store.runs.waiting;
    // Between the list and the claim somebody else was faster.
    const raced: Store = {
      ...scene.store,
      runs: {
        ...scene.store.runs,
        waiting: async (query) => {
          const found = await waiting(query);
          if (found.length > 0 && scene.events.length === 0) await scene.store.runs.claim('a', other);
          return found;
        },
      },
    };
    const events: WorkerEvent[] = [];
    const worker = createWorker([fakeAgent('helper', (runId) => carry(scene, runId, {}))], raced, {
      signals: false,
      clock: scene.clock,
      onEvent: (event) => void [events.push(event), scene.events.push(event)],
    });
    await worker.start();
    await scene.clock.advance(10_000);
    expect(events).toEqual([{ type: 'run-held', runId: 'a', untilMs: Date.UTC(2026, 0, 1) + other.leaseMs }]);
    await scene.clock.advance(15_000);
    expect(await statusOf(scene, 'a')).toBe('completed');
    await worker.stop();
  });
});

describe('a run that ends its process', () => {
  it.each([
    { crashes: 0, isReleased: false, parked: false },
    { crashes: 1, isReleased: true, parked: false },
    { crashes: 1, isReleased: false, parked: true },
    { crashes: 2, isReleased: true, parked: true },
    { crashes: 7, isReleased: false, parked: true },
  ])('is parked at its second crash: $crashes counted, given back: $isReleased', async (fall) => {
    const scene = setUp();
    await addRun(scene, 'a', { row: { crashes: fall.crashes }, isReleased: fall.isReleased });
    await scene.worker.start();
    await scene.clock.runUntil(scene.worker.idle());
    await scene.clock.advance(minuteMs);
    const counted = fall.crashes + (fall.isReleased ? 0 : 1);
    expect(scene.resumed).toEqual(fall.parked ? [] : ['a']);
    expect(scene.told('run-parked')).toEqual(
      fall.parked ? [{ type: 'run-parked', runId: 'a', crashes: counted }] : [],
    );
    const row = await scene.store.runs.find('a');
    expect(row).toMatchObject({ status: fall.parked ? 'parked' : 'completed', crashes: counted });
    expect(row?.owner).toBeUndefined();
    const types = (await scene.store.runs.events('a')).map(({ type }) => type);
    expect(types.includes('parked')).toBe(fall.parked);
    await scene.worker.stop();
  });
});

describe('time', () => {
  it('a run that is due in 40 days is taken up then and not before, with one timer for all', async () => {
    const resumeAt = Date.UTC(2026, 0, 1) + 40 * dayMs;
    const scene = setUp({
      act: (_runId, times) => (times === 1 ? { outcome: 'suspended', resumeAt } : {}),
      options: { pollMs: hourMs },
    });
    for (const runId of ['a', 'b', 'c']) await addRun(scene, runId);
    await scene.worker.start();
    await scene.clock.advance(40 * dayMs - 1000);
    expect(scene.resumed).toHaveLength(3);
    expect(scene.clock.pending()).toBe(1);
    await scene.clock.advance(1001);
    expect(scene.resumed).toHaveLength(6);
    await scene.worker.stop();
  });

  it('a known moment is not missed by a slow poll', async () => {
    const resumeAt = Date.UTC(2026, 0, 1) + 5000;
    const scene = setUp({
      act: (_runId, times) => (times === 1 ? { outcome: 'suspended', resumeAt } : {}),
      options: { pollMs: hourMs },
    });
    await addRun(scene, 'a');
    await scene.worker.start();
    await scene.clock.advance(4999);
    expect(scene.resumed).toHaveLength(1);
    await scene.clock.advance(1001);
    expect(scene.resumed).toHaveLength(2);
    await scene.worker.stop();
  });

  it.each([
    { jumpMs: -dayMs, afterMs: 10_000 },
    { jumpMs: -365 * dayMs, afterMs: 10_000 },
    { jumpMs: dayMs, afterMs: 0 },
  ])('a wall clock that jumps by $jumpMs ms neither freezes a run nor lets it spin', async (jump) => {
    const { jumpMs, afterMs } = jump;
    const resumeAt = Date.UTC(2026, 0, 1) + 10_000;
    const scene = setUp({
      act: (_runId, times) => (times === 1 ? { outcome: 'suspended', resumeAt } : {}),
    });
    await addRun(scene, 'a');
    await scene.worker.start();
    await scene.clock.advance(10);
    scene.clock.jumpWall(jumpMs);
    await scene.clock.advance(Math.max(0, afterMs - 1000));
    expect(scene.resumed).toHaveLength(1);
    const before = scene.store.operations();
    await scene.clock.advance(3000);
    expect(scene.resumed).toEqual(['a', 'a']);
    expect(scene.store.operations() - before).toBeLessThan(20);
    expect(await statusOf(scene, 'a')).toBe('completed');
    await scene.worker.stop();
  });

  it('a thousand runs that fall due by a jump are taken up a few at a time', async () => {
    const scene = setUp({ act: () => ({ takesMs: 100 }), options: { concurrency: 5 } });
    const resumeAtMs = Date.UTC(2026, 0, 1) + hourMs;
    for (let number = 0; number < 1000; number += 1)
      await addRun(scene, `run-${number}`, { row: { status: 'suspended', resumeAtMs } });
    await scene.worker.start();
    await scene.clock.advance(5000);
    expect(scene.resumed).toHaveLength(0);
    scene.clock.jumpWall(dayMs);
    await scene.clock.runUntil(scene.worker.idle());
    expect(scene.most()).toBe(5);
    expect(new Set(scene.resumed).size).toBe(1000);
    expect(scene.resumed).toHaveLength(1000);
    await scene.worker.stop();
  });

  it('a run that is due again at once goes by the pace of the poll', async () => {
    const scene = setUp({ act: () => ({ outcome: 'suspended', resumeAt: 1 }) });
    await addRun(scene, 'a');
    await scene.worker.start();
    await scene.clock.advance(minuteMs);
    expect(scene.resumed.length).toBeGreaterThan(50);
    expect(scene.resumed.length).toBeLessThan(62);
    await scene.worker.stop();
  });
});

describe('work', () => {
  it('a dozen runs of every kind come to their end, each once', async () => {
    const scene = setUp({ act: () => ({ takesMs: 50, tookSignals: true }), options: { concurrency: 4 } });
    for (let number = 0; number < 4; number += 1) {
      await addRun(scene, `interrupted-${number}`);
      await addRun(scene, `due-${number}`, { row: { status: 'suspended', resumeAtMs: 1 } });
      await addRun(scene, `signalled-${number}`, { row: { status: 'suspended' } });
      await scene.store.runs.signal(`signalled-${number}`, { id: 'yes', name: 'resume', payload: true });
    }
    await addRun(scene, 'asleep', { row: { status: 'suspended' } });
    await addRun(scene, 'done', { row: { status: 'completed' } });
    await scene.worker.start();
    expect(scene.worker.running).toHaveLength(4);
    // A place that falls free is filled at once: three rounds, and no poll in between.
    await scene.clock.advance(160);
    expect(scene.told('run-finished')).toHaveLength(12);
    await scene.clock.runUntil(scene.worker.idle());
    expect(scene.worker.running).toEqual([]);
    expect(scene.most()).toBe(4);
    expect(scene.resumed).toHaveLength(12);
    const taken = scene.told('run-taken');
    for (const event of taken)
      expect('runId' in event && event.runId).toMatch('why' in event ? event.why : '?');
    expect(scene.told('run-finished')).toHaveLength(12);
    expect(await statusOf(scene, 'asleep')).toBe('suspended');
    await scene.worker.stop();
    expect(scene.clock.pending()).toBe(0);
  });

  it('what comes while it works is found by the next poll', async () => {
    const scene = setUp();
    await scene.worker.start();
    await addRun(scene, 'a');
    await scene.clock.advance(999);
    expect(scene.resumed).toEqual([]);
    await scene.clock.advance(1);
    expect(scene.resumed).toEqual(['a']);
    await scene.worker.stop();
  });

  it('a signal that nobody takes wakes its run once, and does not hide that it falls due', async () => {
    const resumeAt = Date.UTC(2026, 0, 1) + 10 * minuteMs;
    const scene = setUp({
      act: (_runId, times) => (times === 1 ? { outcome: 'suspended', resumeAt } : {}),
    });
    await addRun(scene, 'a', { row: { status: 'suspended', resumeAtMs: resumeAt } });
    await scene.store.runs.signal('a', { id: 's1', name: 'other', payload: null });
    await scene.worker.start();
    await scene.clock.advance(9 * minuteMs);
    expect(scene.resumed).toHaveLength(1);
    await scene.clock.advance(2 * minuteMs);
    expect(scene.resumed).toHaveLength(2);
    await scene.worker.stop();
  });

  it('two workers share what waits, and no run is carried by both', async () => {
    const scene = setUp({ act: () => ({ takesMs: 10 }) });
    const resumedThere: string[] = [];
    const there = createWorker(
      [
        fakeAgent('helper', (runId) => {
          resumedThere.push(runId);
          return carryAs(scene, runId);
        }),
      ],
      scene.store.reopen(),
      { signals: false, clock: scene.clock, pollMs: 100 },
    );
    for (let number = 0; number < 30; number += 1) await addRun(scene, `run-${number}`);
    await Promise.all([scene.worker.start(), there.start()]);
    await scene.clock.advance(minuteMs);
    const finished = scene.told('run-finished');
    expect(resumedThere.length).toBeGreaterThan(0);
    expect(scene.told('run-refused')).toEqual([]);
    const page = await scene.store.runs.list({ status: ['completed'] });
    expect(page.runs).toHaveLength(30);
    expect(finished.length).toBeLessThan(30);
    for (const { runId } of page.runs) {
      const ends = (await scene.store.runs.events(runId)).filter(({ type }) => type === 'ended');
      expect(ends).toHaveLength(1);
    }
    await Promise.all([scene.worker.stop(), there.stop()]);
  });

  it('a listener that throws, at once or later, changes nothing', async () => {
    const scene = setUp({
      onEvent: () => {
        throw new Error('the log is broken');
      },
    });
    await addRun(scene, 'a');
    await scene.worker.start();
    await scene.clock.runUntil(scene.worker.idle());
    expect(await statusOf(scene, 'a')).toBe('completed');
    await scene.worker.stop();
  });

  it('idle() waits for what runs, and for nothing where the worker does not work', async () => {
    const scene = setUp({ act: () => ({ takesMs: 5000 }) });
    await scene.worker.idle();
    await addRun(scene, 'a');
    await scene.worker.start();
    const idle = scene.worker.idle();
    let isIdle = false;
    void idle.then(() => (isIdle = true));
    await scene.clock.advance(4999);
    expect(isIdle).toBe(false);
    await scene.clock.advance(2);
    expect(isIdle).toBe(true);
    // Nobody has polled since, and still it is seen.
    await addRun(scene, 'b');
    await scene.clock.runUntil(scene.worker.idle());
    expect(scene.resumed).toEqual(['a', 'b']);
    await scene.worker.stop();
    await scene.worker.idle();
  });
});

async function carryAs(scene: Scene, runId: string): Promise<RunOutcome> {
  const claimed = await scene.store.runs.claim(runId, { id: 'carrier there', leaseMs: 30_000 });
  if (claimed.type !== 'claimed') throw lockedError(claimed.type === 'held' ? claimed.untilMs : 0);
  await new Promise<void>((resolve) => scene.clock.after(10, resolve));
  await scene.store.runs.append(claimed.lease, {
    events: [{ type: 'ended', body: {} }],
    row: { status: 'completed' },
  });
  await scene.store.runs.release(claimed.lease);
  return fakeOutcome(runId, {});
}

describe('stop()', () => {
  const forever = new Promise<never>(() => undefined);

  it.each([
    { what: 'the agent does not let go', release: () => forever, refused: 0 },
    { what: 'letting go fails', release: () => Promise.reject(new Error('no')), refused: 2 },
    { what: 'the run does not notice', release: () => Promise.resolve(), refused: 0 },
  ])('leaves runs that do not end to others, within its time: $what', async ({ release, refused }) => {
    const scene = setUp({ act: () => ({ until: forever }), release });
    await addRun(scene, 'a');
    await addRun(scene, 'b');
    await scene.worker.start();
    await scene.clock.advance(100);
    const beganMs = scene.clock.monotonicMs();
    await scene.clock.runUntil(scene.worker.stop('a new version'));
    expect(scene.clock.monotonicMs() - beganMs).toBe(10_000);
    expect(scene.told('run-refused')).toHaveLength(refused);
    expect(scene.events.at(-1)).toEqual({ type: 'stopped', reason: 'a new version', left: ['a', 'b'] });
    expect(await statusOf(scene, 'a')).toBe('running');
    expect(scene.clock.pending()).toBe(0);
  });

  it('lets a run end that is about to, and takes no more', async () => {
    const scene = setUp({ act: () => ({ takesMs: 3000 }), options: { concurrency: 1 } });
    await addRun(scene, 'a');
    await addRun(scene, 'b');
    await scene.worker.start();
    await scene.clock.advance(100);
    const [first] = scene.worker.running;
    await scene.clock.runUntil(scene.worker.stop());
    await scene.clock.advance(minuteMs);
    expect(scene.resumed).toEqual([first]);
    expect(scene.events.at(-1)).toEqual({ type: 'stopped', reason: 'stopped by the caller', left: [] });
    expect(scene.worker.running).toEqual([]);
  });

  it('releases what has not ended after half of its time, and that is no end of the run', async () => {
    let letGo = (): void => undefined;
    const until = new Promise<string>((resolve) => {
      letGo = () => resolve('released');
    });
    const released: unknown[] = [];
    const scene = setUp({
      act: () => ({ until }),
      release: async (runId) => {
        released.push([runId, scene.clock.monotonicMs()]);
        letGo();
      },
    });
    await addRun(scene, 'a');
    await scene.worker.start();
    await scene.clock.runUntil(scene.worker.stop());
    expect(released).toEqual([['a', 5000]]);
    expect(scene.clock.monotonicMs()).toBe(5000);
    expect(scene.events.map(({ type }) => type)).toEqual(['run-taken', 'stopped']);
    expect(scene.told('stopped')).toEqual([expect.objectContaining({ left: ['a'] })]);
    expect(await statusOf(scene, 'a')).toBe('running');
    expect((await scene.store.runs.find('a'))?.owner).toBeUndefined();
  });

  it('in the middle of a poll or of a claim takes nothing up', async () => {
    let stopping: Promise<void> | undefined;
    const scene = setUp({
      faults: {
        before: ({ verb }) => {
          if (verb === 'claim') stopping ??= scene.worker.stop();
          return undefined;
        },
      },
    });
    await addRun(scene, 'a', { row: { crashes: 1 }, isReleased: true });
    await scene.worker.start();
    await scene.clock.advance(100);
    await stopping;
    expect(stopping).toBeDefined();
    expect(scene.resumed).toEqual([]);
    expect(scene.events.map(({ type }) => type)).toEqual(['stopped']);

    const early = setUp();
    await addRun(early, 'a');
    const started = early.worker.start();
    await Promise.all([early.worker.stop(), started]);
    expect(early.resumed).toEqual([]);
  });

  it('may be called by whoever hears that a run is taken', async () => {
    const scene = setUp({ onEvent: ({ type }, worker) => void (type === 'run-taken' && worker.stop()) });
    await addRun(scene, 'a');
    await addRun(scene, 'b');
    await scene.worker.start();
    await scene.clock.advance(100);
    expect(scene.resumed).toEqual([]);
    expect(scene.told('stopped')).toHaveLength(1);
    expect(scene.clock.pending()).toBe(0);
  });

  it('twice is once, and frees whoever waits for idleness', async () => {
    const scene = setUp({ act: () => ({ until: forever }), options: { drainMs: 0 } });
    await addRun(scene, 'a');
    await scene.worker.start();
    const idle = scene.worker.idle();
    await scene.clock.runUntil(Promise.all([scene.worker.stop('one'), scene.worker.stop('two'), idle]));
    expect(scene.told('stopped')).toEqual([{ type: 'stopped', reason: 'one', left: ['a'] }]);
  });
});

describe('signals', () => {
  function fakeSignals(): ProcessSignals & {
    readonly send: (notice: SignalNotice) => void;
    readonly log: string[];
  } {
    const listeners = new Set<(notice: SignalNotice) => void>();
    const log: string[] = [];
    return {
      log,
      listen: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      exit: (name) => void log.push(`exit ${name}, ${listeners.size} listening`),
      send: (notice) => {
        for (const listener of listeners) listener(notice);
      },
    };
  }

  it.each([
    {
      what: 'ends the process after draining',
      isShared: false,
      options: {},
      log: ['exit SIGTERM, 0 listening'],
    },
    { what: 'leaves the end to others who listen', isShared: true, options: {}, log: [] },
    {
      what: 'ends it all the same where it should',
      isShared: true,
      options: { exitOnSignal: true },
      log: ['exit SIGTERM, 0 listening'],
    },
    { what: 'never ends it where it should not', isShared: false, options: { exitOnSignal: false }, log: [] },
  ])('$what', async ({ isShared, options, log }) => {
    const signals = fakeSignals();
    const scene = setUp({ act: () => ({ takesMs: 3000 }), options: { ...options, signals } });
    await addRun(scene, 'a');
    await scene.worker.start();
    signals.send({ name: 'SIGTERM', isShared });
    await scene.clock.advance(2000);
    expect(signals.log).toEqual([]);
    await scene.clock.advance(2000);
    expect(signals.log).toEqual(log);
    expect(scene.events.at(-1)).toEqual({ type: 'stopped', reason: 'SIGTERM', left: [] });
  });

  it('a second one does not wait', async () => {
    const signals = fakeSignals();
    const scene = setUp({ act: () => ({ takesMs: 3000 }), options: { signals } });
    await addRun(scene, 'a');
    await scene.worker.start();
    signals.send({ name: 'SIGINT', isShared: false });
    signals.send({ name: 'SIGINT', isShared: false });
    expect(signals.log).toEqual(['exit SIGINT, 0 listening']);
    await scene.clock.advance(minuteMs);
  });

  it('are not listened to before the start and after the end', async () => {
    const signals = fakeSignals();
    const scene = setUp({ options: { signals } });
    signals.send({ name: 'SIGTERM', isShared: false });
    await scene.worker.start();
    await scene.worker.stop();
    signals.send({ name: 'SIGTERM', isShared: false });
    await scene.clock.advance(minuteMs);
    expect(signals.log).toEqual([]);
  });
});
