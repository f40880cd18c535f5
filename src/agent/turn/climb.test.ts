import { describe, expect, it } from 'vitest';
import {
  answered,
  called,
  follow,
  gaveUp,
  lastText,
  play,
  ranTools,
  started,
  toldOf,
  toRetry,
  wallMs,
} from '../../../test/agent/machine-events.ts';
import { longHistory, smallConfig, textAnswer } from '../../../test/agent/random-run.ts';
import type { Compaction } from '../../model/compaction.ts';
import type { MachineEvent } from '../event.ts';
import { messagesOf } from './history.ts';
import type { RunState } from '../state.ts';
import { transition } from '../transition.ts';

const config = smallConfig();
const half = 'It is a long answer that goes on and on, and then';

function endedText({ phase }: RunState): string | undefined {
  return phase.type === 'ended' && phase.end === 'completed' ? phase.text : undefined;
}

/** As the runtime says it: refused, and how it could be shorter. */
function tooLong(code: 'CONTEXT_LENGTH_EXCEEDED' | 'REQUEST_TOO_LARGE'): MachineEvent {
  const cleared = longHistory.flatMap(({ role, content }, message) =>
    role === 'tool' ? content.map(({ callId }) => ({ message, callId })) : [],
  );
  const compaction: Compaction = {
    strategy: 'clear-results',
    dropped: [],
    cleared,
    shortened: [],
    tokensBefore: 4000,
    tokensAfter: 1000,
  };
  return { ...(gaveUp(code) as Extract<MachineEvent, { type: 'attempt-finished' }>), made: { compaction } };
}

describe('an answer that was cut off', () => {
  it('fails with what there was once every way to go on is used up', () => {
    const few = smallConfig({}, { maxContinuations: 1, maxNudges: 1 });
    const cut = gaveUp('OUTPUT_TRUNCATED', { text: half });
    const { state } = play(few, [cut, cut, cut, cut]);
    expect(state.phase).toMatchObject({
      type: 'ended',
      end: 'failed',
      failure: { code: 'OUTPUT_TRUNCATED' },
    });
    expect(state.partial).toBe(half);
    expect(state.recoveries).toEqual([]);
  });

  it('is continued in the same turn and joined without a seam', () => {
    const { state } = play(config, [gaveUp('OUTPUT_TRUNCATED', { text: half }), answered(' it ends.')]);
    expect(endedText(state)).toBe(`${half} it ends.`);
    expect(state.turn).toBe(1);
    expect(messagesOf(state.history).at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: `${half} it ends.` }],
    });
    expect(state.recoveries).toMatchObject([{ recovery: 'continue', lostTokens: 15 }]);
  });

  it('is taken back where the model begins anew', () => {
    const cut = play(config, [gaveUp('OUTPUT_TRUNCATED', { text: half })]);
    const moved = follow(cut.state, answered(`${half} it ends.`));
    expect(endedText(moved.state)).toBe(`${half} it ends.`);
    expect(toldOf(moved, 'text-retracted')).toEqual([{ type: 'text-retracted', turn: 1, keep: 0 }]);
    expect(toldOf(moved, 'text-delta')).toMatchObject([{ text: `${half} it ends.` }]);
  });

  it('is never doubled where the model begins anew and is cut off again', () => {
    const cut = play(config, [gaveUp('OUTPUT_TRUNCATED', { text: half })]);
    const again = follow(cut.state, gaveUp('OUTPUT_TRUNCATED', { text: `${half} more` }));
    expect(toldOf(again, 'text-retracted')).toHaveLength(1);
    expect(again.state.phase).toMatchObject({
      type: 'calling-model',
      base: `${half} more`,
      continuations: 2,
    });
  });

  it('is taken back where the conversation must be shortened before it can go on', () => {
    const begun = transition(undefined, { ...started(), messages: longHistory } as ReturnType<
      typeof started
    >);
    const cut = follow(begun.state, gaveUp('OUTPUT_TRUNCATED', { text: half }));
    const moved = follow(cut.state, tooLong('CONTEXT_LENGTH_EXCEEDED'));
    expect(toldOf(moved, 'text-retracted')).toHaveLength(1);
    expect(moved.state.phase).toMatchObject({ type: 'calling-model', base: '', continuations: 1 });
  });
});

describe('an answer that cannot be used', () => {
  it('fails after as many words as the limit allows, and nothing counts as overcome', () => {
    const { state } = play(config, [
      gaveUp('EMPTY_RESPONSE'),
      gaveUp('EMPTY_RESPONSE'),
      gaveUp('EMPTY_RESPONSE'),
    ]);
    expect(state.phase).toMatchObject({ end: 'failed', failure: { code: 'EMPTY_RESPONSE' } });
    expect(state.turn).toBe(3);
    expect(state.recoveries).toEqual([]);
  });

  it('is told to the model in words, and what it had said is taken back', () => {
    const moved = play(config, [gaveUp('TOOL_CALL_INVALID', { text: 'Let me' })]);
    expect(lastText(moved.state)).toContain('[Note from the runtime]');
    expect(toldOf(moved, 'text-retracted')).toMatchObject([{ turn: 1, keep: 0 }]);
    expect(toldOf(moved, 'turn-started')).toMatchObject([{ turn: 2 }]);
  });

  it('is overcome by an answer that leads on, and the count begins again', () => {
    const nudged = play(config, [gaveUp('EMPTY_RESPONSE'), called({ name: 'look' })]).state;
    expect(nudged.tallies).toMatchObject({ nudges: 0, pending: [] });
    expect(nudged.recoveries).toMatchObject([{ recovery: 'nudge', turn: 1, lostMs: 20, lostTokens: 15 }]);
  });

  it('keeps what the call itself had overcome before', () => {
    const { state } = play(config, [
      toRetry('OVERLOADED'),
      { type: 'waited', tookMs: 100 },
      gaveUp('EMPTY_RESPONSE'),
      answered('Done.'),
    ]);
    expect(state.recoveries.map(({ recovery }) => recovery)).toEqual(['retry', 'nudge']);
  });
});

describe('an answer of the wrong form', () => {
  const strict = smallConfig({ hasOutput: true });
  const wrong = answered({ ...textAnswer('{}'), check: { type: 'invalid', problem: '"city" is missing' } });
  const right = answered({
    ...textAnswer('{"city":"Ulm"}'),
    check: { type: 'valid', value: { city: 'Ulm' } },
  });

  it('fails with the text as evidence after the last time it was asked for', () => {
    const { state } = play(strict, [wrong, wrong, wrong, wrong]);
    expect(state.phase).toMatchObject({
      end: 'failed',
      failure: { code: 'OUTPUT_PARSE_ERROR', context: { attempts: 4 } },
    });
    expect(state.partial).toBe('{}');
    expect(state.recoveries).toEqual([]);
  });

  it('is asked for again with what is wrong, and the answer stays in the conversation', () => {
    const moved = play(strict, [wrong]);
    expect(messagesOf(moved.state.history).at(-2)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: '{}' }],
    });
    expect(lastText(moved.state)).toContain('\\"city\\" is missing');
    expect(toldOf(moved, 'recovery')).toMatchObject([{ recovery: 're-ask' }]);
  });

  it('is overcome by one of the right form', () => {
    const { state } = play(strict, [wrong, right]);
    expect(state.phase).toMatchObject({ end: 'completed', output: { city: 'Ulm' } });
    expect(state.recoveries).toMatchObject([{ recovery: 're-ask', lostTokens: 15 }]);
  });

  it('is never completed where nobody checked it', () => {
    expect(play(strict, [answered('Ulm')]).state.phase.type).toBe('calling-model');
  });
});

describe('a conversation that is too long', () => {
  const begun = transition(undefined, { ...started(), messages: longHistory } as ReturnType<
    typeof started
  >).state;

  it('fails with the second overflow in a row', () => {
    const once = follow(begun, tooLong('CONTEXT_LENGTH_EXCEEDED')).state;
    const { state } = follow(once, tooLong('CONTEXT_LENGTH_EXCEEDED'));
    expect(state.phase).toMatchObject({ end: 'failed', failure: { code: 'CONTEXT_LENGTH_EXCEEDED' } });
  });

  it('is shortened in the same turn, and nothing is left out that belongs together', () => {
    const moved = follow(begun, tooLong('REQUEST_TOO_LARGE'));
    expect(moved.state).toMatchObject({ turn: 1, tallies: { compactions: 1 } });
    expect(messagesOf(moved.state.history)).toHaveLength(longHistory.length);
    expect(JSON.stringify(messagesOf(moved.state.history)).length).toBeLessThan(
      JSON.stringify(longHistory).length - 8000,
    );
    expect(toldOf(moved, 'history-compacted')).toMatchObject([
      { why: 'overflow', strategy: 'clear-results' },
    ]);
  });

  it('is not shortened where nothing would be saved', () => {
    expect(play(config, [gaveUp('CONTEXT_LENGTH_EXCEEDED')]).state.phase).toMatchObject({ end: 'failed' });
  });
});

describe('a failure that somebody else must mend', () => {
  it('waits until the moment that was asked for', () => {
    const { state } = play(config, [gaveUp('RATE_LIMITED', { resumeAfterMs: 90_000 })]);
    expect(state.phase).toMatchObject({ type: 'suspended', reason: 'long-wait', resumeAt: wallMs + 90_000 });
  });

  it.each([
    { code: 'QUOTA_EXCEEDED', reason: 'credit' },
    { code: 'AUTHENTICATION_ERROR', reason: 'credentials' },
    { code: 'MODEL_NOT_FOUND', reason: 'credentials' },
  ] as const)('says who must mend $code', ({ code, reason }) => {
    const { state } = play(config, [gaveUp(code)]);
    expect(state.phase).toMatchObject({
      type: 'suspended',
      reason,
      request: { type: 'mend', id: 'run:1:mend' },
    });
  });

  it('is the end, and no failure, where the model will not answer', () => {
    const { state } = play(config, [gaveUp('CONTENT_FILTERED', { text: 'I' })]);
    expect(state.phase).toMatchObject({
      end: 'stopped',
      reason: 'refused',
      failure: { code: 'CONTENT_FILTERED' },
    });
    expect(state.partial).toBe('I');
  });
});

describe('a limit', () => {
  it.each([
    { limit: { maxRequests: 1 }, reason: 'budget', code: 'BUDGET_EXCEEDED' },
    { limit: { maxTokens: 15 }, reason: 'budget', code: 'BUDGET_EXCEEDED' },
    { limit: { timeoutMs: 25 }, reason: 'deadline', code: 'TIMEOUT' },
  ])(
    'of time or money ($limit) stops the run without a further call, and names what was in the way',
    (row) => {
      const { state } = play(smallConfig({}, row.limit), [gaveUp('EMPTY_RESPONSE')]);
      expect(state.phase).toMatchObject({
        end: 'stopped',
        reason: row.reason,
        failure: { code: row.code, causes: [{ name: 'EMPTY_RESPONSE' }] },
      });
    },
  );

  it.each([
    { limit: { maxTurns: 1 }, reason: 'max-turns' },
    { limit: { maxToolCalls: 1 }, reason: 'budget' },
  ])('of turns or calls ($limit) gives one more turn without tools, and stops then', ({ limit, reason }) => {
    const few = smallConfig({}, limit);
    const asked = play(few, [called({ name: 'look' })]).state;
    const moved = follow(asked, ranTools(asked, { 0: 'ok' }));
    expect(toldOf(moved, 'turn-started')).toMatchObject([{ purpose: 'salvage', turn: 2 }]);
    const { state } = follow(moved.state, answered('Half is done.'));
    expect(state).toMatchObject({ turn: 1, partial: 'Half is done.', phase: { end: 'stopped', reason } });
  });

  it.each([
    { what: 'fails', event: gaveUp('OVERLOADED'), partial: '' },
    { what: 'is cut off', event: gaveUp('OUTPUT_TRUNCATED', { text: half }), partial: half },
    { what: 'calls a tool all the same', event: called({ name: 'look' }), partial: '' },
    { what: 'says nothing', event: answered('  '), partial: '' },
  ])('is the reason also where the last turn $what', ({ event, partial }) => {
    const asked = play(smallConfig({}, { maxTurns: 1 }), [called({ name: 'look' })]).state;
    const last = follow(asked, ranTools(asked, { 0: 'ok' })).state;
    const { state } = follow(last, event);
    expect(state).toMatchObject({ partial, phase: { end: 'stopped', reason: 'max-turns' } });
    expect(messagesOf(state.history).at(-1)?.role).toBe('user');
  });

  it('stops at once where nobody wants a last turn', () => {
    const asked = play(smallConfig({ salvage: false }, { maxTurns: 1 }), [called({ name: 'look' })]).state;
    expect(follow(asked, ranTools(asked, { 0: 'ok' })).state.phase).toMatchObject({ end: 'stopped' });
  });
});
