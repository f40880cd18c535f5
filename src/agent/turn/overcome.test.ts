import { expect, it } from 'vitest';
import { play } from '../../../test/agent/machine-events.ts';
import { smallConfig } from '../../../test/agent/random-run.ts';
import { createFailure } from '../../errors/failure.ts';
import { addRecoveries, awaitEnd, overcomeCalls } from './overcome.ts';
import { transition } from '../transition.ts';

const failure = createFailure('OVERLOADED', { message: 'Busy' });

it('keeps the last hundred recoveries of a run', () => {
  const { state } = play(smallConfig(), []);
  const many = overcomeCalls(
    1,
    Array.from({ length: 150 }, (_, lostMs) => ({ failure, recovery: 'retry' as const, lostMs })),
  );
  const { recoveries } = addRecoveries(addRecoveries(state, many), many.slice(0, 1));
  expect(recoveries).toHaveLength(100);
  expect(recoveries.at(-2)).toMatchObject({ attempts: 150, lostMs: 149 });
});

it('keeps the last hundred failures that an answer may show to be overcome', () => {
  const { state } = play(smallConfig(), []);
  const rungs = Array.from({ length: 150 }, (_, lostMs) => ({
    failure,
    recovery: 'skip' as const,
    reason: 'it may be left out',
    lostMs,
  }));
  const { tallies } = awaitEnd(state, 3, rungs);
  expect(tallies.pending).toHaveLength(100);
  expect(tallies.pending.at(-1)).toEqual({
    failure,
    recovery: 'skip',
    attempts: 1,
    lostMs: 149,
    lostTokens: 0,
    turn: 3,
  });
});

it.each([
  { what: 'with what is done about a failure', given: { rungs: 1, wallMs: 5000 }, recoveries: 1 },
  { what: 'of an old journal, which has neither that nor the time', given: {}, recoveries: 0 },
])('takes the answer of a flow or a plan $what', ({ given, recoveries }) => {
  const { state } = play({ ...smallConfig(), isConducted: true }, []);
  const rung = { failure, recovery: 'replan', reason: 'the step failed' } as const;
  const { rungs, wallMs } = given;
  const moved = transition(state, {
    type: 'answer-given',
    answer: { content: [{ type: 'text', text: 'Done.' }], text: 'Done.', toolCalls: [], usage: {} },
    ...(rungs === undefined ? {} : { rungs: [rung] }),
    ...(wallMs === undefined ? {} : { wallMs }),
  });
  expect(moved.state.recoveries.map(({ recovery }) => recovery)).toEqual(
    Array.from({ length: recoveries }, () => 'replan'),
  );
  expect(moved.state.tallies.pending).toEqual([]);
  expect(moved.state.wallMs).toBe(Math.max(state.wallMs, wallMs ?? 0));
  const told = moved.actions.flatMap((action) => (action.type === 'tell' ? [action.event.type] : []));
  expect(told.filter((type) => type === 'recovery')).toHaveLength(recoveries);
});
