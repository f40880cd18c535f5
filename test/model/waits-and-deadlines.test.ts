import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/failure.ts';
import type { FailureCode } from '../../src/errors/codes.ts';
import type { Model } from '../../src/model/model.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello, play } from './play.ts';
import { bareModel } from './scripted.ts';
import type { Answer } from './scripted.ts';

describe('waits that were asked for', () => {
  it('waits the minute that "Retry-After: 60" asks for, for that is not longer than maxWaitMs', async () => {
    const clock = simulatedClock();
    const model = bareModel([{ status: 429, retryAfter: '60' }, 'fine'], { now: clock.monotonicMs });
    const { outcome } = await play(model, clock);
    expect(outcome.type).toBe('success');
    expect(model.requests[1]?.atMs).toBeGreaterThanOrEqual(60_000);
  });

  it('does not ask the same model again at once because it stands in the chain twice', async () => {
    const clock = simulatedClock();
    const model = bareModel(() => ({ status: 429, retryAfter: '3600' }), { now: clock.monotonicMs });
    await play([model, model], clock);
    const [first, ...rest] = model.requests.map(({ atMs }) => atMs);
    expect(rest.filter((atMs) => atMs < (first ?? 0) + 3_600_000)).toEqual([]);
  });

  it('says when to come back although the last model of the chain failed for another reason', async () => {
    const clock = simulatedClock();
    const first = bareModel([{ status: 429, retryAfter: '3600' }], { provider: 'first' });
    const second = bareModel([401], { provider: 'second' });
    const { outcome } = await play([first, second], clock);
    expect(outcome.report.resumeAtMs).toBe(clock.wallMs() + 3_600_000);
  });
});

describe('the deadline', () => {
  it('leaves time for the next model where all places of the first are taken', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock, policy: { maxInFlight: 1 } });
    const busy = scriptedModel([{ text: 'late', delayMs: 100_000 }], { provider: 'first' });
    const second = scriptedModel([{ text: 'fine', delayMs: 500 }], { provider: 'second' });
    const occupied = callModel(busy, hello, { clock, gates });
    const { outcome } = await play([busy, second], clock, {
      gates,
      policy: { retry: { deadlineMs: 20_000 } },
    });
    expect(outcome.type === 'success' && outcome.result.text).toBe('fine');
    await clock.runUntil(occupied);
  });

  it('sends nothing after it has passed', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock, policy: { maxInFlight: 1 } });
    const busy = scriptedModel([{ text: 'late', delayMs: 100_000 }], { provider: 'first' });
    const second = bareModel(['fine'], { provider: 'second', now: clock.monotonicMs });
    const occupied = callModel(busy, hello, { clock, gates });
    await play([busy, second], clock, { gates, policy: { retry: { deadlineMs: 20_000 } } });
    expect(second.requests.filter(({ atMs }) => atMs >= 20_000)).toEqual([]);
    await clock.runUntil(occupied);
  });
});

describe('events and reports', () => {
  it('tells the end of a call that was cancelled in a wait', async () => {
    const clock = simulatedClock();
    const controller = new AbortController();
    clock.after(50, () => controller.abort());
    const { outcome, events } = await play(bareModel([503, 'fine']), clock, { signal: controller.signal });
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'CANCELLED' } });
    expect(events.at(-1)).toMatchObject({ type: 'recovery', recovery: 'give-up' });
  });

  it('counts lost tokens once, also after a hundred recoveries', async () => {
    const clock = simulatedClock();
    const failure = createFailure('SERVER_ERROR', { origin: 'model', message: 'down' });
    const usage = { inputTokens: 10, outputTokens: 0 };
    const base = bareModel([]);
    let calls = 0;
    const model: Model = {
      ...base,
      call: () => {
        calls += 1;
        const partial = { content: [], text: '', toolCalls: [], usage };
        if (calls <= 150) return Promise.resolve({ type: 'failure', failure, partial });
        return Promise.resolve({
          type: 'success',
          result: {
            ...partial,
            text: 'fine',
            content: [{ type: 'text', text: 'fine' }],
            finish: { reason: 'stop', raw: 'stop' },
          },
        });
      },
    };
    const { outcome } = await play(model, clock, {
      policy: { retry: { maxAttempts: Infinity, deadlineMs: 360_000_000 } },
    });
    expect(outcome.type).toBe('success');
    expect(new Set(outcome.report.recoveries.map(({ lostTokens }) => lostTokens))).toEqual(new Set([10]));
  });

  it('tells that the breaker opened because the budget was spent', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock, policy: { budgetTokens: 0 } });
    const { events } = await play(bareModel([503, 'fine']), clock, { gates, policy: { retry: 'patient' } });
    expect(events).toContainEqual(expect.objectContaining({ type: 'breaker-changed', to: 'open' }));
  });
});

describe('what an attempt says about its provider', () => {
  const never: readonly FailureCode[] = ['CONFIG_ERROR', 'INTERNAL', 'UNKNOWN', 'PROVIDER_NOT_CONFIGURED'];
  it.each(never)('a probe that ends in %s has reached nobody, and closes no breaker', async (code) => {
    const clock = simulatedClock();
    const gates = createGates({ clock, policy: { budgetTokens: 0 } });
    const model = bareModel([
      503,
      { failure: createFailure(code, { message: 'never sent', phase: 'connect' }) },
    ] satisfies Answer[]);
    await play(model, clock, { gates, policy: { retry: 'patient' } });
    expect(model.requests).toHaveLength(2);
    expect(Object.values(gates.states())[0]?.breaker).not.toBe('closed');
  });

  it('a listener that takes its time does not make the provider look down', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const model = scriptedModel([{ text: ['one ', 'two'] }], { repeat: 'last' });
    const calls = Array.from({ length: 12 }, () =>
      callModel(model, hello, {
        clock,
        gates,
        policy: { retry: 'none', timeouts: { totalMs: 1000 } },
        onEvent: (event) =>
          event.type === 'text-delta' ? new Promise((resolve) => clock.after(5000, resolve)) : undefined,
      }),
    );
    await clock.runUntil(Promise.all(calls));
    expect(Object.values(gates.states())[0]?.breaker).toBe('closed');
  });
});
