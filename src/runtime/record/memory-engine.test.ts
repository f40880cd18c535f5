import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { SimulatedClock } from '../../testing/simulated-clock.ts';
import type { DurableProgram, Effect, Outcome, RunStatus } from './durable.ts';
import { isCancelled } from './durable-errors.ts';
import { createMemoryEngine } from './memory-engine.ts';
import type { MemoryEngine } from './memory-engine.ts';
import type { MemoryEngineOptions } from './memory-options.ts';

const done = (value: Json): Outcome => ({ type: 'done', value });
const runOptions = { runId: 'run', version: '1' };

interface Made {
  readonly engine: MemoryEngine;
  readonly clock: SimulatedClock;
}

function make(program: DurableProgram, options: Partial<MemoryEngineOptions> = {}): Made {
  const clock = simulatedClock();
  const effects: Record<string, Effect> = { echo: (input) => done(input), ...options.effects };
  return { clock, engine: createMemoryEngine({ program, clock, checkJson: true, ...options, effects }) };
}

async function endOf({ engine, clock }: Made, input: Json = null): Promise<RunStatus> {
  await engine.start(input, runOptions);
  return clock.runUntil(engine.whenEnded('run'));
}

/** What a run that broke says. */
function messageOf(status: RunStatus): string {
  return status.type === 'broken' ? `${status.failure.code}: ${status.failure.message}` : status.type;
}

describe('createMemoryEngine: what a program gets wrong', () => {
  it.each([
    {
      name: 'a program that throws before its first promise',
      program: () => {
        throw new TypeError('no order');
      },
      says: 'INTERNAL: no order',
    },
    {
      name: 'an effect that nobody handed in',
      program: async (durable) => (await durable.call('constructor', null)).type,
      says: 'INTERNAL: Run "run" calls "constructor", but no such effect was handed to the engine',
    },
    {
      name: 'a sleep without a length',
      program: async (durable) => {
        await durable.sleep(Number.NaN);
        return null;
      },
      says: 'INTERNAL: Run "run" sleeps for NaN ms; it must be a finite number',
    },
    {
      name: 'an input that is no JSON',
      program: async (durable) => (await durable.call('echo', { list: [1, undefined as never] })).type,
      says: 'INTERNAL: Only JSON crosses the durable port, but in the input of "echo" .list[1] is undefined',
    },
    {
      name: 'an outcome that is no JSON',
      program: async (durable) => (await durable.call('live', null)).type,
      says: 'INTERNAL: Only JSON crosses the durable port, but in the outcome of "live" .value.at is a Map',
    },
    {
      name: 'a result that is no JSON',
      program: () => Promise.resolve(Number.NaN),
      says: 'INTERNAL: Only JSON crosses the durable port, but in the result of the program the value is NaN',
    },
  ] satisfies readonly { name: string; program: DurableProgram; says: string }[])(
    'breaks the run at $name',
    async ({ program, says }) => {
      const live = { at: new Map() } as unknown as Json; // What no type stops at run time.
      const made = make(program, { effects: { live: async () => done(live) } });
      expect(messageOf(await endOf(made))).toBe(says);
    },
  );

  it('makes a failure of an effect that gives no outcome', async () => {
    const made = make(async (durable) => JSON.stringify(await durable.call('odd', null)), {
      effects: { odd: () => undefined as never },
    });
    expect(JSON.stringify(await endOf(made))).toContain(
      'Effect \\\\\\"odd\\\\\\" gave undefined instead of an outcome',
    );
  });

  it('breaks a run that catches the change of its program and goes on', async () => {
    const { engine } = make(async (durable) => {
      await durable.call('echo', 1);
      await durable.waitFor('go');
      return null;
    });
    await engine.start(null, runOptions);
    const made = make(
      async (durable) => {
        await durable.call('echo', 2).catch(() => undefined);
        await durable.sleep(10).catch(() => undefined);
        return 'as if nothing had been';
      },
      { runs: engine.handOver() },
    );
    expect(messageOf(await made.engine.whenEnded('run'))).toBe(
      'INVALID_STATE: Run "run" cannot continue: the program changed. At position 0 of generation 1 the journal holds a call of "echo" with input 1, but the program now makes a call of "echo" with input 2',
    );
  });

  it('breaks a run whose program now ends before its journal does', async () => {
    const { engine } = make(async (durable) => {
      await durable.call('echo', 1);
      await durable.waitFor('go');
      return null;
    });
    await engine.start(null, runOptions);
    const made = make(() => Promise.resolve('short'), { runs: engine.handOver() });
    const message = messageOf(await made.engine.whenEnded('run'));
    expect(message).toContain(
      'the journal holds a call of "echo" with input 1, but the program now makes no further',
    );
  });

  it('restarts although the program catches everything', async () => {
    const made = make(async (durable, input) => {
      try {
        if (input === 'old') durable.restart('new');
      } catch {
        await durable.sleep(10).catch(() => undefined);
        return 'caught';
      }
      return [input, durable.generation];
    });
    expect(await endOf(made, 'old')).toMatchObject({ type: 'ended', result: ['new', 2] });
  });
});

describe('createMemoryEngine: cancelling', () => {
  it('does not end the process over a verb that the program has not come to await', async () => {
    const made = make(
      async (durable) => {
        const nap = durable.sleep(1000);
        const answer = durable.waitFor('never');
        await durable.call('slow', null).catch(() => undefined);
        for (let turn = 0; turn < 5; turn += 1) await setImmediate();
        const ends = await Promise.allSettled([nap, answer]);
        return ends.map((end) => end.status === 'rejected' && isCancelled(end.reason));
      },
      { effects: { slow: () => new Promise(() => undefined) } },
    );
    await made.engine.start(null, runOptions);
    await made.engine.cancel('run', 'enough');
    expect(await made.clock.runUntil(made.engine.whenEnded('run'))).toMatchObject({
      type: 'ended',
      result: [true, true],
    });
    expect(made.clock.pending()).toBe(0);
  });

  it('leaves no timer when the program ends within the grace of an effect', async () => {
    const made = make(
      async (durable) => {
        const deaf = durable.call('deaf', null);
        await durable.sleep(1000).catch(() => undefined);
        void deaf;
        return 'at once';
      },
      { effects: { deaf: () => new Promise(() => undefined) } },
    );
    await made.engine.start(null, runOptions);
    await made.engine.cancel('run', 'enough');
    expect(await made.engine.whenEnded('run')).toMatchObject({ type: 'ended', result: 'at once' });
    expect(made.clock.pending()).toBe(0);
  });

  it('is not undone by a restart', async () => {
    const made = make(async (durable) => {
      await durable.call('echo', null);
      return durable.restart(null);
    });
    await made.engine.start(null, runOptions);
    await made.engine.cancel('run', 'enough');
    expect(messageOf(await made.engine.whenEnded('run'))).toBe('CANCELLED: Run "run" was cancelled: enough');
  });

  it('aborts with a reason that an effect may simply throw', async () => {
    const made = make(async (durable) => JSON.stringify(await durable.call('waits', null)), {
      effects: {
        waits: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }),
      },
    });
    await made.engine.start(null, runOptions);
    await made.engine.cancel('run', 'enough');
    expect(JSON.stringify(await made.engine.whenEnded('run'))).toContain('CANCELLED');
  });

  it('closes within its bound, whatever a program catches, and leaves no timer', async () => {
    const made = make(async (durable) => {
      await durable.sleep(60_000).catch(() => undefined);
      return new Promise(() => undefined);
    });
    await made.engine.start(null, runOptions);
    await made.clock.runUntil(made.engine.close(), { maxMs: 6000 });
    expect(messageOf(await made.engine.status('run'))).toContain('CANCELLED');
    await expect(made.engine.start(null, { ...runOptions, runId: 'late' })).rejects.toThrow(
      'the engine is closed',
    );
    expect(made.clock.pending()).toBe(0);
  });
});

describe('createMemoryEngine: bounds', () => {
  const waiting: DurableProgram = async (durable) => {
    await durable.waitFor('go');
    return null;
  };

  it('refuses a run too many while all are live, and says so with a failure', async () => {
    const { engine } = make(waiting, { limits: { maxRuns: 2 } });
    await engine.start(null, { runId: 'a', version: '1' });
    await engine.start(null, { runId: 'b', version: '1' });
    await expect(engine.start(null, { runId: 'c', version: '1' })).rejects.toMatchObject({
      code: 'INVALID_STATE',
      retryable: true,
      message: 'Cannot start run "c": 2 runs are live, at most 2 may be',
    });
  });

  it('drops the run that ended first to make room', async () => {
    const { engine } = make(waiting, { limits: { maxRuns: 3 } });
    for (const runId of ['a', 'b', 'c']) await engine.start(null, { runId, version: '1' });
    for (const runId of ['c', 'b']) {
      await engine.signal(runId, 'go', { id: '1', payload: null });
      await engine.whenEnded(runId);
    }
    await engine.start(null, { runId: 'd', version: '1' });
    const statuses = await Promise.all(['a', 'b', 'c', 'd'].map((runId) => engine.status(runId)));
    expect(statuses.map(({ type }) => type)).toEqual(['waiting', 'ended', 'unknown', 'waiting']);
  });

  it('keeps the journals of the last ended runs only', async () => {
    const { engine } = make(async (durable) => (await durable.call('echo', 1)).type, {
      limits: { maxEndedJournals: 1 },
    });
    for (const runId of ['a', 'b']) {
      await engine.start(null, { runId, version: '1' });
      await engine.whenEnded(runId);
    }
    expect([engine.journalOf('a').length, engine.journalOf('b').length]).toEqual([0, 1]);
  });

  it('refuses a signal too many, but not one that it has', async () => {
    const { engine } = make(waiting, { limits: { maxSignals: 1 } });
    await engine.start(null, runOptions);
    await engine.signal('run', 'other', { id: 'a', payload: null });
    await engine.signal('run', 'other', { id: 'a', payload: null });
    await expect(engine.signal('run', 'other', { id: 'b', payload: null })).rejects.toThrow(
      '1 are waiting already',
    );
  });

  it.each([
    {
      name: 'signal',
      act: (engine: MemoryEngine) => engine.signal('nobody', 'go', { id: '1', payload: null }),
    },
    { name: 'cancel', act: (engine: MemoryEngine) => engine.cancel('nobody', 'enough') },
  ])('rejects a $name for a run that it does not know', async ({ act }) => {
    const { engine } = make(waiting);
    await expect(act(engine)).rejects.toThrow('there is no such run');
  });

  it('refuses to start another version than the one it carries', async () => {
    const { engine } = make(waiting, { version: '2' });
    await expect(engine.start(null, runOptions)).rejects.toThrow('this engine runs version "2", not "1"');
  });

  it('refuses bounds that make no sense', () => {
    expect(() => make(waiting, { limits: { maxRuns: Number.NaN } })).toThrow(
      '"maxRuns" of the memory engine',
    );
  });
});

describe('createMemoryEngine: time', () => {
  it('ends a call at its timeout, stops the effect and does not hear it later', async () => {
    const seen: string[] = [];
    const made = make(
      async (durable) => {
        const outcome = await durable.call('slow', null, { timeoutMs: 50 });
        await durable.sleep(1000);
        return outcome.type === 'failed' ? outcome.failure.code : 'done';
      },
      {
        effects: {
          slow: (_, { signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => {
                seen.push('aborted');
                resolve(done('late'));
              });
            }),
        },
      },
    );
    expect(await endOf(made)).toMatchObject({ type: 'ended', result: 'TIMEOUT' });
    expect(seen).toEqual(['aborted']);
    expect(made.engine.journalOf('run')).toHaveLength(2);
  });

  it('does not sleep longer because the wall clock was set back', async () => {
    const { engine, clock } = make(async (durable) => {
      await durable.sleep(1000);
      return null;
    });
    await engine.start(null, runOptions);
    const runs = engine.handOver();
    clock.jumpWall(-3_600_000);
    const again = createMemoryEngine({
      program: async (durable) => {
        await durable.sleep(1000);
        return 'awake';
      },
      effects: {},
      clock,
      runs,
    });
    await clock.advance(1000);
    expect(await again.status('run')).toMatchObject({ type: 'ended', result: 'awake' });
  });

  it('leaves nothing behind when a program ends before what it began', async () => {
    const signals: AbortSignal[] = [];
    const made = make(
      async (durable) => {
        void durable.call('slow', null);
        void durable.sleep(1000);
        void durable.waitFor('never', { timeoutMs: 1000 });
        return durable.call('echo', 'first').then(() => 'first');
      },
      {
        effects: {
          slow: (_, { signal }) => {
            signals.push(signal);
            return new Promise(() => undefined);
          },
        },
      },
    );
    expect(await endOf(made)).toMatchObject({ type: 'ended', result: 'first' });
    expect(made.clock.pending()).toBe(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('createMemoryEngine: the host', () => {
  it('tells each end once, and stands a listener that throws', async () => {
    const told: string[] = [];
    const made = make(async (durable, input) => (input === 0 ? durable.restart(1) : input), {
      onEnded: (runId, end) => {
        told.push(`${runId} ${end.type}`);
        throw new Error('the listener is broken');
      },
    });
    expect(await endOf(made, 0)).toMatchObject({ type: 'ended', result: 1 });
    expect(told).toEqual(['run ended']);
  });

  it('knows nothing of a run that nobody started', async () => {
    const { engine } = make(() => Promise.resolve(null));
    expect(await engine.whenEnded('nobody')).toEqual({ type: 'unknown' });
    expect(engine.journalOf('nobody')).toEqual([]);
  });

  it('does not take a signal that it would lose, once its runs are handed over', async () => {
    const { engine } = make(async (durable) => (await durable.waitFor('go')).type);
    await engine.start(null, runOptions);
    expect(engine.handOver()).toHaveLength(1);
    await expect(engine.signal('run', 'go', { id: '1', payload: null })).rejects.toThrow(
      'there is no such run',
    );
  });

  it('forgets an id only after ten thousand others', async () => {
    const seen: string[] = [];
    const { engine } = make(async (durable) => {
      for (let taken = 0; taken < 10_002; taken += 1) {
        const signal = await durable.waitFor('go');
        if (signal.type === 'signalled') seen.push(signal.id);
      }
      return null;
    });
    await engine.start(null, runOptions);
    for (let sent = 0; sent < 10_000; sent += 1) {
      await engine.signal('run', 'go', { id: `id ${sent}`, payload: null });
    }
    await engine.signal('run', 'go', { id: 'id 0', payload: null });
    expect(seen).toHaveLength(10_000);
    await engine.signal('run', 'go', { id: 'one more', payload: null });
    await engine.signal('run', 'go', { id: 'id 0', payload: null });
    await engine.whenEnded('run');
    expect(seen.slice(10_000)).toEqual(['one more', 'id 0']);
  });
});

describe('replay', () => {
  const program: DurableProgram = async (durable, input) => {
    const outcome = await durable.call('echo', input);
    await durable.sleep(1000);
    if (input === 'again') durable.restart('state');
    return outcome.type === 'done' ? outcome.value : null;
  };
  const journal = [
    { type: 'call', position: 0, effect: 'echo', input: 'in', outcome: done('out') },
    { type: 'sleep', position: 1, delayMs: 1000, dueAtMs: 0, isOver: true },
  ] as const;
  const [call, sleep] = journal;

  it.each([
    { name: 'gives the result', input: 'in', journal, expected: { type: 'ended', result: 'out' } },
    {
      name: 'says where the journal ends',
      input: 'in',
      journal: [call],
      expected: { type: 'open', position: 1 },
    },
    {
      name: 'says that a sleep has only begun',
      input: 'in',
      journal: [call, { ...sleep, isOver: false }],
      expected: { type: 'open', position: 1 },
    },
    {
      name: 'says what is missing in between',
      input: 'in',
      journal: [sleep],
      expected: { type: 'open', position: 0 },
    },
    {
      name: 'gives the state of a restart',
      input: 'again',
      journal: [{ ...call, input: 'again' }, sleep],
      expected: { type: 'restarted', state: 'state' },
    },
  ])('$name, performs nothing and waits for nothing', async ({ input, journal: recorded, expected }) => {
    const { engine, clock } = make(program, {
      effects: {
        echo: () => {
          throw new Error('performed');
        },
      },
    });
    const replayed = await engine.replay({ runId: 'run', generation: 1, input, journal: recorded });
    expect(replayed).toEqual(expected);
    expect(clock.pending()).toBe(0);
  });

  it('names both sides where the program does not fit', async () => {
    const { engine } = make(program);
    const replayed = await engine.replay({
      runId: 'run',
      generation: 1,
      input: { a: [1, 2] },
      journal: [{ ...call, input: { a: [1, 3] } }],
    });
    expect(JSON.stringify(replayed)).toContain('with input.a[1] = 3, but the program now makes a call of');
  });
});
