import { describe, expect, it } from 'vitest';
import { play } from '../../../test/agent/machine-events.ts';
import { smallConfig } from '../../../test/agent/random-run.ts';
import { changeState } from '../change-state.ts';
import { recall, remember } from './remember.ts';
import type { RunState } from '../state.ts';
import type { Remembered, ToolEnd } from './tool-call.ts';

const { state: empty } = play(smallConfig(), []);

function end(remembered: readonly Remembered[], type: ToolEnd['type'] = 'ok'): ToolEnd {
  return { callId: 'c', name: 'look', type, content: '', resultHash: '', durationMs: 0, remembered };
}

const kept = (...pairs: readonly (readonly [name: string, text: string])[]): RunState =>
  pairs.reduce((state, [name, text]) => remember(state, end([{ name, text }])), empty);

describe('what the tools of a run remember', () => {
  it('is nothing where the call did not go well', () => {
    expect(remember(empty, end([{ name: 'a', text: '1' }], 'failed'))).toBe(empty);
    expect(recall(empty, 'a')).toBeUndefined();
  });

  it('is the latest text under a name, also one that objects have anyway', () => {
    const state = kept(['a', '1'], ['__proto__', 'own'], ['a', '2']);
    expect(recall(state, 'a')).toBe('2');
    expect(recall(state, '__proto__')).toBe('own');
    expect(recall(state, 'constructor')).toBeUndefined();
    expect(state.remembered).toHaveLength(2);
  });

  it('stays through every change of the state, and through JSON', () => {
    const state = changeState(kept(['a', '1']), { turn: 7 });
    expect(recall(JSON.parse(JSON.stringify(state)) as RunState, 'a')).toBe('1');
  });

  it('is at most 500 texts: what was remembered longest ago is forgotten first', () => {
    const all = Array.from({ length: 500 }, (_, index) => [`n${index}`, 'x'] as const);
    const state = kept(...all, ['n0', 'again'], ['new', 'x']);
    expect(state.remembered).toHaveLength(500);
    expect(['n0', 'n1', 'new'].map((name) => recall(state, name))).toEqual(['again', undefined, 'x']);
  });
});
