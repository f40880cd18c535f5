import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent, RerailError, tool } from '../../src/index.ts';
import type { Agent, RunEvent, RunOptions, RunOutcome, RunStream } from '../../src/index.ts';
import { flow } from '../../src/flow/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { scriptedModel, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptEntry } from '../../src/testing/index.ts';
import { startLife } from '../kill/life.ts';
import { bundleProgram } from '../kill/program.ts';
import { setScene, watchEverything } from './scene.ts';

watchEverything();

const runId = 'run-1';
/** An answer that takes ten seconds. */
const slow = { text: ['one ', 'two ', 'three ', 'four'], delayMs: 1000, chunkDelayMs: 3000 };
const whole = 'one two three four';

/** What a reader holds who keeps to the rules for putting text together. */
function assembled(events: readonly RunEvent[]): string {
  let shown = '';
  for (const event of events) {
    if (event.type === 'turn-started') shown = '';
    if (event.type === 'text-delta') shown += event.text;
    if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
  }
  return shown;
}

async function readAll(stream: RunStream): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** What became of a promise: its value, or the code of what it rejects with. */
function settled(promise: Promise<RunOutcome>): Promise<string> {
  return promise.then(
    ({ type }) => type,
    (error: unknown) => (RerailError.isInstance(error) ? `left: ${error.code}` : String(error)),
  );
}

type Call = (agent: Agent, options: RunOptions) => Promise<RunOutcome>;

const calls: Readonly<Record<string, Call>> = {
  run: (agent, options) => agent.run('Do it.', { runId, ...options }),
  stream: (agent, options) => agent.stream('Do it.', { runId, ...options }).outcome,
  'stream that is read': (agent, options) => {
    const stream = agent.stream('Do it.', { runId, ...options });
    void readAll(stream).catch(() => undefined);
    return stream.outcome;
  },
  resume: (agent, options) => agent.resume(runId, options),
};

describe('a caller that leaves', () => {
  const pairs = ['run', 'stream', 'stream that is read'].flatMap((first) =>
    Object.keys(calls).map((second) => ({ first, second })),
  );

  it.each(pairs)(
    'by its signal ($second) does not end the run that another one began ($first)',
    async (pair) => {
      const controller = new AbortController();
      const { agent, clock, model } = setScene({ script: [slow] });
      const one = (calls[pair.first] as Call)(agent, {});
      const other = (calls[pair.second] as Call)(agent, { signal: controller.signal });
      clock.after(2000, () => controller.abort());
      const leftAtMs = settled(other).then((end) => [end, clock.monotonicMs()]);
      const first = await clock.runUntil(one);
      expect(first).toMatchObject({ type: 'completed', text: whole });
      expect(await leftAtMs).toEqual(['left: CANCELLED', 2000]);
      expect(model.calls).toHaveLength(1);
    },
  );

  it('is told that the run goes on, and by which signal it left', async () => {
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.run('Do it.', { runId });
    const reason = new Error('page closed');
    const left = await agent
      .run('Do it.', { runId, signal: AbortSignal.abort(reason) })
      .catch((error: unknown) => error);
    expect(left).toMatchObject({ code: 'CANCELLED', cause: reason });
    expect((left as Error).message).toMatch(/"run-1".*was not cancelled/);
    expect(await clock.runUntil(one)).toMatchObject({ type: 'completed' });
    expect(await agent.run('Do it.', { runId, signal: AbortSignal.abort() })).toMatchObject({
      type: 'completed',
    });
  });

  it('by breaking off its stream does not end the run, and may still ask for the outcome', async () => {
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.run('Do it.', { runId });
    const other = agent.stream('Do it.', { runId });
    const reading = (async () => {
      for await (const { type } of other) if (type === 'text-delta') break;
    })();
    await clock.runUntil(reading);
    expect(await clock.runUntil(one)).toMatchObject({ type: 'completed', text: whole });
    expect(await other.outcome).toMatchObject({ type: 'completed', text: whole });
  });

  it('is told by its own stream', async () => {
    const controller = new AbortController();
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.run('Do it.', { runId });
    const reading = readAll(agent.stream('Do it.', { runId, signal: controller.signal }));
    clock.after(2000, () => controller.abort());
    await expect(clock.runUntil(reading)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await clock.runUntil(one)).toMatchObject({ type: 'completed' });
  });

  it('of a run that asks a person leaves the run that another one resumed', async () => {
    const done: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: {} },
      permission: 'ask',
      execute: () => void done.push('paid'),
    });
    const script = [{ toolCalls: [{ name: 'pay', arguments: {} }] }, slow];
    const { agent, clock, run } = setScene({ script, tools: [pay] });
    await run('Pay.', { runId });
    const one = agent.resume(runId, { answer: true });
    const other = settled(agent.run('Pay.', { runId, signal: AbortSignal.abort() }));
    expect(await clock.runUntil(one)).toMatchObject({ type: 'completed', text: whole });
    expect([await other, done]).toEqual(['left: CANCELLED', ['paid']]);
  });
});

describe('the caller that began a run', () => {
  it.each(['run', 'stream'])('ends it by its signal (%s), for everybody', async (first) => {
    const controller = new AbortController();
    const { agent, clock } = setScene({ script: [slow] });
    const one = (calls[first] as Call)(agent, { signal: controller.signal });
    const other = agent.run('Do it.', { runId });
    clock.after(2000, () => controller.abort());
    expect(await clock.runUntil(Promise.all([one, other]))).toMatchObject([
      { type: 'cancelled' },
      { type: 'cancelled' },
    ]);
  });

  it('ends nothing by breaking off its stream while another one waits', async () => {
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.stream('Do it.', { runId });
    const reading = (async () => {
      for await (const { type } of one) if (type === 'text-delta') break;
    })();
    const other = agent.run('Do it.', { runId });
    await clock.runUntil(reading);
    expect(await clock.runUntil(other)).toMatchObject({ type: 'completed', text: whole });
  });

  it('ends it by breaking off its stream once the other has left', async () => {
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.stream('Do it.', { runId });
    const other = agent.run('Do it.', { runId, signal: AbortSignal.abort() });
    await expect(other).rejects.toMatchObject({ code: 'CANCELLED' });
    const reading = (async () => {
      for await (const { type } of one) if (type === 'text-delta') break;
    })();
    await clock.runUntil(reading);
    expect(await clock.runUntil(one.outcome)).toMatchObject({ type: 'cancelled' });
  });

  it('of a flow ends the runs below with it; one that joined the flow does not', async () => {
    const clock = simulatedClock();
    const part = (): Agent => createAgent({ name: 'a', model: scriptedModel([slow]), clock });
    const leaving = flow('a', { agents: { a: part() }, clock });
    const [controller, late] = [new AbortController(), new AbortController()];
    const one = leaving.run('Go', { runId, signal: controller.signal });
    const other = settled(leaving.run('Go', { runId, signal: late.signal }));
    clock.after(2000, () => late.abort());
    clock.after(4000, () => controller.abort());
    expect(await clock.runUntil(one)).toMatchObject({ type: 'cancelled' });
    expect([await other, clock.monotonicMs()]).toEqual(['left: CANCELLED', 4000]);
  });
});

describe('a subscriber that comes late', () => {
  const moments = [500, 1500, 4500, 7500, 9900, 10_100];

  it.each(moments)('after %i ms puts together the whole answer', async (delayMs) => {
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.run('Do it.', { runId });
    const late = new Promise<readonly RunEvent[]>((resolve) => {
      clock.after(delayMs, () => resolve(readAll(agent.stream('Do it.', { runId }))));
    });
    const events = await clock.runUntil(late, { maxMs: 60_000 });
    expect(assembled(events)).toBe(whole);
    expect(await one).toMatchObject({ type: 'completed', text: whole });
    expect(events.at(-1)).toMatchObject({ type: 'run-finished', outcome: { text: whole } });
  });

  it.each(moments)('by its onEvent, after %i ms, likewise', async (delayMs) => {
    const { agent, clock } = setScene({ script: [slow] });
    const one = agent.run('Do it.', { runId });
    const events: RunEvent[] = [];
    clock.after(
      delayMs,
      () => void agent.run('Do it.', { runId, onEvent: (event) => void events.push(event) }),
    );
    await clock.runUntil(one);
    await clock.advance(1000);
    expect(assembled(events)).toBe(whole);
  });

  it('is not told what was retracted', async () => {
    const broken = { brokenAfter: ['lost ', 'words '], delayMs: 1000, chunkDelayMs: 1000 };
    const { agent, clock } = setScene({ script: [broken, slow] });
    const one = agent.run('Do it.', { runId });
    const reads: Promise<readonly RunEvent[]>[] = [];
    for (let delayMs = 250; delayMs < 14_000; delayMs += 250)
      clock.after(delayMs, () => reads.push(readAll(agent.stream('Do it.', { runId }))));
    expect(await clock.runUntil(one)).toMatchObject({ type: 'completed', text: whole });
    const texts = (await clock.runUntil(Promise.all(reads))).map(assembled);
    expect(texts.length).toBeGreaterThan(30);
    expect(new Set(texts)).toEqual(new Set([whole]));
  });

  it('is told of the turn and of the tools that are at work', async () => {
    const clock = simulatedClock();
    const look = tool({
      name: 'look',
      description: 'Looks.',
      effect: 'read',
      input: { type: 'object', properties: {} },
      execute: () => new Promise((resolve) => clock.after(5000, () => resolve('seen'))),
    });
    const script = [{ text: 'Let me look.', toolCalls: [{ name: 'look', arguments: {} }] }, 'Seen.'];
    const { agent } = setScene({ script, tools: [look], clock });
    const one = agent.run('Do it.', { runId });
    await clock.advance(1000);
    const events = await clock.runUntil(readAll(agent.stream('Do it.', { runId })));
    expect(events.slice(0, 3)).toMatchObject([
      { type: 'turn-started', turn: 1 },
      { type: 'text-delta', text: 'Let me look.' },
      { type: 'tool-started', name: 'look' },
    ]);
    expect(assembled(events)).toBe('Seen.');
    expect(await one).toMatchObject({ type: 'completed' });
  });

  describe('with a store', () => {
    const folders: string[] = [];
    afterEach(async () => {
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
    });

    it('puts together the answer of a run that ended in another process, and nothing is asked again', async () => {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-sharing-'));
      folders.push(folder);
      const model = scriptedModel(['Fine.']);
      for (const life of [1, 2, 3]) {
        const store = sqlite(path.join(folder, 'runs.db'));
        const agent = createAgent({ name: 'shared', model, store });
        const events = await readAll(agent.stream(`Do it, ${life}.`, { runId }));
        expect(assembled(events)).toBe('Fine.');
        await agent.close();
        await store.close();
      }
      expect(model.calls).toHaveLength(1);
    });
  });

  it.each(['run', 'stream'])(
    'to a flow that began by %s, puts together the text of each node',
    async (first) => {
      const clock = simulatedClock();
      const broken = { brokenAfter: ['lost ', 'words '], chunkDelayMs: 1000 };
      const speaker = (name: string, script: readonly ScriptEntry[]): Agent =>
        createAgent({ name, model: scriptedModel(script), clock });
      const inner = flow('a | b', {
        name: 'inner',
        agents: { a: speaker('a', [slow]), b: speaker('b', [broken, slow]) },
        clock,
      });
      const agent = flow('inner >> c', { agents: { inner, c: speaker('c', ['The end.']) }, clock });
      const one = agent[first as 'run' | 'stream']('Go', { runId });
      const reads: Promise<readonly RunEvent[]>[] = [];
      for (let delayMs = 250; delayMs < 10_000; delayMs += 250)
        clock.after(delayMs, () => reads.push(readAll(agent.stream('Go', { runId }))));
      await clock.runUntil('outcome' in one ? one.outcome : one);
      for (const events of await clock.runUntil(Promise.all(reads))) {
        expect(events.at(-1)).toMatchObject({ type: 'run-finished', outcome: { text: 'The end.' } });
        const nodes = childTexts(events);
        expect([nodes.get('run-1/inner/a'), nodes.get('run-1/inner/b')]).toEqual([whole, whole]);
      }
    },
  );
});

/** What is put together of each run below, at every depth. */
function childTexts(events: readonly RunEvent[]): ReadonlyMap<string, string> {
  const below = new Map<string, RunEvent[]>();
  for (const event of events)
    if (event.type === 'child-event')
      below.set(event.runId, [...(below.get(event.runId) ?? []), event.event]);
  return new Map([...below].flatMap(([id, told]) => [[id, assembled(told)], ...childTexts(told)]));
}

describe('a subscriber that does not read', () => {
  it('is told what was dropped, and holds the whole text of the last turn', async () => {
    const turns = 3000;
    const look = tool({
      name: 'look',
      description: 'Looks.',
      effect: 'read',
      repeats: 'any',
      input: { type: 'object', properties: {} },
      execute: () => 'seen',
    });
    const pieces = Array.from({ length: 20_000 }, (_, index) => `${index} `);
    let asked = 0;
    const agent = createAgent({
      model: scriptedModel(() => {
        asked += 1;
        if (asked > turns) return { text: pieces };
        return { text: `turn ${asked}`, toolCalls: [{ name: 'look', arguments: {} }] };
      }),
      tools: [look],
      limits: { maxTurns: turns + 2, maxToolCalls: turns + 1, maxRequests: turns + 2 },
    });
    const stream = agent.stream('Do it.');
    const outcome = await stream.outcome;
    expect(outcome.type).toBe('completed');
    const events = await readAll(stream);
    expect(events.length).toBeLessThan(5000);
    const [notice] = events;
    expect(notice).toMatchObject({ type: 'events-dropped' });
    const { count, characters } = notice as Extract<RunEvent, { type: 'events-dropped' }>;
    expect(count).toBeGreaterThan(turns);
    expect(characters).toBeGreaterThan(1000);
    expect(assembled(events) === pieces.join('')).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: 'run-finished' });
  }, 60_000);

  let program: Awaited<ReturnType<typeof bundleProgram>>;
  beforeAll(async () => {
    program = await bundleProgram('test/agent/unread-program.ts');
  }, 60_000);
  afterAll(() => program.remove());

  const floods = ['text', 'reasoning', 'progress', 'flow', 'stalled', 'joined', 'hanging', 'ended'];

  it.each(floods)(
    'costs little memory: %s',
    async (flood) => {
      const life = startLife(program.file, { flood });
      const { heapMb, text } = await life.until(({ kind }) => kind === 'memory');
      expect(text).toBe(flood === 'flow' ? text : 44_000);
      expect(heapMb).toBeLessThan(12);
      await life.ended;
    },
    60_000,
  );
});
