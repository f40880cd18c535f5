import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusalOf } from '../../../test/cli/config-world.ts';
import { createModelRegistry } from '../../providers/registry.ts';
import { knownModels } from '../../providers/known-models.ts';
import { chooseModel, defaultModels } from './choose-model.ts';
import type { ChooseOptions, ModelChoice } from './choose-model.ts';
import { findLocalServer } from './local-server.ts';

const anthropicKey = `sk-ant-api03-${'b'.repeat(90)}`;
const openaiKey = `sk-proj-${'c'.repeat(60)}`;

function choose(options: Partial<ChooseOptions>): Promise<ModelChoice> {
  return chooseModel({ wanted: undefined, env: {}, findLocal: () => Promise.resolve(undefined), ...options });
}

describe('a key that cannot be one (U04)', () => {
  const wanted = { names: ['anthropic:claude-sonnet-5'], from: 'flag --model' };
  const rows: readonly {
    readonly fault: string;
    readonly env: ChooseOptions['env'];
    readonly says: RegExp;
    readonly isAsked?: true;
  }[] = [
    { fault: 'is missing', env: {}, says: /^anthropic has no API key: set ANTHROPIC_API_KEY/, isAsked: true },
    { fault: 'is empty', env: { ANTHROPIC_API_KEY: '  ' }, says: /^anthropic has no API key/, isAsked: true },
    {
      fault: 'ends in a line break',
      env: { ANTHROPIC_API_KEY: `${anthropicKey}\n` },
      says: /ends in a line break/,
    },
    {
      fault: 'has a line break in it',
      env: { ANTHROPIC_API_KEY: `${anthropicKey}\nx` },
      says: /has a line break in it/,
    },
    {
      fault: 'has quotes around it',
      env: { ANTHROPIC_API_KEY: `"${anthropicKey}"` },
      says: /has quotes around it: remove them/,
    },
    {
      fault: 'is of another provider',
      env: { ANTHROPIC_API_KEY: openaiKey },
      says: /begins with "sk-proj-" and so belongs to OpenAI/,
    },
    { fault: 'is a placeholder', env: { ANTHROPIC_API_KEY: 'your-api-key' }, says: /is a placeholder/ },
  ];

  it.each(rows)('is refused before any request where it $fault', async ({ env, says, isAsked }) => {
    const byName = await refusalOf(choose({ wanted, env }));
    expect(byName.code).toBe('PROVIDER_NOT_CONFIGURED');
    expect(byName.message).toMatch(says);
    expect(JSON.stringify(byName)).not.toMatch(/bbbbb|ccccc/);
    const chosen = isAsked === true ? (await choose({ env })).from : (await refusalOf(choose({ env }))).code;
    expect(chosen).toBe(isAsked === true ? 'default' : 'PROVIDER_NOT_CONFIGURED');
  });

  it('does not end a choice of which it is only the fallback', async () => {
    const env = { ANTHROPIC_API_KEY: anthropicKey, OPENAI_API_KEY: `"${openaiKey}"` };
    const { models, line, notices } = await choose({ env });
    expect(models).toHaveLength(1);
    expect(line).toBe('Model: anthropic:claude-sonnet-5, because ANTHROPIC_API_KEY is set.');
    expect(notices).toEqual([
      expect.stringMatching(/^OPENAI_API_KEY is set and not used as fallback: .* has quotes around it/),
    ]);
  });
});

describe('a model that is none', () => {
  it.each([
    { name: 'antropic:x', code: 'NOT_REGISTERED', says: 'did you mean "anthropic"?' },
    { name: 'claude-sonnet-5', code: 'CONFIG_ERROR', says: 'anthropic:claude-sonnet-5' },
    { name: 'bedrock:x', code: 'PROVIDER_NOT_SUPPORTED', says: 'openaiCompatible' },
  ])('$name is refused with what was probably meant', async ({ name, code, says }) => {
    const refused = await refusalOf(choose({ wanted: { names: [name], from: 'flag --model' } }));
    expect(refused.code).toBe(code);
    expect(refused.message).toContain(says);
  });
});

describe('chooseModel()', () => {
  const local = { provider: 'ollama', port: 11_434, model: 'qwen3:8b' };
  const rows: readonly {
    readonly when: string;
    readonly options: Partial<ChooseOptions>;
    readonly models: readonly string[];
    readonly line: string;
  }[] = [
    {
      when: 'something was asked for, before every key',
      options: {
        wanted: { names: ['ollama:qwen3:8b'], from: 'rerail.config.json:3' },
        env: { ANTHROPIC_API_KEY: anthropicKey },
      },
      models: ['ollama:qwen3:8b'],
      line: 'Model: ollama:qwen3:8b, because rerail.config.json:3 says so.',
    },
    {
      when: 'the embedded one was asked for by name',
      options: { wanted: { names: ['simulated'], from: 'flag --model' } },
      models: ['simulated:embedded'],
      line: 'Model: the embedded one, which only plays a part, because --model says so.',
    },
    {
      when: 'a chain was asked for and one of it has no key',
      options: {
        wanted: {
          names: ['anthropic:claude-sonnet-5', 'openai:gpt-5.4', 'ollama:qwen3:8b'],
          from: 'environment RERAIL_MODEL',
        },
        env: { ANTHROPIC_API_KEY: anthropicKey },
      },
      models: ['anthropic:claude-sonnet-5', 'ollama:qwen3:8b'],
      line: 'Model: anthropic:claude-sonnet-5 (and ollama:qwen3:8b as fallback), because RERAIL_MODEL says so.',
    },
    {
      when: 'two keys are set',
      options: {
        env: { OPENAI_API_KEY: openaiKey, ANTHROPIC_API_KEY: anthropicKey },
        findLocal: () => Promise.resolve(local),
      },
      models: ['anthropic:claude-sonnet-5', 'openai:gpt-5.4'],
      line: 'Model: anthropic:claude-sonnet-5, because ANTHROPIC_API_KEY is set (and OPENAI_API_KEY as fallback).',
    },
    {
      when: 'a server answers',
      options: { findLocal: () => Promise.resolve(local) },
      models: ['ollama:qwen3:8b'],
      line: 'Model: ollama:qwen3:8b, because no key is set and a server on this machine answers at 127.0.0.1:11434.',
    },
    {
      when: 'there is nothing',
      options: {},
      models: ['simulated:embedded'],
      line: 'Model: the embedded one, which only plays a part: no key in the environment, no server on this machine. Set ANTHROPIC_API_KEY, or start Ollama.',
    },
    {
      when: 'a key says nothing about the model',
      options: { env: { OPENROUTER_API_KEY: 'sk-or-v1-abcabcabcabc' } },
      models: ['simulated:embedded'],
      line: 'Model: the embedded one, which only plays a part: OPENROUTER_API_KEY is set, but which of its models is meant is not. Say it: --model openrouter:<model>',
    },
  ];

  it.each(rows)('says why where $when', async ({ options, models, line }) => {
    const choice = await choose(options);
    expect(choice.models.map(({ name }) => name)).toEqual(models);
    expect(choice.line).toBe(line);
  });

  it.each(defaultModels)(
    'takes a model of $provider that is known and can use tools',
    ({ provider, model }) => {
      expect(knownModels(provider)).toContain(model);
      expect(createModelRegistry().describe(`${provider}:${model}`).capabilities.tools).toBe(true);
    },
  );
});

describe('findLocalServer()', () => {
  async function serve(status: number, body: string | undefined): Promise<number> {
    const server = createServer((request, response) => {
      expect([request.method, request.url, request.headers.authorization]).toEqual([
        'GET',
        '/v1/models',
        undefined,
      ]);
      if (body === undefined) return;
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  it.each([
    { what: 'never answers', status: 200, body: undefined },
    { what: 'is something else', status: 200, body: '<html>' },
    { what: 'refuses', status: 401, body: '{"data":[{"id":"a"}]}' },
    { what: 'sends us elsewhere', status: 302, body: '{"data":[{"id":"a"}]}' },
    { what: 'has no models', status: 200, body: '{"data":[]}' },
    { what: 'has only models that cannot talk', status: 200, body: '{"data":[{"id":"nomic-embed-text"}]}' },
    { what: 'has models with odd names', status: 200, body: '{"data":[{"id":"\\u001b[2J"},{"id":7},null]}' },
    { what: 'answers without end', status: 200, body: `{"data":[{"id":"a"}],"x":"${'x'.repeat(400_000)}"}` },
  ])('passes over a server that $what', async ({ status, body }) => {
    const port = await serve(status, body);
    expect(await findLocalServer([{ provider: 'ollama', port }])).toBeUndefined();
  });

  it('takes the first that names a model, in the order of the ports', async () => {
    const closed = await serve(200, '{"data":[]}');
    const open = await serve(200, '{"data":[{"id":"nomic-embed-text"},{"id":"qwen3:8b"}]}');
    const found = await findLocalServer([
      { provider: 'ollama', port: closed },
      { provider: 'vllm', port: open },
    ]);
    expect(found).toEqual({ provider: 'vllm', port: open, model: 'qwen3:8b' });
  });
});
