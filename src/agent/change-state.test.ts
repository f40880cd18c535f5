import { expect, it } from 'vitest';
import { changeState } from './change-state.ts';
import { defaultLimits } from './limits.ts';
import { defaultLoopRules } from './turn/loop-guard.ts';
import type { RunState } from './state.ts';
import { transition } from './transition.ts';

const { state } = transition(undefined, {
  type: 'run-started',
  runId: 'run-1',
  config: {
    agent: 'helper',
    models: [{ provider: 'simulated', name: 'small', quotaKey: 'simulated' }],
    limits: defaultLimits,
    retry: { deadlineMs: 60_000, maxAttempts: 4 } as RunState['config']['retry'],
    loop: defaultLoopRules,
    salvage: true,
    inDoubt: 'ask',
    hasOutput: false,
    tools: {},
  },
  messages: [{ role: 'user', content: 'Go on.' }],
  repairs: [],
});

it('changeState() forgets no field of a run, and leaves the one before as it was', () => {
  const before = structuredClone(state);
  const changed = changeState(state, { turn: 7, partial: 'half an answer' });
  expect(changed).toStrictEqual({ ...before, turn: 7, partial: 'half an answer' });
  expect(Object.keys(changed)).toStrictEqual(Object.keys(state));
  expect(state).toStrictEqual(before);
});
