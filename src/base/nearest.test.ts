import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestNames } from './nearest.ts';

const providers = ['anthropic', 'openai', 'openrouter', 'gemini', 'groq', 'mistral', 'ollama'];

describe('nearestNames()', () => {
  it.each([
    ['a word that is near nothing', 'bananarama', []],
    ['nothing at all', '', []],
    ['only spaces', '   ', []],
    ['one letter', 'x', []],
  ] as const)('offers nothing for %s', (_title, name, expected) => {
    expect(nearestNames(name, providers)).toEqual(expected);
  });

  it.each([
    ['antropic', 'anthropic'],
    ['ANTHROPIC', 'anthropic'],
    ['antrhopic', 'anthropic'],
    ['open-ai', 'openai'],
    ['grok', 'groq'],
    ['mistal', 'mistral'],
    ['olama', 'ollama'],
  ])('offers for %s first %s', (name, expected) => {
    expect(nearestNames(name, providers)[0]).toBe(expected);
  });

  it('offers what a cut name begins, the shortest first', () => {
    const models = ['claude-sonnet-4-5-20250929', 'claude-opus-5', 'claude-sonnet-5'];
    expect(nearestNames('claude-sonnet', models)).toEqual(['claude-sonnet-5', 'claude-sonnet-4-5-20250929']);
  });

  it('offers three at most, and stays quick with long names and lists', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `model-${index}`);
    expect(nearestNames('model-1', many)).toHaveLength(3);
    expect(nearestNames('a'.repeat(100_000), ['b'.repeat(100_000), 'a'.repeat(64)])).toEqual([
      'a'.repeat(64),
    ]);
  });

  it('always finds a name that is there', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9.-]{1,40}$/), (name) => {
        expect(nearestNames(name, ['zzzzzzzz', name])[0]).toBe(name);
      }),
    );
  });
});
