import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { startAgain, startExample } from './kill/example.ts';

const quoted = /<!-- example: (\S+) -->\s+```ts\n([\s\S]*?)```/g;
const lent = /<!-- part of: (\S+) -->\s+```ts\n([\s\S]*?)```/g;

describe('the examples', () => {
  it('are quoted word for word in the README', () => {
    const quotes = [...readFileSync('README.md', 'utf8').matchAll(quoted)];
    expect(quotes.map(([, path]) => path)).toEqual([
      'examples/hello.ts',
      'examples/workspace.ts',
      'examples/payment.ts',
      'examples/research-team.ts',
      'examples/call-model.ts',
      'examples/classify.ts',
    ]);
    for (const [, path = '', text] of quotes) expect(text).toBe(readFileSync(path, 'utf8'));
  });

  it.each([
    { page: 'docs/workspace.md', examples: ['examples/workspace.ts'] },
    { page: 'docs/flows.md', examples: ['examples/research-team.ts', 'examples/support-triage.ts'] },
    { page: 'docs/plans.md', examples: ['examples/failing-sensor.ts'] },
  ])('are quoted word for word in $page', ({ page, examples }) => {
    const quotes = [...readFileSync(page, 'utf8').matchAll(quoted)];
    expect(quotes.map(([, path]) => path)).toEqual(examples);
    for (const [, path = '', text] of quotes) expect(text).toBe(readFileSync(path, 'utf8'));
  });

  it.each([
    {
      page: 'docs/flows.md',
      parts: ['examples/flow-nodes.ts', 'examples/flow-nodes.ts', 'examples/team.ts'],
    },
    { page: 'docs/agents.md', parts: ['examples/explained-failure.ts'] },
  ])('lend the pieces that $page shows', ({ page, parts }) => {
    const pieces = [...readFileSync(page, 'utf8').matchAll(lent)];
    expect(pieces.map(([, path]) => path)).toEqual(parts);
    // A piece from within a block stands further to the left on the page.
    const flat = (text: string): string => text.replaceAll(/^ +/gm, '');
    for (const [, path = '', text = ''] of pieces)
      expect(flat(readFileSync(path, 'utf8'))).toContain(flat(text));
  });

  it('of an engine or a server have a test with what they need', () => {
    const folders = readdirSync('examples', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(['dbos', 'postgres', 'restate', 'temporal']);
    for (const { name } of folders) {
      const place = name === 'postgres' ? 'test/postgres' : `test/engines/${name}`;
      expect(readFileSync(`${place}/example.test.ts`, 'utf8')).toContain(`examples/${name}`);
    }
  });

  it('are found by their names, or the names are told', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/example.mjs', 'restated'], {
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^There is no example "restated"\. There are: .*hello.*restate/);
  });

  it('all others have a test here', () => {
    expect(readdirSync('examples').filter((name) => name.endsWith('.ts'))).toEqual([
      'approval-over-restart.ts',
      'approval.ts',
      'ask-a-person.ts',
      'call-model.ts',
      'classify.ts',
      'explained-failure.ts',
      'failing-sensor.ts',
      'fallback.ts',
      'flow-nodes.ts',
      'hello.ts',
      'hooks.ts',
      'in-doubt-payment.ts',
      'machine.ts',
      'own-context.ts',
      'own-model.ts', // test/model/own-model.test.ts
      'payment.ts',
      'research-team.ts',
      'resilient-ai-sdk.ts',
      'resume-after-crash.ts',
      'select-model.ts',
      'streaming.ts',
      'structured-output.ts',
      'support-triage.ts',
      'team.ts',
      'tools-per-run.ts',
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
        '  in-doubt: The call of "pay" was started elsewhere, and its end was not recorded',
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
      file: 'ask-a-person.ts',
      printed: [
        'first process:',
        '  suspended: clarification',
        '  SIGKILL',
        'second process:',
        '  Window or aisle, on the train to Oslo?',
        '  booking a seat at the aisle',
        '  You have a seat.',
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
    expect(ends[1]?.lines[0]).toMatch(/was started elsewhere, and its end was not recorded/);
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
    expect(printed.slice(0, 5)).toEqual([
      'OVERLOADED → retry',
      'QUOTA_EXCEEDED → fall-back',
      'The trains run again.',
      'QUOTA_EXCEEDED → fall-back',
      'STREAM_INTERRUPTED → retry',
    ]);
    expect(printed.slice(5).join('')).toBe('The trains run again.');
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
    { file: 'own-context.ts', printed: ['own', 'On Friday, as decided.', 'true'] },
    { file: 'select-model.ts', printed: ['1 large', '2 small', 'Order 17 is on its way.'] },
    {
      file: 'tools-per-run.ts',
      printed: [
        'suspended [{"name":"my_orders"},"auto"]',
        'The run "ada-1" was started with tools of its own, and these are missing: "my_orders", "refund"',
        'Order 17 is refunded.',
      ],
    },
    { file: 'structured-output.ts', printed: ['Oslo 4', 'OUTPUT_PARSE_ERROR → re-ask'] },
    { file: 'fallback.ts', printed: ['completed', 'QUOTA_EXCEEDED → fall-back', 'OVERLOADED → retry'] },
    {
      file: 'approval.ts',
      printed: ['refund {"orderId":"17","cents":4200} over 10 dollars', 'Order 17 is refunded.'],
    },
    {
      file: 'machine.ts',
      printed: [
        'call-model',
        'wait 125',
        'call-model',
        'run-tools get_weather {"city":"Oslo"}',
        'call-model',
        'finish',
        'It is cold in Oslo: 4 degrees. true',
      ],
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
    {
      file: 'research-team.ts',
      printed: [
        'outline succeeded tram/outline',
        'history succeeded tram/history',
        'costs failed tram/costs',
        'writer not-reached ',
        'The line of 1998 cost 20 million euros a kilometre.',
        '[1,1,2,1]',
      ],
    },
    {
      file: 'flow-nodes.ts',
      printed: [
        'facts succeeded ',
        'story succeeded ',
        'figures failed "almanac" took its place',
        'legal skipped its "when" returned false',
        'editor succeeded ',
        'almanac succeeded in place of "figures"',
        'flow',
        'There is no agent "stroy" for the flow: did you mean "story"?\n  facts >> (stroy | figures) >> editor\n            ^',
      ],
    },
    {
      file: 'team.ts',
      printed: ['completed failed', 'There are two papers. What it costs could not be found out. 4'],
    },
    {
      file: 'support-triage.ts',
      printed: [
        'triage succeeded passed on to "billing": about money',
        'billing waiting ',
        'refund {"orderId":"17","cents":4200} it is money',
        'Order 17 is refunded: 42.00.',
      ],
    },
    {
      file: 'failing-sensor.ts',
      printed: [
        'planning ',
        'planning Step "measure" (read_sensor): The sensor of the hall does not answer',
        'to the night shift: 19 degrees',
        'failed measure read_sensor: Measure.',
        'succeeded look_up read_log: Look it up.',
        'succeeded tell tell_shift: Tell it.',
        'The sensor does not answer. By the log it was 19 degrees, and the night shift knows.',
      ],
    },
  ])('$file prints what its comments say', async ({ file, printed }) => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    await import(`../examples/${file}`);
    const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
    expect(log.mock.calls.map((values) => values.map(show).join(' '))).toEqual(printed);
  });

  it('explained-failure.ts prints what its comments say', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    await import('../examples/explained-failure.ts');
    const [explained, plain] = log.mock.calls.map(([text]) => String(text));
    expect(explained?.split('\n')).toEqual([
      'The meter did not answer, so the run ended.',
      '- The meter does not answer: IO_ERROR.',
      '→ fix the tool or what it depends on, then resume',
      '→ resume after the last finished turn, once the cause is fixed: await agent.resume("meter-1")',
    ]);
    expect(plain).toMatch(/^The work could not be finished\.\n/);
    expect(plain).not.toContain('cable');
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
