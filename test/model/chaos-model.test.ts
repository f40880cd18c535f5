import { describe, expect, it } from 'vitest';
import { chaos } from '../../src/chaos/chaos-model.ts';
import type { ModelFault } from '../../src/chaos/chaos-model.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { ModelResponse } from '../../src/model/model.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello, play } from './play.ts';

const inner = () => scriptedModel(['This is an answer of several words.'], { repeat: 'last' });
const shaken = (fault: unknown) => chaos(inner(), { faults: { script: [fault as ModelFault] } });
const outcomeOf = (call: Promise<ModelResponse>): Promise<string> =>
  call.then(
    (response) => (response.type === 'success' ? 'success' : response.failure.code),
    (error: unknown) => `rejected: ${String(error)}`,
  );

describe('chaos() keeps the contract of the port', () => {
  it('ends a delay when the time of the attempt is over, and calls nobody afterwards', async () => {
    const clock = simulatedClock();
    const model = inner();
    const slow = chaos(model, { faults: { script: [{ name: 'delay', delayMs: 3_600_000 }] } });
    const ended = await clock.runUntil(outcomeOf(slow.call(hello, { clock, timeouts: { totalMs: 1000 } })));
    expect(ended).toBe('TIMEOUT');
    expect(clock.monotonicMs()).toBeLessThanOrEqual(1300);
    expect(model.calls).toHaveLength(0);
  });

  it('does not mix the text of a delayed attempt into the next one', async () => {
    const clock = simulatedClock();
    const slow = chaos(inner(), {
      faults: {
        script: [
          { name: 'delay', delayMs: 3000 },
          { name: 'delay', delayMs: 900 },
        ],
      },
    });
    const { outcome, shown } = await play(slow, clock, {
      policy: { timeouts: { totalMs: 1000 }, retry: { baseDelayMs: 1500, jitter: 0 } },
    });
    await clock.runAll();
    expect(shown).toBe(outcome.type === 'success' ? outcome.result.text : '');
  });

  it.each<ModelFault>([
    { name: 'failure', code: 'OVERLOADED' },
    { name: 'failure', code: 'OVERLOADED', when: 'after' },
    { name: 'empty-answer' },
    { name: 'broken-stream' },
    { name: 'truncated-arguments' },
    { name: 'delay', delayMs: 5 },
  ])('sends and tells nothing when it was cancelled before: $name', async (fault) => {
    const parts: unknown[] = [];
    const ended = await outcomeOf(
      shaken(fault).call(hello, { signal: AbortSignal.abort(), onPart: (part) => void parts.push(part) }),
    );
    expect(ended).toBe('CANCELLED');
    expect(parts).toEqual([]);
  });

  it.each<ModelFault>([{ name: 'empty-answer' }, { name: 'broken-stream' }, { name: 'truncated-arguments' }])(
    'does not reject when the listener throws: $name',
    async (fault) => {
      const onPart = (): never => {
        throw new Error('the screen is gone');
      };
      expect(await outcomeOf(shaken(fault).call(hello, { onPart }))).not.toMatch(/rejected/);
    },
  );

  it('tells a fault as delivered only where it was', async () => {
    const model = shaken({ name: 'failure', code: 'OVERLOADED' });
    await model.call(hello, { signal: AbortSignal.abort() });
    expect(model.delivered).toEqual([]);
  });

  it('does not wait for a listener of an empty answer beyond the time of the attempt', async () => {
    const clock = simulatedClock();
    const onPart = (): Promise<void> => new Promise(() => undefined);
    const call = shaken({ name: 'empty-answer' }).call(hello, { clock, onPart, timeouts: { totalMs: 1000 } });
    expect(await clock.runUntil(outcomeOf(call))).toBe('TIMEOUT');
  });

  it('does not reject when a schedule throws', async () => {
    const model = chaos(inner(), {
      faults: () => {
        throw new Error('a mistake in a test');
      },
    });
    expect(await outcomeOf(model.call(hello))).not.toMatch(/rejected/);
  });
});

describe('chaos() refuses what cannot be meant', () => {
  it.each<[string, unknown]>([
    ['an endless delay', { name: 'delay', delayMs: Infinity }],
    ['a delay that is NaN', { name: 'delay', delayMs: Number.NaN }],
    ['no delay', { name: 'delay' }],
    ['a failure without a code', { name: 'failure' }],
    ['a wait that is NaN', { name: 'failure', code: 'RATE_LIMITED', retryAfterMs: Number.NaN }],
    ['a negative wait', { name: 'failure', code: 'RATE_LIMITED', retryAfterMs: -1 }],
    ['a number of parts that is NaN', { name: 'broken-stream', afterParts: Number.NaN }],
    ['undefined', undefined],
  ])('%s', (_name, fault) => {
    let thrown: unknown;
    try {
      shaken(fault);
    } catch (error) {
      thrown = error;
    }
    expect(RerailError.isInstance(thrown) && thrown.failure.code).toBe('CONFIG_ERROR');
  });

  it.each<ModelFault>([
    { name: 'failure', code: 'OVERLOADED' },
    { name: 'empty-answer' },
    { name: 'delay', delayMs: 5 },
  ])('a timeout that is no number, as every model does: $name', async (fault) => {
    const ended = await outcomeOf(shaken(fault).call(hello, { timeouts: { totalMs: Number.NaN } }));
    expect(ended).toBe('CONFIG_ERROR');
  });

  it('a fault of a function that nobody knows is not taken for another one', async () => {
    const model = chaos(inner(), { faults: () => ({ name: 'tornado' }) as unknown as ModelFault });
    expect(await outcomeOf(model.call(hello))).toMatch(/CONFIG_ERROR|INTERNAL/);
  });
});

describe('scriptedModel()', () => {
  it('does not reject for a code that nobody knows', async () => {
    const model = scriptedModel([{ failure: 'BOGUS' as 'INTERNAL' }]);
    expect(await outcomeOf(model.call(hello))).not.toMatch(/rejected/);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 5],
  ])('does not reject for an entry that is %s', async (_name, entry) => {
    expect(await outcomeOf(scriptedModel([entry as string]).call(hello))).not.toMatch(/rejected/);
  });

  it('does not reject for a delay that is NaN', async () => {
    const model = scriptedModel([{ text: 'fine', delayMs: Number.NaN, chunkDelayMs: Number.NaN }]);
    expect(await outcomeOf(model.call(hello))).not.toMatch(/rejected/);
  });
});
