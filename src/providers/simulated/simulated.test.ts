import { describe, expect, it } from 'vitest';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Message } from '../../model/message.ts';
import type { AttemptOptions, ModelResult } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { simulated } from './simulated.ts';
import type { SimulatedOptions } from './simulated.ts';

const hello: ModelRequest = { messages: [{ role: 'user', content: 'What is a failure?' }] };

async function answerOf(
  options: SimulatedOptions,
  request: ModelRequest,
  attempt?: AttemptOptions,
): Promise<ModelResult> {
  const response = await simulated(options).call(request, attempt);
  if (response.type === 'failure') throw RerailError.from(response.failure);
  return response.result;
}

describe('simulated', () => {
  it.each([{ delayMs: -1 }, { chunkDelayMs: Number.NaN }, { delayMs: Infinity }])('refuses %j', (options) => {
    expect(() => simulated(options)).toThrow('must be a number of milliseconds');
  });

  it('is cut off at the limit of output tokens', async () => {
    const response = await simulated().call({ ...hello, maxOutputTokens: 3 });
    expect(response).toMatchObject({
      failure: { code: 'OUTPUT_TRUNCATED' },
      partial: { text: 'A failure is', usage: { outputTokens: 3 } },
    });
  });

  it('drops a call that the limit cut off', async () => {
    const plan = [{ toolCalls: [{ name: 'refund', arguments: { orderId: '17', cents: 500 } }] }];
    const response = await simulated({ plan }).call({ ...hello, maxOutputTokens: 3 });
    expect(response).toMatchObject({ failure: { code: 'OUTPUT_TRUNCATED' }, partial: { toolCalls: [] } });
  });

  it('answers offline, the same every time, for nothing', async () => {
    const [first, second] = [await answerOf({}, hello), await answerOf({}, hello)];
    expect(second).toEqual(first);
    expect(first).toMatchObject({ costUsd: 0, servedBy: 'simulated', finish: { reason: 'stop' } });
    expect(first.text).toContain('A failure is plain data');
  });

  it('streams in pieces of a few words, by the clock', async () => {
    const clock = simulatedClock();
    const pieces: string[] = [];
    const call = answerOf(
      { delayMs: 500, chunkDelayMs: 100, plan: ['One two three four five six seven.'] },
      hello,
      {
        clock,
        onPart: (part) => {
          if (part.type === 'text-delta') pieces.push(`${clock.monotonicMs()} ${part.text}`);
        },
      },
    );
    await clock.runUntil(call);
    expect(pieces).toEqual(['500 One two three ', '600 four five six ', '700 seven.']);
  });

  it('follows its plan turn by turn, gives a turn again when asked again, and then goes by its rules', async () => {
    const plan = [{ text: 'I look.', toolCalls: [{ name: 'look', arguments: {} }] }, 'Seen.'];
    const model = simulated({ plan });
    const first = await model.call(hello);
    expect(await model.call(hello)).toEqual(first);
    expect(first).toMatchObject({
      result: { text: 'I look.', toolCalls: [{ name: 'look', argumentsText: '{}' }] },
    });
    const said = (content: string): Message => ({ role: 'assistant', content });
    expect((await answerOf({ plan }, { messages: [...hello.messages, said('I look.')] })).text).toBe('Seen.');
    const later: readonly Message[] = [said('I look.'), said('Seen.'), { role: 'user', content: 'thanks' }];
    expect((await answerOf({ plan }, { messages: [...hello.messages, ...later] })).text).toMatch(
      /welcome|Glad/,
    );
  });

  it('continues a broken answer', async () => {
    const whole = (await answerOf({}, hello)).text;
    const rest = (await answerOf({}, { ...hello, continueFrom: whole.slice(0, 25) })).text;
    expect(whole.slice(0, 25) + rest).toBe(whole);
  });

  it('stops at a stop sequence', async () => {
    expect(
      (await answerOf({ plan: ['one, two, three'] }, { ...hello, stopSequences: ['three', ', two'] })).text,
    ).toBe('one');
  });

  it('lets the seed of the request choose the words', async () => {
    const greet: ModelRequest = { messages: [{ role: 'user', content: 'Hello' }] };
    const texts = await Promise.all(
      Array.from({ length: 10 }, async (_, seed) => (await answerOf({}, { ...greet, seed })).text),
    );
    expect(new Set(texts).size).toBe(2);
  });
});
