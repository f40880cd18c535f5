import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import type { Message } from '../../model/message.ts';
import type { JsonSchema, ToolDefinition } from '../../model/request.ts';
import { createMind } from './mind.ts';
import type { MindRequest } from './mind.ts';
import type { MindCall } from './mind-answer.ts';

const text = { type: 'string' } as const;

function tool(
  name: string,
  description: string,
  given: { required?: object; optional?: object } = {},
): ToolDefinition {
  const { required = {}, optional = {} } = given;
  const parameters = {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
  return { name, description, parameters };
}

const unit = { enum: ['celsius', 'fahrenheit'] };
const tools = [
  tool('get_weather', 'Tells the weather of a city.', { required: { city: text }, optional: { unit } }),
  tool('refund', 'Refunds an order.', { required: { orderId: text, cents: { type: 'integer' } } }),
  tool('lookup_order', 'Looks up an order by its id.', { required: { orderId: text } }),
  tool('read_file', 'Reads a file of the workspace.', { required: { path: text } }),
  tool('write_file', 'Writes a file of the workspace.', { required: { path: text, content: text } }),
  tool('list_files', 'Lists files.', { required: { path: text } }),
  tool('search_docs', 'Searches the documentation.', {
    required: { query: text },
    optional: { limit: { type: 'integer' } },
  }),
  tool('shell', 'Runs a command in the shell.', { required: { command: text }, optional: { folder: text } }),
  tool('get_time', 'The current time.'),
  tool('send_email', 'Sends an email.', { required: { to: text, body: text }, optional: { subject: text } }),
  tool('retry_payment', 'Tries a payment again.', { required: { paymentId: text } }),
] as const;

const mind = createMind({ seed: 1 });
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

/** The messages of calls that were made, with what came of them. */
function past(
  ...calls: readonly (MindCall & { readonly result: string; readonly isError?: boolean })[]
): readonly Message[] {
  return calls.flatMap(({ name, arguments: given, result, isError = false }, index) => {
    const callId = `call_${index}`;
    return [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', callId, name, argumentsText: JSON.stringify(given) }],
      },
      { role: 'tool', content: [{ type: 'tool-result', callId, name, content: result, isError }] },
    ] as const;
  });
}

const say = (content: string): MindRequest => ({ messages: [user(content)], tools });
const callsOf = (request: MindRequest): readonly (readonly [string, Readonly<Record<string, Json>>])[] =>
  mind.answer(request).toolCalls.map((call) => [call.name, call.arguments]);

describe('a mind, when something is wrong', () => {
  it('asks back for what it was not told, and goes on with the answer', () => {
    const first = mind.answer(say('Refund order 17'));
    expect(first.toolCalls).toEqual([]);
    expect(first.text).toBe('To use refund I still need: cents. What should I take?');
    const messages = [user('Refund order 17'), assistant(first.text ?? ''), user('500')];
    expect(callsOf({ messages, tools })).toEqual([['refund', { orderId: '17', cents: 500 }]]);
  });

  it('takes a bare answer for the one thing it asked for', () => {
    const question = mind.answer(say('use get_weather')).text ?? '';
    const messages = [user('use get_weather'), assistant(question), user('the seaside')];
    expect(callsOf({ messages, tools })).toEqual([['get_weather', { city: 'the seaside' }]]);
  });

  const failed = { isError: true } as const;
  it.each<readonly [string, string, MindCall, string, Readonly<Record<string, Json>>]>([
    [
      'a bound',
      'Search the docs for retries, limit 500',
      { name: 'search_docs', arguments: { query: 'retries', limit: 500 } },
      '"limit" must be at most 50, got 500',
      { query: 'retries', limit: 50 },
    ],
    [
      'a choice',
      'Weather in Oslo in fahrenheit please',
      { name: 'get_weather', arguments: { city: 'Oslo', unit: 'F' } },
      '"unit" must be one of "celsius", "fahrenheit", got "F"',
      { city: 'Oslo', unit: 'fahrenheit' },
    ],
    [
      'another name',
      'read note.txt',
      { name: 'read_file', arguments: { path: 'note.txt' } },
      'There is no file "note.txt". Did you mean "notes.txt"?',
      { path: 'notes.txt' },
    ],
    [
      'another type',
      'Refund order 17 with 500 cents',
      { name: 'refund', arguments: { orderId: '17', cents: '500' } },
      '"cents" must be a number, got "500"',
      { orderId: '17', cents: 500 },
    ],
    [
      'patience',
      'Weather in Oslo',
      { name: 'get_weather', arguments: { city: 'Oslo' } },
      'The service is busy, try again',
      { city: 'Oslo' },
    ],
  ])('corrects a call once where the error asks for %s', (...row) => {
    const [, wish, call, result, corrected] = row;
    const once = [user(wish), ...past({ ...call, result, ...failed })];
    expect(callsOf({ messages: once, tools })).toEqual([[call.name, corrected]]);
    const twice = [
      user(wish),
      ...past({ ...call, result, ...failed }, { ...call, arguments: corrected, result, ...failed }),
    ];
    const answer = mind.answer({ messages: twice, tools });
    expect(answer.toolCalls).toEqual([]);
    expect(answer.text).toContain(`The tool ${call.name} failed: ${result}`);
  });

  it.each([
    'Permission denied by the person',
    'The outcome is unknown: it may have happened. Try again?',
    'Disk on fire',
  ])('does not repeat a call that ended with: %s', (result) => {
    const call = { name: 'refund', arguments: { orderId: '17', cents: 5 }, result, ...failed };
    const answer = mind.answer({ messages: [user('Refund order 17 with 5 cents'), ...past(call)], tools });
    expect(answer.toolCalls).toEqual([]);
    expect(answer.text).toBe(`The tool refund failed: ${result}`);
  });

  it('reads an error where the protocol cannot mark it', () => {
    const call = { name: 'read_file', arguments: { path: 'a.txt' }, result: 'Error: no such file' };
    expect(mind.answer({ messages: [user('read a.txt'), ...past(call)], tools }).text).toBe(
      'The tool read_file failed: Error: no such file',
    );
  });

  it('uses a tool that exists after one that does not', () => {
    const call = { name: 'weather', arguments: {}, result: 'There is no tool "weather"', ...failed };
    const messages = [user('What is the weather in Oslo?'), ...past(call)];
    expect(callsOf({ messages, tools })).toEqual([['get_weather', { city: 'Oslo' }]]);
  });

  it('says that it cannot know', () => {
    expect(mind.answer({ messages: [user('What is the capital of France?')] }).text).toMatch(
      /simulated model and cannot know/,
    );
  });

  it.each(['required', { name: 'refund' }] as const)(
    'does not go on for ever when toolChoice is %j',
    (toolChoice) => {
      let messages: readonly Message[] = [user('Do something')];
      for (let turn = 0; turn < 30; turn += 1) {
        const { toolCalls } = mind.answer({ messages, tools, toolChoice });
        if (toolCalls.length === 0) return;
        messages = [...messages, ...past(...toolCalls.map((call) => ({ ...call, result: 'ok' })))];
      }
      expect.unreachable('It called tools for thirty turns');
    },
  );
});

describe('a mind, in conversation', () => {
  it.each<readonly [string, RegExp]>([
    ['Hello', /^Hello\./],
    ['Who are you?', /simulated/],
    ['Are you a human?', /simulated/],
    ['What is a failure?', /^A failure is plain data/],
    ['how does a retry work', /^A retry sends the same attempt again/],
    ['Explain the fallback', /^A fallback is the next model/],
    ['What is the ladder?', /^Recovery is a ladder/],
    ['what is the journal', /^The journal is the list of events/],
    ['Why did you wait?', /^I cannot see the run/],
    ['What is Rerail?', /^Rerail is an agent runtime/],
    ['help', /My tools here: get_weather/],
    ['What is 12 * (7 + 3)?', /^12 \* \(7 \+ 3\) = 120$/],
    ['what is 0.1 plus 0.2', /= 0\.3$/],
    ['My name is Ada', /^Noted: your name is Ada\.$/],
    ['Thanks!', /welcome|Glad/],
    ['', /nothing for me to answer/],
  ])('answers %j', (said, expected) => {
    const { text: answer, toolCalls } = mind.answer(say(said));
    expect(toolCalls).toEqual([]);
    expect(answer).toMatch(expected);
  });

  it.each<readonly [string, readonly unknown[]]>([
    ['What is the weather in Paris?', [['get_weather', { city: 'Paris' }]]],
    ["What's the weather like in New York tomorrow?", [['get_weather', { city: 'New York' }]]],
    ['Weather in Oslo in celsius', [['get_weather', { city: 'Oslo', unit: 'celsius' }]]],
    [
      'What is the weather in Paris and in London?',
      [
        ['get_weather', { city: 'Paris' }],
        ['get_weather', { city: 'London' }],
      ],
    ],
    [
      'Tell me the weather in Oslo and the time',
      [
        ['get_weather', { city: 'Oslo' }],
        ['get_time', {}],
      ],
    ],
    ['Refund order 17 with 500 cents', [['refund', { orderId: '17', cents: 500 }]]],
    ['Please refund $12.50 for order #A-17', [['refund', { orderId: 'A-17', cents: 1250 }]]],
    ['look up order 17, then refund it 300 cents', [['lookup_order', { orderId: '17' }]]],
    [
      'read src/index.ts and package.json',
      [
        ['read_file', { path: 'src/index.ts' }],
        ['read_file', { path: 'package.json' }],
      ],
    ],
    [
      'write "hello and goodbye" to notes.txt',
      [['write_file', { path: 'notes.txt', content: 'hello and goodbye' }]],
    ],
    ['list the files', [['list_files', { path: '.' }]]],
    ['search the docs for rate limits, limit 5', [['search_docs', { query: 'rate limits', limit: 5 }]]],
    ['search for salt and pepper', [['search_docs', { query: 'salt and pepper' }]]],
    ['run npm test', [['shell', { command: 'npm test' }]]],
    ['Run the command `echo hi > c.txt`', [['shell', { command: 'echo hi > c.txt' }]]],
    ['Run `cat a.txt` in src/lib', [['shell', { command: 'cat a.txt', folder: 'src/lib' }]]],
    ['what time is it?', [['get_time', {}]]],
    [
      'send an email to ada@example.com saying the build is green',
      [['send_email', { to: 'ada@example.com', body: 'the build is green' }]],
    ],
    ['What is a retry?', []],
  ])('does as it is told: %s', (said, expected) => {
    expect(callsOf(say(said))).toEqual(expected);
  });

  it('remembers what it was told, and says what it was not', () => {
    const told = [user('My name is Ada and I live in Lisbon.'), assistant('Noted.')];
    const ask = (question: string): string | undefined =>
      mind.answer({ messages: [...told, user(question)] }).text;
    expect(ask('What is my name?')).toBe('You told me: your name is Ada.');
    expect(ask('Where do I live?')).toContain('Lisbon');
    expect(ask('What is my shoe size?')).toContain('have not told me');
  });

  it('uses what it was told where a tool needs it', () => {
    const messages = [user('I live in Lisbon.'), assistant('Noted.'), user('What is the weather?')];
    expect(callsOf({ messages, tools })).toEqual([['get_weather', { city: 'Lisbon' }]]);
  });

  it('does one thing after the other, with what the first one gave, and then tells both results', () => {
    const wish = user('look up order 17, then refund it');
    const first = {
      name: 'lookup_order',
      arguments: { orderId: '17' },
      result: '{"orderId":"17","cents":4200}',
    };
    const second = { name: 'refund', arguments: { orderId: '17', cents: 4200 } };
    expect(callsOf({ messages: [wish, ...past(first)], tools })).toEqual([[second.name, second.arguments]]);
    const answer = mind.answer({
      messages: [wish, ...past(first, { ...second, result: 'Refunded.' })],
      tools,
    });
    expect(answer.toolCalls).toEqual([]);
    expect(answer.text).toBe(
      'The tool lookup_order answered: {"orderId":"17","cents":4200}\nThe tool refund answered: Refunded.',
    );
  });

  it('calls one tool at a time where it must', () => {
    const request = { ...say('Tell me the weather in Oslo and the time'), parallelToolCalls: false };
    expect(callsOf(request)).toEqual([['get_weather', { city: 'Oslo' }]]);
    const call = { name: 'get_weather', arguments: { city: 'Oslo' }, result: 'Rain' };
    expect(callsOf({ ...request, messages: [...request.messages, ...past(call)] })).toEqual([
      ['get_time', {}],
    ]);
  });

  it('calls no tool when toolChoice is none, and one when it is required', () => {
    expect(callsOf({ ...say('Weather in Oslo'), toolChoice: 'none' })).toEqual([]);
    expect(callsOf({ ...say('Good day'), toolChoice: { name: 'refund' } })).toEqual([
      ['refund', { orderId: 'unknown', cents: 0 }],
    ]);
  });

  it('continues an answer that was begun', () => {
    const whole = mind.answer(say('What is a failure?')).text ?? '';
    const { text: rest } = mind.answer({
      messages: [user('What is a failure?'), assistant(whole.slice(0, 40))],
      tools,
    });
    expect(whole.slice(0, 40) + rest).toBe(whole);
  });
});

describe('a mind, asked for JSON', () => {
  const read = (said: string, schema: JsonSchema): unknown =>
    JSON.parse(mind.answer({ messages: [user(said)], output: { name: 'answer', schema } }).text ?? '');

  it('fills the schema from what was said', () => {
    const schema = {
      type: 'object',
      properties: {
        orderId: text,
        cents: { type: 'integer', minimum: 1 },
        mood: { enum: ['angry', 'happy'] },
        isUrgent: { type: 'boolean' },
        emails: { type: 'array', items: text },
        when: { type: 'string', format: 'date' },
        nested: { $ref: '#/$defs/note' },
      },
      required: ['orderId', 'cents', 'mood', 'isUrgent', 'emails', 'when', 'nested'],
      $defs: { note: { type: 'object', properties: { summary: text }, required: ['summary'] } },
    };
    expect(
      read('I am happy, it is urgent: refund order 17 with 500 cents to ada@example.com', schema),
    ).toEqual({
      orderId: '17',
      cents: 500,
      mood: 'happy',
      isUrgent: true,
      emails: ['ada@example.com'],
      when: '2026-01-01',
      nested: { summary: expect.any(String) as unknown },
    });
  });

  it.each<readonly [string, JsonSchema, unknown]>([
    [
      'a sum',
      { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] },
      { value: 84 },
    ],
    [
      'bounds',
      { type: 'object', properties: { value: { type: 'integer', maximum: 10 } }, required: ['value'] },
      { value: 10 },
    ],
    ['an alternative', { anyOf: [{ type: 'null' }, { type: 'boolean' }] }, false],
    ['a constant', { const: 'yes' }, 'yes'],
  ])('understands %s', (_, schema, expected) => {
    expect(read('What is 12 * 7?', schema)).toEqual(expected);
  });
});

describe('a mind, whatever it is given', () => {
  const words = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      '',
      'Refund order 17, then "x and y"',
      'what is 1/0 + ((((',
      'my name is',
      'To use refund I still need: x.',
      '{"a":1}',
    ),
  );
  const name = fc.oneof(
    fc.constantFrom('refund', 'get_weather', '__proto__', 'a.b', ''),
    fc.string({ maxLength: 12 }),
  );
  const schema = fc.oneof(
    fc.constantFrom<JsonSchema>(
      {
        type: 'object',
        properties: { __proto__: { type: 'string' }, id: { $ref: '#' } },
        required: ['id', 'ghost'],
      },
      { $ref: '#' },
      { anyOf: [{ $ref: '#' }] },
      { type: ['null', 'array'], items: { $ref: '#' }, minItems: 1e9 },
      { type: 'string', minLength: 1e12 },
      { enum: [{ deep: [1, { x: null }] }, 2] },
    ),
    fc.dictionary(
      fc.constantFrom(
        'type',
        'properties',
        'required',
        'enum',
        'items',
        'anyOf',
        'const',
        'default',
        'minItems',
        'format',
      ),
      fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>,
    ),
    fc
      .dictionary(
        name,
        fc.record({ type: fc.constantFrom('string', 'integer', 'boolean', 'array', 'object') }),
      )
      .map((properties) => ({ type: 'object', properties, required: Object.keys(properties) })),
  );
  const definition = fc.record({ name, description: words, parameters: schema });
  const call = fc.record({
    type: fc.constant('tool-call' as const),
    callId: fc.constantFrom('a', 'b'),
    name,
    argumentsText: words,
  });
  const result = fc.record({
    type: fc.constant('tool-result' as const),
    callId: fc.constantFrom('a', 'b'),
    name,
    content: words,
    isError: fc.boolean(),
  });
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({
      role: fc.constantFrom('system' as const, 'user' as const, 'assistant' as const),
      content: words,
    }),
    fc.record({ role: fc.constant('assistant' as const), content: fc.array(call, { maxLength: 3 }) }),
    fc.record({ role: fc.constant('tool' as const), content: fc.array(result, { maxLength: 3 }) }),
  );
  const request: fc.Arbitrary<MindRequest> = fc.record(
    {
      messages: fc.array(message, { maxLength: 8 }),
      tools: fc.array(definition, { maxLength: 5 }),
      toolChoice: fc.constantFrom('auto' as const, 'required' as const, 'none' as const, { name: 'refund' }),
      output: fc.record({ name: fc.constant('answer'), schema }),
    },
    { requiredKeys: ['messages'] },
  );

  it('answers with text or a call, the same every time, and never throws', () => {
    fc.assert(
      fc.property(request, (given) => {
        const answer = mind.answer(given);
        expect(createMind({ seed: 1 }).answer(given)).toEqual(answer);
        expect((answer.text ?? '') !== '' || answer.toolCalls.length > 0).toBe(true);
        expect(answer.usage.inputTokens).toBeGreaterThanOrEqual(0);
        expect(answer.usage.outputTokens).toBeGreaterThan(0);
        const names = (given.tools ?? []).map((each) => each.name);
        for (const made of answer.toolCalls) expect(names).toContain(made.name);
      }),
      { numRuns: 500 },
    );
  });

  it('stops calling tools, whatever they answer', () => {
    const reply = fc.record({ result: words, isError: fc.boolean() });
    fc.assert(
      fc.property(words, fc.array(reply, { minLength: 40, maxLength: 40 }), (wish, replies) => {
        let messages: readonly Message[] = [user(`Weather in Oslo, then read a.txt, then ${wish}`)];
        const turns = replies.findIndex((answered) => {
          const { toolCalls } = mind.answer({ messages, tools });
          messages = [...messages, ...past(...toolCalls.map((made) => ({ ...made, ...answered })))];
          return toolCalls.length === 0;
        });
        expect(turns).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    'a'.repeat(100_000),
    '"'.repeat(50_000),
    'and then '.repeat(20_000),
    '1+'.repeat(50_000),
    'A '.repeat(50_000),
  ])('takes a long text without losing its patience', (long) => {
    expect(mind.answer(say(long)).usage.inputTokens).toBeGreaterThan(0);
  });

  it('chooses its words by the seed', () => {
    const said = new Set(
      Array.from({ length: 20 }, (_, seed) => createMind({ seed }).answer(say('Hello')).text),
    );
    expect(said.size).toBe(2);
  });
});
