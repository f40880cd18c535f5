import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { Flow } from '../../src/flow/flow.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { calling, expectType, watchEverything } from '../agent/scene.ts';
import {
  agentsOf,
  callsOf,
  countingTool,
  expectUsage,
  member,
  refused,
  setStage,
  statusesIn,
} from './stage.ts';
import type { Member, Stage } from './stage.ts';

watchEverything();

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flow-resume-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Process {
  readonly members: Readonly<Record<'a' | 'b' | 'c' | 'd', Member>>;
  readonly made: Flow;
}

/** `b` fails in the first process and answers in the second. */
function process(
  { world }: Pick<Stage, 'world'>,
  scripts: Partial<Record<'a' | 'b' | 'c' | 'd', Parameters<typeof member>[0]>> = {},
): Process {
  const members = {
    a: member(scripts.a ?? ['A says']),
    b: member(scripts.b ?? [refused, 'B says']),
    c: member(scripts.c ?? ['C says']),
    d: member(scripts.d ?? ['D says']),
  };
  return { members, made: flow('a >> (b | c) >> d', { agents: agentsOf(members), ...world }) };
}

describe('a flow that failed', () => {
  it('is gone on with at the failed node only', async () => {
    const stage = setStage();
    const { made, members } = process(stage);
    expectType(await stage.run(made), 'failed');
    const outcome = await stage.resume(made);
    expect(expectType(outcome, 'completed').text).toBe('D says');
    expect(callsOf(members)).toEqual({ a: 1, b: 2, c: 1, d: 1 });
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded', d: 'succeeded' });
    expectUsage({ ...outcome, usage: { ...outcome.usage, requests: outcome.usage.requests - 1 } }, 4);
  });

  it('is gone on with in another process, which asks nobody again who has answered', async () => {
    const first = setStage();
    expectType(await first.run(process(first).made), 'failed');
    const second = first.die();
    const { made, members } = process(second, { b: ['B says'] });
    const outcome = await second.resume(made);
    expect(expectType(outcome, 'completed').text).toBe('D says');
    expect(callsOf(members)).toEqual({ a: 0, b: 1, c: 0, d: 1 });
    expect(outcome.usage.requests).toBe(5);
  });

  it('fails again where the node does, and says so as often as it is asked', async () => {
    const stage = setStage();
    const { made, members } = process(stage, { b: [refused, refused, 'B says'] });
    expectType(await stage.run(made), 'failed');
    expectType(await stage.resume(made), 'failed');
    expect(expectType(await stage.resume(made), 'completed').text).toBe('D says');
    expect(callsOf(members)).toEqual({ a: 1, b: 3, c: 1, d: 1 });
  });

  it('works the same without a store, in the same process', async () => {
    const stage = setStage();
    const { bare: world } = stage;
    const { made, members } = process({ world });
    expectType(await stage.run(made), 'failed');
    expect(expectType(await stage.resume(made), 'completed').text).toBe('D says');
    expect(callsOf(members)).toEqual({ a: 1, b: 2, c: 1, d: 1 });
  });

  it('works the same with SQLite', async () => {
    const stage = setStage();
    const store = sqlite(path.join(folder, 'runs.db'));
    const world = { ...stage.world, store };
    expectType(await stage.run(process({ world }).made), 'failed');
    const { made, members } = process({ world }, { b: ['B says'] });
    expect(expectType(await stage.resume(made), 'completed').text).toBe('D says');
    expect(callsOf(members)).toEqual({ a: 0, b: 1, c: 0, d: 1 });
    await store.close();
  });
});

describe('a flow inside a flow', () => {
  it('is gone on with at its own failed node only', async () => {
    const stage = setStage();
    const members = { a: member(['A says']), b: member([refused, 'B says']), c: member(['C says']) };
    const inner = flow('a >> (b | c)', { agents: agentsOf(members), name: 'inner' });
    const d = member(['D says']);
    const made = flow('inner >> d', { agents: { inner, d: d.agent }, ...stage.world });
    expect(expectType(await stage.run(made), 'failed').failure).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(
        /node "inner" of the flow "flow" failed: The node "b" of the flow "inner"/,
      ) as string,
    });
    expect(expectType(await stage.resume(made), 'completed').text).toBe('D says');
    expect(callsOf({ ...members, d })).toEqual({ a: 1, b: 2, c: 1, d: 1 });
  });
});

describe('a process that dies in the middle of a call that must not happen twice', () => {
  it.each([{ happened: true }, { happened: false }])(
    'leaves a question to a person, who asks the flow: $happened',
    async ({ happened }) => {
      const first = setStage();
      const stuck = countingTool('pay', { execute: () => new Promise(() => undefined) });
      const begun = member([calling('pay')], { tools: [stuck.tool] });
      void flow('a', { agents: { a: begun.agent }, ...first.world }).run('Do it.', { runId: 'r1' });
      await first.clock.advance(100);
      expect(stuck.inputs).toHaveLength(1);
      const second = first.die();
      const pay = countingTool('pay');
      const a = member(['A says'], { tools: [pay.tool] });
      const made = flow('a', { agents: { a: a.agent }, ...second.world });
      const asked = expectType(await second.resume(made), 'suspended');
      expect(asked).toMatchObject({ reason: 'in-doubt', request: { type: 'in-doubt', tool: 'pay' } });
      expect(expectType(await second.resume(made, { answer: { happened } }), 'completed').text).toBe(
        'A says',
      );
      expect(pay.inputs).toHaveLength(happened ? 0 : 1);
    },
  );
});

describe('a process that dies in the middle of a branch', () => {
  it('leaves nothing lost and nothing doubled', async () => {
    const first = setStage();
    const pay = countingTool('pay');
    const tools = { tools: [pay.tool] };
    const make = (stage: Stage, slow: Parameters<typeof member>[0]): Process => {
      const members = {
        a: member(['A says']),
        b: member([calling('pay'), 'B paid'], tools),
        c: member(slow, tools),
        d: member(['D says']),
      };
      return { members, made: flow('a >> (b | c) >> d', { agents: agentsOf(members), ...stage.world }) };
    };
    const begun = make(first, [calling('pay'), { text: 'late', delayMs: 60_000 }]);
    void begun.made.run('Do it.', { runId: 'r1' });
    await first.clock.advance(1000);
    expect(pay.inputs).toHaveLength(2);
    const second = first.die();
    const { made, members } = make(second, ['C says']);
    const outcome = await second.resume(made);
    expect(expectType(outcome, 'completed').text).toBe('D says');
    expect(pay.inputs).toHaveLength(2);
    expect(callsOf(members)).toEqual({ a: 0, b: 0, c: 1, d: 1 });
    expect(JSON.stringify(members.d.model.calls[0]?.request.messages)).toContain('C says');
    expect(JSON.stringify(members.d.model.calls[0]?.request.messages)).toContain('B paid');
    expectUsage(outcome, 6);
  });

  it('is waited for as long as its lease of a child lasts', async () => {
    const first = setStage();
    let isDead = false;
    const dying = first.store.reopen({ faults: { before: () => (isDead ? 'crash' : undefined) } });
    const scripts = { a: [{ text: 'A', delayMs: 1300 }], b: [{ text: 'late', delayMs: 3_600_000 }] };
    const make = (store: Stage['store'], script: typeof scripts | { a: string[]; b: string[] }): Flow =>
      flow('a >> b', {
        agents: { a: member(script.a).agent, b: member(script.b).agent },
        ...first.world,
        store,
        leaseMs: 10_000,
      });
    void make(dying, scripts).run('Do it.', { runId: 'r1' });
    await first.clock.advance(4500);
    isDead = true;
    // The flow's own lease runs out before that of the node, which was begun later.
    const untilMs = (await first.store.runs.find('r1'))?.owner?.untilMs ?? 0;
    expect((await first.store.runs.find('r1/b'))?.owner?.untilMs).toBeGreaterThan(untilMs + 100);
    await first.clock.advance(untilMs - first.clock.wallMs() + 1);
    const outcome = await first.resume(make(first.store, { a: [], b: ['B says'] }));
    expect(expectType(outcome, 'completed').text).toBe('B says');
  });
});

describe('a flow that was cancelled in the middle', () => {
  it.each([{ onError: 'fail' }, { onError: 'skip' }] as const)(
    'is gone on with where it was broken off, also where the node may be left out: $onError',
    async ({ onError }) => {
      const stage = setStage();
      const pay = countingTool('pay');
      const b = member([calling('pay'), { text: 'late', delayMs: 60_000 }, 'B says'], { tools: [pay.tool] });
      const members = { a: member(['A says']), b, c: member(['C says']) };
      const made = flow('a >> b >> c', {
        agents: agentsOf(members),
        nodes: { b: { onError } },
        ...stage.world,
      });
      const running = made.run('Do it.', { runId: 'r1' });
      await stage.clock.advance(1000);
      await stage.clock.runUntil(made.cancel('r1'));
      const broken = expectType(await running, 'cancelled');
      expect(statusesIn(broken)).toEqual({ a: 'succeeded', b: 'cancelled', c: 'not-reached' });
      expect(await stage.statuses()).toMatchObject({
        r1: 'cancelled',
        'r1/a': 'completed',
        'r1/b': 'cancelled',
      });
      const outcome = await stage.resume(made);
      expect(expectType(outcome, 'completed').text).toBe('C says');
      expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded' });
      expect(callsOf(members)).toEqual({ a: 1, b: 3, c: 1 });
      expect(pay.inputs).toHaveLength(1);
    },
  );
});
