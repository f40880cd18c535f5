import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { consume, failureOf, quiet } from '../../../test/ai-sdk/consume.ts';
import { finishPart, textParts } from '../../../test/ai-sdk/fake-model.ts';
import { refused, scriptedModel, whole } from '../../../test/ai-sdk/scripted-model.ts';
import type { Script } from '../../../test/ai-sdk/scripted-model.ts';
import { ConfigError } from '../../errors/rerail-error.ts';
import type { AiSdkLanguageModel, SpecificationVersion } from '../../providers/ai-sdk/language-model.ts';
import type { LoopEvent } from '../../runtime/model-call/call-target.ts';
import { createGates } from '../../runtime/model-call/gates.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { resilient } from './resilient.ts';
import type { ResilientPolicy } from './resilient-call.ts';

const versions = ['v2', 'v3', 'v4'] as const satisfies readonly SpecificationVersion[];
const methods = ['doStream', 'doGenerate'] as const;
const ways = versions.flatMap((version) => methods.map((method) => ({ version, method })));

function misuseOf(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return ConfigError.isInstance(error) ? error.message : error;
  }
}

describe('resilient() refuses when it is made', () => {
  const good = scriptedModel([]);

  it.each([
    ['an empty list', [], {}, 'the list of models is empty'],
    [
      'mixed specifications',
      [good, scriptedModel([], { version: 'v2' })],
      {},
      '"v3" (fake.chat) and "v2" (fake.chat)',
    ],
    ['the id of a model', 'openai/gpt-5.2', {}, '"openai/gpt-5.2" is the id of a model and not a model'],
    ['null', null, {}, 'Cannot use null as an AI SDK language model'],
    ['something without methods', {}, {}, 'it has no doStream and doGenerate'],
    ['a policy that is none', good, 'patient', 'its policy is not an object'],
    ['an unknown preset', good, { retry: 'forever' }, 'must be one of none, quick, standard, patient'],
    ['a number of attempts that is none', good, { retry: { maxAttempts: 0 } }, '"maxAttempts" must be'],
    ['a timeout that bounds nothing', good, { timeouts: { idleMs: Infinity } }, 'The timeout idleMs must be'],
    ['an unknown delivery', good, { delivery: 'later' }, '"delivery" must be "live" or "whole", got "later"'],
    ['a listener that cannot hear', good, { onEvent: 'log' }, '"onEvent" must be a function, got string'],
  ])('%s', (...[, models, policy, sentence]) => {
    const make = () => resilient(models as unknown as AiSdkLanguageModel, policy as ResilientPolicy);
    expect(misuseOf(make)).toContain(sentence);
  });
});

describe.each(ways)('resilient() by $method of $version', (way) => {
  const { version } = way;

  async function play(scripts: readonly Script[], policy: ResilientPolicy = {}) {
    const clock = simulatedClock();
    const model = scriptedModel(scripts, { version, now: clock.monotonicMs });
    const heard = await clock.runUntil(consume(resilient(model, { ...quiet(clock), ...policy }), way));
    expect(clock.pending()).toBe(0);
    return { ...heard, atMs: model.calls.map(({ atMs }) => atMs) };
  }

  it.each([
    ['401', refused(401), 'AUTHENTICATION_ERROR'],
    ['402', refused(402), 'QUOTA_EXCEEDED'],
    ['400', refused(400), 'INVALID_REQUEST'],
  ] as const)(
    'does not ask again after %s, and says so in a way that the AI SDK understands',
    async (...row) => {
      const [, thrown, code] = row;
      const { error, atMs } = await play([thrown]);
      expect(atMs).toHaveLength(1);
      expect(error).toMatchObject({ name: 'AI_APICallError', isRetryable: false });
      expect(failureOf(error)).toMatchObject({ code });
    },
  );

  it.each([[500], [502], [503], [529]])('asks again after %d, waiting longer each time', async (status) => {
    const scripts = [refused(status), refused(status), refused(status), whole('Hello', version)];
    expect(await play(scripts)).toMatchObject({
      text: 'Hello',
      error: undefined,
      atMs: status === 529 ? [0, 1000, 3000, 7000] : [0, 125, 375, 875],
    });
  });

  it('gives up after as many attempts as the policy allows', async () => {
    const { error, atMs } = await play([refused(500)]);
    expect(atMs).toHaveLength(4);
    expect(error).toMatchObject({ isRetryable: false, statusCode: 500 });
    expect(failureOf(error)).toMatchObject({ code: 'SERVER_ERROR', context: { attempts: 4 } });
  });

  it('waits as long as it was asked to, and never less', async () => {
    const { atMs } = await play([refused(429, { 'retry-after': '7' }), whole('Hello', version)]);
    expect(atMs[1]).toBeGreaterThanOrEqual(7000);
  });

  it('asks the next model where one has no credit, and names all of them in the end', async () => {
    const clock = simulatedClock();
    const first = scriptedModel([refused(402)], { version, provider: 'one.chat', modelId: 'm-1' });
    const second = scriptedModel([refused(401)], { version, provider: 'two.chat', modelId: 'm-2' });
    const heard = await clock.runUntil(consume(resilient([first, second], quiet(clock)), way));
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(heard.error).toMatchObject({
      isRetryable: false,
      message: expect.stringMatching(
        /one \(m-1\): QUOTA_EXCEEDED .*two \(m-2\): AUTHENTICATION_ERROR/,
      ) as string,
    });
    expect(failureOf(heard.error)).toMatchObject({
      context: { models: [{ model: 'm-1' }, { model: 'm-2' }] },
    });
  });

  it('hands on the answer of the next model, and what came with it', async () => {
    const clock = simulatedClock();
    const first = scriptedModel([refused(402)], { version });
    const second = scriptedModel([whole('Hello', version)], { version, provider: 'other' });
    const heard = await clock.runUntil(consume(resilient([first, second], quiet(clock)), way));
    expect(heard).toMatchObject({ text: 'Hello', result: { response: { headers: { 'x-call': '1' } } } });
  });

  it.each([
    ['nothing', []],
    ['blank text', textParts(' \n')],
    [
      'an empty thought',
      [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-end', id: 'r' },
      ],
    ],
  ])('asks once more where the answer is %s, and then fails', async (_name, parts) => {
    const { error, atMs } = await play([[...parts, finishPart(version)]]);
    expect(atMs).toHaveLength(2);
    expect(failureOf(error)).toMatchObject({ code: 'EMPTY_RESPONSE' });
  });

  it.each([
    ['the limit of tokens', 'length'],
    ['a filter', 'content-filter'],
  ])('hands on an empty answer that %s ended, with its reason', async (_name, reason) => {
    const { error, atMs } = await play([[finishPart(version, reason)]]);
    expect([error, atMs.length]).toEqual([undefined, 1]);
  });

  it('asks the next model about what one filtered only where that is allowed', async () => {
    const clock = simulatedClock();
    const filtered = scriptedModel([[finishPart(version, 'content-filter')]], { version });
    const other = scriptedModel([whole('Hello', version)], { version, provider: 'other' });
    const ask = (policy: ResilientPolicy) =>
      clock.runUntil(consume(resilient([filtered, other], { ...quiet(clock), ...policy }), way));
    expect(await ask({})).toMatchObject({ text: '', error: undefined });
    expect(await ask({ fallBackOnFilter: true })).toMatchObject({ text: 'Hello', error: undefined });
    const last = resilient([other, filtered], { ...quiet(clock), fallBackOnFilter: true });
    expect(await clock.runUntil(consume(last, way))).toMatchObject({ text: 'Hello' });
    expect(filtered.calls).toHaveLength(2);
  });

  it('passes usage, finish reason, metadata, headers and request on as they are', async () => {
    const { usage: sent, finishReason: reason } = finishPart(version);
    const facts = { usage: sent, finishReason: reason, providerMetadata: { fake: { deep: { cost: 1 } } } };
    const finish = { type: 'finish', ...facts };
    const { result, parts } = await play([refused(503), [...textParts('Hello'), finish]]);
    expect(result).toMatchObject({ request: { body: 'body 2' }, response: { headers: { 'x-call': '2' } } });
    const { usage, finishReason, providerMetadata } =
      way.method === 'doStream' ? (parts.at(-1) ?? {}) : result;
    expect({ usage, finishReason, providerMetadata }).toEqual(facts);
  });

  it('passes tool calls on', async () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"q":1}' };
    const { parts } = await play([[call, finishPart(version, 'tool-calls')]]);
    expect(parts).toContainEqual(call);
  });

  it('asks once more where the model says that its own call is malformed', async () => {
    if (version === 'v2') return; // Which has no field for the provider's own word.
    const malformed = [finishPart(version, 'error', 'MALFORMED_FUNCTION_CALL')];
    expect(await play([malformed, whole('Hello', version)])).toMatchObject({ text: 'Hello' });
    expect(failureOf((await play([malformed])).error)).toMatchObject({ code: 'TOOL_CALL_INVALID' });
  });

  it('hands the call options on, and a signal of its own', async () => {
    const model = scriptedModel([whole('Hello', version)], { version });
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
    await consume(resilient(model, { gates: createGates() }), {
      ...way,
      options: { prompt, temperature: 0.5 },
    });
    expect(model.calls[0]?.options).toMatchObject({ prompt, temperature: 0.5 });
    expect(model.calls[0]?.options['abortSignal']).toBeInstanceOf(AbortSignal);
  });

  it.each([
    ['before it begins', 0],
    ['while it waits', 50],
    ['while it waits for the answer', 2000],
  ])('ends when it is told to %s', async (_name, afterMs) => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const model = scriptedModel([refused(500), ['hang']], { version });
    if (afterMs === 0) controller.abort();
    else clock.after(afterMs, () => controller.abort());
    const { error } = await clock.runUntil(
      consume(resilient(model, quiet(clock)), { ...way, options: { abortSignal: controller.signal } }),
    );
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(failureOf(error)).toMatchObject({ code: 'CANCELLED' });
    expect(model.calls).toHaveLength({ 0: 0, 50: 1, 2000: 2 }[afterMs] ?? -1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it('tells every attempt and decision in their order, with the reasons', async () => {
    const events: LoopEvent[] = [];
    await play([refused(500), refused(401)], { onEvent: (event) => void events.push(event) });
    expect(events).toMatchObject([
      { type: 'attempt-started', attempt: 1, provider: 'fake', model: 'fake-1' },
      { type: 'failure', attempt: 1, failure: { code: 'SERVER_ERROR' } },
      {
        type: 'recovery',
        recovery: 'retry',
        delayMs: 125,
        reason: expect.stringContaining('backoff') as string,
      },
      { type: 'attempt-started', attempt: 2 },
      { type: 'failure', attempt: 2, failure: { code: 'AUTHENTICATION_ERROR' } },
      {
        type: 'recovery',
        recovery: 'give-up',
        reason: expect.stringContaining('no further model') as string,
      },
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('my own');
      },
    ],
    ['rejects', () => Promise.reject(new Error('my own'))],
  ])('throws what the listener %s, and leaves no place at the gate taken', async (_name, onEvent) => {
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const model = resilient(scriptedModel([whole('Hello', version)], { version }), { clock, gates, onEvent });
    const { error } = await clock.runUntil(consume(model, way));
    expect(error).toMatchObject({ message: 'my own' });
    expect(Object.values(gates.states())).toMatchObject([{ inFlight: 0, waiting: 0 }]);
  });

  it('has a breaker for each model, which its siblings of the same provider do not share', async () => {
    const clock = simulatedClock();
    const policy = { ...quiet(clock), retry: 'none' } as const;
    const down = scriptedModel([refused(500)], { version, modelId: 'down' });
    const guarded = resilient(down, policy);
    for (let call = 0; call < 10; call += 1) await clock.runUntil(consume(guarded, way));
    const sibling = scriptedModel([whole('Hello', version)], { version, modelId: 'sibling' });
    expect(await clock.runUntil(consume(resilient([down, sibling], policy), way))).toMatchObject({
      text: 'Hello',
    });
    expect([down.calls.length, sibling.calls.length]).toEqual([10, 1]);
  });

  it('ends an attempt at a deaf model, and asks again', async () => {
    const outcome = await play([['hang'], whole('Hello', version)], {
      timeouts: { headersMs: 50, idleMs: 50, totalMs: 100 },
    });
    expect(outcome).toMatchObject({ text: 'Hello', atMs: [0, expect.any(Number)] });
  });
});
