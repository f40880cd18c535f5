import { describe, expect, it } from 'vitest';
import { normalise } from './normalise.ts';
import { tokenCounts } from './token-counts.ts';

describe('tokenCounts()', () => {
  it.each([
    'the request was too long',
    'maximum context length is 8192 tokens',
    'prompt is too long: 5 tokens > 200000 maximum', // What was sent fits: the numbers mean something else.
    'error 429 at 12:30 after 500 ms',
    'limit 6000, requested 12',
    `${'1'.repeat(40)} tokens > ${'9'.repeat(40)}`,
  ])('finds none in: %s', (sentence) => {
    expect(tokenCounts(normalise([sentence]))).toEqual({});
  });

  it.each([
    ['prompt is too long: 213462 tokens > 200000 maximum', 213_462, 200_000],
    [
      'The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).',
      1_200_345,
      1_048_576,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      9001,
      8192,
    ],
    [
      "This model's maximum context length is 128,000 tokens. However, you requested 130,112 tokens",
      130_112,
      128_000,
    ],
    ['Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9855', 9855, 6000],
  ])('reads: %s', (sentence, requestedTokens, maxTokens) => {
    expect(tokenCounts(normalise([sentence]))).toEqual({ requestedTokens, maxTokens });
  });
});
