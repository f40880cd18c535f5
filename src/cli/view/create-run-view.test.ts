import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../agent/run-event.ts';
import type { PersonRequest, RunOutcome } from '../../agent/run-outcome.ts';
import { createFailure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { CliIo } from '../start/io.ts';
import { answerSteps } from '../run-reading/next-steps.ts';
import { createRunView } from './create-run-view.ts';
import type { RunViewOptions } from './view-options.ts';

/** A view without a terminal, and what it has written. */
function plainView(options: RunViewOptions = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const io: CliIo = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stdin: () => nothing(),
    readFile: () => nothing(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    env: { FORCE_COLOR: '1' },
    now: () => 0,
    folder: '/somewhere',
    home: '/somewhere',
    terminal: undefined,
    command: 'rerail',
    version: '1.2.3',
  };
  const view = createRunView(io, { clock: simulatedClock(), ...options });
  return { view, out: () => out.join(''), err: () => err.join('') };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // Nobody types.
}

function tell(events: readonly RunEvent[], options: RunViewOptions = {}): string {
  const { view, out } = plainView(options);
  for (const event of events) view.hear(event);
  view.close();
  return out();
}

const busy = createFailure('RATE_LIMITED', { origin: 'model', message: 'too many', retryAfterMs: 4000 });
const started: RunEvent = { type: 'run-started', runId: 'run-1', agent: 'agent', input: [] };
const attempt = {
  type: 'attempt-started',
  turn: 1,
  attempt: 1,
  provider: 'openai',
  model: 'gpt',
  isProbe: false,
} as const;
const facts = {
  runId: 'run-1',
  messages: [],
  usage: {
    ...emptyLedger,
    requests: 1,
    inputTokens: 10,
    outputTokens: 5,
    costUsd: 0.5,
    toolCalls: 0,
    elapsedMs: 1500,
  },
  turns: 1,
  recoveries: [],
} as const;

function finished(outcome: RunOutcome): RunEvent {
  return { type: 'run-finished', outcome };
}

const request: PersonRequest = {
  type: 'approval',
  id: 'run-1:1:0',
  tool: 'shell',
  input: { command: 'ls\u001b[2J' },
  hash: 'abc',
  why: 'a rule asks',
  expiresAt: 0,
};

const views: RunViewOptions = {
  resumeCommand: (runId) => `rerail resume ${runId}`,
  answerSteps: (asked, runId) => answerSteps(asked, runId, { command: 'rerail', storeFlag: '' }),
};

describe('a run in plain lines', () => {
  it('says what went wrong and what is done about it, each on a line of its own', () => {
    const text = tell([
      started,
      attempt,
      { type: 'failure', turn: 1, failure: busy },
      { type: 'recovery', turn: 1, failure: busy, recovery: 'retry', reason: 'asked for', delayMs: 4000 },
      { ...attempt, attempt: 2, model: 'other' },
    ]);
    expect(text.split('\n')).toEqual([
      'turn 1: openai:gpt',
      expect.stringMatching(/^failure: .*limiting how fast requests may come\. \(RATE_LIMITED\)$/),
      'recovery: trying again after 4 s, as the provider asked: attempt 2',
      'recovery: now asking openai:other instead of openai:gpt',
      '',
    ]);
  });

  it('says the words of a failure once, and nothing of a tool that ends after the run', () => {
    const message =
      'The run was cancelled while tool "shell" was running, so it may or may not have happened';
    const failure = createFailure('UNKNOWN_OUTCOME', { origin: 'tool', message });
    const end = {
      type: 'unknown',
      callId: '1',
      name: 'shell',
      content: '',
      failure,
      durationMs: 1,
      resultHash: '',
    } as const;
    const text = tell([
      started,
      { type: 'tool-finished', turn: 1, callId: '1', name: 'shell', end, attempt: 1 },
      finished({ type: 'cancelled', partial: '', ...facts }),
      {
        type: 'tool-late',
        turn: 1,
        callId: '1',
        name: 'shell',
        settled: 'returned',
        afterMs: 300,
        summary: 'x',
      },
    ]);
    expect(text.match(/may or may not have happened\./g)).toHaveLength(1);
    expect(text).not.toContain('came to an end');
  });

  it('does not say how to resume a run that could not even be recorded', () => {
    const failure = createFailure('STORAGE_READ_ONLY', { origin: 'storage', message: 'no rights' });
    const usage = { ...facts.usage, requests: 0 };
    const outcome = { type: 'suspended', reason: 'storage', partial: '', failure, ...facts, usage } as const;
    const text = tell([started, finished(outcome)], { resumeCommand: (runId) => `rerail resume ${runId}` });
    expect(text).toContain('STORAGE_READ_ONLY');
    expect(text).not.toContain('go on with');
  });

  it('strikes what was written and taken back', () => {
    const text = tell([
      started,
      { type: 'text-delta', turn: 1, text: '# One\ntwo' },
      { type: 'text-retracted', turn: 1, keep: 0 },
      { type: 'text-delta', turn: 1, text: 'Other' },
    ]);
    expect(text).toBe(
      '# One\nrecovery: the text above from “One” on was taken back: the stream broke\nOther\n',
    );
  });

  it('holds no escape code, whatever the model, the tools and the environment say', () => {
    const text = tell([
      started,
      { type: 'text-delta', turn: 1, text: 'a\u001b[31mb\u0007\n' },
      {
        type: 'tool-started',
        turn: 1,
        callId: '1',
        name: 'shell',
        input: { command: 'ls\u001b[2J\nrm' },
        attempt: 1,
      },
      {
        type: 'tool-progress',
        turn: 1,
        callId: '1',
        name: 'shell',
        message: '\u001b[1Ahalf',
        done: 1,
        total: 2,
      },
    ]);
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(text.split('\n')).toEqual([
      'a<U+001B>[31mb<U+0007>',
      'tool: shell ls<U+001B>[2J<U+000A>rm',
      'progress: shell: <U+001B>[1Ahalf (1 of 2)',
      '',
    ]);
  });

  it('reports the failure of a tool once', () => {
    const failure = createFailure('TOOL_EXECUTION_ERROR', {
      origin: 'tool',
      message: 'exit code 1',
      context: { tool: 'shell' },
    });
    const end = {
      callId: '1',
      name: 'shell',
      type: 'failed',
      content: 'x',
      failure,
      resultHash: 'h',
      durationMs: 3200,
    } as const;
    const text = tell([
      started,
      {
        type: 'tool-started',
        turn: 1,
        callId: '1',
        name: 'shell',
        input: { command: 'npm test' },
        attempt: 1,
      },
      { type: 'tool-finished', turn: 1, attempt: 1, end, callId: '1', name: 'shell' },
      { type: 'failure', turn: 1, failure },
    ]);
    expect(text.match(/failure: /g)).toHaveLength(1);
    expect(text).toMatch(
      /failure: shell npm test failed \(3\.2 s\): .* exit code 1 \(TOOL_EXECUTION_ERROR\)/,
    );
  });

  it.each([
    {
      outcome: { ...facts, type: 'cancelled', partial: '' } as const,
      says: /cancelled.*\n.*\nresume with: rerail resume run-1/,
    },
    {
      outcome: { ...facts, type: 'suspended', reason: 'long-wait', resumeAt: 0 } as const,
      says: /long wait; not before 1970-01-01T00:00:00\.000Z/,
    },
    {
      outcome: { ...facts, type: 'completed', output: 'x', text: 'x' } as const,
      says: /^note: 1\.5 s · 1 turn · 15 tokens · \$0\.50$/m,
    },
  ])('says how a run ended: $outcome.type', ({ outcome, says }) => {
    const text = tell([started, finished(outcome)], { resumeCommand: (runId) => `rerail resume ${runId}` });
    expect(text).toMatch(says);
  });

  it('says what to fix once', () => {
    const failure = createFailure('QUOTA_EXCEEDED', { origin: 'model', message: 'The account is empty' });
    const why = renderFailure(failure, 'person', { retrying: false });
    const mend = { type: 'mend', id: 'run-1:1:mend', why } as const;
    const outcome = { ...facts, type: 'suspended', reason: 'credit', request: mend, failure } as const;
    const text = tell([started, finished(outcome)], views);
    expect(text.split(why)).toHaveLength(2);
    expect(text).toContain('resume with: rerail resume run-1\n');
  });

  it.each([
    { asked: request, reason: 'approval', verbs: ['approve', 'reject'] } as const,
    {
      asked: { type: 'in-doubt', id: '1', tool: 'shell', input: {}, hash: 'a', why: 'it died' },
      reason: 'in-doubt',
      verbs: ['settle', 'settle', 'settle'],
    } as const,
  ])('says how to answer a question about a call: $reason', ({ asked, reason, verbs }) => {
    const outcome = { ...facts, type: 'suspended', reason, request: asked } as const;
    const text = tell([started, finished(outcome)], views);
    const typed = [...text.matchAll(/: rerail (\w+) run-1(?: --[\w-]+(?: [^\s-]\S*)?)*$/gm)].map(
      ([, verb]) => verb,
    );
    expect(typed).toEqual(verbs);
    expect(text).not.toContain('go on with');
  });

  it.each([
    { what: 'nothing was asked in the second', events: [], says: '1 turn ·' },
    { what: 'the second was under way', events: [{ ...attempt, turn: 2 }], says: '2 turns ·' },
  ])('counts the turns of a run that was cancelled where $what', ({ events, says }) => {
    const outcome = { ...facts, type: 'cancelled', partial: '', turns: 2 } as const;
    const turn = { type: 'turn-started', turn: 2, purpose: 'turn' } as const;
    const text = tell([started, attempt, turn, ...events, finished(outcome)]);
    expect(text).toContain(says);
  });

  it.each([
    ['AUTHENTICATION_ERROR', 'suspended: the key was not accepted; '],
    ['MODEL_NOT_FOUND', 'suspended: the model is not available with this key; '],
  ] as const)('says of %s what must be mended', (code, says) => {
    const failure = createFailure(code, { origin: 'model', message: 'no' });
    const outcome = { ...facts, type: 'suspended', reason: 'credentials', failure } as const;
    expect(tell([started, finished(outcome)])).toContain(says);
  });

  it('asks no one where no person is there, and shows what it would have asked', async () => {
    const { view, out } = plainView();
    const answer = await view.ask(request, new AbortController().signal);
    expect(answer).toBeUndefined();
    expect(out()).toContain('ls<U+001B>[2J');
    expect(out()).toMatch(/not interactive, so approval is denied/);
  });

  it.each([
    { typed: ['', 'y'], answer: { id: 'run-1:1:0', hash: 'abc', approved: true } },
    { typed: ['n'], answer: { id: 'run-1:1:0', hash: 'abc', approved: false } },
    { typed: ['y please'], answer: { id: 'run-1:1:0', hash: 'abc', approved: false, reason: 'y please' } },
    { typed: [], answer: { id: 'run-1:1:0', hash: 'abc', approved: false } },
  ])('takes $typed for an answer where somebody types lines', async ({ typed, answer }) => {
    const lines = [...typed];
    const { view } = plainView({ readLine: () => Promise.resolve(lines.shift()) });
    expect(await view.ask(request, new AbortController().signal)).toEqual(answer);
  });

  it('keeps standard output for the answer on request', () => {
    const { view, out, err } = plainView({ plainTo: 'stderr', withoutText: true });
    for (const event of [started, attempt, { type: 'text-delta', turn: 1, text: 'hello\n' } as const])
      view.hear(event);
    expect(out()).toBe('');
    expect(err()).toBe('turn 1: openai:gpt\n');
  });
});
