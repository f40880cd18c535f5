import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';

const quoted = /<!-- example: (\S+) -->\s+```ts\n([\s\S]*?)```/g;

describe('the examples', () => {
  it('are quoted word for word in the README', () => {
    const quotes = [...readFileSync('README.md', 'utf8').matchAll(quoted)];
    expect(quotes.map(([, path]) => path)).toEqual([
      'examples/hello.ts',
      'examples/call-model.ts',
      'examples/classify.ts',
    ]);
    for (const [, path = '', text] of quotes) expect(text).toBe(readFileSync(path, 'utf8'));
  });

  it('all have a test here', () => {
    expect(readdirSync('examples')).toEqual([
      'approval.ts',
      'call-model.ts',
      'classify.ts',
      'fallback.ts',
      'hello.ts',
      'hooks.ts',
      'resilient-ai-sdk.ts',
      'streaming.ts',
      'structured-output.ts',
      'tools.ts',
    ]);
  });

  it('call-model.ts prints what its comments say', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    await import('../examples/call-model.ts');
    const [text, ...recoveries] = log.mock.calls.map((values) => values.join(' '));
    expect(text).toMatch(/^Rerail is an agent runtime/);
    expect(recoveries).toEqual([
      'STREAM_INTERRUPTED → retry',
      'OVERLOADED → retry',
      'QUOTA_EXCEEDED → fall-back',
    ]);
  });

  it('resilient-ai-sdk.ts prints what its comments say', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    await import('../examples/resilient-ai-sdk.ts');
    const printed = log.mock.calls.map((values) => values.join(' '));
    expect(printed.slice(0, 4)).toEqual([
      'OVERLOADED → retry',
      'QUOTA_EXCEEDED → fall-back',
      'The trains run again.',
      'STREAM_INTERRUPTED → retry',
    ]);
    expect(printed.slice(4).join('')).toBe('The trains run again.');
  });

  it.each([
    {
      file: 'hello.ts',
      printed: ['The tool get_weather answered: 4 degrees and snow in Oslo'],
    },
    {
      file: 'tools.ts',
      printed: [
        'TOOL_NOT_FOUND → tell-model',
        'VALIDATION_ERROR → tell-model',
        'SERVER_ERROR → retry',
        'Order 17 is refunded. 1',
      ],
    },
    { file: 'structured-output.ts', printed: ['Oslo 4', 'OUTPUT_PARSE_ERROR → re-ask'] },
    { file: 'fallback.ts', printed: ['completed', 'QUOTA_EXCEEDED → fall-back', 'OVERLOADED → retry'] },
    {
      file: 'approval.ts',
      printed: ['refund {"orderId":"17","cents":4200} over 10 dollars', 'Order 17 is refunded.'],
    },
    { file: 'streaming.ts', printed: ['STREAM_INTERRUPTED → retry', 'true'] },
    {
      file: 'hooks.ts',
      printed: ['I was not allowed to delete it. Write to me at [address].', 'true'],
    },
  ])('$file prints what its comments say', async ({ file, printed }) => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    await import(`../examples/${file}`);
    const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
    expect(log.mock.calls.map((values) => values.map(show).join(' '))).toEqual(printed);
  });

  it('classify.ts prints what its comments say', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    await import('../examples/classify.ts');
    const printed = log.mock.calls.map(([value]) => String(value));
    expect(printed.slice(0, 2)).toEqual(['QUOTA_EXCEEDED', 'false']);
    expect(printed[2]).toContain('insufficient_quota');
    expect(printed[3]).toBe(
      "The account at OpenAI has used up its credit or its plan. Top it up or raise the limit in the provider's billing settings, then run again.",
    );
  });
});
