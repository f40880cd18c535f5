import { describe, expect, it } from 'vitest';
import { resilient } from '../../src/interop/ai-sdk/resilient.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { createFailure } from '../../src/errors/failure.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello } from './play.ts';

const down = createFailure('SERVER_ERROR', { message: 'down' });

describe('a thousand keys', () => {
  it('do not make the gate of a call forgotten that only waits between two attempts', async () => {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const model = scriptedModel([{ failure: 'OVERLOADED' }, { text: 'fine', delayMs: 10_000 }], {
      quotaKey: 'busy',
    });
    const call = callModel(model, hello, { clock, gates });
    await clock.advance(200); // It waits before its retry.
    for (let key = 0; key < 1200; key += 1) gates.gateOf(`key-${key}`);
    await clock.advance(3000); // The retry is under way.
    expect(gates.gateOf('busy').state().inFlight).toBe(1);
    await clock.runUntil(call);
  });

  it('do not make the gate forgotten that is asked for all the time', () => {
    const gates = createGates({ clock: simulatedClock() });
    const hot = gates.gateOf('hot');
    hot.spendRetry();
    for (let key = 0; key < 1200; key += 1) {
      gates.gateOf(`key-${key}`);
      expect(gates.gateOf('hot')).toBe(hot);
    }
  });

  it('that are all in use still give one key one gate', () => {
    const gates = createGates({ clock: simulatedClock() });
    for (let key = 0; key < 1000; key += 1) gates.gateOf(`key-${key}`).throttle('m', down);
    expect(gates.gateOf('new')).toBe(gates.gateOf('new'));
  });
});

const answer = {
  content: [{ type: 'text', text: 'fine' }],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  warnings: [],
};
const aiModel = (over: object) => ({
  specificationVersion: 'v3' as const,
  provider: 'fake',
  modelId: 'm',
  supportedUrls: {},
  doGenerate: () => Promise.resolve(answer),
  doStream: () => Promise.reject(new Error('not here')),
  ...over,
});

describe('resilient()', () => {
  it.each<[string, unknown]>([
    ['a limit that is NaN', { limits: { maxRequests: Number.NaN } }],
    ['retry that is a number', { retry: 5 }],
    ['timeouts that are null', { timeouts: null }],
    ['onEvent that is null', { onEvent: null }],
  ])('refuses %s in one sentence', (_name, policy) => {
    let thrown: unknown;
    try {
      resilient(aiModel({}) as never, policy as never);
    } catch (error) {
      thrown = error;
    }
    expect(RerailError.isInstance(thrown) ? thrown.failure.code : String(thrown)).toBe('CONFIG_ERROR');
  });

  it('does not wait for ever for a listener', async () => {
    const clock = simulatedClock();
    const model = resilient(aiModel({}) as never, {
      clock,
      gates: createGates({ clock }),
      retry: { deadlineMs: 10_000 },
      onEvent: () => new Promise(() => undefined),
    }) as unknown as { doGenerate: (options: object) => Promise<unknown> };
    const call = model.doGenerate({ prompt: [] }).then(
      () => 'settled',
      () => 'settled',
    );
    expect(await clock.runUntil(call).catch(() => 'hangs')).toBe('settled');
  });

  it('does not mix a stream that was given up into the next one', async () => {
    const clock = simulatedClock();
    let calls = 0;
    const parts = (text: string, delayMs: number): ReadableStream =>
      new ReadableStream({
        start: (controller) => {
          const send = (): void => {
            try {
              controller.enqueue({ type: 'stream-start', warnings: [] });
              controller.enqueue({ type: 'text-start', id: '0' });
              controller.enqueue({ type: 'text-delta', id: '0', delta: text });
              controller.enqueue({ type: 'text-end', id: '0' });
              controller.enqueue({ type: 'finish', finishReason: answer.finishReason, usage: answer.usage });
              controller.close();
            } catch {
              // The reader has gone away, which is what is wanted.
            }
          };
          clock.after(delayMs, send);
        },
      });
    const model = resilient(
      aiModel({
        doStream: () => {
          calls += 1;
          return Promise.resolve({ stream: calls === 1 ? parts('LATE', 2500) : parts('fine', 900) });
        },
      }) as never,
      { clock, gates: createGates({ clock }), timeouts: { totalMs: 1000 }, random: () => 0.5 },
    ) as unknown as {
      doStream: (options: object) => Promise<{ stream: ReadableStream<Record<string, unknown>> }>;
    };
    const text = async (): Promise<string> => {
      const { stream } = await model.doStream({ prompt: [] });
      let all = '';
      for await (const part of stream) if (part['type'] === 'text-delta') all += String(part['delta']);
      return all;
    };
    expect(await clock.runUntil(text())).toBe('fine');
  });
});
