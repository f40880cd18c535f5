import { describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import { createFailure } from '../../src/errors/index.ts';
import { createGates } from '../../src/model/index.ts';
import { scriptedModel, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, ScriptEntry } from '../../src/testing/index.ts';

// What a model said in one turn holds in the next: nobody is asked again who asked not to be, or who cannot answer.

const step = tool({
  name: 'step',
  description: 'One step.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  repeats: 'any',
  execute: () => 'done',
});

const call: ScriptEntry = { toolCalls: [{ name: 'step' }] };
const modelOf = (name: string, script: readonly ScriptEntry[]): ScriptedModel =>
  scriptedModel(script, { name, provider: name, repeat: 'last' });
const waitAnHour = createFailure('RATE_LIMITED', {
  origin: 'model',
  message: 'Too many requests',
  retryAfterMs: 3_600_000,
});

describe('over the turns of a run', () => {
  it.each([
    { what: 'asked for an hour', failure: waitAnHour },
    { what: 'has an empty account', failure: 'QUOTA_EXCEEDED' },
    { what: 'refuses the key', failure: 'AUTHENTICATION_ERROR' },
    { what: 'does not exist', failure: 'MODEL_NOT_FOUND' },
  ] as const)('a model that $what is asked once, and the next one carries on', async ({ failure }) => {
    const first = modelOf('first', [call, { failure }]);
    const second = modelOf('second', [call, call, call, 'Done.']);
    // What one run found out about an account holds for those after it: see test/model/cooling-accounts.test.ts.
    const agent = createAgent({ model: [first, second], tools: [step], gates: createGates() });
    const outcome = await agent.run('Go');
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.', turns: 5 });
    expect(first.calls).toHaveLength(2);
    expect(outcome.recoveries.map(({ recovery }) => recovery)).toEqual(['fall-back']);
  });

  it('a model is the first again when the time that it asked for is over', async () => {
    const clock = simulatedClock();
    const wait = createFailure('RATE_LIMITED', {
      origin: 'model',
      message: 'Slow down',
      retryAfterMs: 90_000,
    });
    const slow = tool({
      name: 'step',
      description: 'Takes a minute.',
      input: { type: 'object', properties: {} },
      effect: 'read',
      repeats: 'any',
      timeoutMs: 120_000,
      execute: () => new Promise((resolve) => clock.after(60_000, () => resolve('done'))),
    });
    const first = modelOf('first', [{ failure: wait }, 'Back again.']);
    const second = modelOf('second', [call]);
    const agent = createAgent({
      model: [first, second],
      tools: [slow],
      clock,
      gates: createGates({ clock }),
    });
    const outcome = await clock.runUntil(agent.run('Go'));
    expect(outcome).toMatchObject({ type: 'completed', text: 'Back again.' });
    expect(second.calls).toHaveLength(2);
  });

  it('a person who tops the account up brings the model back', async () => {
    const first = modelOf('first', [{ failure: 'QUOTA_EXCEEDED' }, 'Paid.']);
    const agent = createAgent({ model: first });
    const waiting = await agent.run('Go');
    expect(waiting).toMatchObject({ type: 'suspended', reason: 'credit' });
    expect(first.calls).toHaveLength(1);
    expect(await agent.resume(waiting.runId)).toMatchObject({ type: 'completed', text: 'Paid.' });
  });
});
