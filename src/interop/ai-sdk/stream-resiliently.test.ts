import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consume, failureOf, quiet } from '../../../test/ai-sdk/consume.ts';
import type { Heard } from '../../../test/ai-sdk/consume.ts';
import { finishPart, textParts } from '../../../test/ai-sdk/fake-model.ts';
import { refused, reset, scriptedModel, whole } from '../../../test/ai-sdk/scripted-model.ts';
import type { Script, ScriptedModel } from '../../../test/ai-sdk/scripted-model.ts';
import type { AiSdkRecord } from '../../providers/ai-sdk/language-model.ts';
import { createGates } from '../../runtime/model-call/gates.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { resilient } from './resilient.ts';
import type { ResilientPolicy } from './resilient-call.ts';

const method = 'doStream';
const [textStart, hello] = textParts('Hello') as [AiSdkRecord, AiSdkRecord];
const thought = { type: 'reasoning-delta', id: 'r', delta: 'Let me see' };
const inputStart = { type: 'tool-input-start', id: 'c1', toolName: 'pay' };
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: '{"cents":100' };

async function play(
  models: ScriptedModel | readonly [ScriptedModel, ...ScriptedModel[]],
  policy: ResilientPolicy = {},
): Promise<Heard> {
  const clock = simulatedClock();
  const heard = await clock.runUntil(consume(resilient(models, { ...quiet(clock), ...policy }), { method }));
  expect(clock.pending()).toBe(0);
  return heard;
}

describe('a resilient stream', () => {
  it.each([
    ['it broke', [textStart, hello, reset()]],
    ['it said that it failed', [textStart, hello, { type: 'error', error: refused(529) }]],
    ['it just ended', [textStart, hello]],
    ['it ended without a reason', [textStart, hello, finishPart('v3', 'other', '')]],
    ['it is only thoughts', [thought, finishPart('v3')]],
  ] as const)(
    'ends with an error where %s after something was shown, and nothing is put behind it',
    async (...row) => {
      const model = scriptedModel([row[1], whole('Good bye')]);
      const other = scriptedModel([whole('Good bye')], { provider: 'other' });
      const { text, parts, error } = await play([model, other]);
      expect('Hello'.startsWith(text)).toBe(true);
      expect(parts.filter(({ type }) => type === 'error')).toEqual([parts.at(-1)]);
      expect(parts.map(({ type }) => type)).not.toContain('finish');
      expect(error).toMatchObject({ name: 'AI_APICallError', isRetryable: false });
      expect([model.calls.length, other.calls.length]).toEqual([1, 0]);
    },
  );

  it.each([
    ['before its first part', [reset()]],
    ['before the first word', [{ type: 'stream-start', warnings: [] }, textStart, reset()]],
    ['after blank words', [textStart, { ...hello, delta: ' \n' }, reset()]],
    ['by its own word', [{ type: 'error', error: refused(529) }]],
    ['without a finish part', [textStart]],
    ['with a call that is cut in two', [call]],
    ['with a whole call, but no end', [{ ...call, input: '{"cents":100}' }]],
  ])('shows nothing of an attempt that breaks %s', async (_name, broken) => {
    const model = scriptedModel([broken, whole('Hello')]);
    const { text, parts, error } = await play(model);
    expect([text, error, model.calls.length]).toEqual(['Hello', undefined, 2]);
    expect(parts).toEqual(whole('Hello'));
  });

  it('never hands on a call of a broken answer, for the AI SDK would carry it out', async () => {
    const rest = [
      { ...call, input: '{"cents":100}' },
      { type: 'tool-input-start', id: 'c2', toolName: 'pay' },
    ];
    const { parts, error } = await play(scriptedModel([[inputStart, ...rest, reset()]]));
    expect(parts).toEqual([inputStart, { type: 'error', error }]);
    expect(failureOf(error)).toMatchObject({ code: 'STREAM_INTERRUPTED' });
  });

  it('hands the parts of an answer on in their order, calls included', async () => {
    const script = [textStart, hello, inputStart, call, thought, finishPart('v3', 'tool-calls')];
    expect((await play(scriptedModel([script]))).parts).toEqual(script);
  });

  it('fails as a whole where no attempt showed anything', async () => {
    const { result, error } = await play(scriptedModel([[textStart, reset()]]));
    expect(result).toEqual({});
    expect(failureOf(error)).toMatchObject({ code: 'STREAM_INTERRUPTED', context: { attempts: 4 } });
  });

  it('is handed on as soon as something can be shown', async () => {
    const model = resilient(scriptedModel([[textStart, hello, 'hang']]), { gates: createGates() });
    const { stream } = (await model.doStream({})) as { readonly stream: ReadableStream<AiSdkRecord> };
    const reader = stream.getReader();
    expect([(await reader.read()).value, (await reader.read()).value]).toEqual([textStart, hello]);
    await reader.cancel();
  });

  it('stops the attempt when its reader goes away, and asks nobody else', async () => {
    const script = scriptedModel([[textStart, hello, 'hang']]);
    const clock = simulatedClock();
    const gates = createGates({ clock });
    const { stream } = await resilient(script, { clock, gates }).doStream({});
    for await (const part of stream as ReadableStream<AiSdkRecord>) if (part === hello) break;
    await clock.advance(1_000_000);
    expect(script.calls).toMatchObject([{ options: { abortSignal: { aborted: true } } }]);
    expect(script.cancelled()).toBe(1);
    expect(Object.values(gates.states())).toMatchObject([{ inFlight: 0 }]);
    expect(clock.pending()).toBe(0);
  });

  it('ends with an AbortError when the caller stops it half way, and hands the reason down', async () => {
    const controller = new AbortController();
    const script = scriptedModel([[textStart, hello, 'hang']]);
    const clock = simulatedClock();
    clock.after(10, () => controller.abort('enough'));
    const model = resilient(script, quiet(clock));
    const heard = await clock.runUntil(
      consume(model, { method, options: { abortSignal: controller.signal } }),
    );
    expect(heard).toMatchObject({ text: 'Hello', error: { name: 'AbortError' } });
    expect(script.calls[0]?.options['abortSignal']).toMatchObject({ reason: 'enough' });
    expect(script.calls).toHaveLength(1);
  });

  it('does not read ahead of a slow reader without bound', async () => {
    let produced = 0;
    const stream = new ReadableStream<AiSdkRecord>(
      { pull: (controller) => controller.enqueue({ ...hello, delta: String((produced += 1)) }) },
      { highWaterMark: 0 },
    );
    const endless: ScriptedModel = { ...scriptedModel([]), doStream: () => Promise.resolve({ stream }) };
    const result = await resilient(endless, { gates: createGates() }).doStream({});
    const reader = (result as { readonly stream: ReadableStream<AiSdkRecord> }).stream.getReader();
    await reader.read();
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(produced).toBeLessThanOrEqual(66);
    await reader.cancel();
  });
});

describe('a resilient stream that is delivered whole', () => {
  it('ends with an error where no attempt was whole, and shows nothing of them', async () => {
    const { parts, error } = await play(scriptedModel([[textStart, hello, reset()]]), { delivery: 'whole' });
    expect(parts).toEqual([]);
    expect(failureOf(error)).toMatchObject({ context: { attempts: 4 } });
  });

  it.each([
    ['broke', [textStart, hello, reset()]],
    ['were only thoughts', [thought, finishPart('v3')]],
    ['ended inside a call', [inputStart, call]],
  ])('shows one answer and nothing of those that %s', async (_name, broken) => {
    const model = scriptedModel([broken, whole('Good bye')]);
    expect((await play(model, { delivery: 'whole' })).parts).toEqual(whole('Good bye'));
  });
});

type End = keyof typeof endings;

const endings = {
  whole: [finishPart('v3')],
  break: [reset()],
  error: [{ type: 'error', error: refused(503) }],
  nothing: [],
} as const satisfies Record<string, Script>;

interface Played {
  readonly words: readonly string[];
  readonly end: End;
}

/** Whether somebody who heard this was told the truth. */
function isTrue({ text, parts, error }: Heard, attempts: readonly Played[], isLive: boolean): boolean {
  const finishes = parts.filter(({ type }) => type === 'finish').length;
  if (error === undefined) {
    const isOne = attempts.some(({ words, end }) => end === 'whole' && words.join('') === text);
    return isOne && text.trim() !== '' && finishes === 1;
  }
  const isBeginning = attempts.some(({ words }) => words.join('').startsWith(text));
  return finishes === 0 && (isLive ? isBeginning : text === '');
}

describe('whatever the attempts do', () => {
  const attempt: fc.Arbitrary<Played> = fc.record({
    words: fc.array(fc.constantFrom('', ' ', 'a', 'bc', 'déf'), { maxLength: 5 }),
    end: fc.constantFrom<End>('whole', 'break', 'error', 'nothing'),
  });
  const last: Played = { words: ['end'], end: 'whole' };

  it('a consumer sees one whole answer, or the beginning of one and an error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { maxLength: 5 }), fc.boolean(), async (drawn, isLive) => {
        const attempts = [...drawn, last];
        const scripts = attempts.map(({ words, end }): Script => {
          const deltas = words.map((delta) => ({ ...hello, delta }));
          return [textStart, ...deltas, ...endings[end]];
        });
        const delivery = isLive ? 'live' : 'whole';
        const heard = await play(scriptedModel(scripts), { delivery, retry: { maxAttempts: 10 } });
        expect(isTrue(heard, attempts, isLive)).toBe(true);
      }),
    );
  });
});
