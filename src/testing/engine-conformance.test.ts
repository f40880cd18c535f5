import { beforeAll, describe, expect, it } from 'vitest';
import type { Durable, DurableProgram, Effect, Engine } from '../runtime/record/durable.ts';
import type { JournalEntry, RunSnapshot } from '../runtime/record/journal.ts';
import { createMemoryEngine } from '../runtime/record/memory-engine.ts';
import type { MemoryEngine } from '../runtime/record/memory-engine.ts';
import type { MemoryEngineOptions } from '../runtime/record/memory-options.ts';
import { engineConformance } from './engine-conformance.ts';
import type { CreateEngine, EngineSetup, EngineUnderTest } from './engine-conformance.ts';

/** Where an engine is spoilt, to see whether the suite notices. */
interface Flaw {
  readonly options?: Partial<MemoryEngineOptions>;
  readonly program?: (program: DurableProgram) => DurableProgram;
  readonly effect?: (effect: Effect) => Effect;
  readonly engine?: (engine: MemoryEngine) => Engine;
  readonly snapshot?: (snapshot: RunSnapshot) => RunSnapshot;
  readonly bytes?: (bytes: number) => number;
}

function memoryEngine(flaw: Flaw = {}): CreateEngine {
  const same = <T>(value: T): T => value;
  const { program: spoilProgram = same, effect: spoilEffect = same, bytes: spoilBytes = same } = flaw;

  function open({ program, effects, clock }: EngineSetup, runs: readonly RunSnapshot[]): EngineUnderTest {
    const memory = createMemoryEngine({
      program: spoilProgram(program),
      effects: Object.fromEntries(
        Object.entries(effects).map(([name, effect]) => [name, spoilEffect(effect)]),
      ),
      clock,
      checkJson: true,
      ...flaw.options,
      runs,
    });
    const engine = flaw.engine?.(memory) ?? memory;
    return {
      engine,
      usesClock: true,
      reopen: async ({ program: changed = program, signals = [] }) => {
        // What crosses the crash is text, as on a disk.
        const kept = JSON.parse(JSON.stringify(memory.handOver())) as readonly RunSnapshot[];
        const spoilt = flaw.snapshot === undefined ? kept : kept.map(flaw.snapshot);
        const again = open({ program: changed, effects, clock }, spoilt);
        for (const { runId, name, message } of signals) await again.engine.signal(runId, name, message);
        return again;
      },
      journalBytes: (runId) => Promise.resolve(spoilBytes(JSON.stringify(memory.journalOf(runId)).length)),
      close: () => memory.close(),
    };
  }

  return (setup) => Promise.resolve(open(setup, []));
}

/** Hands the program verbs that are spoilt. */
function verbs(spoil: (durable: Durable) => Partial<Durable>): Pick<Flaw, 'program'> {
  return { program: (program) => (durable, input) => program({ ...durable, ...spoil(durable) }, input) };
}

/** Changes some verbs of the host. */
function host(spoil: (engine: MemoryEngine) => Partial<Engine>): Pick<Flaw, 'engine'> {
  return { engine: (engine) => ({ ...engine, ...spoil(engine) }) };
}

let fresh = 0;
const freshId = (): string => `fresh-${(fresh += 1)}`;

/** Numbers the calls anew, by when they ended: `order` says when. */
function byCompletion(): Flaw {
  const order = new Map<string, number>();
  return {
    effect: (effect) => async (input, context) => {
      const end = await effect(input, context);
      order.set(JSON.stringify([context.runId, context.position]), order.size);
      return end;
    },
    snapshot: (snapshot) => {
      const whenOf = ({ position }: JournalEntry): number =>
        order.get(JSON.stringify([snapshot.runId, position])) ?? 1e9 + position;
      const journal = snapshot.journal
        .toSorted((a, b) => whenOf(a) - whenOf(b))
        .map((entry, position) => ({ ...entry, position }));
      return { ...snapshot, journal };
    },
  };
}

/** Replays by position alone, whatever the program asks for. */
function unchecked(): Flaw {
  const outcomes = new Map<string, unknown>();
  return {
    snapshot: (snapshot) => ({ ...snapshot, journal: [] }),
    program: (program) => (durable, input) => {
      let position = 0;
      const remembered = async (make: () => Promise<unknown>): Promise<unknown> => {
        const key = JSON.stringify([durable.runId, durable.generation, position]);
        position += 1;
        if (!outcomes.has(key)) outcomes.set(key, await make());
        return outcomes.get(key);
      };
      const call: Durable['call'] = (effect, value) =>
        remembered(() => durable.call(effect, value)) as ReturnType<Durable['call']>;
      return program({ ...durable, call }, input);
    },
  };
}

/** Each is an engine as somebody in a hurry would write it. */
const flaws = {
  'delivers a signal as often as it is sent': host((engine) => ({
    signal: (runId, name, message) => engine.signal(runId, name, { ...message, id: freshId() }),
  })),
  'numbers calls by their completion': byCompletion(),
  'replays without looking': unchecked(),
  'throws what an effect fails with': verbs((durable) => ({
    call: async (effect, input) => {
      const outcome = await durable.call(effect, input);
      if (outcome.type === 'failed') throw new Error(outcome.failure.message);
      return outcome;
    },
  })),
  'swallows failures': verbs((durable) => ({
    call: async (effect, input) => {
      const outcome = await durable.call(effect, input);
      return outcome.type === 'failed' ? { type: 'done', value: null } : outcome;
    },
  })),
  'retries by itself': {
    effect: (effect) => async (input, context) => {
      const first = await effect(input, context);
      return first.type === 'failed' ? effect(input, context) : first;
    },
  },
  'is deaf to cancel': host(() => ({ cancel: () => Promise.resolve() })),
  'throws away what a cancelled effect came to': { options: { limits: { cancelGraceMs: 0 } } },
  'waits for a deaf effect for ever': { options: { limits: { cancelGraceMs: 1e9 } } },
  'changes an ended run when it is cancelled': host((engine) => {
    const cancelled = new Set<string>();
    return {
      cancel: (runId, reason) => {
        cancelled.add(runId);
        return engine.cancel(runId, reason);
      },
      status: async (runId) => {
        const status = await engine.status(runId);
        return cancelled.has(runId) && status.type === 'ended' ? { ...status, result: 'cancelled' } : status;
      },
    };
  }),
  'forgets that it was cancelled': {
    snapshot: ({ cancelReason: _, ...snapshot }) => snapshot,
  },
  'forgets its journal': { snapshot: (snapshot) => ({ ...snapshot, journal: [] }) },
  'forgets signals that nobody has taken': { snapshot: (snapshot) => ({ ...snapshot, signals: [] }) },
  'loses signals while nobody waits': host((engine) => ({
    signal: async (runId, name, message) => {
      const status = await engine.status(runId);
      if (status.type === 'waiting' && status.signal === name) await engine.signal(runId, name, message);
    },
  })),
  'gives any signal to whoever waits': {
    ...verbs((durable) => ({ waitFor: (_, options) => durable.waitFor('any', options) })),
    ...host((engine) => ({ signal: (runId, _, message) => engine.signal(runId, 'any', message) })),
  },
  'gives the latest signal first': verbs((durable) => {
    const inHand: Awaited<ReturnType<Durable['waitFor']>>[] = [];
    return {
      waitFor: async (signal, options) => {
        const kept = inHand.pop();
        if (kept !== undefined) return kept;
        for (let taken = 0; taken < 3; taken += 1) {
          const next = await durable.waitFor(signal, options);
          if (next.type === 'timed-out') break;
          inHand.push(next);
        }
        return inHand.pop() ?? { type: 'timed-out' };
      },
    };
  }),
  'never times out': verbs((durable) => ({ waitFor: (signal) => durable.waitFor(signal) })),
  'keeps what effects took': {
    effect: (effect) => async (input, context) => {
      const end = await effect(input, context);
      return { ...end, took: [] };
    },
  },
  'starts a run as often as it is told': host((engine) => ({
    start: async (input, options) => {
      const { type } = await engine.status(options.runId);
      const runId = type === 'unknown' ? options.runId : freshId();
      return engine.start(input, { ...options, runId });
    },
  })),
  'starts an ended run no more': host((engine) => ({
    start: async (input, options) => {
      const { type } = await engine.status(options.runId);
      return type === 'unknown' ? engine.start(input, options) : 'known';
    },
  })),
  'starts an ended run whenever it is asked': host((engine) => ({
    start: async (input, options) => {
      const status = await engine.status(options.runId);
      const after = status.type === 'ended' ? status.generation : 0;
      await engine.start(input, { ...options, after });
      return after === 0 ? 'begun' : 'known';
    },
  })),
  'does not say that a run is known': host((engine) => ({
    start: async (input, options) => {
      await engine.start(input, options);
      return 'begun';
    },
  })),
  'begins the next generation for everybody who wants one': host((engine) => ({
    start: async (input, options) => {
      const status = await engine.status(options.runId);
      const isNext = options.after !== undefined && options.after > 0 && status.type === 'ended';
      return engine.start(input, isNext ? { ...options, after: status.generation } : options);
    },
  })),
  'knows every run': host((engine) => ({
    status: async (runId) => {
      const status = await engine.status(runId);
      return status.type === 'unknown' ? { type: 'running' } : status;
    },
  })),
  'calls a broken run ended': host((engine) => ({
    status: async (runId) => {
      const status = await engine.status(runId);
      return status.type === 'broken' ? { type: 'ended', result: null, generation: 1 } : status;
    },
  })),
  'does not count generations': {
    program: (program) => (durable, input) => program({ ...durable, generation: 1 }, input),
  },
  'hands live objects over': { options: { checkJson: false } },
  'performs one effect at a time': verbs((durable) => {
    let last: Promise<unknown> = Promise.resolve();
    return {
      call: (effect, input) => {
        const next = last.then(() => durable.call(effect, input));
        last = next;
        return next;
      },
    };
  }),
  'sleeps again after a crash': {
    snapshot: (snapshot) => ({
      ...snapshot,
      journal: snapshot.journal.map((entry) =>
        entry.type === 'sleep' ? { ...entry, isOver: false, dueAtMs: entry.dueAtMs + 1000 } : entry,
      ),
    }),
  },
  'cuts large values': {
    effect: (effect) => async (input, context) => {
      const end = await effect(input, context);
      if (end.type === 'failed' || typeof end.value !== 'string') return end;
      return { ...end, value: end.value.slice(0, 256 * 1024) };
    },
  },
  'writes the whole journal anew at each step': { bytes: (bytes) => bytes ** 2 },
  'loses count': verbs((durable) => {
    let calls = 0;
    return {
      call: (effect, input) => {
        calls += 1;
        return durable.call(effect, calls > 900 ? 0 : input);
      },
    };
  }),
} as const satisfies Record<string, Flaw>;

describe('engineConformance', () => {
  /** The cases that each of them breaks. */
  const broken = new Map<string, readonly string[]>();

  beforeAll(async () => {
    for (const [flawName, flaw] of Object.entries<Flaw>(flaws)) {
      const names: string[] = [];
      for (const { name, run } of engineConformance(memoryEngine(flaw))) {
        await run().catch(() => names.push(name));
      }
      broken.set(flawName, names);
    }
  });

  it.each(Object.keys(flaws))('catches an engine that %s', (flawName) => {
    expect(broken.get(flawName)).not.toEqual([]);
  });

  it('has no case that all of them pass', () => {
    const caught = new Set([...broken.values()].flat());
    const names = engineConformance(memoryEngine()).map(({ name }) => name);
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });

  it('leaves out what a backend cannot do', () => {
    const names = engineConformance(memoryEngine(), { unsupported: ['reopen', 'journal-bytes'] }).map(
      ({ name }) => name,
    );
    expect(names.filter((name) => /crash|square|changed/.test(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(15);
  });
});

describe.concurrent('createMemoryEngine', () => {
  const cases = engineConformance(memoryEngine());
  it.each(cases.map(({ name, run }) => [name, run] as const))('%s', (_name, run) =>
    expect(run()).resolves.toBeUndefined(),
  );
});
