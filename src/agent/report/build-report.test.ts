import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { buildReport, developerBounds, personBounds } from './build-report.ts';
import type { ErrorReport } from './error-report.ts';
import { escapeMarkdown } from './report-document.ts';
import type { ReportFacts } from './report-facts.ts';
import { explainFailure } from './report-words.ts';
import type { StopReason } from '../run-outcome.ts';

const overloaded = createFailure('OVERLOADED', {
  message: 'Cannot call claude-sonnet-5: anthropic answered 529 "Overloaded"',
  provider: {
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    statusCode: 529,
    requestId: 'req_011',
    errorType: 'overloaded_error',
  },
  classifiedBy: 'code',
  phase: 'headers',
  sideEffect: 'none',
  retryAfterMs: 12_000,
  context: { attempts: 4 },
  causes: [{ name: 'HttpError', message: 'status 529' }],
});
const limited = createFailure('RATE_LIMITED', { message: 'Cannot call gpt-5.2: 429', retryAfterMs: 2000 });

const failed: ReportFacts = {
  agent: 'support',
  runId: 'run-7f3a',
  asked: 'Refund order 1234 and write to the customer.',
  ended: { type: 'failed', failure: overloaded },
  turns: 7,
  toolCalls: 5,
  succeeded: { find_order: 3, refund: 1 },
  toolFailures: { send_mail: 1 },
  effects: { find_order: 'read', refund: 'once', send_mail: 'once' },
  attempts: [
    { attempt: 1, provider: 'anthropic', model: 'claude-sonnet-5', isProbe: false, durationMs: 812 },
    {
      attempt: 2,
      provider: 'anthropic',
      model: 'claude-sonnet-5',
      isProbe: false,
      durationMs: 412,
      failure: overloaded,
    },
    { attempt: 3, provider: 'openai', model: 'gpt-5.2', isProbe: true, durationMs: 20, failure: limited },
  ],
  recoveries: [{ failure: limited, recovery: 'retry', attempts: 1, lostMs: 2400, lostTokens: 0, turn: 2 }],
  usage: {
    requests: 9,
    inputTokens: 12_345,
    outputTokens: 678,
    unknownUsage: 1,
    costUsd: 0.0421,
    unknownCost: 1,
    waitedMs: 14_000,
    lostTokens: 120,
  },
  elapsedMs: 41_200,
  partial: 'I have refunded order 1234',
  limits: { maxTurns: 50, maxTokens: Infinity, timeoutMs: 3_600_000, maxRejections: 3 },
};

const stopped: ReportFacts = {
  ...failed,
  ended: {
    type: 'stopped',
    reason: 'budget',
    failure: createFailure('BUDGET_EXCEEDED', { message: 'The run has used 100,412 of 100,000 tokens' }),
  },
  succeeded: {},
  toolFailures: {},
  attempts: [],
  recoveries: [],
  usage: { ...emptyLedger, requests: 3, inputTokens: 100_000, outputTokens: 412, costUsd: 0.3 },
  partial: '',
  limits: { maxTokens: 100_000 },
};

describe('buildReport() for a run that failed', () => {
  const report = buildReport(failed);

  it('informs a person', () => {
    expect(report.person.text).toMatchInlineSnapshot(`
      "The work could not be finished.

      What was asked
        "Refund order 1234 and write to the customer."

      What happened
        Anthropic is overloaded. One problem before that had been overcome.

      What had been done before
        - find_order: 3 times
        - refund: once. This may have changed something
        - There is an unfinished answer of 26 characters. It begins: "I have refunded order 1234"

      What it cost
        41.2 s of work, 9 requests to a model, at least 13,023 tokens, at least 0.0421 USD (the cost of 1 request is not known)

      What to do next
        - Try again in 12 s. If it goes on, look at the provider's status page or use another model.
        - Before you ask for the same again, check what was already done (refund), so that it is not done twice.
        - The operator of this program can resume from here without doing it all again; give them the line below.

        Run: run-7f3a"
    `);
  });

  it('informs a person in Markdown', () => {
    expect(report.person.markdown).toMatchInlineSnapshot(`
      "# The work could not be finished.

      ## What was asked

      > Refund order 1234 and write to the customer.

      ## What happened

      Anthropic is overloaded. One problem before that had been overcome.

      ## What had been done before

      - find_order: 3 times
      - refund: once. This may have changed something
      - There is an unfinished answer of 26 characters. It begins: "I have refunded order 1234"

      ## What it cost

      41.2 s of work, 9 requests to a model, at least 13,023 tokens, at least 0.0421 USD (the cost of 1 request is not known)

      ## What to do next

      - Try again in 12 s. If it goes on, look at the provider's status page or use another model.
      - Before you ask for the same again, check what was already done (refund), so that it is not done twice.
      - The operator of this program can resume from here without doing it all again; give them the line below.

      Run: run-7f3a"
    `);
  });

  it('informs a developer', () => {
    expect(report.developer.text).toMatchInlineSnapshot(`
      "Run run-7f3a of agent "support" failed: OVERLOADED

      Summary
        After 7 turns and 5 tool calls; 41.2 s of active time, 14.0 s of it waiting between attempts; 1 failure overcome on the way.

      Next steps
        - Try again in 12 s. If it goes on, look at the provider's status page or use another model.
        - Once the cause is fixed: await agent.resume("run-7f3a"). It resumes after the last finished turn; a tool call that finished is not made again.

      Failure
        - OVERLOADED (model, retriable, retryable, asked to wait 12000 ms, by code, phase headers, side effect none): Cannot call claude-sonnet-5: anthropic answered 529 "Overloaded"
        - meaning: The provider's own load or lack of capacity, whatever the status said.
        - provider: {"provider":"anthropic","model":"claude-sonnet-5","statusCode":529,"requestId":"req_011","errorType":"overloaded_error"}
        - context: {"attempts":4}
        - cause: HttpError: status 529

      Asked
        "Refund order 1234 and write to the customer."

      Latest attempts at models
        The latest 3 of 9.

        attempt  model                      result                took    asked to wait  message
        1        anthropic/claude-sonnet-5  ok                    812 ms
        2        anthropic/claude-sonnet-5  OVERLOADED            412 ms  12.0 s         Cannot call claude-sonnet-5: anthropic answered 529 "Overloaded"
        3        openai/gpt-5.2             RATE_LIMITED (probe)  20 ms   2.0 s          Cannot call gpt-5.2: 429

      Recoveries: failures that were overcome
        turn  code          recovery  attempt  lost time  lost tokens  message
        2     RATE_LIMITED  retry     1        2.4 s      0            Cannot call gpt-5.2: 429

      Tools
        tool        effect  succeeded  failed in a row at the end
        find_order  read    3          0
        refund      once    1          0
        send_mail   once    0          1

      Ledger
        - requests sent: 9
        - input tokens: 12,345
        - output tokens: 678
        - requests whose tokens are not known: 1
        - cost: at least 0.0421 USD (the cost of 1 request is not known)
        - tokens spent on failed attempts: 120
        - waited between attempts: 14.0 s

      Limits
        - maxTurns: 50, used 7
        - maxTokens: none, used 13,023
        - timeoutMs: 3,600,000, used 41,200
        - maxRejections: 3

      Partial answer
        26 characters. It begins:

        "I have refunded order 1234"

        Run: run-7f3a"
    `);
  });

  it('informs a developer in Markdown', () => {
    expect(report.developer.markdown).toMatchInlineSnapshot(`
      "# Run run-7f3a of agent "support" failed: OVERLOADED

      ## Summary

      After 7 turns and 5 tool calls; 41.2 s of active time, 14.0 s of it waiting between attempts; 1 failure overcome on the way.

      ## Next steps

      - Try again in 12 s. If it goes on, look at the provider's status page or use another model.
      - Once the cause is fixed: await agent.resume("run-7f3a"). It resumes after the last finished turn; a tool call that finished is not made again.

      ## Failure

      - OVERLOADED (model, retriable, retryable, asked to wait 12000 ms, by code, phase headers, side effect none): Cannot call claude-sonnet-5: anthropic answered 529 "Overloaded"
      - meaning: The provider's own load or lack of capacity, whatever the status said.
      - provider: {"provider":"anthropic","model":"claude-sonnet-5","statusCode":529,"requestId":"req_011","errorType":"overloaded_error"}
      - context: {"attempts":4}
      - cause: HttpError: status 529

      ## Asked

      > Refund order 1234 and write to the customer.

      ## Latest attempts at models

      The latest 3 of 9.

      | attempt | model | result | took | asked to wait | message |
      | --- | --- | --- | --- | --- | --- |
      | 1 | anthropic/claude-sonnet-5 | ok | 812 ms |  |  |
      | 2 | anthropic/claude-sonnet-5 | OVERLOADED | 412 ms | 12.0 s | Cannot call claude-sonnet-5: anthropic answered 529 "Overloaded" |
      | 3 | openai/gpt-5.2 | RATE_LIMITED (probe) | 20 ms | 2.0 s | Cannot call gpt-5.2: 429 |

      ## Recoveries: failures that were overcome

      | turn | code | recovery | attempt | lost time | lost tokens | message |
      | --- | --- | --- | --- | --- | --- | --- |
      | 2 | RATE_LIMITED | retry | 1 | 2.4 s | 0 | Cannot call gpt-5.2: 429 |

      ## Tools

      | tool | effect | succeeded | failed in a row at the end |
      | --- | --- | --- | --- |
      | find_order | read | 3 | 0 |
      | refund | once | 1 | 0 |
      | send_mail | once | 0 | 1 |

      ## Ledger

      - requests sent: 9
      - input tokens: 12,345
      - output tokens: 678
      - requests whose tokens are not known: 1
      - cost: at least 0.0421 USD (the cost of 1 request is not known)
      - tokens spent on failed attempts: 120
      - waited between attempts: 14.0 s

      ## Limits

      - maxTurns: 50, used 7
      - maxTokens: none, used 13,023
      - timeoutMs: 3,600,000, used 41,200
      - maxRejections: 3

      ## Partial answer

      26 characters. It begins:

      > I have refunded order 1234

      Run: run-7f3a"
    `);
  });
});

describe('buildReport() for a run that was stopped', () => {
  const report = buildReport(stopped);

  it('informs a person', () => {
    expect(report.person.text).toMatchInlineSnapshot(`
      "The work was stopped before it was finished.

      What was asked
        "Refund order 1234 and write to the customer."

      What happened
        The work used up what it was allowed to use. In detail: The run has used 100,412 of 100,000 tokens.

      What had been done before
        - Nothing had been done by a tool

      What it cost
        41.2 s of work, 3 requests to a model, 100,412 tokens, 0.3000 USD

      What to do next
        - Read how far it came, then ask for less at once or allow more.
        - If you need help, give the line below to the operator of this program.

        Run: run-7f3a"
    `);
  });

  it('informs a developer', () => {
    expect(report.developer.text).toMatchInlineSnapshot(`
      "Run run-7f3a of agent "support" was stopped: budget (BUDGET_EXCEEDED)

      Summary
        After 7 turns and 5 tool calls; 41.2 s of active time, 0 ms of it waiting between attempts; 0 failures overcome on the way.

      Next steps
        - Read how far it came, then ask for less at once or allow more.
        - A stopped run is not resumed. Run again with what it lacked; hand in outcome.messages to continue from there.

      Failure
        - BUDGET_EXCEEDED (agent, critical, not retryable, by declared): The run has used 100,412 of 100,000 tokens
        - meaning: A limit that you set yourself on tokens, money, requests or tool calls is reached.

      Asked
        "Refund order 1234 and write to the customer."

      Latest attempts at models
        None is recorded.

      Recoveries: failures that were overcome
        None.

      Tools
        None was called.

      Ledger
        - requests sent: 3
        - input tokens: 100,000
        - output tokens: 412
        - requests whose tokens are not known: 0
        - cost: 0.3000 USD
        - tokens spent on failed attempts: 0
        - waited between attempts: 0 ms

      Limits
        - maxTokens: 100,000, used 100,412

      Partial answer
        None.

        Run: run-7f3a"
    `);
  });
});

const textsOf = ({ person, developer }: ErrorReport): readonly string[] => [
  person.text,
  person.markdown,
  developer.text,
  developer.markdown,
];

function expectBounded(report: ErrorReport): void {
  for (const text of [report.person.text, report.person.markdown]) {
    expect(text.length).toBeLessThanOrEqual(personBounds.maxLength);
  }
  for (const text of [report.developer.text, report.developer.markdown]) {
    expect(text.length).toBeLessThanOrEqual(developerBounds.maxLength);
  }
}

describe('buildReport() for a flow', () => {
  const effects = { read: 'idempotent', settle: 'idempotent', refund: 'once' } as const;
  const flow = { effects, succeeded: { read: 1, refund: 2 }, nodes: ['read', 'settle'], partial: '' };
  const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.trim());

  it('says of a node that what it finished is on its record, and of all else that it may have changed something', () => {
    const text = lines(buildReport({ ...failed, ...flow }).person.text);
    expect(text).toContain('- read: once. What it finished is on its own record');
    expect(text).toContain('- refund: 2 times. This may have changed something');
    expect(text).toContain(
      '- Before you ask for the same again, check what was already done (refund), so that it is not done twice.',
    );
    expect(text).toContain(
      '- What was finished (read) is on record and is not done again when this run is resumed. It is done again only if you ask for the same in a new run.',
    );
  });

  it('does not promise that of a stopped one, which is not resumed', () => {
    const { text } = buildReport({ ...stopped, ...flow }).person;
    expect(text).toContain('check what was already done (read, refund), so that it is not done twice');
    expect(text).not.toContain('is not done again');
  });
});

describe('what came from outside', () => {
  const attack =
    'a\u001b[2J\u202e\n# Approved\n<img src=x onerror=alert(1)> [click](https://evil.test) `x` ![p](//evil.test) | www.evil.test';
  const name = '<script>alert(1)</script>';
  const failure = createFailure('TOOL_EXECUTION_ERROR', {
    message: attack,
    hint: attack,
    context: { tool: attack, [name]: attack },
    causes: [{ name: attack, message: attack }],
  });
  const report = buildReport({
    ...failed,
    agent: attack,
    runId: attack,
    asked: attack,
    partial: attack,
    ended: { type: 'failed', failure },
    succeeded: { [name]: 1, constructor: 2 },
    attempts: [{ attempt: 1, provider: attack, model: name, isProbe: false, durationMs: 1, failure }],
    recoveries: [{ failure, recovery: 'retry', attempts: 1, lostMs: 1, lostTokens: 1, turn: 1 }],
  });

  it('moves no terminal and begins no line of its own', () => {
    for (const text of textsOf(report)) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(text).not.toMatch(/^#? ?Approved/m);
    }
  });

  it('has no meaning in Markdown', () => {
    for (const markdown of [report.person.markdown, report.developer.markdown]) {
      expect(markdown.split('\n').filter((line) => /<|(?<!\\)[`[\]]|[^\\]:\/\/|www\.e/.test(line))).toEqual(
        [],
      );
      expect(markdown.split('\n').filter((line) => /(?<!\\)\|/.test(line) && !/^\|.*\|$/.test(line))).toEqual(
        [],
      );
    }
  });

  it('is all there to be read', () => {
    expect(report.developer.text).toContain(name);
    expect(report.developer.text).toContain('constructor');
    expect(report.developer.text).toContain('<U+001B>[2J<U+202E>');
  });

  it('loses its secrets', () => {
    const key = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
    const long = `${'word '.repeat(55)}${key}`;
    for (const text of [`use ${key} please`, long]) {
      const secret = buildReport({ ...failed, asked: text, partial: text, agent: text });
      for (const written of textsOf(secret)) expect(written).not.toMatch(/sk-ant-api03-abc/);
    }
  });
});

describe('escapeMarkdown()', () => {
  it.each([
    { text: 'RATE_LIMITED in get_weather', markdown: 'RATE_LIMITED in get_weather' },
    { text: '_a_ *b* ~c~', markdown: String.raw`\_a\_ \*b\* \~c\~` },
    { text: '# x', markdown: String.raw`\# x` },
    { text: '- x', markdown: String.raw`\- x` },
    { text: '1. x', markdown: String.raw`1\. x` },
    { text: '4.2 s', markdown: '4.2 s' },
    { text: '&lt;b> \\', markdown: String.raw`&amp;lt;b&gt; \\` },
    {
      text: 'https://a.test www.b.test c@d.test',
      markdown: String.raw`https\://a.test www\.b.test c\@d.test`,
    },
  ])('$text', ({ text, markdown }) => {
    expect(escapeMarkdown(text)).toBe(markdown);
  });
});

describe('the words for a person', () => {
  it.each(failureCodes.map((code) => ({ code })))(
    'say what happened and what to do for $code',
    ({ code }) => {
      for (const retryAfterMs of [{}, { retryAfterMs: 5000 }]) {
        const failure = createFailure(code, { message: 'it broke', ...retryAfterMs });
        const { what, next } = explainFailure(failure);
        expect(what).toMatch(/^[A-Z].*\.$/);
        expect(next).toMatch(/^[A-Z].*\.$/);
        expect(`${what} ${next}`).not.toMatch(/Rerail will try again|\{/);
        expect(buildReport({ ...failed, ended: { type: 'failed', failure } }).person.text).toContain(what);
      }
    },
  );

  it.each<{ readonly reason: StopReason }>([
    { reason: 'max-turns' },
    { reason: 'budget' },
    { reason: 'deadline' },
    { reason: 'loop' },
    { reason: 'rejected' },
    { reason: 'guardrail' },
    { reason: 'refused' },
  ])('say why it was stopped: $reason, also without a failure', ({ reason }) => {
    const { person, developer } = buildReport({ ...failed, ended: { type: 'stopped', reason } });
    expect(person.text).toContain('The work was stopped before it was finished.');
    expect(person.text).not.toContain('could not be');
    expect(developer.text).toContain(`was stopped: ${reason} (no failure)`);
  });
});

describe('buildReport() never fails', () => {
  it('is bounded, and keeps the line with the run, however much there is', () => {
    const much = '&<'.repeat(50_000);
    const failure = createFailure('TOOL_EXECUTION_ERROR', {
      message: much,
      hint: much,
      context: { a: much, b: much },
    });
    const many = Array.from({ length: 500 }, (_, index) => index);
    const report = buildReport({
      ...failed,
      asked: much,
      partial: much,
      ended: { type: 'failed', failure },
      succeeded: Object.fromEntries(many.map((index) => [`${index}${much}`, 1])),
      attempts: many.map((attempt) => ({
        attempt,
        provider: much,
        model: much,
        isProbe: false,
        durationMs: 1,
        failure,
      })),
      recoveries: many.map((turn) => ({
        failure,
        recovery: 'retry',
        attempts: 1,
        lostMs: 1,
        lostTokens: 1,
        turn,
      })),
    });
    expectBounded(report);
    for (const text of textsOf(report)) expect(text).toMatch(/Run: run-7f3a$/);
    expect(report.person.markdown).toContain('What to do next');
    expect(report.developer.markdown).toContain('agent.resume("run-7f3a")');
  });

  it('loses a part that cannot be written, and nothing else', () => {
    const broken = { ...failed, usage: null, attempts: 'none', recoveries: [null] } as unknown as ReportFacts;
    const { person, developer } = buildReport(broken);
    expect(person.text).toContain('What it cost\n  (This part could not be written.)');
    expect(person.text).toContain('Anthropic is overloaded.');
    expect(developer.text).toContain('OVERLOADED (model, retriable');
    expect(developer.text).toContain('Ledger\n  (This part could not be written.)');
  });

  it('survives any facts, whole or in part', () => {
    const names = Object.keys(failed);
    const hostile = fc.oneof(
      fc.anything(),
      fc.constant(
        new Proxy(
          {},
          {
            get: () => {
              throw new Error('trap');
            },
          },
        ),
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), hostile, (field, value) => {
        for (const facts of [
          value,
          { ...failed, [field]: value },
          { ...failed, ended: { ...failed.ended, failure: value } },
        ]) {
          const report = buildReport(facts as ReportFacts);
          expectBounded(report);
          for (const text of textsOf(report)) expect(text.length).toBeGreaterThan(100);
        }
      }),
      { numRuns: 100 },
    );
  });
});
