import { describe, expect, it } from 'vitest';
import {
  called,
  follow,
  lastText,
  play,
  ranTools,
  said,
  toldOf,
  wallMs,
} from '../../../test/agent/machine-events.ts';
import { smallConfig, workOf } from '../../../test/agent/random-run.ts';
import type { RunState } from '../state.ts';

const config = smallConfig({}, { approvalTimeoutMs: 60_000 });
const asking = play(config, [called({ name: 'send', input: { to: 'Ann' } })]).state;

/** A call of a tool without a check of its own, which nobody saw ending. */
function doubtful(limits: { readonly maxToolAttempts: number } = { maxToolAttempts: 4 }): RunState {
  const { state } = play(smallConfig({}, limits), [called({ name: 'drop' })]);
  return follow(state, ranTools(state, { 0: 'UNKNOWN_OUTCOME' })).state;
}

describe('a call that is asked about', () => {
  it.each([
    { what: 'a no', value: false, says: 'said no' },
    { what: 'nonsense', value: { maybe: 1 }, says: 'not a clear approval' },
    { what: 'word that nobody is there', value: { type: 'absent' }, says: 'none is available in this run' },
    { what: 'a yes that came too late', value: true, atMs: wallMs + 60_001, says: 'no answer came in time' },
    {
      what: 'a yes to another call',
      value: { approved: true, hash: 'send:{}' },
      says: 'answered about another one',
    },
    {
      what: 'a yes to other arguments',
      value: { approved: true, input: { to: 'Bob' } },
      says: 'answered about another one',
    },
  ])('is not run after $what', ({ value, atMs, says }) => {
    const moved = follow(asking, said(value, atMs ?? wallMs));
    expect(workOf(moved)?.type).toBe('call-model');
    expect(lastText(moved.state)).toContain(says);
    expect(moved.state.tallies.rejections.count).toBe(1);
    expect(toldOf(moved, 'tool-finished')).toMatchObject([{ end: { type: 'denied' } }]);
  });

  it('is not run where nobody answered', () => {
    const moved = follow(asking, { type: 'person-answered', answer: { given: false }, wallMs });
    expect(workOf(moved)?.type).toBe('call-model');
  });

  it('is run after a yes, once', () => {
    const moved = follow(asking, said({ approved: true, id: 'run:1:0:approval' }, wallMs + 60_000));
    expect(workOf(moved)).toEqual({ type: 'run-tools', calls: [{ index: 0, attempt: 1 }] });
    expect(toldOf(moved, 'approval-answered')).toMatchObject([{ verdict: 'yes' }]);
  });

  it('is asked with everything that is needed to decide', () => {
    expect(asking.phase).toMatchObject({
      type: 'asking',
      request: {
        type: 'approval',
        tool: 'send',
        input: { to: 'Ann' },
        hash: 'send:{"to":"Ann"}',
        expiresAt: wallMs + 60_000,
      },
    });
  });

  it('has its full time also where the question before took long', () => {
    const two = play(config, [called({ name: 'send', input: 1 }, { name: 'send', input: 2 })]).state;
    const ran = follow(two, said(true, wallMs + 50_000)).state;
    const { state } = follow(ran, ranTools(ran, { 0: 'ok' }));
    expect(state.phase).toMatchObject({ type: 'asking', index: 1, request: { expiresAt: wallMs + 110_010 } });
  });

  it('suspends the run where nobody here can be asked', () => {
    const { state } = follow(asking, { type: 'person-absent' });
    expect(state.phase).toMatchObject({ type: 'suspended', reason: 'approval', request: { tool: 'send' } });
  });

  it('ends the branch where the same call is refused twice, and never opens the gate', () => {
    const again = follow(asking, said(false)).state;
    const second = follow(again, called({ name: 'send', input: { to: 'Ann' } })).state;
    const { state } = follow(second, said('no'));
    expect(state.phase).toMatchObject({
      end: 'stopped',
      reason: 'rejected',
      failure: { code: 'PERMISSION_DENIED' },
    });
  });

  it('ends the branch after so many refusals of whatever', () => {
    let state = asking;
    for (const to of ['Bob', 'Cid']) {
      state = follow(follow(state, said(false)).state, called({ name: 'send', input: { to } })).state;
    }
    expect(follow(state, said(false)).state.phase).toMatchObject({ end: 'stopped', reason: 'rejected' });
  });
});

describe('a call in doubt that a person looked at', () => {
  it.each([
    { what: 'a mere yes', value: true },
    { what: 'an answer about another call', value: { happened: false, hash: 'drop:1' } },
    { what: 'no answer', value: null },
  ])('stays unknown after $what, and is not made again', ({ value }) => {
    const moved = follow(doubtful(), said(value));
    expect(toldOf(moved, 'tool-finished')).toMatchObject([{ end: { type: 'unknown' } }]);
    expect(moved.state.phase).toMatchObject({ end: 'failed', failure: { code: 'UNKNOWN_OUTCOME' } });
  });

  it.each([
    { value: { happened: true, result: 'Sent.' }, content: 'Sent.' },
    { value: { happened: true, result: { id: 7 } }, content: '{"id":7}' },
    { value: 'happened', content: 'It happened: a person checked. Its result is not known.' },
  ])('is done where it happened: $value', ({ value, content }) => {
    const moved = follow(doubtful(), said(value));
    expect(toldOf(moved, 'tool-finished')).toMatchObject([{ end: { type: 'ok', content } }]);
    expect(moved.state.recoveries).toMatchObject([{ recovery: 'ask-person' }]);
  });

  it('is made again where it did not happen, but not for ever', () => {
    let state = doubtful({ maxToolAttempts: 2 });
    const again = follow(state, said({ happened: false }));
    expect(workOf(again)).toEqual({ type: 'run-tools', calls: [{ index: 0, attempt: 2 }] });
    ({ state } = follow(again.state, ranTools(again.state, { 0: 'UNKNOWN_OUTCOME' })));
    expect(state.phase).toMatchObject({ type: 'asking', request: { id: 'run:1:0:in-doubt:1' } });
    const last = follow(state, said({ happened: false }));
    expect(toldOf(last, 'tool-finished')).toMatchObject([
      { end: { type: 'failed', failure: { sideEffect: 'none' } } },
    ]);
  });

  it('suspends the run where nobody here can look', () => {
    const { state } = follow(doubtful(), { type: 'person-absent' });
    expect(state.phase).toMatchObject({ type: 'suspended', reason: 'in-doubt' });
  });
});
