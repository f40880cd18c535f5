import { describe, expect, it } from 'vitest';
import { RerailError } from '../errors/rerail-error.ts';
import type { Model } from '../model/model.ts';
import { capabilitiesOf } from './capability-tables.ts';
import { createModelRegistry, resolveModel } from './registry.ts';
import type { ModelFactory } from './registry.ts';

const environment = { ANTHROPIC_API_KEY: 'test-key', OPENAI_API_KEY: 'test-key', GEMINI_API_KEY: 'test-key' };

function thrownBy(work: () => unknown): RerailError {
  try {
    work();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const own: ModelFactory = (name): Model => ({
  provider: 'own',
  name,
  quotaKey: 'own',
  capabilities: capabilitiesOf('openai-compatible', name),
  call: () => Promise.reject(new Error('not called here')),
});

describe('createModelRegistry()', () => {
  const known = createModelRegistry({ environment });

  it.each([
    ['claude-sonnet-5', '"anthropic:claude-sonnet-5"'],
    ['anthropic/claude-sonnet-5', '"anthropic:claude-sonnet-5"'],
    ['openai/gpt-5.2', '"openai:gpt-5.2"'],
    ['something', '"anthropic:claude-sonnet-5"'],
    ['', 'names no model'],
    [':', 'names no model'],
    ['openai:', 'names no model'],
    [':gpt-5', 'names no model'],
    ['openai:  ', 'names no model'],
    [undefined as unknown as string, 'names no model'],
  ])('refuses %j, which has no provider and model, with an example', (id, words) => {
    const error = thrownBy(() => known.resolve(id));
    expect(error).toMatchObject({ code: 'CONFIG_ERROR', name: 'ConfigError' });
    expect(error.message).toContain(words);
    expect(error.message).toContain('with a colon');
  });

  it.each([
    ['antropic:claude-sonnet-5', '"anthropic"'],
    ['opnai:gpt-5', '"openai"'],
    ['mystral:large', '"mistral"'],
  ])('says for %s which provider was probably meant', (id, words) => {
    const error = thrownBy(() => known.resolve(id));
    expect(error).toMatchObject({ code: 'NOT_REGISTERED', name: 'RegistryError' });
    expect(error.message).toContain(`did you mean ${words}`);
  });

  it('lists what is known where nothing is near', () => {
    const error = thrownBy(() => known.resolve('zzzzzzzzzzzz:a'));
    expect(error.code).toBe('NOT_REGISTERED');
    expect(error.message).toContain('known are openai, anthropic, gemini');
  });

  it.each([
    ['bedrock:claude', 'Amazon Bedrock'],
    ['aws:claude', 'Amazon Bedrock'],
    ['cohere:command-a', "baseURL: 'https://api.cohere.ai/compatibility/v1'"],
    ['huggingface:meta/llama', 'Hugging Face'],
    ['hf:meta/llama', 'Hugging Face'],
    ['replicate:meta/llama', 'rerail/providers/ai-sdk'],
    ['qwen:max', 'Alibaba Model Studio'],
  ])('says for %s that it is not spoken, and the way around', (id, words) => {
    const error = thrownBy(() => known.resolve(id));
    expect(error).toMatchObject({ code: 'PROVIDER_NOT_SUPPORTED', name: 'ModelError' });
    expect(error.message).toContain('does not speak');
    expect(error.message).toContain(words);
  });

  it('refuses a name that is taken, and replaces it where that is asked for', () => {
    const fresh = createModelRegistry({ environment });
    const error = thrownBy(() => {
      fresh.register('openai', own);
    });
    expect(error).toMatchObject({ code: 'ALREADY_REGISTERED', name: 'RegistryError' });
    fresh.register('openai', own, { replace: true });
    expect(fresh.resolve('openai:a').provider).toBe('own');
    // Another registry is not touched.
    expect(known.resolve('openai:gpt-5').provider).toBe('openai');
  });

  it.each(['', 'a b', 'a:b', '-a', 'a'.repeat(65)])('refuses %j as the name of a provider', (name) => {
    expect(
      thrownBy(() => {
        createModelRegistry().register(name, own);
      }).code,
    ).toBe('CONFIG_ERROR');
  });

  it('refuses a provider that is no function', () => {
    const name = 'openai:gpt-5' as unknown as typeof own;
    const words = 'The provider "acme" must be a function that makes models, got string';
    expect(thrownBy(() => createModelRegistry({ providers: { acme: name } })).message).toContain(words);
    expect(
      thrownBy(() => {
        createModelRegistry().register('acme', name);
      }).message,
    ).toContain(words);
  });

  it('says which variable to set when a key is missing', () => {
    const error = thrownBy(() =>
      createModelRegistry({ environment: {} }).resolve('anthropic:claude-sonnet-5'),
    );
    expect(error.code).toBe('PROVIDER_NOT_CONFIGURED');
    expect(error.message).toContain('ANTHROPIC_API_KEY');
  });

  it.each([
    ['anthropic:claude-sonnet-5', 'anthropic', 'claude-sonnet-5'],
    [' openai:gpt-5.2 ', 'openai', 'gpt-5.2'],
    ['OpenAI:gpt-5.2', 'openai', 'gpt-5.2'],
    ['google:gemini-2.5-pro', 'gemini', 'gemini-2.5-pro'],
    ['ollama:qwen3:8b', 'ollama', 'qwen3:8b'],
    ['lm-studio:openai/gpt-oss-20b', 'lmstudio', 'openai/gpt-oss-20b'],
    ['llama.cpp:whatever', 'llamacpp', 'whatever'],
    ['openai:a-model-of-tomorrow', 'openai', 'a-model-of-tomorrow'],
  ])('resolves %s', (id, provider, name) => {
    expect(known.resolve(id)).toMatchObject({ provider, name });
  });

  it('describes models without a key, with what is near to a name that is not known', () => {
    const keyless = createModelRegistry({ environment: {} });
    expect(keyless.describe('anthropic:claude-sonet-5')).toMatchObject({
      provider: 'anthropic',
      name: 'claude-sonet-5',
      keyVariables: ['ANTHROPIC_API_KEY'],
      capabilities: { continuation: 'none', tools: true },
    });
    expect(keyless.describe('anthropic:claude-sonet-5').nearest[0]).toBe('claude-sonnet-5');
    expect(keyless.describe('anthropic:claude-sonnet-4-5-20250929').nearest).toEqual([]);
    expect(keyless.describe('azure:my-deployment').keyVariables).toEqual(['AZURE_OPENAI_API_KEY']);
    expect(keyless.describe('vertex:gemini-2.5-pro').price?.inputUsd).toBe(1.25);
  });

  it('describes every built-in provider without a key', () => {
    const keyless = createModelRegistry({ environment: {} });
    expect(keyless.list()).toHaveLength(20);
    for (const provider of keyless.list()) {
      expect(keyless.describe(`${provider}:some-model`)).toMatchObject({ provider, name: 'some-model' });
    }
  });

  it('takes providers and prices of the user, and describes them too', () => {
    const price = { inputUsd: 7, outputUsd: 9, asOf: '2026-01-01' };
    const extended = createModelRegistry({
      providers: { acme: own },
      prices: { 'openai:gpt-5.2': price },
      environment,
    });
    expect(extended.resolve('acme:a')).toMatchObject({ provider: 'own', name: 'a' });
    expect(extended.describe('acme:a')).toMatchObject({ provider: 'own', name: 'a', keyVariables: [] });
    expect(extended.resolve('openai:gpt-5.2').price).toEqual(price);
    expect(extended.list()).toContain('acme');
  });
});

describe('resolveModel()', () => {
  it('makes a model of a string', () => {
    expect(resolveModel('ollama:llama3.2', { environment: {} })).toMatchObject({
      provider: 'ollama',
      name: 'llama3.2',
    });
  });
});
