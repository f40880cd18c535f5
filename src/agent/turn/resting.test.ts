import { describe, expect, it } from 'vitest';
import {
  answered,
  called,
  follow,
  gaveUp,
  play,
  ranTools,
  wallMs,
} from '../../../test/agent/machine-events.ts';
import { smallConfig, workOf } from '../../../test/agent/random-run.ts';
import type { MachineEvent } from '../event.ts';
import type { Moved } from '../moved.ts';
import type { RunState } from '../state.ts';

const config = smallConfig({}, { maxTurns: 20, timeoutMs: 36_000_000 });

/** The first model gives up and the next one is asked. */
function fellBack(
  code: 'RATE_LIMITED' | 'QUOTA_EXCEEDED',
  resumeAfterMs: number | undefined,
  atMs: number,
): MachineEvent {
  const event = gaveUp(code) as Extract<MachineEvent, { type: 'attempt-finished' }>;
  const decision = { type: 'fall-back', reason: 'another one may' } as const;
  return {
    ...event,
    step: {
      ...event.step,
      wallMs: atMs,
      decision: resumeAfterMs === undefined ? decision : { ...decision, resumeAfterMs },
    },
  } as MachineEvent;
}

/** A turn that the second model answers with a call, which takes so long. */
function nextTurn(state: RunState, tookMs: number): Moved {
  const running = follow(state, called({ name: 'put' })).state;
  return follow(running, ranTools(running, { 0: 'ok' }, tookMs));
}

function asked(moved: Moved): number | undefined {
  const work = workOf(moved);
  return work?.type === 'call-model' ? work.situation.target : undefined;
}

describe('a model that asked for a wait', () => {
  const resting = play(config, [fellBack('RATE_LIMITED', 60_000, wallMs)]).state;

  it('is not asked before, in whatever turn', () => {
    const early = nextTurn(resting, 50_000);
    expect(asked(early)).toBe(1);
    expect(asked(nextTurn(early.state, 5000))).toBe(1);
  });

  it('is asked again from then on', () => {
    expect(asked(nextTurn(resting, 60_000))).toBe(0);
  });

  it('is left alone once more where it asks for another wait', () => {
    const awake = nextTurn(resting, 60_000).state;
    const again = follow(awake, fellBack('RATE_LIMITED', 90_000, wallMs + 60_000)).state;
    const early = nextTurn(again, 80_000);
    expect(asked(early)).toBe(1);
    expect(asked(nextTurn(early.state, 10_000))).toBe(0);
  });

  it('keeps its wait over a resumption, unless the chain has changed', () => {
    const { state } = follow(resting, { type: 'cancelled' });
    const resumed = { type: 'resumed', answer: { given: false }, wallMs: wallMs + 1000 } as const;
    expect(asked(follow(state, { ...resumed, config }))).toBe(1);
    const other = smallConfig({ models: config.models.toReversed() });
    expect(asked(follow(state, { ...resumed, config: other }))).toBe(0);
  });
});

describe('a model that only a person can mend', () => {
  const resting = play(config, [fellBack('QUOTA_EXCEEDED', undefined, wallMs)]).state;

  it('is not asked again, turn after turn', () => {
    const later = nextTurn(resting, 3_600_000);
    expect(asked(later)).toBe(1);
    expect(follow(later.state, answered('Done.')).state.phase).toMatchObject({ end: 'completed' });
  });

  it('is asked again when somebody resumes the run', () => {
    const { state } = follow(resting, { type: 'cancelled' });
    const moved = follow(state, { type: 'resumed', answer: { given: false }, wallMs, config });
    expect(asked(moved)).toBe(0);
  });
});
