import { describe, expect, it } from 'vitest';
import {
  answered,
  called,
  follow,
  gaveUp,
  lastText,
  play,
  ranTools,
  toldOf,
  wallMs,
} from '../../test/agent/machine-events.ts';
import { smallConfig, textAnswer, workOf } from '../../test/agent/random-run.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import { messagesOf } from './turn/history.ts';
import type { MachineEvent } from './event.ts';
import { transition } from './transition.ts';

const config = smallConfig({}, { approvalTimeoutMs: 60_000 });

function resumed(value?: Json, atMs = wallMs): MachineEvent {
  const answer = value === undefined ? ({ given: false } as const) : ({ given: true, value } as const);
  return { type: 'resumed', answer, wallMs: atMs, config };
}

const asked = play(config, [called({ name: 'send' }), { type: 'person-absent' }]).state;
const early = play(config, [gaveUp('RATE_LIMITED', { resumeAfterMs: 90_000 })]).state;

describe('a run that is not to be resumed', () => {
  it.each([
    { what: 'completed', state: play(config, [answered('Done.')]).state },
    { what: 'stopped', state: play(config, [gaveUp('CONTENT_FILTERED')]).state },
    { what: 'still calling a model', state: play(config, []).state },
    { what: 'still running tools', state: play(config, [called({ name: 'look' })]).state },
  ])('stays as it is where it is $what', ({ state }) => {
    const moved = transition(state, resumed(true));
    expect(moved.invalid?.code).toBe('INVALID_STATE');
    expect(moved.state).toBe(state);
  });
});

describe('a run that waits for a moment', () => {
  it('goes on waiting where somebody is in a hurry', () => {
    const moved = follow(early, resumed(true, wallMs + 89_999));
    expect(moved.state.phase).toMatchObject({ type: 'suspended', resumeAt: wallMs + 90_000 });
    expect(workOf(moved)?.type).toBe('suspend');
    expect(toldOf(moved, 'run-resumed')).toEqual([]);
  });

  it('asks the model again from then on, in the same turn', () => {
    const moved = follow(early, resumed(undefined, wallMs + 90_000));
    expect(workOf(moved)).toMatchObject({ type: 'call-model', turn: 1, situation: { attempt: 1 } });
    expect(toldOf(moved, 'run-resumed')).toHaveLength(1);
    expect(follow(moved.state, answered('Done.')).state.recoveries).toMatchObject([{ recovery: 'suspend' }]);
  });

  it('goes on with an answer that was cut off before', () => {
    const cut = [gaveUp('OUTPUT_TRUNCATED', { text: 'Half of it' }), gaveUp('QUOTA_EXCEEDED')];
    const moved = follow(play(config, cut).state, resumed());
    expect(moved.state.phase).toMatchObject({ type: 'calling-model', base: 'Half of it', continuations: 1 });
  });
});

describe('a run that waits for a person', () => {
  it('goes on waiting without an answer', () => {
    const moved = follow(asked, resumed());
    expect(moved.state.phase).toMatchObject({ type: 'suspended', reason: 'approval' });
  });

  it('takes silence as a no once the time is over', () => {
    const moved = follow(asked, resumed(undefined, wallMs + 60_001));
    expect(workOf(moved)?.type).toBe('call-model');
    expect(lastText(moved.state)).toContain('no answer came in time');
  });

  it('takes a yes after the time as a no', () => {
    expect(workOf(follow(asked, resumed(true, wallMs + 60_001)))?.type).toBe('call-model');
  });

  it('runs the call after a yes', () => {
    const moved = follow(asked, resumed({ approved: true }));
    expect(workOf(moved)?.type).toBe('run-tools');
    expect(moved.actions[0]).toMatchObject({ type: 'tell', event: { type: 'run-resumed' } });
  });
});

describe('a run that failed or was cancelled', () => {
  it('begins a new turn, and what counted against it counts no more', () => {
    const { state } = play(config, [
      gaveUp('EMPTY_RESPONSE'),
      gaveUp('EMPTY_RESPONSE'),
      gaveUp('EMPTY_RESPONSE'),
    ]);
    const moved = follow(state, resumed());
    expect(workOf(moved)).toMatchObject({ type: 'call-model', turn: 4 });
    expect(moved.state.tallies).toMatchObject({ nudges: 0, reasks: 0, failedTurns: 0 });
    expect(moved.state.ledger.requests).toBe(3);
  });

  it('does not ask the model to answer its own answer', () => {
    const strict = smallConfig({ hasOutput: true }, { maxReasks: 0 });
    const wrong = answered({ ...textAnswer('{}'), check: { type: 'invalid', problem: 'no' } });
    const { state } = play(strict, [wrong]);
    expect(messagesOf(state.history).at(-1)?.role).toBe('assistant');
    const moved = follow(state, resumed());
    expect(messagesOf(moved.state.history).at(-1)?.role).toBe('user');
    expect(lastText(moved.state)).toContain('could not be used');
  });

  it('goes on from a truthful history after it was cancelled in the middle of a call', () => {
    const { state } = play(config, [called({ name: 'look' }), { type: 'cancelled' }]);
    const moved = follow(state, resumed());
    expect(workOf(moved)).toMatchObject({ type: 'call-model', turn: 2 });
    expect(lastText(moved.state)).toContain('may or may not have happened');
  });

  it.each([
    { what: 'cancelled', event: { type: 'cancelled' } },
    {
      what: 'broken off by a defect',
      event: { type: 'broken', failure: createFailure('INTERNAL', { message: 'A part broke' }) },
    },
  ] as const)('finds out first whether a call happened over which it was $what', ({ event }) => {
    const { state } = play(config, [called({ name: 'pay' }), event]);
    expect(lastText(state)).toContain('may or may not have happened');
    const moved = follow(state, resumed());
    expect(workOf(moved)).toMatchObject({ type: 'verify-tools', indexes: [0] });
    expect(toldOf(moved, 'failure')).toMatchObject([{ failure: { code: 'UNKNOWN_OUTCOME' } }]);
    expect(messagesOf(moved.state.history)).toHaveLength(messagesOf(state.history).length - 2);
  });

  it('is stopped at its limits all the same', () => {
    const few = smallConfig({ salvage: false }, { maxTurns: 1 });
    const { state } = play(few, [gaveUp('UNKNOWN')]);
    const moved = follow(state, { ...resumed(), config: few } as MachineEvent);
    expect(moved.state.phase).toMatchObject({ end: 'stopped', reason: 'max-turns' });
  });

  it('takes the agent as it is now', () => {
    const more = smallConfig({}, { maxTurns: 99 });
    const running = play(config, [called({ name: 'look' })]).state;
    const { state } = follow(running, { type: 'cancelled' });
    const moved = follow(state, { ...resumed(), config: more } as MachineEvent);
    expect(moved.state.config.limits.maxTurns).toBe(99);
    expect(transition(moved.state, ranTools(running, { 0: 'ok' })).invalid?.code).toBe('INVALID_STATE');
  });
});
