import { expect, it } from 'vitest';
import { play } from '../../test/agent/machine-events.ts';
import { smallConfig } from '../../test/agent/random-run.ts';
import { createFailure } from '../errors/failure.ts';
import { addRecoveries, overcomeCalls } from './overcome.ts';

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
