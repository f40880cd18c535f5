import { describe, expect, it } from 'vitest';
import type { Model } from '../model/model.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { simulatedClock } from '../testing/simulated-clock.ts';
import { chaos } from './chaos-model.ts';
import type { ModelFault, ModelFaultSchedule } from './chaos-model.ts';

const request = { messages: [{ role: 'user', content: 'hi' }] } as const;
const price = { inputUsd: 1, outputUsd: 2, asOf: '2026-01-01' };
const call = { name: 'search', arguments: { query: 'trains to Oslo' } };

function wrap(faults: ModelFaultSchedule, seed = 1) {
  const inner = scriptedModel(() => ({ text: ['One ', 'two ', 'three.'], toolCalls: [call] }), {
    provider: 'demo',
    name: 'demo-1',
    quotaKey: 'demo|key',
    price,
  });
  return { inner, model: chaos(inner, { seed, faults }) };
}

async function callOnce(fault: ModelFault) {
  const { inner, model } = wrap({ script: [fault] });
  const parts: StreamPart[] = [];
  const response = await model.call(request, { onPart: (part) => void parts.push(part) });
  const text = parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
  return { inner, model, response, parts, text };
}

describe('chaos(model)', () => {
  it('fails before the model is called', async () => {
    const fault: ModelFault = { name: 'failure', code: 'RATE_LIMITED', retryAfterMs: 1500 };
    const { inner, model, response, parts } = await callOnce(fault);
    expect(response).toMatchObject({
      type: 'failure',
      failure: { code: 'RATE_LIMITED', retryAfterMs: 1500, sideEffect: 'none', retryable: true },
      partial: { text: '' },
    });
    expect(inner.calls).toHaveLength(0);
    expect(parts).toEqual([]);
    expect(model.delivered).toEqual([{ callIndex: 0, fault }]);
  });

  it('fails after the model was called: its answer is lost, and may have been paid for', async () => {
    const { inner, response, parts } = await callOnce({
      name: 'failure',
      code: 'NETWORK_ERROR',
      when: 'after',
    });
    expect(response).toMatchObject({ failure: { code: 'NETWORK_ERROR', sideEffect: 'possible' } });
    expect(inner.calls).toHaveLength(1);
    expect(parts).toEqual([]);
  });

  it('breaks the stream after so many parts, and ends the call below', async () => {
    const { model, response, text, parts } = await callOnce({ name: 'broken-stream', afterParts: 3 });
    expect(response).toMatchObject({ failure: { code: 'STREAM_INTERRUPTED', phase: 'body' } });
    expect(parts).toHaveLength(3);
    expect(response.type === 'failure' && response.partial.text).toBe(text);
    expect('One two three.'.startsWith(text)).toBe(true);
    expect(model.delivered).toHaveLength(1);
  });

  it('breaks a stream that is shorter than that before its end', async () => {
    const { response, parts } = await callOnce({ name: 'broken-stream', afterParts: 1000, code: 'TIMEOUT' });
    expect(response).toMatchObject({ failure: { code: 'TIMEOUT' } });
    expect(parts.some(({ type }) => type === 'finished')).toBe(false);
  });

  it('answers with nothing', async () => {
    const { inner, response } = await callOnce({ name: 'empty-answer' });
    expect(response).toMatchObject({ failure: { code: 'EMPTY_RESPONSE' } });
    expect(inner.calls).toHaveLength(0);
  });

  it('cuts the arguments of a call, for the listener and in the result', async () => {
    const { response, parts, text } = await callOnce({ name: 'truncated-arguments' });
    expect(response).toMatchObject({ failure: { code: 'TOOL_CALL_INVALID' } });
    const written = parts.map((part) => (part.type === 'tool-call-delta' ? part.text : '')).join('');
    expect(JSON.stringify(call.arguments).startsWith(written)).toBe(true);
    expect(written.length).toBeLessThan(JSON.stringify(call.arguments).length);
    expect(text).toBe('One two three.');
  });

  it('delivers nothing where there is no call to cut', async () => {
    const model = chaos(scriptedModel(['Hello.']), { faults: { script: [{ name: 'truncated-arguments' }] } });
    expect(await model.call(request)).toMatchObject({ type: 'success', result: { text: 'Hello.' } });
    expect(model.delivered).toEqual([]);
  });

  it('delays by the clock of the call, and stops when it is aborted', async () => {
    const clock = simulatedClock();
    const { model, inner } = wrap({ script: [{ name: 'delay', delayMs: 5000 }], repeat: true });
    const answered = model.call(request, { clock });
    await clock.advance(4999);
    expect(inner.calls).toHaveLength(0);
    await clock.advance(1);
    expect(await answered).toMatchObject({ type: 'success' });
    const controller = new AbortController();
    const aborted = model.call(request, { clock, signal: controller.signal });
    controller.abort();
    expect(await aborted).toMatchObject({ failure: { code: 'CANCELLED' } });
    expect(clock.pending()).toBe(0);
  });

  it('leaves everything else about the model as it is', async () => {
    const { model, inner } = wrap({ script: [null] });
    const { provider, name, quotaKey, capabilities } = inner;
    expect(model).toMatchObject({ provider, name, quotaKey, capabilities, price });
    expect(await model.call(request)).toMatchObject({ type: 'success', result: { text: 'One two three.' } });
    expect(model.callCount()).toBe(1);
  });

  it('draws the same faults for the same seed', async () => {
    const run = async (seed: number) => {
      const { model } = wrap({ rate: 0.5 }, seed);
      for (let sent = 0; sent < 40; sent += 1) await model.call(request);
      return model.delivered;
    };
    const first = await run(3);
    expect(await run(3)).toEqual(first);
    expect(await run(4)).not.toEqual(first);
    expect(first.length).toBeGreaterThan(8);
  });

  it.each<[string, ModelFaultSchedule, RegExp]>([
    ['a rate over 1', { rate: 2 }, /rate from 0 to 1/],
    ['an unknown fault', { script: [{ name: 'nap' } as unknown as ModelFault] }, /knows no fault "nap"/],
    [
      'an unknown code',
      { script: [{ name: 'failure', code: 'NOPE' as 'UNKNOWN' }] },
      /"code" of the fault "failure" one of the codes .* got "NOPE"/,
    ],
    [
      'a name of the chaos server',
      { script: ['overloaded' as unknown as ModelFault] },
      /objects with a "name", got "overloaded"/,
    ],
    ['a list', ['overloaded'] as unknown as ModelFaultSchedule, /must be told its faults/],
    ['nothing', undefined as unknown as ModelFaultSchedule, /must be told its faults/],
  ])('refuses %s when it is made', (_what, faults, message) => {
    expect(() => wrap(faults)).toThrow(message);
  });

  it('refuses what is no model', () => {
    expect(() => chaos(null as unknown as Model, { faults: { rate: 1 } })).toThrow('chaos() needs a model');
  });
});
