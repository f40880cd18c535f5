import { describe, expect, it } from 'vitest';
import {
  answered,
  called,
  gaveUp,
  play,
  ranTools,
  started,
  toRetry,
} from '../../test/agent/machine-events.ts';
import { smallConfig } from '../../test/agent/random-run.ts';
import type { MachineEvent } from './event.ts';
import { replay } from './replay.ts';

const config = smallConfig();
const afterCalls = play(config, [called({ name: 'look' })]).state;
const events: readonly MachineEvent[] = [
  toRetry('OVERLOADED'),
  { type: 'waited', tookMs: 100 },
  called({ name: 'look' }),
  ranTools(afterCalls, { 0: 'ok' }),
  answered('Done.'),
];

describe('replay', () => {
  it('has no state without events', () => {
    expect(replay([])).toBeUndefined();
  });

  it('refuses a journal that does not begin at the beginning', () => {
    expect(() => replay([answered('Done.')])).toThrow(
      'The first event of a run is run-started, got attempt-finished',
    );
  });

  it('leads to the state that the run had', () => {
    const { state } = play(config, events);
    expect(state.phase).toMatchObject({ type: 'ended', end: 'completed', text: 'Done.' });
    expect(replay([started(config), ...events])).toEqual(state);
  });

  it('goes on from a state that was kept, wherever it was cut', () => {
    const whole = [started(config), ...events];
    for (let cut = 1; cut <= whole.length; cut += 1) {
      const kept = JSON.parse(JSON.stringify(replay(whole.slice(0, cut)))) as ReturnType<typeof replay>;
      expect(replay(whole.slice(cut), kept)).toEqual(replay(whole));
    }
  });

  it('passes over events that have no meaning where they stand', () => {
    const strange: MachineEvent = { type: 'waited', tookMs: 5 };
    const twice = [
      started(config),
      strange,
      ...events,
      answered('Again.'),
      gaveUp('UNKNOWN'),
      started(config),
    ];
    expect(replay(twice)).toEqual(replay([started(config), ...events]));
  });

  it('takes any list of events, also one that comes bit by bit', () => {
    function* journal(): Generator<MachineEvent> {
      yield started(config);
      yield* events;
    }
    expect(replay(journal())?.phase.type).toBe('ended');
  });
});
