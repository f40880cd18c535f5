import { describe, expect, it } from 'vitest';
import {
  called,
  follow,
  lastText,
  play,
  ranTools,
  said,
  toldOf,
} from '../../../test/agent/machine-events.ts';
import { smallConfig, workOf } from '../../../test/agent/random-run.ts';
import { createFailure } from '../../errors/failure.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { messagesOf } from '../turn/history.ts';
import type { RunConfig } from '../config.ts';
import type { MachineEvent, VerifiedCall } from '../event.ts';
import type { Moved } from '../moved.ts';
import type { RunState } from '../state.ts';
import { transition } from '../transition.ts';

const config = smallConfig();

function inDoubt(name: 'pay' | 'drop', given: RunConfig = config): Moved {
  const { state } = play(given, [called({ name })]);
  return follow(state, ranTools(state, { 0: 'UNKNOWN_OUTCOME' }));
}

function verified(found: VerifiedCall['found']): MachineEvent {
  return { type: 'tools-verified', found: [{ index: 0, found }], tookMs: 3 };
}

function settledContents({ history }: RunState): readonly unknown[] {
  const messages = messagesOf(history);
  const results = messages.findLast(({ role }) => role === 'tool')?.content ?? [];
  return (results as readonly { readonly content: unknown }[]).map(({ content }) => content);
}

describe('the calls of a turn', () => {
  it.each([
    { what: 'some of the calls', ends: { 0: 'ok' } },
    { what: 'other calls', ends: { 7: 'ok' } },
    { what: 'no call', ends: {} },
  ] as const)('are not settled by an event about $what', ({ ends }) => {
    const { state } = play(config, [called({ name: 'look' }, { name: 'put' })]);
    const moved = transition(state, ranTools(state, ends));
    expect(moved).toMatchObject({ actions: [], invalid: { code: 'INVALID_STATE' } });
    expect(moved.state).toBe(state);
  });

  it('are not settled by a check that nobody asked for', () => {
    const { state } = play(config, [called({ name: 'pay' })]);
    expect(transition(state, verified({ type: 'did-not-happen' })).invalid?.code).toBe('INVALID_STATE');
  });

  it('are told in the order in which the model called, whatever ended first', () => {
    const { state } = play(config, [called({ name: 'send' }, { name: 'look' }, { name: 'put' })]);
    const ran = follow(state, ranTools(state, { 2: 'ok', 1: 'ok' })).state;
    const sent = follow(ran, said(true)).state;
    const { state: settled } = follow(sent, ranTools(sent, { 0: 'ok' }));
    expect(settledContents(settled)).toEqual(['ok of call-0', 'ok of call-1', 'ok of call-2']);
  });

  it('count what a tool used up, also where the attempt is made again', () => {
    const { state } = play(config, [called({ name: 'look' })]);
    const ended = ranTools(state, { 0: 'SERVER_ERROR' }) as Extract<MachineEvent, { type: 'tools-finished' }>;
    const charge = { ...emptyLedger, requests: 1, outputTokens: 70 };
    const charged = { ...ended, ends: ended.ends.map((one) => ({ ...one, end: { ...one.end, charge } })) };
    const due = follow(state, charged).state;
    expect(due.phase.type).toBe('waiting-for-tools');
    expect(due.ledger).toMatchObject({ requests: 2, outputTokens: 75 });
  });
});

describe('a call that failed', () => {
  it.each([
    { name: 'look', code: 'TOOL_EXECUTION_ERROR', why: 'would not be mended by asking again' },
    {
      name: 'pay',
      code: 'SERVER_ERROR',
      why: 'a tool with the effect "once" is not called again automatically',
    },
  ] as const)('is told to the model: $name with $code', ({ name, code, why }) => {
    const { state } = play(config, [called({ name })]);
    const moved = follow(state, ranTools(state, { 0: code }));
    expect(toldOf(moved, 'recovery')).toMatchObject([
      { recovery: 'tell-model', reason: expect.stringContaining(why) as string },
    ]);
    expect(workOf(moved)?.type).toBe('call-model');
  });

  it('is tried again after a wait only so often where that is harmless', () => {
    let { state } = play(smallConfig({}, { maxToolAttempts: 2 }), [called({ name: 'put' })]);
    ({ state } = follow(state, ranTools(state, { 0: 'SERVER_ERROR' })));
    const again = follow(state, { type: 'waited', tookMs: 1000 });
    expect(workOf(again)).toEqual({ type: 'run-tools', calls: [{ index: 0, attempt: 2 }] });
    const told = follow(again.state, ranTools(again.state, { 0: 'SERVER_ERROR' }));
    expect(workOf(told)?.type).toBe('call-model');
    expect(told.state.recoveries).toEqual([]);
  });

  it('is a recovery of the run once it goes well, with the time that it took', () => {
    let { state } = play(config, [called({ name: 'put' })]);
    const failed = follow(state, ranTools(state, { 0: 'SERVER_ERROR' }));
    const [{ delayMs = 0 } = {}] = toldOf(failed, 'recovery');
    ({ state } = follow(failed.state, { type: 'waited', tookMs: delayMs }));
    ({ state } = follow(state, ranTools(state, { 0: 'ok' })));
    expect(state.recoveries).toMatchObject([
      { recovery: 'retry', attempts: 1, lostMs: 7 + delayMs, turn: 1 },
    ]);
  });
});

describe('a call of which nobody knows whether it happened', () => {
  it('is never made again by itself', () => {
    expect(workOf(inDoubt('drop'))?.type).toBe('ask-person');
    expect(workOf(inDoubt('drop', smallConfig({ inDoubt: 'tell' })))?.type).toBe('finish');
  });

  it('is told to the model as unknown where nobody shall be asked', () => {
    const tell = smallConfig({
      inDoubt: 'tell',
      tools: { ...config.tools, pay: { ...config.tools['drop'], onError: 'tell' } as never },
    });
    const moved = inDoubt('pay', tell);
    expect(settledContents(moved.state)).toEqual(['UNKNOWN_OUTCOME of call-0']);
    expect(workOf(moved)?.type).toBe('call-model');
  });

  it('is looked at by its own check first', () => {
    const moved = inDoubt('pay');
    expect(workOf(moved)).toEqual({ type: 'verify-tools', indexes: [0] });
    expect(toldOf(moved, 'recovery')).toMatchObject([{ recovery: 'verify' }]);
  });

  it('is done where the check found it, and was overcome so', () => {
    const end = {
      callId: 'call-0',
      name: 'pay',
      type: 'ok',
      content: 'Paid.',
      resultHash: 'p',
      durationMs: 1,
    } as const;
    const { state } = follow(inDoubt('pay').state, verified({ type: 'happened', end }));
    expect(settledContents(state)).toEqual(['Paid.']);
    expect(state.recoveries).toMatchObject([{ recovery: 'verify', failure: { code: 'UNKNOWN_OUTCOME' } }]);
  });

  it('is made again where it did not happen, but not for ever', () => {
    let { state } = inDoubt('pay', smallConfig({}, { maxToolAttempts: 3 }));
    for (const attempt of [2, 3]) {
      const again = follow(state, verified({ type: 'did-not-happen' }));
      expect(workOf(again)).toEqual({ type: 'run-tools', calls: [{ index: 0, attempt }] });
      ({ state } = follow(again.state, ranTools(again.state, { 0: 'UNKNOWN_OUTCOME' })));
    }
    const last = follow(state, verified({ type: 'did-not-happen' }));
    expect(workOf(last)?.type).toBe('call-model');
    expect(toldOf(last, 'tool-finished')).toMatchObject([{ attempt: 3, end: { type: 'failed' } }]);
    expect(lastText(last.state)).toContain('was called 3 times');
  });

  it('is asked about where the check does not know either', () => {
    const failure = createFailure('UNKNOWN_OUTCOME', { message: 'The check broke' });
    const moved = follow(inDoubt('pay').state, verified({ type: 'unknown', failure }));
    expect(workOf(moved)).toMatchObject({
      type: 'ask-person',
      request: { type: 'in-doubt', why: 'The check broke' },
    });
  });
});
