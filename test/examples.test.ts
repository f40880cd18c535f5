import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { startAgain, startExample } from './kill/example.ts';

const quoted = /<!-- example: (\S+) -->\s+```ts\n([\s\S]*?)```/g;

describe('the examples', () => {
  it('are quoted word for word in the README', () => {
    const quotes = [...readFileSync('README.md', 'utf8').matchAll(quoted)];
    expect(quotes.map(([, path]) => path)).toEqual([
      'examples/hello.ts',
      'examples/workspace.ts',
      'examples/payment.ts',
      'examples/call-model.ts',
      'examples/classify.ts',
    ]);
    for (const [, path = '', text] of quotes) expect(text).toBe(readFileSync(path, 'utf8'));
  });

  it('are quoted word for word in docs/workspace.md', () => {
    const [[, path = '', text] = []] = readFileSync('docs/workspace.md', 'utf8').matchAll(quoted);
    expect(text).toBe(readFileSync(path, 'utf8'));
  });

  it('all have a test here', () => {
    expect(readdirSync('examples')).toEqual([
      'approval-over-restart.ts',
      'approval.ts',
      'call-model.ts',
      'classify.ts',
      'fallback.ts',
      'hello.ts',
      'hooks.ts',
      'in-doubt-payment.ts',
      'payment.ts',
      'resilient-ai-sdk.ts',
      'resume-after-crash.ts',
      'streaming.ts',
      'structured-output.ts',
      'tools.ts',
      'worker.ts',
      'workspace.ts',
    ]);
  });

  // These are killed and start again: they are run as programs.
  it.each([
    {
      file: 'resume-after-crash.ts',
      printed: [
        'first process:',
        '  fetching the report of Oslo',
        '  fetching the report of Rome',
        '  fetching the report of Lima',
        '  SIGKILL',
        'second process:',
        '  fetching the report of Lima',
        '  All quiet in Oslo, Rome and Lima.',
      ],
    },
    {
      file: 'in-doubt-payment.ts',
      printed: [
        'without verify:',
        '  the bank has paid invoice 17',
        '  SIGKILL',
        '  in-doubt: The call of "pay" was begun elsewhere, and its end was not seen',
        '  Invoice 17 is paid.',
        'with verify:',
        '  the bank has paid invoice 18',
        '  SIGKILL',
        '  Invoice 18 is paid.',
        'payments: 17, 18',
      ],
    },
    {
      file: 'approval-over-restart.ts',
      printed: [
        'first process:',
        '  suspended',
        '  SIGKILL',
        'second process:',
        '  order-17 waits for an approval',
        '  may it refund {"orderId":"17","cents":4200}? yes',
        '  refunding 4200 cents of order 17',
        '  Order 17 is refunded.',
        '  and again: completed',
      ],
    },
    {
      file: 'worker.ts',
      printed: [
        'SIGKILL: 5 of 12 runs are completed, 7 are not',
        'the worker has finished 7: 12 of 12 runs are completed',
        'letters: 12',
      ],
    },
  ])('$file survives its own SIGKILL, and leaves nothing behind', async ({ file, printed }) => {
    const { lines, err, exitCode, left } = await startExample(`examples/${file}`);
    expect({ lines, err, exitCode, left }).toEqual({ lines: printed, err: '', exitCode: 0, left: [] });
  });

  it('payment.ts pays once, however often it is started', async () => {
    const ends = await startAgain('examples/payment.ts', 3);
    expect(ends.map(({ exitCode, lines }) => [exitCode, lines.at(-1)])).toEqual([
      [null, ''],
      [0, 'Invoice 17 is paid.'],
      [0, 'Invoice 17 is paid.'],
    ]);
    expect(ends[1]?.lines[0]).toMatch(/was begun elsewhere, and its end was not seen/);
    expect(ends[2]?.lines).toHaveLength(1);
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
    {
      file: 'workspace.ts',
      printed: [
        'completed',
        'export function sum(a, b) {\n  return a + b;\n}\n',
        '[{"path":"sum.mjs","result":"restored"}]',
      ],
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
