import { describe, expect, it } from 'vitest';
import type { Given } from '../specs/command-spec.ts';
import { typedSettings } from './typed-settings.ts';

describe('typedSettings()', () => {
  it.each<{ readonly flags: Given['flags']; readonly text: string }>([
    { flags: {}, text: '' },
    { flags: { json: true, timeout: '5s' }, text: '' },
    { flags: { store: 'my runs.db' }, text: " --store 'my runs.db'" },
    { flags: { store: '$(id).db' }, text: " --store '$(id).db'" },
    {
      flags: { model: ['simulated', 'openai:gpt-5.4'], noFetch: true, sandbox: 'contained' },
      text: ' --model simulated --model openai:gpt-5.4 --sandbox contained --no-fetch',
    },
    {
      flags: { workspace: 'project', config: 'allow.json', store: 'runs.db' },
      text: ' --config allow.json --store runs.db --workspace project',
    },
  ])('repeats "$text"', ({ flags, text }) => {
    expect(typedSettings(flags)).toBe(text);
  });
});
