import { describe, expect, it } from 'vitest';
import {
  answered,
  called,
  follow,
  lastText,
  play,
  ranTools,
  toldOf,
} from '../../../test/agent/machine-events.ts';
import type { SomeCall, SomeEnd } from '../../../test/agent/machine-events.ts';
import { smallConfig, workOf } from '../../../test/agent/random-run.ts';
import type { Json } from '../../base/json.ts';
import { messagesOf } from '../turn/history.ts';
import type { Moved } from '../moved.ts';
import type { RunState } from '../state.ts';

const patient = smallConfig(
  { retry: { ...smallConfig().retry, maxAttempts: 1 } },
  { maxTurns: 40, maxToolCalls: 100 },
);

interface Round {
  readonly name: SomeCall['name'];
  readonly end: SomeEnd;
  readonly input?: Json;
  readonly tookMs?: number;
}

/** One turn: a call, and how it ends. */
function turn(state: RunState, { name, end, input = {}, tookMs = 10 }: Round): Moved {
  const running = follow(state, called({ name, input })).state;
  return follow(running, ranTools(running, { 0: end }, tookMs));
}

function turns(count: number, round: Round): Moved {
  let moved = play(patient, []);
  for (let input = 0; input < count; input += 1) moved = turn(moved.state, { input, ...round });
  return moved;
}

describe('a tool that keeps failing', () => {
  it('is withdrawn for good after its limit, and the model is told once', () => {
    const moved = turns(5, { name: 'put', end: 'TOOL_EXECUTION_ERROR' });
    expect(toldOf(moved, 'tool-withdrawn')).toMatchObject([
      { name: 'put', reason: 'it failed 5 times in a row' },
    ]);
    expect(lastText(moved.state)).toContain(
      'The tool \\"put\\" is not available: it failed 5 times in a row.',
    );
    const later = turn(moved.state, { name: 'look', end: 'TOOL_EXECUTION_ERROR', tookMs: 900_000 });
    expect(toldOf(later, 'tool-withdrawn')).toEqual([]);
    expect(lastText(later.state)).not.toContain('not available');
    expect(later.state.withdrawn).toMatchObject({ put: { by: 'failures' } });
  });

  it('is not held to what it did before a call that went well', () => {
    const { state } = turns(4, { name: 'put', end: 'TOOL_EXECUTION_ERROR' });
    const well = turn(state, { name: 'put', end: 'ok' }).state;
    expect(well.tallies.toolFailures).toEqual({});
    expect(turn(well, { name: 'put', end: 'retry' }).state.withdrawn).toEqual({});
  });

  it('is withdrawn for a while where it is down, and comes back with a word to the model', () => {
    const down = turns(5, { name: 'put', end: 'SERVER_ERROR' });
    expect(toldOf(down, 'tool-withdrawn')).toMatchObject([
      { name: 'put', untilMs: expect.any(Number) as number },
    ]);
    expect(lastText(down.state)).toContain('is not available for 30 s');
    const early = turn(down.state, { name: 'look', end: 'ok', input: 1 });
    expect(toldOf(early, 'tool-restored')).toEqual([]);
    const late = turn(early.state, { name: 'look', end: 'ok', input: 2, tookMs: 40_000 });
    expect(toldOf(late, 'tool-restored')).toMatchObject([{ name: 'put' }]);
    expect(lastText(late.state)).toContain('Available again: put.');
    expect(late.state.withdrawn).toEqual({});
    const again = turn(late.state, { name: 'put', end: 'SERVER_ERROR' });
    expect(lastText(again.state)).toContain('is not available for 60 s');
  });

  it('fails the run after so many turns in which nothing went well', () => {
    const moved = turns(8, { name: 'put', end: 'retry' });
    expect(moved.state.phase).toMatchObject({ end: 'failed', failure: { code: 'TOOL_EXECUTION_ERROR' } });
    expect(moved.state.recoveries).toEqual([]);
  });

  it('ends the run at once where its definition says so', () => {
    const moved = turns(1, { name: 'drop', end: 'TOOL_EXECUTION_ERROR' });
    expect(moved.state.phase).toMatchObject({ end: 'failed', failure: { code: 'TOOL_EXECUTION_ERROR' } });
    expect(messagesOf(moved.state.history).at(-1)?.role).toBe('tool');
  });
});

describe('a failure that the model was told of', () => {
  it('is no recovery before there is an answer', () => {
    const { state } = turns(1, { name: 'put', end: 'TOOL_EXECUTION_ERROR' });
    expect(state.recoveries).toEqual([]);
    expect(follow(state, { type: 'cancelled' }).state.recoveries).toEqual([]);
  });

  it('is one with the answer', () => {
    const { state } = turns(2, { name: 'put', end: 'TOOL_EXECUTION_ERROR' });
    expect(follow(state, answered('Done.')).state.recoveries).toMatchObject([
      { recovery: 'tell-model', turn: 1 },
      { recovery: 'tell-model', turn: 2 },
    ]);
  });
});

describe('a model that goes in circles', () => {
  it('is told, loses the tool, and is stopped, each once', () => {
    let moved = play(patient, []);
    const rungs: string[] = [];
    for (let count = 1; count <= 7; count += 1) {
      moved = turn(moved.state, { name: 'look', end: 'ok' });
      for (const { recovery } of toldOf(moved, 'recovery')) rungs.push(`${count}: ${recovery}`);
    }
    expect(rungs).toEqual(['3: nudge', '5: withdraw-tool', '7: stop']);
    expect(moved.state.phase).toMatchObject({
      end: 'stopped',
      reason: 'loop',
      failure: { code: 'ENDLESS_LOOP' },
    });
  });

  it('keeps the tools of others, and the one that it lost stays away', () => {
    const { state } = turns(5, { name: 'look', end: 'ok', input: 0 });
    expect(state.withdrawn).toMatchObject({ look: { by: 'loop' } });
    const later = turn(state, { name: 'put', end: 'ok', tookMs: 900_000 });
    expect(Object.keys(later.state.withdrawn)).toEqual(['look']);
    expect(workOf(later)?.type).toBe('call-model');
  });
});
