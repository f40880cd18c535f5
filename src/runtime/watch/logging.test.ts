import { describe, expect, it } from 'vitest';
import { logRules } from '../../agent/log.ts';
import type { LogEntry } from '../../agent/log.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import { createFailure } from '../../errors/failure.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { createHookRunner } from '../hooks/hooks.ts';
import { createLogHook, logEntryOf } from './logging.ts';

const about = { runId: 'run-1', agent: 'support' };
const secret = `sk-ant-api03-${'A1b2C3d4E5'.repeat(9)}AA`;
const failure = createFailure('RATE_LIMITED', { message: 'slow down', retryAfterMs: 500 });
const facts = {
  runId: 'run-1',
  messages: [{ role: 'user', content: 'PROMPT' }],
  usage: { ...emptyLedger, toolCalls: 1, elapsedMs: 20 },
  turns: 2,
  recoveries: [],
} as const;
const report = { person: { text: '', markdown: '' }, developer: { text: '', markdown: '' } };
const end = { callId: 'c1', name: 'refund', content: 'RESULT', resultHash: 'h', durationMs: 3 } as const;
const approval = {
  type: 'approval',
  id: 'a',
  tool: 'refund',
  input: 'INPUT',
  hash: 'h',
  why: 'w',
  expiresAt: 0,
} as const;
const tool = { turn: 1, callId: 'c1', name: 'refund' } as const;
const served = { provider: 'anthropic', model: 'claude' } as const;

/** One of each type, with what people and tools said in capitals. */
const events: { readonly [Type in RunEvent['type']]: Extract<RunEvent, { readonly type: Type }> } = {
  'run-started': { type: 'run-started', ...about, input: [{ role: 'user', content: 'PROMPT' }] },
  'run-resumed': { type: 'run-resumed', ...about },
  'turn-started': { type: 'turn-started', turn: 1, purpose: 'turn' },
  'child-event': { type: 'child-event', node: 'a', runId: 'r/a', event: { type: 'storage-restored' } },
  'attempt-started': { type: 'attempt-started', turn: 1, attempt: 1, ...served, isProbe: false },
  'text-delta': { type: 'text-delta', turn: 1, text: 'ANSWER' },
  'text-retracted': { type: 'text-retracted', turn: 1, keep: 0 },
  'reasoning-delta': { type: 'reasoning-delta', turn: 1, text: 'THOUGHT' },
  'tool-call-started': { type: 'tool-call-started', turn: 1, callId: 'c1', name: 'refund' },
  'tool-call-delta': { type: 'tool-call-delta', turn: 1, callId: 'c1', text: 'INPUT' },
  'request-noted': { type: 'request-noted', turn: 1, attempt: 1, ...served, note: { type: 'reconnected' } },
  'model-finished': { type: 'model-finished', turn: 1, attempt: 1, ...served, durationMs: 5, inputTokens: 7 },
  'tool-started': { type: 'tool-started', ...tool, input: 'INPUT', attempt: 1 },
  'tool-progress': { type: 'tool-progress', ...tool, message: 'PROGRESS' },
  'tool-finished': { type: 'tool-finished', ...tool, attempt: 1, end: { ...end, type: 'ok' } },
  'tool-warning': { type: 'tool-warning', ...tool, warning: 'stray-error', failure },
  'tool-late': { type: 'tool-late', ...tool, settled: 'threw', afterMs: 1, summary: 'RESULT' },
  'arguments-repaired': { type: 'arguments-repaired', ...tool, input: 'INPUT' },
  failure: { type: 'failure', turn: 1, failure },
  recovery: { type: 'recovery', turn: 1, failure, recovery: 'retry', reason: 'it may pass', delayMs: 500 },
  'breaker-changed': { type: 'breaker-changed', provider: 'anthropic', from: 'closed', to: 'open' },
  'breaker-awaited': { type: 'breaker-awaited', ...served },
  'tool-withdrawn': { type: 'tool-withdrawn', turn: 1, name: 'refund', reason: 'loop' },
  'tool-restored': { type: 'tool-restored', turn: 1, name: 'refund' },
  'history-repaired': { type: 'history-repaired', repairs: ['PROMPT'] },
  'events-dropped': { type: 'events-dropped', count: 3, characters: 40 },
  'agent-changed': { type: 'agent-changed', differences: ['the tool "refund" is gone'] },
  'history-selected': {
    type: 'history-selected',
    sessionId: 'PROMPT',
    strategy: 'recency',
    total: 60,
    selected: 50,
    degraded: [],
  },
  'storage-failed': { type: 'storage-failed', failure: createFailure('STORAGE_FULL', { message: 'PROMPT' }) },
  'storage-restored': { type: 'storage-restored' },
  'history-compacted': {
    type: 'history-compacted',
    turn: 1,
    why: 'budget',
    strategy: 'window',
    tokensBefore: 9,
    tokensAfter: 3,
  },
  'messages-injected': {
    type: 'messages-injected',
    turn: 1,
    messages: [{ role: 'user', content: 'PROMPT' }],
  },
  'limit-reached': { type: 'limit-reached', turn: 1, limit: 'maxTurns', reason: 'max-turns' },
  'approval-requested': { type: 'approval-requested', request: approval },
  'approval-answered': { type: 'approval-answered', id: 'a', verdict: 'yes', reason: 'WHY' },
  'hook-failed': { type: 'hook-failed', hook: 'x', point: 'event', failure },
  'run-suspended': { type: 'run-suspended', reason: 'approval', request: approval },
  explained: {
    type: 'explained',
    explanation: { text: 'ANSWER', summary: 'ANSWER', claims: [], nextSteps: [], model: 'anthropic/claude' },
  },
  'run-finished': {
    type: 'run-finished',
    outcome: { ...facts, type: 'completed', output: 'ANSWER', text: 'ANSWER' },
  },
};

describe('createLogHook()', () => {
  it('does not harm a run when the writer throws', () => {
    const write = (): void => {
      throw new Error('disk full');
    };
    const failed: unknown[] = [];
    const runner = createHookRunner([createLogHook(write)], {
      clock: simulatedClock(),
      onFailed: (one) => failed.push(one),
    });
    runner.tellEvent(events.failure, about);
    expect(failed).toMatchObject([{ hook: 'log', failure: { code: 'HOOK_FAILED' } }]);
  });

  it.each(Object.values(events))('says nothing that people, models or tools said at $type', (event) => {
    const text = JSON.stringify(logEntryOf(event, about) ?? '');
    expect(text).not.toMatch(/PROMPT|ANSWER|INPUT|RESULT|THOUGHT|PROGRESS|WHY/);
  });

  it.each(Object.values(events))('writes a constant message for $type', (event) => {
    const other = logEntryOf(event, { runId: 'run-2', agent: 'other' });
    const entry = logEntryOf(event, about);
    expect(entry?.message).toBe(other?.message);
    expect(entry?.message).toBe(logRules[event.type]?.message);
    expect(JSON.parse(JSON.stringify(entry?.fields ?? {}))).toEqual(entry?.fields ?? {});
  });

  it('gives each type of event a message of its own', () => {
    const messages = Object.values(logRules).flatMap((rule) => (rule === undefined ? [] : [rule.message]));
    expect(new Set(messages).size).toBe(messages.length);
  });

  it.each(['text-delta', 'reasoning-delta'] as const)('does not log %s', (type) => {
    expect(logEntryOf(events[type], about)).toBeUndefined();
  });

  it.each([
    { outcome: { ...facts, type: 'failed', failure, report, partial: '' }, level: 'error' },
    { outcome: { ...facts, type: 'stopped', reason: 'budget', report, partial: '' }, level: 'warn' },
    { outcome: { ...facts, type: 'suspended', reason: 'approval' }, level: 'info' },
    { outcome: { ...facts, type: 'cancelled', partial: '' }, level: 'info' },
  ] as const)('logs a run that $outcome.type as $level', ({ outcome, level }) => {
    expect(logEntryOf({ type: 'run-finished', outcome }, about)).toMatchObject({
      level,
      message: 'Run finished',
      fields: { runId: 'run-1', agent: 'support', outcome: outcome.type, turns: 2, elapsedMs: 20 },
    });
  });

  it.each([
    { type: 'ok', level: 'info' },
    { type: 'retry', level: 'info' },
    { type: 'failed', level: 'warn' },
    { type: 'denied', level: 'warn' },
    { type: 'unknown', level: 'warn' },
  ] as const)('logs a tool that ended with $type as $level', ({ type, level }) => {
    const event: RunEvent = { ...events['tool-finished'], end: { ...end, type } };
    expect(logEntryOf(event, about)).toMatchObject({ level, fields: { tool: 'refund', end: type } });
  });

  it('redacts and bounds every field', () => {
    const reason = `${'x'.repeat(5000)} ${secret}`;
    const event: RunEvent = { type: 'tool-withdrawn', turn: 1, name: secret, reason };
    const entry = logEntryOf(event, { runId: `run ${secret}`, agent: 'support' });
    expect(JSON.stringify(entry)).not.toContain(secret);
    expect(JSON.stringify(entry).length).toBeLessThan(2000);
  });

  it('writes what a failure says of itself', () => {
    const entries: LogEntry[] = [];
    void createLogHook((entry) => entries.push(entry)).onEvent?.(events.recovery, about);
    expect(entries).toEqual([
      {
        level: 'warn',
        message: 'Recovery',
        fields: {
          runId: 'run-1',
          agent: 'support',
          turn: 1,
          recovery: 'retry',
          reason: 'it may pass',
          delayMs: 500,
          failure: {
            code: 'RATE_LIMITED',
            origin: 'model',
            message: 'slow down',
            retryable: true,
            retryAfterMs: 500,
          },
        },
      },
    ]);
  });
});
