import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { Flow } from '../../src/flow/flow.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { createWorker } from '../../src/runtime/worker/create-worker.ts';
import type { WorkerEvent } from '../../src/runtime/worker/worker-event.ts';
import { calling, expectType, watchedModel, watchEverything } from '../agent/scene.ts';
import {
  agentsOf,
  callsOf,
  countingTool,
  expectUsage,
  longWait,
  member,
  setStage,
  statusesIn,
} from './stage.ts';
import type { Member, Script, Stage } from './stage.ts';

watchEverything();

const hourMs = 3_600_000;

interface Waiters {
  readonly members: Readonly<Record<'a' | 'b' | 'c', Member>>;
  readonly made: Flow;
}

/** `b` is asked to wait for an hour. */
function waiters({ world }: Stage, b: Script): Waiters {
  const members = { a: member(['A says']), b: member(b), c: member(['C says']) };
  return { members, made: flow('a >> b >> c', { agents: agentsOf(members), ...world }) };
}

describe('a node that must wait for long', () => {
  it('suspends the flow until then, and nobody may hurry it', async () => {
    const stage = setStage();
    const { made, members } = waiters(stage, [{ failure: longWait() }, 'B says']);
    const outcome = expectType(await stage.run(made), 'suspended');
    expect(outcome.reason).toBe('long-wait');
    expect(outcome.resumeAt).toBeGreaterThan(stage.clock.wallMs() + hourMs - 60_000);
    expect(outcome.failure?.code).toBe('RATE_LIMITED');
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'waiting', c: 'not-reached' });
    expectType(await stage.resume(made), 'suspended');
    expect(callsOf(members)).toEqual({ a: 1, b: 1, c: 0 });
    await stage.clock.advance(hourMs + 1000);
    const last = await stage.resume(made);
    expect(expectType(last, 'completed').text).toBe('C says');
    expect(callsOf(members)).toEqual({ a: 1, b: 2, c: 1 });
    expect(last.usage.requests).toBe(4);
  });

  it('is carried on by a worker when its time has come, by another process too', async () => {
    const first = setStage();
    expectType(await first.run(waiters(first, [{ failure: longWait() }]).made), 'suspended');
    const stage = first.die();
    const { made, members } = waiters(stage, ['B says']);
    const told: WorkerEvent[] = [];
    const worker = createWorker([made], stage.store, {
      clock: stage.clock,
      signals: false,
      onEvent: (event) => void told.push(event),
    });
    await worker.start();
    await stage.clock.advance(hourMs / 2);
    expect(callsOf(members)).toEqual({ a: 0, b: 0, c: 0 });
    await stage.clock.advance(hourMs);
    expect(callsOf(members)).toEqual({ a: 0, b: 1, c: 1 });
    expect(await stage.statuses()).toEqual({
      r1: 'completed',
      'r1/a': 'completed',
      'r1/b': 'completed',
      'r1/c': 'completed',
    });
    const taken = told.flatMap((event) => (event.type === 'run-taken' ? [event.runId] : []));
    expect(new Set(taken)).toEqual(new Set(['r1']));
    await stage.clock.runUntil(worker.stop());
  });

  it('is never taken up by a worker past the flow, whatever the agents of that worker are called', async () => {
    const first = setStage();
    expectType(await first.run(waiters(first, [{ failure: longWait() }]).made), 'suspended');
    const stage = first.die();
    const strangers = ['a', 'b', 'c'].map((name) => {
      const model = watchedModel(['I should not have been asked']);
      return { model, agent: createAgent({ name, model, store: stage.store, clock: stage.clock }) };
    });
    const worker = createWorker(
      strangers.map(({ agent }) => agent),
      stage.store,
      { clock: stage.clock, signals: false },
    );
    await worker.start();
    await stage.clock.advance(3 * hourMs);
    expect(strangers.map(({ model }) => model.calls.length)).toEqual([0, 0, 0]);
    expect(await stage.statuses()).toMatchObject({ r1: 'suspended', 'r1/b': 'suspended' });
    await stage.clock.runUntil(worker.stop());
  });

  it('waits beside one that asks: the question comes first, and each goes on by itself', async () => {
    const stage = setStage();
    const pay = countingTool('pay', { permission: 'ask' });
    const members = {
      a: member([{ failure: longWait() }, 'A says']),
      b: member([calling('pay'), 'B paid'], { tools: [pay.tool] }),
    };
    const made = flow('a | b', { agents: agentsOf(members), ...stage.world });
    expect(expectType(await stage.run(made), 'suspended').reason).toBe('approval');
    const waiting = expectType(await stage.resume(made, { answer: true }), 'suspended');
    expect(waiting.reason).toBe('long-wait');
    expect(pay.inputs).toHaveLength(1);
    await stage.clock.advance(hourMs + 1000);
    expect(expectType(await stage.resume(made), 'completed').output).toEqual({ a: 'A says', b: 'B paid' });
    expect(callsOf(members)).toEqual({ a: 2, b: 2 });
  });
});

describe('a process that is stopped in good order', () => {
  it('lets go of the nodes with the flow, and the next one goes on with them', async () => {
    const stage = setStage();
    const pay = countingTool('pay');
    const make = (script: Script): Member => member(script, { tools: [pay.tool] });
    const slow = make([calling('pay'), { text: 'late', delayMs: hourMs }]);
    const inner = flow('a', { agents: { a: slow.agent }, name: 'inner' });
    const begun = flow('inner', { agents: { inner }, ...stage.world });
    const running = begun.run('Do it.', { runId: 'r1' });
    await stage.clock.advance(1000);
    await stage.clock.runUntil(begun.release('r1'));
    expect(expectType(await running, 'suspended').reason).toBe('released');
    await stage.clock.advance(1000);
    expect(await stage.statuses()).toEqual({ r1: 'running', 'r1/inner': 'running', 'r1/inner/a': 'running' });
    const a = make(['A says']);
    const again = flow('a', { agents: { a: a.agent }, name: 'inner' });
    const outcome = await stage.resume(flow('inner', { agents: { inner: again }, ...stage.world }));
    expect(expectType(outcome, 'completed').text).toBe('A says');
    expect(pay.inputs).toHaveLength(1);
    expectUsage(outcome, 2);
  });
});
