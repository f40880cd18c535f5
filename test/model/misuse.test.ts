import { describe, expect, it } from 'vitest';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { Model } from '../../src/model/model.ts';
import { callEmbedding } from '../../src/runtime/model-call/call-embedding.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello, play } from './play.ts';
import { bareModel } from './scripted.ts';

/** What a caller without types may hand in. */
const untyped = (value: unknown): never => value as never;

/** `sent` says that a request went out before the misuse was told. */
async function misuse(
  model: unknown,
  request: unknown,
  options: unknown,
): Promise<{ readonly thrown: string; readonly message: string }> {
  const outcome: unknown = await callModel(untyped(model), untyped(request), untyped(options)).catch(
    (error: unknown) => error,
  );
  if (RerailError.isInstance(outcome)) return { thrown: outcome.failure.code, message: outcome.message };
  if (outcome instanceof Error) return { thrown: outcome.name, message: outcome.message };
  return { thrown: 'nothing', message: JSON.stringify(outcome) };
}

describe('callModel() and options that make no sense', () => {
  const gates = createGates();
  it.each<[string, unknown]>([
    ['options are null', null],
    ['options are a text', 'patient'],
    ['the policy is null', { policy: null }],
    ['the policy is a text', { policy: 'patient' }],
    ['retry is a number', { policy: { retry: 5 } }],
    ['retry is a list', { policy: { retry: [1, 2] } }],
    ['a field of retry is misspelt', { policy: { retry: { maxAttempt: 6 } } }],
    ['a field of the policy is misspelt', { policy: { timeout: { totalMs: 5 } } }],
    ['a timeout is misspelt', { policy: { timeouts: { total: 5 } } }],
    ['timeouts are null', { policy: { timeouts: null } }],
    ['timeouts are a number', { policy: { timeouts: 5000 } }],
    ['a limit is NaN', { policy: { limits: { maxRequests: Number.NaN } } }],
    ['a limit is a text', { policy: { limits: { maxCostUsd: '0.5' } } }],
    ['a limit is negative', { policy: { limits: { maxTokens: -1 } } }],
    ['a limit allows no request', { policy: { limits: { maxRequests: 0 } } }],
    ['onEvent is a text', { onEvent: 'show' }],
    ['onEvent is null', { onEvent: null }],
    ['signal is a controller', { signal: new AbortController() }],
    ['signal is a plain object', { signal: {} }],
    ['signal is null', { signal: null }],
    ['gates are a plain object', { gates: {} }],
    ['the clock is Date', { clock: Date }],
  ])('%s: one clear sentence, before anything is sent', async (_name, options) => {
    const model = bareModel(() => 'fine');
    const given = options === null || typeof options !== 'object' ? options : { gates, ...options };
    const { thrown, message } = await misuse(model, hello, given);
    expect(`${thrown}: ${message}`).toMatch(/^CONFIG_ERROR: /);
    expect(model.requests).toHaveLength(0);
  });
});

describe('callModel() and models that are none', () => {
  it.each<[string, unknown, RegExp]>([
    ['null', null, /model/i],
    ['undefined', undefined, /model/i],
    ['a list with null', [null], /model/i],
    ['a list with a hole before a model', [undefined, bareModel(['fine'])], /handed|not a model/i],
    ['a plain object', {}, /handed|not a model/i],
    ['the id of a model', 'openai:gpt-5.2', /resolveModel|handed|not a model/i],
    ['a model without call', { ...bareModel([]), call: undefined }, /not a model|call/i],
    ['a model without quotaKey', { ...bareModel(['fine']), quotaKey: undefined }, /quotaKey/i],
    ['a promise of a model', Promise.resolve(bareModel(['fine'])), /handed|not a model/i],
  ])('%s: one clear sentence about the model', async (_name, model, sentence) => {
    const { thrown, message } = await misuse(model, hello, { gates: createGates() });
    expect(thrown).toBe('CONFIG_ERROR');
    expect(message).toMatch(sentence);
  });
});

describe('callModel() and requests that are none', () => {
  const message = { role: 'user', content: 'hello' };
  const user = (...content: readonly unknown[]): unknown => ({ messages: [{ role: 'user', content }] });
  const assistant = (part: unknown): unknown => ({
    messages: [message, { role: 'assistant', content: [part] }],
  });
  const tools = (...list: readonly unknown[]): unknown => ({ messages: [message], tools: list });
  const asked = (fields: object): unknown => ({ messages: [message], ...fields });
  const hostile = {
    get messages(): never {
      throw new Error('no');
    },
  };
  const openAiTool = { type: 'function', function: { name: 'x', parameters: {} } };
  const openAiCall = { id: '1', type: 'function', function: { name: 'x', arguments: '{}' } };
  const call = { type: 'tool-call', callId: '1', name: 'x', argumentsText: '{}' };
  const parameters = { type: 'object' };

  it.each<[string, unknown, RegExp]>([
    ['null', null, /a request is .*got null/],
    ['undefined', undefined, /a request is .*got nothing/],
    ['a text', 'hello', /a request is .*got the text "hello"/],
    ['a list', [message], /a request is .*got a list/],
    ['an object that throws', hostile, /cannot be read/],
    ['messages are missing', {}, /"messages" must be a list such as .*got nothing/],
    ['messages are a text', { messages: 'hello' }, /"messages" must be a list such as/],
    ['messages are an object', { messages: message }, /"messages" must be a list .*got an object/],
    ['a message is null', { messages: [null] }, /messages\[0\] must be an object such as .*got null/],
    ['a message is a text', { messages: [message, 'hello'] }, /messages\[1\] must be an object/],
    [
      'a role that nobody knows',
      { messages: [{ role: 'robot', content: 'a' }] },
      /role must be "system", "user"/,
    ],
    ['a role of OpenAI', { messages: [{ role: 'developer', content: 'a' }] }, /"developer": write "system"/],
    ['a role that every object has', { messages: [{ role: 'constructor', content: 'a' }] }, /role must be/],
    [
      'content is null',
      { messages: [{ role: 'assistant', content: null }] },
      /content must be a text or a list/,
    ],
    ['content is a number', { messages: [{ role: 'user', content: 5 }] }, /content must be .*got 5/],
    [
      'calls in the form of OpenAI',
      { messages: [{ role: 'assistant', content: null, tool_calls: [openAiCall] }] },
      /put each call into "content" as \{ type: 'tool-call'/,
    ],
    ['a part is null', user(null), /content\[0\] must be an object .*got null/],
    [
      'a part of an unknown type',
      user({ type: 'video' }),
      /type must be "text", "image" or "file" here, got/,
    ],
    ['a part of OpenAI', user({ type: 'image_url', image_url: {} }), /write \{ type: 'image', mediaType/],
    ['a part of Anthropic', assistant({ type: 'tool_use' }), /write \{ type: 'tool-call', callId/],
    ['a text part without text', user({ type: 'text' }), /content\[0\]\.text must be a text, got nothing/],
    ['an image without a type', user({ type: 'image', source: {} }), /mediaType must be a text such as/],
    [
      'an image without a source',
      user({ type: 'image', mediaType: 'image/png' }),
      /source must be \{ type: 'base64'/,
    ],
    ['a call without an id', assistant({ ...call, callId: undefined }), /callId must be a text/],
    [
      'arguments that are an object',
      assistant({ ...call, argumentsText: {} }),
      /JSON\.stringify them, got an object/,
    ],
    [
      'a tool message with a text',
      { messages: [message, { role: 'tool', content: 'a' }] },
      /a list of \{ type: 'tool-result'/,
    ],
    [
      'a result that is an object',
      {
        messages: [{ role: 'tool', content: [{ type: 'tool-result', callId: '1', name: 'x', content: {} }] }],
      },
      /content\[0\]\.content must be a text or a list of parts: JSON\.stringify/,
    ],
    [
      'a temperature that is a text',
      asked({ temperature: '0.5' }),
      /"temperature" must be a number .*got the text "0\.5"/,
    ],
    ['a topP that is null', asked({ topP: null }), /"topP" must be .*got null \(leave it out instead\)/],
    [
      'a budget that is a text',
      asked({ reasoning: { budgetTokens: '5' } }),
      /"reasoning\.budgetTokens" must be/,
    ],
    [
      'an effort that nobody knows',
      asked({ reasoning: { effort: 'huge' } }),
      /"reasoning\.effort" must be "none"/,
    ],
    ['reasoning that is a text', asked({ reasoning: 'high' }), /"reasoning" must be \{ effort \}/],
    ['tools are an object', asked({ tools: { name: 'x' } }), /"tools" must be a list of \{ name/],
    ['tools are null', asked({ tools: null }), /"tools" must be a list .*got null/],
    ['a tool is null', tools(null), /tools\[0\] must be \{ name, description, parameters \}, got null/],
    ['a tool of OpenAI', tools(openAiTool), /tools\[0\] is in the form of OpenAI: write \{ name/],
    ['a tool without a name', tools({ parameters }), /tools\[0\] must have a "name"/],
    ['a tool without parameters', tools({ name: 'x' }), /the tool "x" must have "parameters", a JSON Schema/],
    [
      'a tool of the AI SDK',
      tools({ name: 'x', inputSchema: {} }),
      /in "inputSchema": call that field "parameters"/,
    ],
    ['a tool with a Zod schema', tools({ name: 'x', parameters: { safeParse: () => 1 } }), /z\.toJSONSchema/],
    ['a tool choice that nobody knows', asked({ toolChoice: 'maybe' }), /"toolChoice" must be "auto"/],
    ['the tool choice of Anthropic', asked({ toolChoice: 'any' }), /write "required"/],
    [
      'the tool choice of OpenAI',
      asked({ toolChoice: openAiTool }),
      /in the form of OpenAI: write \{ name \}/,
    ],
    ['an output that is a text', asked({ output: 'json' }), /"output" must be \{ name, schema \}/],
    ['an output without a name', asked({ output: { schema: {} } }), /"output\.name" must be .*got nothing/],
    [
      'an output without a schema',
      asked({ output: { name: 'x' } }),
      /"output\.schema" must be a JSON Schema/,
    ],
    ['stop sequences are a text', asked({ stopSequences: 'END' }), /"stopSequences" must be a list of texts/],
    ['continueFrom is a number', asked({ continueFrom: 5 }), /"continueFrom" must be the text/],
    [
      'provider options that are a text',
      asked({ providerOptions: { openai: 'flex' } }),
      /"providerOptions" must be/,
    ],
    ['maxTokens', asked({ maxTokens: 5 }), /no field "maxTokens": call it "maxOutputTokens"/],
    ['max_tokens', asked({ max_tokens: 5 }), /no field "max_tokens": call it "maxOutputTokens"/],
    [
      'a field that nobody knows',
      asked({ serviceTier: 'flex' }),
      /no field "serviceTier": .*"providerOptions"/,
    ],
    ['a field that every object has', asked({ constructor: 5 }), /no field "constructor"/],
  ])('%s: one clear sentence', async (_name, request, sentence) => {
    const model = bareModel(() => 'fine', { capabilities: { continuation: 'prefill' } });
    const { thrown, message: said } = await misuse(model, request, { gates: createGates() });
    expect(thrown).toBe('CONFIG_ERROR');
    expect(said).toMatch(sentence);
    expect(model.requests).toHaveLength(0);
  });
});

describe('models that answer with something else', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'hello'],
    ['a type that nobody knows', { type: 'done' }],
    ['a success without a result', { type: 'success' }],
    ['a failure without one', { type: 'failure' }],
    ['a failure without a partial result', { type: 'failure', failure: { code: 'SERVER_ERROR' } }],
  ])('%s: a typed failure', async (_name, answer) => {
    const model: Model = { ...bareModel([]), call: () => Promise.resolve(untyped(answer)) };
    const thrown = await misuse(model, hello, { gates: createGates(), policy: { retry: 'none' } });
    expect(thrown.thrown).toBe('nothing');
    expect(thrown.message).toMatch(/"type":"failure"/);
  });
});

describe('a signal with an odd reason', () => {
  const hostile = {
    get message(): string {
      throw new Error('no');
    },
    toString: () => {
      throw new Error('no');
    },
  };
  it.each<[string, unknown]>([
    ['a symbol', Symbol('stop')],
    ['null', null],
    ['a number', 5],
    ['an object that throws', hostile],
    ['a frozen error', Object.freeze(new Error('stop'))],
    ['a bigint', 5n],
  ])('%s ends the call as CANCELLED', async (_name, reason) => {
    const clock = simulatedClock();
    const controller = new AbortController();
    clock.after(50, () => controller.abort(reason));
    const model = scriptedModel([{ text: 'fine', delayMs: 5000 }]);
    const { outcome } = await play(model, clock, { signal: controller.signal });
    expect(outcome).toMatchObject({ type: 'failure', failure: { code: 'CANCELLED' } });
    expect(clock.pending()).toBe(0);
  });
});

describe('createGates() and bounds that make no sense', () => {
  it.each<[string, unknown]>([
    ['no place', { maxInFlight: 0 }],
    ['NaN places', { maxInFlight: Number.NaN }],
    ['undefined places', { maxInFlight: undefined }],
    ['a budget that is NaN', { budgetTokens: Number.NaN }],
    ['half a breaker', { breaker: { openMs: 5 } }],
  ])('%s', (_name, policy) => {
    expect(() => createGates({ policy: untyped(policy) })).toThrow(/must be/);
  });
});

describe('callEmbedding() and what is none', () => {
  const embedder = { provider: 'p', name: 'n', quotaKey: 'q', maxBatch: 2, embed: () => Promise.resolve({}) };
  it.each<[string, readonly unknown[]]>([
    ['no model', [null, ['a']]],
    ['a text as model', ['openai', ['a']]],
    ['a plain object as model', [{}, ['a']]],
    ['no texts', [embedder, null]],
    ['one text', [embedder, 'abc']],
    ['a text that is a number', [embedder, [5]]],
    ['options that are null', [embedder, ['a'], null]],
    ['onEvent that is a text', [embedder, ['a'], { onEvent: 'x' }]],
    ['a policy that is null', [embedder, ['a'], { policy: null }]],
    ['a signal that is none', [embedder, ['a'], { signal: {} }]],
  ])('%s: one clear sentence', async (_name, given) => {
    const call = Promise.resolve().then(() => callEmbedding(...(given as Parameters<typeof callEmbedding>)));
    const thrown: unknown = await call.catch((error: unknown) => error);
    const said = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : JSON.stringify(thrown);
    expect(RerailError.isInstance(thrown) ? thrown.failure.code : said).toBe('CONFIG_ERROR');
  });
});
