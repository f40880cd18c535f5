import { describe, expect, it } from 'vitest';
import {
  answered,
  called,
  follow,
  gaveUp,
  play,
  ranTools,
  toRetry,
} from '../../../test/agent/machine-events.ts';
import { smallConfig } from '../../../test/agent/random-run.ts';
import { createFailure } from '../../errors/failure.ts';
import { messagesOf } from '../turn/history.ts';
import type { MachineEvent } from '../event.ts';
import type { RunState } from '../state.ts';

const config = smallConfig();
const failure = createFailure('INTERNAL', { message: 'A part broke' });

function resultsAfter(state: RunState): readonly unknown[] {
  const messages = messagesOf(follow(state, { type: 'cancelled' }).state.history);
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.content.map(({ content }) => content) : [];
}

describe('a run that is broken off', () => {
  it('says of a call that is under way that nobody knows', () => {
    const { state } = play(config, [called({ name: 'pay' }, { name: 'send' })]);
    expect(resultsAfter(state)).toEqual([
      expect.stringContaining('It may or may not have happened'),
      expect.stringContaining('was not run'),
    ]);
  });

  it('never says that a call was not run which was, and failed', () => {
    const { state } = play(config, [called({ name: 'look' })]);
    const due = follow(state, ranTools(state, { 0: 'SERVER_ERROR' })).state;
    expect(due.phase.type).toBe('waiting-for-tools');
    expect(resultsAfter(due)).toEqual([expect.stringMatching(/internal error.*not tried again/is)]);
  });

  it('keeps what was found out by then', () => {
    const { state } = play(config, [called({ name: 'look' }, { name: 'send' })]);
    const asking = follow(state, ranTools(state, { 0: 'ok' })).state;
    expect(asking.phase.type).toBe('asking');
    expect(resultsAfter(asking)).toEqual(['ok of call-0', expect.stringContaining('was not run')]);
  });

  it('counts the attempts of the call that it breaks off', () => {
    const waiting = play(config, [toRetry('OVERLOADED')]).state;
    const { state } = follow(waiting, { type: 'cancelled' });
    expect(state).toMatchObject({
      elapsedMs: 20,
      ledger: { requests: 1, inputTokens: 10 },
      records: [{ attempt: 1 }],
    });
  });

  it('keeps the answer that was being continued', () => {
    const continuing = play(config, [gaveUp('OUTPUT_TRUNCATED', { text: 'Half of it' })]).state;
    expect(follow(continuing, { type: 'cancelled' }).state.partial).toBe('Half of it');
  });

  it('counts the attempt after which a guardrail said no', () => {
    const step = (answered('Done.') as Extract<MachineEvent, { type: 'attempt-finished' }>).step;
    const continuing = play(config, [gaveUp('OUTPUT_TRUNCATED', { text: 'Half of it' })]).state;
    const { state } = follow(continuing, { type: 'halted', failure, step });
    expect(state).toMatchObject({
      elapsedMs: 40,
      ledger: { requests: 2, inputTokens: 20 },
      partial: 'Half of it',
    });
  });

  it.each([
    { event: { type: 'cancelled' }, end: { end: 'cancelled' } },
    { event: { type: 'halted', failure }, end: { end: 'stopped', reason: 'guardrail' } },
    { event: { type: 'broken', failure }, end: { end: 'failed' } },
  ] as const)('ends as $end where it is $event.type', ({ event, end }) => {
    expect(follow(play(config, []).state, event).state.phase).toMatchObject(end);
  });
});
