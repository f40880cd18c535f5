import { describe, expect, it } from 'vitest';
import { RerailError } from '../errors/rerail-error.ts';
import type { Model } from '../model/model.ts';
import { anthropic } from './anthropic/anthropic.ts';
import { azure } from './azure/azure.ts';
import { gemini } from './gemini/gemini.ts';
import type { Transport, TransportRequest } from './http/transport.ts';
import { ollama } from './ollama/ollama.ts';
import { openaiCompatible } from './openai-compatible/openai-compatible.ts';
import type { OpenAICompatibleProvider } from './openai-compatible/openai-compatible.ts';
import {
  cerebras,
  deepseek,
  fireworks,
  groq,
  llamaCpp,
  lmStudio,
  mistral,
  moonshot,
  openrouter,
  perplexity,
  together,
  vllm,
  xai,
} from './openai-compatible/presets.ts';
import { openai } from './openai/openai.ts';
import { vertex } from './vertex/vertex.ts';

const key = 'Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3';

/** Keeps what is sent and answers nothing of use: what comes back is not the matter here. */
function recorder(): { readonly transport: Transport; readonly requests: TransportRequest[] } {
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    send: (request) => {
      requests.push(request);
      return Promise.reject(new Error('recorded'));
    },
  };
  return { transport, requests };
}

async function sentBy(make: (transport: Transport) => Model): Promise<TransportRequest> {
  const { transport, requests } = recorder();
  await make(transport).call({ messages: [{ role: 'user', content: 'Hello' }] });
  expect(requests).toHaveLength(1);
  const [request] = requests;
  if (request === undefined) throw new Error('nothing was sent');
  return request;
}

function thrownBy(work: () => unknown): RerailError {
  try {
    work();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

interface Case {
  readonly title: string;
  readonly make: (transport: Transport) => Model;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly absent?: readonly string[];
}

const bearer = { authorization: `Bearer ${key}` };
const hosted = (provider: OpenAICompatibleProvider, variable: string, url: string): Case => ({
  title: provider.provider,
  make: (transport) => provider('some-model', { transport, environment: { [variable]: key } }),
  url,
  headers: bearer,
});
const local = (provider: OpenAICompatibleProvider, url: string): Case => ({
  title: provider.provider,
  make: (transport) => provider('some-model', { transport, environment: {} }),
  url,
  headers: {},
  absent: ['authorization'],
});

const cases: readonly Case[] = [
  {
    title: 'openai',
    make: (transport) => openai('gpt-5.2', { transport, environment: { OPENAI_API_KEY: key } }),
    url: 'https://api.openai.com/v1/responses',
    headers: bearer,
    absent: ['openai-organization', 'openai-project'],
  },
  {
    title: 'openai by Chat Completions, with organisation and project',
    make: (transport) =>
      openai('gpt-4o', { transport, apiKey: key, api: 'chat', organization: 'org-1', project: 'proj-1' }),
    url: 'https://api.openai.com/v1/chat/completions',
    headers: { ...bearer, 'openai-organization': 'org-1', 'openai-project': 'proj-1' },
  },
  {
    title: 'openai at another address',
    make: (transport) => openai('gpt-4o', { transport, apiKey: key, baseURL: 'http://127.0.0.1:4000/' }),
    url: 'http://127.0.0.1:4000/v1/responses',
    headers: bearer,
  },
  {
    title: 'anthropic',
    make: (transport) => anthropic('claude-sonnet-5', { transport, environment: { ANTHROPIC_API_KEY: key } }),
    url: 'https://api.anthropic.com/v1/messages',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    absent: ['authorization'],
  },
  {
    title: 'anthropic behind a gateway without its version',
    make: (transport) =>
      anthropic('claude-sonnet-5', { transport, apiKey: key, baseURL: 'https://gateway.example/anthropic/' }),
    url: 'https://gateway.example/anthropic/v1/messages',
    headers: { 'x-api-key': key },
  },
  {
    title: 'gemini',
    make: (transport) => gemini('gemini-2.5-flash', { transport, environment: { GOOGLE_API_KEY: key } }),
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': key },
    absent: ['authorization'],
  },
  {
    title: 'vertex',
    make: (transport) =>
      vertex('gemini-2.5-flash', {
        transport,
        environment: {},
        project: 'acme',
        location: 'europe-west1',
        accessToken: key,
      }),
    url: 'https://europe-west1-aiplatform.googleapis.com/v1/projects/acme/locations/europe-west1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    headers: bearer,
  },
  {
    title: 'vertex from the environment, with a function',
    make: (transport) =>
      vertex('gemini-2.5-flash', {
        transport,
        environment: { GOOGLE_CLOUD_PROJECT: 'acme' },
        accessToken: () => Promise.resolve(key),
      }),
    url: 'https://aiplatform.googleapis.com/v1/projects/acme/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    headers: bearer,
  },
  {
    title: 'azure',
    make: (transport) =>
      azure('my-deployment', {
        transport,
        resourceName: 'contoso',
        environment: { AZURE_OPENAI_API_KEY: key },
      }),
    url: 'https://contoso.openai.azure.com/openai/v1/responses',
    headers: { 'api-key': key },
    absent: ['authorization'],
  },
  {
    title: 'azure by Chat Completions, with a version and an address of the environment',
    make: (transport) =>
      azure('my-deployment', {
        transport,
        api: 'chat',
        apiVersion: 'preview',
        apiKey: key,
        environment: { AZURE_OPENAI_ENDPOINT: 'https://contoso.openai.azure.com/' },
      }),
    url: 'https://contoso.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    headers: { 'api-key': key },
  },
  {
    title: 'ollama',
    make: (transport) => ollama('qwen3:8b', { transport, environment: {} }),
    url: 'http://127.0.0.1:11434/v1/chat/completions',
    headers: {},
    absent: ['authorization'],
  },
  hosted(groq, 'GROQ_API_KEY', 'https://api.groq.com/openai/v1/chat/completions'),
  hosted(mistral, 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1/chat/completions'),
  hosted(deepseek, 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/chat/completions'),
  hosted(openrouter, 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1/chat/completions'),
  hosted(together, 'TOGETHER_API_KEY', 'https://api.together.xyz/v1/chat/completions'),
  hosted(fireworks, 'FIREWORKS_API_KEY', 'https://api.fireworks.ai/inference/v1/chat/completions'),
  hosted(xai, 'XAI_API_KEY', 'https://api.x.ai/v1/chat/completions'),
  hosted(cerebras, 'CEREBRAS_API_KEY', 'https://api.cerebras.ai/v1/chat/completions'),
  hosted(perplexity, 'PERPLEXITY_API_KEY', 'https://api.perplexity.ai/chat/completions'),
  hosted(moonshot, 'MOONSHOT_API_KEY', 'https://api.moonshot.ai/v1/chat/completions'),
  local(lmStudio, 'http://127.0.0.1:1234/v1/chat/completions'),
  local(llamaCpp, 'http://127.0.0.1:8080/v1/chat/completions'),
  local(vllm, 'http://127.0.0.1:8000/v1/chat/completions'),
  {
    title: 'openaiCompatible with a key of its own variable and headers of both places',
    make: (transport) =>
      openaiCompatible({
        name: 'acme',
        baseURL: 'https://llm.acme.example/v1',
        keyVariable: 'ACME_KEY',
        headers: { 'X-Team': 'a', 'X-Place': 'config' },
      })('some-model', { transport, environment: { ACME_KEY: key }, headers: { 'x-place': 'model' } }),
    url: 'https://llm.acme.example/v1/chat/completions',
    headers: { ...bearer, 'x-team': 'a', 'x-place': 'model' },
  },
];

describe('every provider', () => {
  it.each(cases)(
    '$title asks the right address with the right headers',
    async ({ make, url, headers, absent = [] }) => {
      const request = await sentBy(make);
      expect(request.url).toBe(url);
      expect(request.headers).toMatchObject(headers);
      for (const name of absent) expect(request.headers).not.toHaveProperty(name);
      expect(request.url).not.toContain(key);
    },
  );

  it.each(cases)('$title has a quota key without the key in it', ({ make }) => {
    const model = make(recorder().transport);
    expect(model.quotaKey).toContain(`${model.provider} http`);
    expect(model.quotaKey).not.toContain(key);
  });

  it.each([
    [openai, 'OPENAI_API_KEY'],
    [anthropic, 'ANTHROPIC_API_KEY'],
    [gemini, 'GEMINI_API_KEY or GOOGLE_API_KEY'],
    [groq, 'GROQ_API_KEY'],
    [mistral, 'MISTRAL_API_KEY'],
    [deepseek, 'DEEPSEEK_API_KEY'],
    [openrouter, 'OPENROUTER_API_KEY'],
    [together, 'TOGETHER_API_KEY'],
    [fireworks, 'FIREWORKS_API_KEY'],
    [xai, 'XAI_API_KEY'],
    [cerebras, 'CEREBRAS_API_KEY'],
    [perplexity, 'PERPLEXITY_API_KEY'],
    [moonshot, 'MOONSHOT_API_KEY'],
  ])('$provider says when the model is made that %s is missing', (provider, variable) => {
    const error = thrownBy(() => provider('some-model', { environment: {} }));
    expect(error.code).toBe('PROVIDER_NOT_CONFIGURED');
    expect(error.message).toBe(
      `${provider.provider} has no API key: set ${variable} in the environment, or hand in the option "apiKey"`,
    );
  });

  it.each(['', '  ', 'two words', 'ümlaut', 'a'.repeat(257), undefined as unknown as string])(
    'refuses %j as the name of a model',
    (name) => {
      expect(thrownBy(() => openai(name, { apiKey: key })).code).toBe('CONFIG_ERROR');
    },
  );
});

describe('a key or address of another provider', () => {
  it('is caught at the provider itself, and taken at a server of the user', () => {
    const apiKey = `sk-ant-api03-${key}`;
    expect(thrownBy(() => openai('gpt-5', { apiKey })).message).toContain('belongs to Anthropic');
    expect(thrownBy(() => groq('a', { apiKey })).message).toContain('belongs to Anthropic');
    const options = { apiKey, baseURL: 'https://gateway.example/v1' };
    expect(openai('gpt-5', options).quotaKey).toContain('https://gateway.example');
  });

  it('is no matter for azure, whose keys look like nothing, but a foreign one is caught there too', () => {
    const options = { resourceName: 'contoso', apiKey: `sk-proj-${key}` };
    expect(thrownBy(() => azure('a', options)).message).toContain('belongs to OpenAI');
  });
});

describe('anthropic()', () => {
  it.each([
    ['claude-sonnet-5', { effort: 'low' }, { type: 'adaptive' }],
    ['claude-opus-4-5', { effort: 'low' }, undefined],
    ['claude-sonnet-4-5-20250929', undefined, { type: 'enabled', budget_tokens: 2048 }],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', undefined, { type: 'enabled', budget_tokens: 2048 }],
    ['glm-5', undefined, { type: 'enabled', budget_tokens: 2048 }],
  ])('asks %s to think in its own words', async (name, outputConfig, thinking) => {
    const { transport, requests } = recorder();
    await anthropic(name, { transport, apiKey: key }).call({
      messages: [{ role: 'user', content: 'Hello' }],
      reasoning: { effort: 'low' },
    });
    const body = JSON.parse(requests[0]?.body ?? '{}') as Readonly<Record<string, unknown>>;
    expect(body['output_config']).toEqual(outputConfig);
    expect(body['thinking']).toEqual(thinking);
  });

  it('takes a broken answer to go on from only where the model takes it', async () => {
    const request = { messages: [{ role: 'user', content: 'Hello' }], continueFrom: 'Once' } as const;
    const { transport, requests } = recorder();
    await anthropic('claude-sonnet-5', { transport, apiKey: key }).call(request);
    expect(requests).toHaveLength(0);
    await anthropic('claude-sonnet-4-5', { transport, apiKey: key }).call(request);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.body).toContain('Once');
  });
});

describe('azure()', () => {
  it('says what to hand in when it has no address', () => {
    const error = thrownBy(() => azure('a', { apiKey: key, environment: {} }));
    expect(error.code).toBe('PROVIDER_NOT_CONFIGURED');
    expect(error.message).toContain('"resourceName" or "baseURL", or set AZURE_OPENAI_ENDPOINT');
  });

  it.each(['https://contoso.openai.azure.com', 'contoso.openai', '', 'a/b'])(
    'refuses %j as the name of a resource',
    (resourceName) => {
      expect(thrownBy(() => azure('a', { apiKey: key, resourceName })).code).toBe('CONFIG_ERROR');
    },
  );
});

describe('vertex()', () => {
  const base = { project: 'acme', location: 'global', environment: {} } as const;

  it('says what to hand in when project or token are missing', () => {
    expect(thrownBy(() => vertex('a', { accessToken: key, environment: {} })).message).toContain(
      'vertex has no project',
    );
    expect(thrownBy(() => vertex('a', base)).message).toContain('vertex has no access token');
  });

  it('refuses a token or a project that cannot be one', () => {
    expect(thrownBy(() => vertex('a', { ...base, accessToken: `${key}\n` })).message).toContain(
      'The option "accessToken" of vertex ends in a line break',
    );
    expect(thrownBy(() => vertex('a', { ...base, project: 'a/../b', accessToken: key })).code).toBe(
      'CONFIG_ERROR',
    );
  });

  it('asks for a token before every attempt', async () => {
    const { transport, requests } = recorder();
    let count = 0;
    const accessToken = (): string => {
      count += 1;
      return `${key}${count}`;
    };
    const model = vertex('gemini-2.5-pro', { ...base, transport, accessToken });
    const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
    await model.call(request);
    await model.call(request);
    expect(requests.map(({ headers }) => headers['authorization'])).toEqual([
      `Bearer ${key}1`,
      `Bearer ${key}2`,
    ]);
  });

  it('makes a failure of a token that cannot be had, and sends nothing', async () => {
    const { transport, requests } = recorder();
    const accessToken = (): Promise<string> => Promise.reject(new Error('no credentials here'));
    const response = await vertex('gemini-2.5-pro', { ...base, transport, accessToken }).call({
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(response.type).toBe('failure');
    expect(requests).toEqual([]);
  });
});

describe('ollama()', () => {
  it.each([
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:11500', 'http://127.0.0.1:11500'],
    [':11500', 'http://127.0.0.1:11500'],
    ['box', 'http://box:11434'],
    ['box:80', 'http://box'],
    ['http://box:11434/', 'http://box:11434'],
    ['https://box.example', 'https://box.example'],
    ['[::1]:11434', 'http://[::1]:11434'],
    ['', 'http://127.0.0.1:11434'],
  ])('reads OLLAMA_HOST=%s', async (host, origin) => {
    const request = await sentBy((transport) =>
      ollama('a', { transport, environment: { OLLAMA_HOST: host } }),
    );
    expect(request.url).toBe(`${origin}/v1/chat/completions`);
  });

  it('says that OLLAMA_HOST is wrong', () => {
    const error = thrownBy(() => ollama('a', { environment: { OLLAMA_HOST: 'ftp://box' } }));
    expect(error.message).toContain('The address in OLLAMA_HOST of ollama begins with "ftp://"');
    expect(thrownBy(() => ollama('a', { environment: { OLLAMA_HOST: 'a b' } })).code).toBe('CONFIG_ERROR');
  });
});

describe('openaiCompatible()', () => {
  it.each([
    ['no name', { name: '', baseURL: 'https://a.example/v1' }],
    ['a colon in its name', { name: 'a:b', baseURL: 'https://a.example/v1' }],
    ['no address', { name: 'acme' } as { name: string; baseURL: string }],
    ['nothing', undefined as unknown as { name: string; baseURL: string }],
  ])('refuses %s when it is made', (_title, config) => {
    expect(thrownBy(() => openaiCompatible(config)).code).toBe('CONFIG_ERROR');
  });

  it('needs no key, has no price by its name, and can be told what it can do', () => {
    const acme = openaiCompatible({
      name: 'openai',
      baseURL: 'http://127.0.0.1:8000/v1',
      dialect: { continuation: 'plain' },
      capabilities: { images: false },
    });
    const model = acme('gpt-4o', { capabilities: { tools: false } });
    expect(model.price).toBeUndefined();
    expect(model.quotaKey).toBe('openai http://127.0.0.1:8000 no-key');
    expect(model.capabilities).toMatchObject({ images: false, tools: false, continuation: 'prefill' });
  });

  it('lets DeepSeek continue an answer only below its beta address', () => {
    const options = { apiKey: key };
    expect(deepseek('deepseek-v4-pro', options).capabilities.continuation).toBe('none');
    const beta = { ...options, baseURL: 'https://api.deepseek.com/beta/' };
    expect(deepseek('deepseek-v4-pro', beta).capabilities.continuation).toBe('prefill');
  });
});

describe('openai()', () => {
  it.each([openai, azure])('refuses an API that it does not speak', (provider) => {
    const api = 'completions' as 'chat';
    const options = { apiKey: key, baseURL: 'https://a.example/v1', api };
    const error = thrownBy(() => provider('gpt-5.2', options));
    expect(error.code).toBe('CONFIG_ERROR');
    expect(error.message).toContain('"api" must be "responses" or "chat", got "completions": leave it out');
  });
});

describe('options that every provider takes', () => {
  it('refuses a price that is none', () => {
    const price = { inputUsd: Number.NaN, outputUsd: 1, asOf: '2026-01-01' };
    expect(thrownBy(() => openai('a', { apiKey: key, price })).message).toContain('has NaN as "inputUsd"');
  });

  it('needs no key where a header carries the credentials', async () => {
    const headers = { Authorization: 'Bearer of-my-own' };
    const request = await sentBy((transport) => openai('a', { transport, headers, environment: {} }));
    expect(request.headers['authorization']).toBe('Bearer of-my-own');
  });

  it('sends through the fetch that was handed in', async () => {
    const seen: string[] = [];
    const fetch = ((url: string) => {
      seen.push(url);
      return Promise.resolve(new Response('{"error":{"message":"no"}}', { status: 400 }));
    }) as typeof globalThis.fetch;
    const response = await openai('a', { apiKey: key, fetch }).call({
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(seen).toEqual(['https://api.openai.com/v1/responses']);
    expect(response).toMatchObject({ type: 'failure', failure: { code: 'INVALID_REQUEST' } });
  });
});

describe('a model that is asked', () => {
  const messages = [{ role: 'user', content: 'Hello' }] as const;

  it('refuses what it does not take before anything is sent', async () => {
    const { transport, requests } = recorder();
    const response = await anthropic('claude-sonnet-5', { transport, apiKey: key }).call({
      messages,
      seed: 1,
    });
    expect(response).toMatchObject({
      type: 'failure',
      failure: {
        code: 'CONFIG_ERROR',
        message: 'anthropic (claude-sonnet-5) does not take "seed": leave it out or choose another model',
      },
      partial: { text: '', content: [] },
    });
    expect(requests).toEqual([]);
  });

  it.each([
    undefined,
    null,
    {},
    { messages: 'Hello' },
    { messages: [null] },
    { messages: [{ role: 'user' }] },
  ])('does not reject when it is handed %j', async (request) => {
    const { transport, requests } = recorder();
    const model = openai('gpt-5', { transport, apiKey: key });
    expect(await model.call(request as never)).toMatchObject({ failure: { code: 'CONFIG_ERROR' } });
    expect(requests).toEqual([]);
  });

  it('says what was probably meant when the provider does not know it', async () => {
    const body = { type: 'error', error: { type: 'not_found_error', message: 'model: claude-sonet-5' } };
    const fetch = (() => Promise.resolve(Response.json(body, { status: 404 }))) as typeof globalThis.fetch;
    const response = await anthropic('claude-sonet-5', { fetch, apiKey: key }).call({ messages });
    expect(response).toMatchObject({
      type: 'failure',
      failure: {
        code: 'MODEL_NOT_FOUND',
        context: { nearest: expect.arrayContaining(['claude-sonnet-5']) as unknown },
      },
    });
    expect(response.type === 'failure' && response.failure.hint).toContain('Did you mean "claude-sonnet-5"');
  });
});
