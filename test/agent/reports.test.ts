import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/index.ts';
import type { ErrorReport, RunOutcome } from '../../src/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import { calling, plainTool, setScene, watchEverything } from './scene.ts';
import type { SceneOptions } from './scene.ts';

watchEverything();

const secret = `sk-ant-api03-${'A1b2C3d4E5'.repeat(9)}AA`;

const look = plainTool({ name: 'look_up', effect: 'read', execute: () => 'looked' });
const leak = plainTool({
  name: 'leak',
  effect: 'read',
  onError: 'abort',
  execute: () => {
    throw new Error(`401 from https://ann:${secret}@example.org with Authorization: Bearer ${secret}`);
  },
});
const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });

interface Row {
  readonly end: string;
  readonly script: readonly ScriptStep[] | ((request: unknown, index: number) => ReturnType<typeof calling>);
  readonly options?: Partial<SceneOptions>;
  /** In the developer's text. */
  readonly says: RegExp;
}

const rows: readonly Row[] = [
  {
    end: 'failed: the model is down',
    script: [calling('look_up'), ...[1, 2, 3, 4].map(() => ({ failure: 'SERVER_ERROR' }) as const)],
    says: /SERVER_ERROR/,
  },
  {
    end: 'failed: a tool ended it',
    script: [calling('look_up'), calling('leak')],
    says: /TOOL_EXECUTION_ERROR|AUTHENTICATION_ERROR|PERMISSION_DENIED/,
  },
  {
    end: 'failed: with a secret in the provider error',
    script: [
      calling('look_up'),
      { failure: createFailure('INVALID_REQUEST', { origin: 'model', message: `bad key ${secret}` }) },
    ],
    says: /INVALID_REQUEST/,
  },
  {
    end: 'stopped: max-turns',
    script: [calling('look_up'), 'Partly.'],
    options: { limits: { maxTurns: 1 } },
    says: /MAX_ITERATIONS_EXCEEDED/,
  },
  {
    end: 'stopped: budget',
    script: [calling('look_up'), 'Never.'],
    options: { limits: { maxTokens: 15 } },
    says: /BUDGET_EXCEEDED/,
  },
  {
    end: 'stopped: deadline',
    script: [calling('look_up'), { text: 'late', delayMs: 60_000 }],
    options: { limits: { timeoutMs: 5000 }, policy: { retry: 'none' } },
    says: /TIMEOUT/,
  },
  { end: 'stopped: loop', script: () => calling('look_up'), says: /ENDLESS_LOOP/ },
  {
    end: 'stopped: rejected',
    script: [calling('look_up'), ...[1, 2, 3].map((cents) => calling('pay', { cents }))],
    options: { callbacks: { onApproval: () => false } },
    says: /PERMISSION_DENIED/,
  },
  {
    end: 'stopped: guardrail',
    script: [calling('look_up'), 'Answer.'],
    options: {
      hooks: [
        {
          name: 'no',
          kind: 'guardrail',
          on: {
            'after-model': ({ turn }) =>
              turn === 2 ? { action: 'halt', reason: 'not in these words' } : undefined,
          },
        },
      ],
    },
    says: /HOOK_TERMINATED/,
  },
  {
    end: 'stopped: refused',
    script: [calling('look_up'), { failure: 'CONTENT_FILTERED' }],
    says: /CONTENT_FILTERED/,
  },
];

function reportOf(outcome: RunOutcome): ErrorReport {
  if (outcome.type !== 'failed' && outcome.type !== 'stopped') throw new Error(`It is ${outcome.type}`);
  return outcome.report;
}

describe('the report of a run that did not complete', () => {
  it.each(rows)(
    '($end) says what was asked, what failed, what was done, what it cost and what to do',
    async (row) => {
      const { run } = setScene({
        name: 'support',
        tools: [look, leak, pay],
        policy: { salvage: true, ...row.options?.policy },
        ...row.options,
        script: row.script,
      });
      const outcome = await run(`Sort the invoices of May. The key is ${secret}.`, { runId: 'run-42' });
      const end = outcome.type === 'stopped' ? `stopped: ${outcome.reason}` : outcome.type;
      expect(row.end.slice(0, end.length)).toBe(end);
      const { person, developer } = reportOf(outcome);
      const all = [person.text, person.markdown, developer.text, developer.markdown];
      for (const text of all) {
        expect(text).toContain('Sort the invoices of May');
        expect(text).toContain('run-42');
        expect(text).toContain('look_up');
        expect(text).toMatch(/cost|USD/i);
        expect(text).not.toContain('sk-ant');
        expect(text).not.toContain('A1b2C3d4E5');
      }
      expect(person.text).toMatch(/What to do next\n {2}- \S/);
      expect(person.text).not.toMatch(row.says);
      expect(developer.text).toMatch(row.says);
      expect(developer.text).toMatch(/Next steps\n {2}- \S/);
      expect(developer.text).toMatch(/Latest attempts at models\n {2}\S/);
      expect(developer.text).toContain('requests sent');
      expect(JSON.stringify([person.markdown, developer.markdown])).toContain('# ');
    },
  );

  it('names every attempt at a model', async () => {
    const { run } = setScene({
      tools: [look],
      policy: { retry: { maxAttempts: 3 } },
      modelOptions: { provider: 'openai', name: 'gpt-5.2' },
      script: [
        calling('look_up'),
        { failure: 'SERVER_ERROR' },
        { failure: 'OVERLOADED' },
        { failure: 'SERVER_ERROR' },
      ],
    });
    const { developer } = reportOf(await run());
    expect(developer.text.match(/openai/g)?.length).toBeGreaterThanOrEqual(4);
    expect(developer.text).toContain('OVERLOADED');
  });

  it('keeps no secret in the outcome but where the person put it', async () => {
    const { run, events } = setScene({ tools: [leak], script: [calling('leak')] });
    const outcome = await run('Leak.');
    expect(JSON.stringify(outcome)).not.toContain('A1b2C3d4E5');
    expect(JSON.stringify(events)).not.toContain('A1b2C3d4E5');
  });
});
