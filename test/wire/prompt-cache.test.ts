import { describe, expect, it } from 'vitest';
import { callModel, createAgent } from '../../src/index.ts';
import type { RunEvent } from '../../src/index.ts';
import type { Json } from '../../src/base/json.ts';
import { anthropic } from '../../src/providers/anthropic/index.ts';
import { openrouter } from '../../src/providers/openai-compatible/index.ts';
import { plainTool } from '../agent/scene.ts';
import { startWire, wires } from './wire-server.ts';
import type { WireAnswer, WireRequest, WireScene } from './wire-server.ts';

const turns = 20;
const script: readonly WireAnswer[] = [
  ...Array.from({ length: turns }, (_value, index) => ({
    text: `Step ${index}.`,
    calls: [{ id: `c${index}`, name: 'look', args: `{"page":${index}}` }],
  })),
  { text: 'Done.' },
];

async function runTurns(scene: WireScene, model = scene.model): Promise<readonly WireRequest[]> {
  const tools = ['look', 'write', 'ask'].map((name) =>
    plainTool({ name, effect: 'read', execute: (input) => `${name}: ${JSON.stringify(input)}` }),
  );
  const agent = createAgent({
    name: 'reader',
    model,
    tools,
    instructions: 'Read all pages.',
    limits: { maxTurns: 50 },
  });
  expect(await agent.run('Go.')).toMatchObject({ type: 'completed', text: 'Done.' });
  expect(scene.requests).toHaveLength(turns + 1);
  return scene.requests;
}

/** What a request is made of, in the order in which providers cache it. */
function promptOf({ body }: WireRequest): readonly string[] {
  const { tools, system, instructions, systemInstruction, messages, input, contents } = body;
  const history = (messages ?? input ?? contents) as readonly unknown[];
  return [tools, system ?? instructions ?? systemInstruction, ...history].map((part) =>
    JSON.stringify(part ?? null),
  );
}

const withoutMarks = (text: string): string => text.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
const withMark = (fields: Readonly<Record<string, Json>>): Json => ({
  ...fields,
  cache_control: { type: 'ephemeral' },
});
const marksIn = (text: string): number => text.split('"cache_control"').length - 1;

describe.each(wires)('the prompt of a run on %s', (wire) => {
  it('begins with the prompt of the turn before, byte for byte, over 20 turns', async () => {
    const requests = await runTurns(await startWire(wire, script));
    for (const [index, request] of requests.entries()) {
      const next = requests[index + 1];
      if (next === undefined) continue;
      const prompt = promptOf(request).map(withoutMarks);
      expect(promptOf(next).map(withoutMarks).slice(0, prompt.length)).toEqual(prompt);
    }
  });
});

describe('the prompt cache of Anthropic', () => {
  it('is asked for by every turn of an agent: tools, instructions and the conversation so far', async () => {
    const requests = await runTurns(await startWire('anthropic', script));
    for (const request of requests) {
      const { tools, system, messages } = request.body as {
        readonly tools: readonly unknown[];
        readonly system: readonly unknown[];
        readonly messages: readonly { readonly role: string; readonly content: readonly unknown[] }[];
      };
      expect(tools.at(-1)).toHaveProperty('cache_control', { type: 'ephemeral' });
      expect(system.at(-1)).toHaveProperty('cache_control', { type: 'ephemeral' });
      expect(messages.at(-1)?.content.at(-1)).toHaveProperty('cache_control', { type: 'ephemeral' });
      // Where the request before had its mark, so that what it wrote is found.
      expect((messages.at(-3) ?? messages.at(-1))?.content.at(-1)).toHaveProperty('cache_control');
      expect(marksIn(request.text)).toBeLessThanOrEqual(4);
    }
  });

  it('can be switched off', async () => {
    const scene = await startWire('anthropic', script);
    const { port } = scene.server.address() as { readonly port: number };
    const model = anthropic('claude-sonnet-4-5', {
      apiKey: 'test-key-0123456789',
      baseURL: `http://127.0.0.1:${port}/v1`,
      promptCache: false,
    });
    for (const { text } of await runTurns(scene, model)) expect(marksIn(text)).toBe(0);
  });

  it('gives way to marks of the caller, and never takes more than four', async () => {
    const { model, requests } = await startWire('anthropic', [{ text: 'Hi.' }]);
    const marked = (text: string) => ({ type: 'text', text, cache: true }) as const;
    const tools = [{ name: 'look', parameters: { type: 'object', properties: {} } }];
    for (const count of [0, 1, 2, 3, 4, 6]) {
      const content = [
        ...Array.from({ length: count }, (_value, index) => marked(`Part ${index}`)),
        { type: 'text', text: 'Go.' },
      ] as const;
      await callModel(model, {
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content },
        ],
        tools,
      });
    }
    for (const { text } of requests) {
      expect(marksIn(text)).toBeGreaterThan(0);
      expect(marksIn(text)).toBeLessThanOrEqual(4);
    }
  });

  it.each<[string, Readonly<Record<string, Json>>]>([
    ['a mark for the whole request', { cache_control: { type: 'ephemeral' } }],
    ['tools', { tools: ['a', 'b'].map((name) => withMark({ name, input_schema: { type: 'object' } })) }],
    ['a system', { system: ['a', 'b', 'c'].map((text) => withMark({ type: 'text', text })) }],
  ])('counts the marks in providerOptions: %s', async (_what, anthropicOptions) => {
    const { model, requests } = await startWire('anthropic', [{ text: 'Hi.' }]);
    await callModel(model, {
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'One.' },
        { role: 'assistant', content: 'Two.' },
        { role: 'user', content: 'Three.' },
      ],
      tools: [{ name: 'look', parameters: { type: 'object', properties: {} } }],
      providerOptions: { anthropic: anthropicOptions },
    });
    expect(marksIn(requests[0]?.text ?? '')).toBeLessThanOrEqual(4);
  });

  it('is not written for a question that is asked once', async () => {
    const { model, requests } = await startWire('anthropic', [{ text: 'Hi.' }]);
    await callModel(model, { messages: [{ role: 'user', content: 'Hi' }] });
    expect(marksIn(requests[0]?.text ?? '')).toBe(0);
  });

  it('shows in the events, and in what a run costs', async () => {
    const events: RunEvent[] = [];
    const { model } = await startWire('anthropic', [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            id: 'r',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [{ type: 'text', text: 'Hi.' }],
            stop_reason: 'end_turn',
            usage: {
              input_tokens: 100_000,
              cache_read_input_tokens: 1_000_000,
              cache_creation_input_tokens: 200_000,
              output_tokens: 0,
            },
          }),
        );
      },
    ]);
    const agent = createAgent({ name: 'reader', model });
    const { usage } = await agent.run('Hi.', { onEvent: (event) => void events.push(event) });
    expect(usage).toMatchObject({ inputTokens: 1_300_000, cacheReadTokens: 1_000_000 });
    const finished = events.find(({ type }) => type === 'model-finished');
    expect(finished).toMatchObject({
      inputTokens: 1_300_000,
      cacheReadTokens: 1_000_000,
      cacheWriteTokens: 200_000,
    });
    const inputUsd = model.price?.inputUsd ?? Number.NaN;
    expect(finished).toHaveProperty(
      'costUsd',
      expect.closeTo(inputUsd * (0.1 + 0.1 + 0.2 * 1.25), 6) as number,
    );
  });

  it('is asked for through OpenRouter where the model is one of Anthropic', async () => {
    for (const [name, isMarked] of [
      ['anthropic/claude-sonnet-4.5', true],
      ['openai/gpt-4o', false],
    ] as const) {
      const scene = await startWire('openai-chat', script);
      const { port } = scene.server.address() as { readonly port: number };
      const model = openrouter(name, {
        apiKey: 'test-key-0123456789',
        baseURL: `http://127.0.0.1:${port}/v1`,
      });
      for (const { text } of await runTurns(scene, model)) expect(marksIn(text)).toBe(isMarked ? 2 : 0);
    }
  });
});
