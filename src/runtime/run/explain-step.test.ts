import { describe, expect, it } from 'vitest';
import { createAgent } from '../create-agent.ts';
import { createFailure } from '../../errors/failure.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { RunState } from '../../agent/state.ts';
import { transition } from '../../agent/transition.ts';
import { resolveAgent } from '../agent-options.ts';
import type { Durable, Outcome } from '../record/durable.ts';
import { cancelledError, programChangedError } from '../record/durable-errors.ts';
import { explainEnd } from './explain-step.ts';
import { createLiveRun } from './live-run.ts';

const parts = resolveAgent(
  { model: scriptedModel([]), explain: 'auto' },
  { onHookFailed: () => undefined, canRead: () => false },
);
const begun = transition(undefined, {
  type: 'run-started',
  runId: 'one',
  config: parts.config,
  messages: [{ role: 'user', content: 'Go.' }],
  repairs: [],
}).state;
const failure = createFailure('TOOL_EXECUTION_ERROR', { message: 'on fire' });
const state: RunState = transition(begun, { type: 'broken', failure }).state;

const explanation = { text: 'So.', summary: 'So.', claims: [], nextSteps: [], model: 'a/b' };

/** What comes of it where the engine answers like this. */
async function play(call: () => Promise<Outcome>): Promise<{ state: RunState; told: readonly RunEvent[] }> {
  const live = createLiveRun('one', 1);
  const told: RunEvent[] = [];
  live.watchers.add({ hear: (event) => void told.push(event), wantsDeltas: false });
  const durable = { runId: 'one', generation: 1, call } as unknown as Durable; // All that is asked.
  return { state: await explainEnd({ parts, live, durable }, state), told };
}

describe('explainEnd()', () => {
  it.each([
    { what: 'somebody wishes the end', call: () => Promise.reject(cancelledError('one', 'enough')) },
    { what: 'the step cannot be done', call: () => Promise.resolve({ type: 'failed', failure } as const) },
  ])('leaves the end as it is where $what', async ({ call }) => {
    expect(await play(call)).toEqual({ state, told: [] });
  });

  it('passes on what is the business of the engine', async () => {
    const place = { runId: 'one', generation: 1, position: 0, recorded: 'a', asked: 'b' };
    await expect(play(() => Promise.reject(programChangedError(place)))).rejects.toThrow('one');
  });

  it('adds what it came to, and tells of it', async () => {
    const charge = { ...emptyLedger, requests: 1, inputTokens: 7 };
    const value = { explanation, charge, tookMs: 250 };
    const played = await play(() => Promise.resolve({ type: 'done', value } as Outcome));
    expect(played.told).toEqual([{ type: 'explained', explanation }]);
    expect(played.state).toMatchObject({
      phase: { end: 'failed', failure, explanation },
      ledger: charge,
      elapsedMs: 250,
    });
  });
});

describe('createAgent()', () => {
  it('refuses a wish that there is not', () => {
    const options = { model: scriptedModel([]), explain: 'sometimes' as 'auto' };
    expect(() => createAgent(options)).toThrow(
      '"explain" of createAgent() must be "auto", "always" or "never"',
    );
  });
});
