import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/model/model.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallEvent } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello, play, showText } from './play.ts';
import { bareModel } from './scripted.ts';

const hangsAtText = (event: CallEvent): void | Promise<void> =>
  event.type === 'text-delta' ? new Promise(() => undefined) : undefined;

describe('a listener that never comes back', () => {
  it('does not outlast the deadline, and keeps no place at the gate', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const call = callModel(scriptedModel(['fine'], { repeat: 'last' }), hello, {
      clock,
      gates,
      policy: { retry: { deadlineMs: 60_000 } },
      onEvent: hangsAtText,
    });
    const settled = await clock
      .runUntil(
        call.then(
          () => 'settled',
          () => 'settled',
        ),
      )
      .catch(() => 'hangs');
    expect(settled).toBe('settled');
    expect(Object.values(gates.states())[0]?.inFlight).toBe(0);
  });

  it('does not keep a call from being cancelled', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const controller = new AbortController();
    clock.after(500, () => controller.abort());
    const call = callModel(scriptedModel(['fine']), hello, {
      clock,
      gates,
      signal: controller.signal,
      onEvent: hangsAtText,
    });
    const settled = await clock
      .runUntil(
        call.then(
          () => 'settled',
          () => 'settled',
        ),
      )
      .catch(() => 'hangs');
    expect(settled).toBe('settled');
  });
});

describe('a model that is deaf', () => {
  it('is not heard any more after its time, so that two attempts do not mix', async () => {
    const clock = simulatedClock();
    let calls = 0;
    const base = bareModel(['The answer of the second attempt.']);
    const model: Model = {
      ...base,
      call: (request, options) => {
        calls += 1;
        if (calls > 1) return base.call(request, options);
        // Ignores its timeouts, and speaks when nobody waits for it any more.
        return new Promise(() =>
          clock.after(1800, () => void options?.onPart?.({ type: 'text-delta', text: 'LATE ' })),
        );
      },
    };
    const slow: Model = {
      ...model,
      call: async (request, options) => {
        if (calls === 1) await new Promise<void>((resolve) => clock.after(600, resolve));
        return model.call(request, options);
      },
    };
    const { outcome, shown } = await play(slow, clock, {
      policy: { timeouts: { totalMs: 1000 }, retry: { baseDelayMs: 100 } },
    });
    expect(outcome.type === 'success' && outcome.result.text).toBe('The answer of the second attempt.');
    expect(shown).toBe('The answer of the second attempt.');
  });

  it('is told to stop when its time is over', async () => {
    const clock = simulatedClock();
    let signal: AbortSignal | undefined;
    const model: Model = {
      ...bareModel([]),
      call: (_request, options) => {
        signal = options?.signal;
        return new Promise(() => undefined);
      },
    };
    await play(model, clock, { policy: { retry: 'none', timeouts: { totalMs: 1000 } } });
    expect(signal?.aborted).toBe(true);
  });

  it('says nothing after the call was cancelled', async () => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const events: CallEvent[] = [];
    const model: Model = {
      ...bareModel([]),
      call: (_request, options) =>
        new Promise(() =>
          clock.after(5000, () => void options?.onPart?.({ type: 'text-delta', text: 'LATE ' })),
        ),
    };
    clock.after(100, () => controller.abort());
    await clock.runUntil(
      callModel(model, hello, {
        clock,
        gates: createGates({ clock }),
        signal: controller.signal,
        onEvent: (event) => void events.push(event),
      }),
    );
    await clock.runAll();
    expect(showText(events)).toBe('');
  });
});
