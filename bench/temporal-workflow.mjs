// What bench/temporal.mjs lets Temporal run: its own bare activities, beside the workflow of the tests' programs.
import { proxyActivities } from '@temporalio/workflow';

export { rerailRun } from '../test/engines/temporal/test-workflow.ts';

/**
 * @param {number} steps
 * @param {string} runId
 */
export async function bareSteps(steps, runId) {
  const act = proxyActivities(
    /** @type {never} */ ({
      startToCloseTimeout: 60_000,
      heartbeatTimeout: 30_000,
      retry: { maximumAttempts: 1 },
    }),
  );
  for (let step = 0; step < steps; step += 1) await act['bareStep']?.({ runId, step });
}
