import { describe, expect, it } from 'vitest';
import { createFailure } from '../errors/failure.ts';
import type { FailureCode } from '../errors/codes.ts';
import type { AttemptOptions, Model, ModelResponse } from '../model/model.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { scriptedModel } from './scripted-model.ts';
import type { ScriptEntry } from './scripted-model.ts';
import { simulatedClock } from './simulated-clock.ts';

/** The matcher's own type is `any`. */
const containing = (text: string): unknown => expect.stringContaining(text);
const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;

async function codeOf(response: Promise<ModelResponse>): Promise<FailureCode | 'success'> {
  const settled = await response;
  return settled.type === 'failure' ? settled.failure.code : 'success';
}

async function listen(model: Model, options: AttemptOptions = {}) {
  const parts: StreamPart[] = [];
  const response = await model.call(request, { ...options, onPart: (part) => void parts.push(part) });
  return { response, parts };
}

describe('scriptedModel', () => {
  it('fails clearly when its script is over', async () => {
    const model = scriptedModel(['one']);
    await model.call(request);
    const response = await model.call(request);
    expect(response).toMatchObject({
      type: 'failure',
      failure: {
        code: 'INTERNAL',
        retryable: false,
        message: containing('has 1 entries, and this is call 2'),
      },
    });
  });

  it('shows what a function of the script throws', async () => {
    const model = scriptedModel(() => {
      throw new Error('expected two messages');
    });
    const response = await model.call(request);
    expect(response).toMatchObject({
      type: 'failure',
      failure: { message: containing('two messages') },
    });
  });

  it.each<readonly [string, ScriptEntry, FailureCode]>([
    ['a code', { failure: 'RATE_LIMITED' }, 'RATE_LIMITED'],
    ['a failure', { failure: createFailure('OVERLOADED', { message: 'busy' }) }, 'OVERLOADED'],
    ['a failure after some text', { failure: 'NETWORK_ERROR', text: 'Half' }, 'NETWORK_ERROR'],
    ['a broken stream', { brokenAfter: 'Half an' }, 'STREAM_INTERRUPTED'],
    ['nothing', {}, 'EMPTY_RESPONSE'],
    ['an empty text', '', 'EMPTY_RESPONSE'],
    ['a length', { text: 'Half', finish: 'length' }, 'OUTPUT_TRUNCATED'],
    ['a refusal', { text: 'No.', finish: 'refused' }, 'CONTENT_FILTERED'],
    ['arguments that are no JSON', { toolCalls: [{ name: 'f', argumentsText: '{' }] }, 'TOOL_CALL_INVALID'],
    ['a call without its end', { toolCalls: [{ name: 'f', isUnfinished: true }] }, 'STREAM_INTERRUPTED'],
  ])('ends %s as a typed failure', async (_, entry, code) => {
    expect(await codeOf(scriptedModel([entry]).call(request))).toBe(code);
  });

  it('keeps what had arrived before it broke', async () => {
    const { response, parts } = await listen(scriptedModel([{ brokenAfter: ['Half ', 'an'] }]));
    expect(response).toMatchObject({ partial: { text: 'Half an' } });
    expect(parts.map(({ type }) => type)).toEqual(['started', 'text-delta', 'text-delta']);
  });

  it.each([
    ['before it starts', 0, 'connect'],
    ['while it is silent', 50, 'headers'],
    ['between two pieces', 150, 'body'],
  ])('is cancelled %s', async (_, atMs, phase) => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const model = scriptedModel([{ text: ['One ', 'two'], delayMs: 100, chunkDelayMs: 100 }]);
    if (atMs === 0) controller.abort();
    else clock.after(atMs, () => controller.abort());
    const response = await clock.runUntil(model.call(request, { clock, signal: controller.signal }));
    expect(response).toMatchObject({ type: 'failure', failure: { code: 'CANCELLED', phase } });
    expect(clock.monotonicMs()).toBe(atMs);
    expect(clock.pending()).toBe(0);
  });

  it.each([
    ['headers', { delayMs: Infinity, text: 'late' }, 60_000],
    ['idle', { chunkDelayMs: 40_000, text: ['a', 'b'] }, 30_000],
    ['total', { chunkDelayMs: 20_000, text: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] }, 120_000],
  ])('obeys the timeout %s', async (timeout, entry, atMs) => {
    const clock = simulatedClock();
    const response = await clock.runUntil(scriptedModel([entry]).call(request, { clock }));
    expect(response).toMatchObject({ failure: { code: 'TIMEOUT', context: { timeout } } });
    expect(clock.monotonicMs()).toBe(atMs);
    expect(clock.pending()).toBe(0);
  });

  it('refuses timeouts that make no sense', async () => {
    expect(await codeOf(scriptedModel(['a']).call(request, { timeouts: { totalMs: Number.NaN } }))).toBe(
      'CONFIG_ERROR',
    );
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
  ])('ends when its listener %s', async (_, onPart) => {
    expect(await codeOf(scriptedModel(['a']).call(request, { onPart }))).toBe('INTERNAL');
  });

  it('ends when its listener aborts and rejects at once', async () => {
    const controller = new AbortController();
    const onPart = async (): Promise<void> => {
      controller.abort();
      throw new Error('late');
    };
    expect(await codeOf(scriptedModel(['a']).call(request, { onPart, signal: controller.signal }))).toBe(
      'CANCELLED',
    );
  });

  it('answers entry by entry, and remembers what it was asked', async () => {
    const model = scriptedModel([
      'One',
      { toolCalls: [{ name: 'refund', arguments: { id: 17 } }, { name: 'mail' }] },
      ({ messages }, callIndex) => `${messages.length} messages, call ${callIndex}`,
    ]);
    const responses = [await model.call(request), await model.call(request), await model.call(request)];
    expect(responses).toMatchObject([
      { result: { text: 'One', finish: { reason: 'stop' }, usage: { inputTokens: 10 } } },
      {
        result: {
          finish: { reason: 'tool-calls' },
          toolCalls: [
            { callId: 'call_1_0', name: 'refund', argumentsText: '{"id":17}' },
            { callId: 'call_1_1', name: 'mail', argumentsText: '{}' },
          ],
        },
      },
      { result: { text: '1 messages, call 2' } },
    ]);
    expect(model.calls.map((call) => call.request)).toEqual([request, request, request]);
  });

  it.each([
    ['last', ['a', 'b', 'b', 'b']],
    ['all', ['a', 'b', 'a', 'b']],
  ] as const)('repeats %s where it is told to', async (repeat, expected) => {
    const model = scriptedModel(['a', 'b'], { repeat });
    const texts: string[] = [];
    for (let call = 0; call < 4; call += 1) {
      const response = await model.call(request);
      texts.push(response.type === 'success' ? response.result.text : response.failure.code);
    }
    expect(texts).toEqual(expected);
  });

  it('tells reasoning with its signature, and its cost', async () => {
    const signature = { protocol: 'anthropic', value: 'abc' };
    const model = scriptedModel(
      [
        {
          reasoning: { text: 'Hm', signature },
          text: 'Yes',
          usage: { inputTokens: 1_000_000, outputTokens: 0 },
        },
      ],
      {
        price: { inputUsd: 3, outputUsd: 15, asOf: '2026-01-01' },
      },
    );
    const { response, parts } = await listen(model);
    expect(response).toMatchObject({
      result: {
        content: [
          { type: 'reasoning', text: 'Hm', signature },
          { type: 'text', text: 'Yes' },
        ],
        costUsd: 3,
      },
    });
    expect(parts.at(-1)).toEqual({ type: 'finished', finish: { reason: 'stop', raw: 'stop' } });
  });
});
