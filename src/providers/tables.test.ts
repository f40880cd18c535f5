import { describe, expect, it } from 'vitest';
import { capabilitiesOf } from './capability-tables.ts';
import { knownModels, nearestModels } from './known-models.ts';
import { priceOf, pricedModels } from './prices.ts';

describe('priceOf()', () => {
  it.each([
    ['openai', 'gpt-5-pro', 'a model beside one that is known'],
    ['openai', 'gpt-5-mini-extra', 'a name that only begins like one'],
    ['openai', 'gpt-55', 'a name that only begins like one'],
    ['mistral', 'mistral-large-latest', 'a name that moves'],
    ['anthropic', 'claude-haiku-5-5', 'a model with two prices'],
    ['groq', 'gpt-5', 'a model of another provider'],
    ['nobody', 'gpt-5', 'a provider that is not known'],
    ['openai', '', 'no name'],
  ])('does not know %s %s: %s', (provider, model) => {
    expect(priceOf(provider, model)).toBeUndefined();
  });

  it.each([
    ['openai', 'gpt-4o-2024-11-20', 2.5],
    ['openai', 'gpt-5.2', 1.75],
    ['openai', 'gpt-5-mini', 0.25],
    ['anthropic', 'claude-sonnet-5', 2],
    ['anthropic', 'claude-sonnet-4-5-20250929', 3],
    ['anthropic', 'claude-opus-4-20250514', 15],
    ['gemini', 'gemini-2.5-flash', 0.3],
    ['groq', 'openai/gpt-oss-120b', 0.15],
    ['xai', 'grok-4.5', 2],
    ['deepseek', 'deepseek-v4-flash', 0.14],
    ['mistral', 'mistral-large-2512', 0.5],
  ])('knows that %s %s costs %s', (provider, model, inputUsd) => {
    expect(priceOf(provider, model)?.inputUsd).toBe(inputUsd);
  });

  it('has rows that make sense: dated, no name twice, reading from the cache never dearer', () => {
    for (const provider of ['openai', 'anthropic', 'gemini', 'deepseek', 'mistral', 'xai', 'groq']) {
      const names = pricedModels(provider);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) {
        const price = priceOf(provider, name);
        expect(price?.asOf).toMatch(/^20\d{2}-\d{2}-\d{2}$/);
        expect(price?.inputUsd).toBeGreaterThan(0);
        expect(price?.cacheReadUsd ?? 0).toBeLessThanOrEqual(price?.inputUsd ?? 0);
      }
    }
  });
});

describe('capabilitiesOf()', () => {
  it.each([
    'claude-opus-4-6',
    'claude-sonnet-4-6',
    'claude-opus-4-7',
    'claude-opus-5',
    'claude-sonnet-5',
    'claude-sonnet-5-5',
    'claude-fable-5-1',
    'claude-haiku-5-5',
    'claude-of-next-year',
  ])('does not let %s be continued from its text, which it refuses', (model) => {
    expect(capabilitiesOf('anthropic', model).continuation).toBe('none');
  });

  it.each([
    'claude-3-haiku-20240307',
    'claude-3-5-sonnet-latest',
    'claude-3-7-sonnet-20250219',
    'claude-sonnet-4-20250514',
    'claude-sonnet-4-0',
    'claude-opus-4-20250514',
    'claude-opus-4-1-20250805',
    'claude-sonnet-4-5-20250929',
    'claude-haiku-4-5',
    'claude-opus-4-5-20251101',
  ])('lets %s be continued from its text', (model) => {
    expect(capabilitiesOf('anthropic', model).continuation).toBe('prefill');
  });

  it('knows which Claude takes sampling, a budget and an effort', () => {
    expect(capabilitiesOf('anthropic', 'claude-sonnet-5')).toMatchObject({
      sampling: ['stopSequences'],
      reasoningBudget: false,
      reasoningEffort: true,
    });
    expect(capabilitiesOf('anthropic', 'claude-opus-4-6').sampling).toContain('temperature');
    expect(capabilitiesOf('anthropic', 'claude-haiku-4-5').reasoningBudget).toBe(true);
    expect(capabilitiesOf('anthropic', 'claude-3-5-sonnet-latest').reasoningEffort).toBe(false);
    expect(capabilitiesOf('anthropic', 'glm-5').sampling).toContain('temperature');
  });

  it.each([
    'o1',
    'o3',
    'o3-mini',
    'o4-mini',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5.2',
    'gpt-5.6-luna',
    'gpt-5.2-codex',
  ])('knows that %s reasons and takes no sampling options', (model) => {
    for (const table of ['openai-responses', 'openai-chat'] as const) {
      expect(capabilitiesOf(table, model)).toMatchObject({ sampling: [], reasoningEffort: true });
    }
  });

  it.each([
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-4.1',
    'gpt-4-turbo',
    'gpt-3.5-turbo',
    'gpt-5-chat-latest',
    'gpt-5.1-chat-latest',
    'gpt-35-turbo',
    'ft:gpt-4o:acme',
  ])('knows that %s does not reason and takes sampling options', (model) => {
    expect(capabilitiesOf('openai-chat', model).reasoningEffort).toBe(false);
    expect(capabilitiesOf('openai-chat', model).sampling).toContain('seed');
    expect(capabilitiesOf('openai-responses', model).sampling).toEqual(['temperature', 'topP']);
  });

  it('gives a model that nobody knows what its provider usually takes', () => {
    expect(capabilitiesOf('openai-chat', 'octopus-9').sampling).toContain('temperature');
    expect(capabilitiesOf('mistral', 'mistral-next').continuation).toBe('prefill');
    expect(capabilitiesOf('ollama', 'qwen3:8b').continuation).toBe('none');
    expect(capabilitiesOf('vllm', 'whatever').continuation).toBe('prefill');
    expect(capabilitiesOf('gemini', 'gemini-9').parallelToolCalls).toBe(false);
  });
});

describe('nearestModels()', () => {
  it.each([
    ['anthropic', 'claude-sonet-5', 'claude-sonnet-5'],
    ['anthropic', 'claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['openai', 'gpt5', 'gpt-5'],
    ['azure', 'gpt-4o-mni', 'gpt-4o-mini'],
    ['vertex', 'gemini-2.5-flsh', 'gemini-2.5-flash'],
    ['mistral', 'mistral-large', 'mistral-large-2512'],
  ])('offers for %s %s first %s', (provider, name, expected) => {
    expect(nearestModels(provider, name)[0]).toBe(expected);
  });

  it('never offers the name itself, and nothing for a provider without names', () => {
    expect(nearestModels('openai', 'gpt-5')).not.toContain('gpt-5');
    expect(nearestModels('vllm', 'llama')).toEqual([]);
    expect(knownModels('vllm')).toEqual([]);
  });
});
