import { createAgent, RerailError, tool } from 'rerail';
import type { ToolChoice } from 'rerail/model';
import { aiSdk } from 'rerail/providers/ai-sdk';
import { anthropic } from 'rerail/providers/anthropic';
import { gemini } from 'rerail/providers/gemini';
import { openai } from 'rerail/providers/openai';
import { memoryStore, scriptedModel } from 'rerail/testing';
import type { ScriptedModel, ScriptStep } from 'rerail/testing';
import { describe, expect, it } from 'vitest';

const empty = { type: 'object', properties: {} };
const search = tool({
  name: 'search',
  description: 'Searches.',
  input: empty,
  effect: 'read',
  execute: () => 'found',
});
const other = tool({
  name: 'other',
  description: 'Does something else.',
  input: empty,
  effect: 'read',
  execute: () => 'done',
});
const searching: ScriptStep = { toolCalls: [{ name: 'search' }] };

function choicesOf(model: ScriptedModel): readonly (ToolChoice | undefined)[] {
  return model.calls.map(({ request }) => request.toolChoice);
}

describe('toolChoice', () => {
  const named = { name: 'search' } as const;
  it.each([
    { toolChoice: undefined, sent: [undefined, undefined] },
    { toolChoice: 'auto', sent: [undefined, undefined] },
    { toolChoice: 'required', sent: ['required', undefined] },
    { toolChoice: named, sent: [named, undefined] },
  ] as const)('$toolChoice holds for the first answer only', async ({ toolChoice, sent }) => {
    for (const place of ['agent', 'run'] as const) {
      const model = scriptedModel([searching, 'Done.']);
      const own = toolChoice === undefined ? {} : { toolChoice };
      const agent = createAgent({ model, tools: [search, other], ...(place === 'agent' ? own : {}) });
      const outcome = await agent.run('Go', place === 'run' ? own : {});
      expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
      expect(choicesOf(model)).toEqual(sent);
    }
  });

  it('none holds for the whole run', async () => {
    const model = scriptedModel(['not JSON', '{"a":1}']);
    const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    const agent = createAgent({ model, tools: [search], output, toolChoice: 'none' });
    expect(await agent.run('Go')).toMatchObject({ type: 'completed', output: { a: 1 } });
    expect(choicesOf(model)).toEqual(['none', 'none']);
  });

  it('of a run wins over that of the agent', async () => {
    const model = scriptedModel([searching, 'Done.', 'Done.']);
    const agent = createAgent({ model, tools: [search], toolChoice: 'none' });
    await agent.run('Go', { toolChoice: 'required' });
    await agent.run('Go');
    expect(choicesOf(model)).toEqual(['required', undefined, 'none']);
  });

  it('may name a tool of the run', async () => {
    const model = scriptedModel([searching, 'Done.']);
    await createAgent({ model }).run('Go', { tools: [search], toolChoice: named });
    expect(choicesOf(model)).toEqual([named, undefined]);
  });

  it('stays as long as there is no answer: over retries, a failed run and another process', async () => {
    const store = memoryStore();
    const first = scriptedModel([{ failure: 'SERVER_ERROR' }, { failure: 'INVALID_REQUEST' }]);
    const quick = { retry: { baseDelayMs: 1, maxDelayMs: 1, jitter: 0 } } as const;
    const begun = createAgent({ model: first, tools: [search], store, policy: quick });
    const { type, runId } = await begun.run('Go', { toolChoice: 'required' });
    expect(type).toBe('failed');
    const second = scriptedModel([searching, 'Done.']);
    const resumed = createAgent({ model: second, tools: [search], store: store.reopen() });
    expect(await resumed.resume(runId)).toMatchObject({ type: 'completed' });
    expect([...choicesOf(first), ...choicesOf(second)]).toEqual([
      'required',
      'required',
      'required',
      undefined,
    ]);
  });

  it('is asked for beside a schema of the answer, which holds once tools are done', async () => {
    const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    const model = scriptedModel([searching, '{"a":1}'], { capabilities: { structuredOutput: 'native' } });
    const agent = createAgent({ model, tools: [search], output, toolChoice: 'required' });
    expect(await agent.run('Go')).toMatchObject({ type: 'completed', output: { a: 1 } });
    expect(model.calls.map(({ request }) => [request.toolChoice, request.output?.name])).toEqual([
      ['required', 'answer'],
      [undefined, 'answer'],
    ]);
  });

  it('does not end a run whose model ignores it', async () => {
    const model = scriptedModel(['I will not.']);
    const agent = createAgent({ model, tools: [search], toolChoice: 'required' });
    expect(await agent.run('Go')).toMatchObject({ type: 'completed', text: 'I will not.' });
  });

  it.each([
    { toolChoice: { name: 'serach' }, tools: [search], says: '"toolChoice" names "serach"' },
    { toolChoice: { tool: 'search' }, tools: [search], says: '"toolChoice" must be' },
    { toolChoice: 'any', tools: [search], says: 'write "required"' },
    { toolChoice: 'required', tools: [], says: 'there are no tools' },
  ])('$toolChoice is refused before anything is sent: $says', async ({ toolChoice, tools, says }) => {
    const model = scriptedModel([]);
    const make = (): unknown => createAgent({ model, tools, toolChoice: toolChoice as never });
    expect(make).toThrow(says);
    const agent = createAgent({ model, tools });
    const error: unknown = await agent
      .run('Go', { toolChoice: toolChoice as never })
      .catch((thrown: unknown) => thrown);
    expect(RerailError.isInstance(error) && error.message).toContain(says);
    expect(model.calls).toEqual([]);
  });
});

describe('toolChoice on the wire', () => {
  type Body = Readonly<Record<string, unknown>>;
  type Make = (fetch: typeof globalThis.fetch) => ReturnType<typeof openai>;
  const forced: readonly {
    readonly protocol: string;
    readonly make: Make;
    readonly field: string;
    readonly sent: unknown;
  }[] = [
    {
      protocol: 'OpenAI Chat',
      make: (fetch) => openai('gpt-5.2', { apiKey: 'k', fetch, api: 'chat' }),
      field: 'tool_choice',
      sent: { type: 'function', function: { name: 'search' } },
    },
    {
      protocol: 'OpenAI Responses',
      make: (fetch) => openai('gpt-5.2', { apiKey: 'k', fetch, api: 'responses' }),
      field: 'tool_choice',
      sent: { type: 'function', name: 'search' },
    },
    {
      protocol: 'Anthropic',
      make: (fetch) => anthropic('claude-sonnet-5', { apiKey: 'k', fetch }),
      field: 'tool_choice',
      sent: { type: 'tool', name: 'search' },
    },
    {
      protocol: 'Gemini',
      make: (fetch) => gemini('gemini-3-pro', { apiKey: 'k', fetch }),
      field: 'toolConfig',
      sent: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['search'] } },
    },
  ];

  it.each(forced)('is written as $protocol takes it', async ({ make, field, sent }) => {
    const bodies: Body[] = [];
    const refuse = (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
      bodies.push(JSON.parse(String(init?.body)) as Body);
      return Promise.resolve(
        new Response('{"error":{"message":"no","code":"invalid_request"}}', { status: 400 }),
      );
    };
    const agent = createAgent({
      model: make(refuse as typeof globalThis.fetch),
      tools: [search, other],
      toolChoice: { name: 'search' },
      policy: { retry: 'none' },
    });
    await agent.run('Go');
    expect(bodies.map((body) => body[field])).toEqual([sent]);
  });

  it('is handed to a model of the AI SDK', async () => {
    const asked: Body[] = [];
    const refuse = (options: Body): Promise<never> => {
      asked.push(options);
      return Promise.reject(new Error('no'));
    };
    const sdk = {
      specificationVersion: 'v2',
      provider: 'p',
      modelId: 'm',
      supportedUrls: {},
      doGenerate: refuse,
      doStream: refuse,
    };
    const model = aiSdk(sdk);
    const agent = createAgent({
      model,
      tools: [search],
      toolChoice: { name: 'search' },
      policy: { retry: 'none' },
    });
    await agent.run('Go');
    expect(asked.map((options) => options['toolChoice'])).toEqual([{ type: 'tool', toolName: 'search' }]);
  });
});
