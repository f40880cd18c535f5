import { describe, expect, it } from 'vitest';
import { createFailure } from '../../errors/failure.ts';
import { regionLines } from './region-lines.ts';
import { createRunFacts, noteEvent } from './run-facts.ts';
import { columnsOf } from './text-width.ts';
import { paintWith } from './view-paint.ts';

const options = { columns: 80, nowMs: 1000, maxAttempts: 4, ...paintWith(false) };

describe('regionLines()', () => {
  it.each([
    {
      code: 'RATE_LIMITED',
      retryAfterMs: 4000,
      line: '↻ busy: trying again in 4 s (attempt 2 of 4), asked for by the provider',
    },
    {
      code: 'NETWORK_ERROR',
      retryAfterMs: undefined,
      line: '↻ not reachable: trying again in 4 s (attempt 2 of 4)',
    },
  ] as const)('counts down with the reason: $code', ({ code, retryAfterMs, line }) => {
    const facts = createRunFacts();
    const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
    const failure = createFailure(code, { origin: 'model', message: 'x', ...asked });
    noteEvent(
      facts,
      { type: 'attempt-started', turn: 1, attempt: 1, provider: 'p', model: 'm', isProbe: false },
      0,
    );
    noteEvent(facts, { type: 'failure', turn: 1, failure }, 0);
    noteEvent(
      facts,
      { type: 'recovery', turn: 1, failure, recovery: 'retry', reason: '', delayMs: 4000 },
      1000,
    );
    expect(regionLines(facts, options)).toEqual([line, 'p:m']);
  });

  it.each([
    { type: 'attempt-started', turn: 1, attempt: 2, provider: 'p', model: 'm', isProbe: false },
    { type: 'text-delta', turn: 1, text: 'x' },
    { type: 'reasoning-delta', turn: 1, text: 'x' },
  ] as const)('counts down no longer after $type', (event) => {
    const facts = createRunFacts();
    const failure = createFailure('OVERLOADED', { origin: 'model', message: 'x' });
    noteEvent(
      facts,
      { type: 'recovery', turn: 1, failure, recovery: 'retry', reason: '', delayMs: 4000 },
      1000,
    );
    noteEvent(facts, event, 2000);
    expect(regionLines(facts, options).join('\n')).not.toContain('trying again');
  });

  it.each([80, 40, 20, 8, 1])('fits into %d columns', (columns) => {
    const facts = createRunFacts();
    noteEvent(facts, { type: 'run-started', runId: 'r', agent: 'a', input: [] }, 0);
    noteEvent(
      facts,
      {
        type: 'attempt-started',
        turn: 3,
        attempt: 1,
        provider: 'anthropic',
        model: 'claude',
        isProbe: false,
      },
      0,
    );
    const finish = {
      type: 'model-finished',
      turn: 3,
      attempt: 1,
      provider: 'p',
      model: 'm',
      durationMs: 1,
    } as const;
    noteEvent(facts, { ...finish, inputTokens: 123_456, outputTokens: 10, costUsd: 1.25 }, 0);
    for (let call = 0; call < 9; call += 1)
      noteEvent(
        facts,
        {
          type: 'tool-started',
          turn: 3,
          callId: `${call}`,
          name: 'read_file',
          input: { path: '日本/'.repeat(40) },
          attempt: 1,
        },
        0,
      );
    const lines = regionLines(facts, { ...options, columns });
    expect(lines.every((line) => columnsOf(line) <= columns)).toBe(true);
    expect(lines).toHaveLength(8);
  });

  it('shows a tool with what it is about, its time and its progress', () => {
    const facts = createRunFacts();
    noteEvent(
      facts,
      {
        type: 'tool-started',
        turn: 1,
        callId: '1',
        name: 'shell',
        input: { command: 'npm test' },
        attempt: 1,
      },
      0,
    );
    noteEvent(
      facts,
      {
        type: 'tool-progress',
        turn: 1,
        callId: '1',
        name: 'shell',
        message: 'first line\ntesting\n',
        done: 3,
        total: 10,
      },
      0,
    );
    expect(regionLines(facts, { ...options, nowMs: 12_000 }).slice(0, 2)).toEqual([
      '› shell npm test 12 s',
      '  testing 3/10',
    ]);
  });
});
