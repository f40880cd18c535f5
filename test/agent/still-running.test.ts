import { describe, expect, it } from 'vitest';
import type { Tool, ToolEffect } from '../../src/index.ts';
import type { SimulatedClock } from '../../src/testing/index.ts';
import { simulatedClock } from '../../src/testing/index.ts';
import {
  calling,
  callingAll,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchEverything,
} from './scene.ts';

watchEverything();

// A tool that ignores cancellation: its wait ends at its timeout, its code runs on.

interface Probe {
  readonly tool: Tool;
  /** How many ran at most at the same time, and how many were started in all. */
  readonly most: () => number;
  readonly started: () => number;
}

/** Returns after `tookMs` whatever its signal says; never where that is `Infinity`. */
function ignoring(clock: SimulatedClock, tookMs: number, rest: Partial<Tool> = {}): Probe {
  let running = 0;
  let most = 0;
  let started = 0;
  const tool = plainTool({
    name: 'look',
    effect: 'read',
    timeoutMs: 1000,
    ...rest,
    execute: () => {
      started += 1;
      running += 1;
      most = Math.max(most, running);
      return new Promise((resolve) => {
        if (!Number.isFinite(tookMs)) return;
        clock.after(tookMs, () => {
          running -= 1;
          resolve('late');
        });
      });
    },
  });
  return { tool, most: () => most, started: () => started };
}

const stillRunning = /ignores cancellation and is still running/;

describe('a tool that ignores cancellation', () => {
  it.each([
    { effect: 'read', tookMs: Infinity },
    { effect: 'idempotent', tookMs: Infinity },
    { effect: 'read', tookMs: 5000 },
    { effect: 'idempotent', tookMs: 1500 },
  ] as const)('is not started again while it runs ($effect, $tookMs ms)', async ({ effect, tookMs }) => {
    const clock = simulatedClock();
    const probe = ignoring(clock, tookMs, { effect });
    const { run, events } = setScene({ clock, tools: [probe.tool], script: [calling('look'), 'Done.'] });
    const outcome = expectType(await run(), 'completed');
    expect([probe.started(), probe.most()]).toEqual([1, 1]);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(1500);
    expect(resultsIn(outcome.messages)).toEqual([expect.stringMatching(stillRunning)]);
    expect(eventsOf(events, 'tool-started')).toHaveLength(1);
    await clock.runAll();
    expect(eventsOf(events, 'tool-late')).toHaveLength(Number.isFinite(tookMs) ? 1 : 0);
  });

  it('is started again where it stops within a moment of its signal', async () => {
    let started = 0;
    const clock = simulatedClock();
    const slow = plainTool({
      name: 'look',
      effect: 'read',
      timeoutMs: 1000,
      execute: (_input, { signal }) => {
        started += 1;
        return started > 1
          ? 'seen'
          : new Promise((_, reject) => {
              signal.addEventListener('abort', () => clock.after(100, () => reject(new Error('stopped'))));
            });
      },
    });
    const { run } = setScene({ clock, tools: [slow], script: [calling('look'), 'Done.'] });
    expect(resultsIn(expectType(await run(), 'completed').messages)).toEqual(['seen']);
    expect(started).toBe(2);
  });

  it('is not started by the same call of the next turn, and is by another one', async () => {
    const clock = simulatedClock();
    const probe = ignoring(clock, Infinity);
    const { run } = setScene({
      clock,
      tools: [probe.tool],
      script: [calling('look', { at: 1 }), callingAll(['look', { at: 1 }], ['look', { at: 2 }]), 'Done.'],
    });
    const [first, again, other] = resultsIn(expectType(await run(), 'completed').messages);
    expect(first).toMatch(stillRunning);
    expect(again).toMatch(/was not called: an earlier call with the same arguments .*still running/);
    expect(other).toMatch(/did not finish within 1000 ms/);
    expect(probe.started()).toBe(2);
  });

  it('is started by the same call once it has ended', async () => {
    const clock = simulatedClock();
    const probe = ignoring(clock, 3000);
    const { run } = setScene({
      clock,
      tools: [probe.tool],
      script: [calling('look'), { toolCalls: [{ name: 'look', arguments: {} }], delayMs: 10_000 }, 'Done.'],
    });
    expectType(await run(), 'completed');
    expect([probe.started(), probe.most()]).toEqual([2, 1]);
  });

  it('keeps its resource from other calls of the run and from other runs', async () => {
    const clock = simulatedClock();
    const probe = ignoring(clock, 20_000, { resource: 'printer' });
    const other = plainTool({ name: 'scan', effect: 'read', resource: 'printer', execute: () => 'scanned' });
    const script = [calling('look', { page: 1 }), callingAll(['look', { page: 2 }], ['scan']), 'Done.'];
    const { run } = setScene({ clock, tools: [probe.tool, other], script: [...script, ...script] });
    const [, second, third] = resultsIn(expectType(await run(), 'completed').messages);
    expect(second).toMatch(/earlier call on the same resource .*still running/);
    expect(third).toMatch(/earlier call on the same resource .*still running/);
    const [elsewhere] = resultsIn(expectType(await run(), 'completed').messages);
    expect(elsewhere).toMatch(/earlier call on the same resource .*still running/);
    expect([probe.started(), probe.most()]).toEqual([1, 1]);
  });

  it('is not made again because its check finds that it did not happen yet', async () => {
    const clock = simulatedClock();
    const probe = ignoring(clock, 5000, { effect: 'once', verify: () => ({ happened: false }) });
    const { run, resume } = setScene({ clock, tools: [probe.tool], script: [calling('look'), 'Done.'] });
    const { runId, request } = expectType(await run(), 'suspended');
    expect(request?.type).toBe('in-doubt');
    expect(probe.started()).toBe(1);
    // A person may have stopped it by other means.
    await resume(runId, { answer: { happened: false } });
    expect(probe.started()).toBe(2);
  });

  it.each(['read', 'once'] as const)(
    'of a cancelled run is not started when it is resumed (%s)',
    async (effect) => {
      const clock = simulatedClock();
      const probe = ignoring(clock, Infinity, { effect: effect satisfies ToolEffect, timeoutMs: 60_000 });
      const { run, resume } = setScene({ clock, tools: [probe.tool], script: [calling('look'), 'Done.'] });
      const controller = new AbortController();
      clock.after(500, () => controller.abort());
      const { runId } = expectType(await run('Go.', { signal: controller.signal }), 'cancelled');
      await resume(runId);
      expect(probe.started()).toBe(1);
    },
  );
});
