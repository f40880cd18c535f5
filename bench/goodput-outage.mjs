// What an outage without end costs, for bench/goodput.mjs: callers who want answers of a provider that gives none, by the simulated clock.
import { callModel, createGates } from '../dist/model/index.js';
import { scriptedModel, seededRandom, simulatedClock } from '../dist/testing/index.js';

const [calls, callers, seed] = [1000, 20, 7];

/**
 * @param {import('../dist/model/index.js').RetryPreset} retry
 * @returns {Promise<number>}
 */
export async function requestsPerCall(retry) {
  const clock = simulatedClock();
  const gates = createGates({ clock });
  const random = seededRandom(seed);
  const model = scriptedModel([{ failure: 'SERVER_ERROR', delayMs: 50 }], { repeat: 'last' });
  let wanted = 0;
  const caller = async () => {
    while (wanted < calls) {
      wanted += 1;
      await callModel(
        model,
        { messages: [{ role: 'user', content: 'Hello' }] },
        { clock, gates, random, policy: { retry } },
      );
    }
  };
  await clock.runUntil(Promise.all(Array.from({ length: callers }, caller)), { maxMs: 1e12 });
  return model.calls.length / calls;
}
