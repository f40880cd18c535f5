import { describe, expect, it } from 'vitest';
import type { PersonRequest } from '../../src/agent/run-outcome.ts';
import { plan } from '../../src/flow/plan/plan.ts';
import { eventsOf, expectType, watchedModel, watchEverything } from '../agent/scene.ts';
import { all, askedIn, asks, other, planOf, usual } from './plan-stage.ts';
import { expectUsage, runId, setStage, statusesIn } from './stage.ts';

watchEverything();

describe('a plan that must know more', () => {
  const script = [all, asks('Which room?'), usual, 'It is warm.'];

  it('waits for the person, and goes on with what they say', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, { script });
    const waiting = expectType(await stage.run(made), 'suspended');
    expect(waiting).toMatchObject({
      reason: 'clarification',
      request: { type: 'question', question: 'Which room?', why: expect.any(String) as string },
    });
    expect(waiting.nodes).toMatchObject([{ name: 'clarify', status: 'waiting', reason: 'Which room?' }]);
    const outcome = expectType(await stage.resume(made, { answer: 'The cellar.' }), 'completed');
    expect(outcome.text).toBe('It is warm.');
    expect(askedIn({ model }, 2)).toContain('Question to the person: Which room?\nAnswer: The cellar.');
    expect(told).toEqual([21]);
    expectUsage(outcome, 4);
  });

  it('waits on where nobody answers, and asks no model meanwhile', async () => {
    const stage = setStage();
    const { made, model } = planOf(stage, { script });
    expectType(await stage.run(made), 'suspended');
    const again = expectType(await stage.resume(made), 'suspended');
    expect(again.request).toMatchObject({ question: 'Which room?' });
    await expect(stage.resume(made, { answer: '  ' })).rejects.toThrow(
      /The answer to a question means nothing: it is empty/,
    );
    expect(model.calls).toHaveLength(2);
    expectType(await stage.resume(made, { answer: 'The cellar.' }), 'completed');
  });

  it('takes the answer in another process', async () => {
    const first = setStage();
    expectType(await first.run(planOf(first, { script }).made), 'suspended');
    const second = first.die();
    const { made, model, told } = planOf(second, { script: script.slice(2) });
    expectType(await second.resume(made, { answer: { answer: 'The cellar.' } }), 'completed');
    expect(askedIn({ model }, 0)).toContain('Answer: The cellar.');
    expect(told).toEqual([21]);
  });

  it('says what has changed since, of those who choose, plan and answer', async () => {
    const first = setStage();
    const { made, capabilities } = planOf(first, { script });
    expectType(await first.run(made), 'suspended');
    const second = first.die();
    const model = watchedModel(script.slice(2), { name: 'another' });
    const changed = plan({ capabilities, extractTask: false, ...second.world, model });
    expectType(await second.resume(changed, { answer: 'The cellar.' }), 'completed');
    const events = await second.store.runs.events(runId);
    const differences = events.find(({ type }) => type === 'changed')?.body;
    expect(differences).toEqual({
      differences: ['extract_task', 'classify', 'make_plan', 'respond'].map(
        (node) => `of the node "${node}": the models were scripted:scripted, now they are scripted:another`,
      ),
    });
  });

  it('is answered by `onApproval` where there is one', async () => {
    const stage = setStage();
    const requests: PersonRequest[] = [];
    const { made, model } = planOf(stage, {
      script,
      callbacks: {
        onApproval: (request) => {
          requests.push(request);
          return 'The attic.';
        },
      },
    });
    expectType(await stage.run(made), 'completed');
    expect(requests).toMatchObject([{ type: 'question', question: 'Which room?' }]);
    expect(askedIn({ model }, 2)).toContain('Answer: The attic.');
  });

  it('asks only as often as it may, and must plan with what it knows then', async () => {
    const stage = setStage();
    const { made, model } = planOf(stage, {
      script: [all, asks('Which room?'), asks('Which wall?'), usual, 'It is warm.'],
      bounds: { maxClarifications: 1 },
      callbacks: { onApproval: () => 'Any.' },
    });
    expectType(await stage.run(made), 'completed');
    expect(askedIn({ model }, 2)).toContain('The person cannot be asked');
    expect(askedIn({ model }, 3)).toContain('the person cannot be asked any more');
    expect(eventsOf(stage.events, 'tool-started').filter(({ name }) => name === 'clarify')).toHaveLength(1);
  });
});

describe('a plan that somebody must agree to', () => {
  const approvePlan = true;

  it('is carried out after a yes, which has seen its steps', async () => {
    const stage = setStage();
    const { made, told, done } = planOf(stage, { script: [all, usual, 'It is warm.'], approvePlan });
    const waiting = expectType(await stage.run(made), 'suspended');
    expect(waiting).toMatchObject({
      reason: 'approval',
      request: {
        type: 'approval',
        tool: 'approve_plan',
        input: {
          steps: [
            { key: 'a', capability: 'read' },
            { key: 'b', inputs: { degrees: 'a' } },
          ],
        },
      },
    });
    expect(done).toEqual({ read: 0, guess: 0, tell: 0 });
    expectType(await stage.resume(made, { answer: true }), 'completed');
    expect(told).toEqual([21]);
  });

  it('is not carried out after a no: the run stops, and nothing was done', async () => {
    const stage = setStage();
    const { made, model, done } = planOf(stage, { script: [all, usual], approvePlan });
    expectType(await stage.run(made), 'suspended');
    const outcome = expectType(await stage.resume(made, { answer: false }), 'stopped');
    expect(outcome.reason).toBe('rejected');
    expect(outcome.failure).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(done).toEqual({ read: 0, guess: 0, tell: 0 });
    expect(model.calls).toHaveLength(2);
  });

  it('is made anew after a no with a reason, and shown again with what is new in it', async () => {
    const stage = setStage();
    const { made, model, told } = planOf(stage, { script: [all, usual, other, 'It is cool.'], approvePlan });
    expectType(await stage.run(made), 'suspended');
    const answer = { approved: false, reason: 'Leave the sensor alone.' };
    const again = expectType(await stage.resume(made, { answer }), 'suspended');
    expect(askedIn({ model }, 2)).toContain('The person did not accept the plan: Leave the sensor alone.');
    expect(again.request).toMatchObject({
      input: { difference: expect.arrayContaining(['removed a (read)']) as string[] },
    });
    const outcome = expectType(await stage.resume(made, { answer: true }), 'completed');
    expect(told).toEqual([18]);
    // A no is no failure.
    expect(outcome.recoveries).toEqual([]);
  });

  it('is made anew as often as it may be, and then the run fails', async () => {
    const stage = setStage();
    const { made, done } = planOf(stage, {
      script: [all, usual, other],
      approvePlan,
      bounds: { maxReplans: 1 },
      callbacks: { onApproval: () => ({ approved: false, reason: 'Not like this.' }) },
    });
    const { failure } = expectType(await stage.run(made), 'failed');
    expect(failure).toMatchObject({ code: 'REPLAN_LIMIT', context: { limit: 'maxReplans' } });
    expect(done).toEqual({ read: 0, guess: 0, tell: 0 });
  });
});

describe('a step that somebody must agree to', () => {
  const about = { tell: { permission: 'ask' } } as const;

  it('is taken after a yes', async () => {
    const stage = setStage();
    const { made, told, done } = planOf(stage, { script: [all, usual, 'It is warm.'], about });
    const waiting = expectType(await stage.run(made), 'suspended');
    expect(waiting.request).toMatchObject({
      type: 'approval',
      tool: 'tell',
      input: { key: 'b', objective: 'Do b.', values: { degrees: 21 } },
    });
    expect(statusesIn(waiting)).toEqual({ a: 'succeeded', b: 'waiting' });
    expectType(await stage.resume(made, { answer: true }), 'completed');
    expect(told).toEqual([21]);
    expect(done.read).toBe(1);
  });

  it('is planned round after a no', async () => {
    const stage = setStage();
    const { made, model, told, done } = planOf(stage, {
      script: [all, usual, JSON.stringify({ steps: [], question: '' }), 'It is 21, and nobody was told.'],
      about,
      callbacks: { onApproval: () => ({ approved: false, reason: 'They sleep.' }) },
    });
    const outcome = expectType(await stage.run(made), 'completed');
    expect(askedIn({ model }, 2)).toContain('it was not allowed: They sleep.');
    expect(told).toEqual([]);
    expect(done).toEqual({ read: 1, guess: 0, tell: 0 });
    expect(statusesIn(outcome)).toEqual({ a: 'succeeded', b: 'failed' });
  });

  it.each([
    { permission: 'deny', tells: 0, asked: 0 },
    { permission: 'ask', tells: 1, asked: 1 },
  ] as const)(
    'may be one because a rule of the plan says so: $permission',
    async ({ permission, tells, asked }) => {
      const stage = setStage();
      let questions = 0;
      const { made, done } = planOf(stage, {
        script: [
          all,
          usual,
          asked === 1 ? 'Told.' : JSON.stringify({ steps: [], question: '' }),
          'Not told.',
        ],
        policy: { permissions: [{ tool: 'tell', permission }] },
        callbacks: { onApproval: () => (questions += 1) > 0 },
      });
      expectType(await stage.run(made), 'completed');
      expect(done.tell).toBe(tells);
      expect(questions).toBe(asked);
    },
  );
});
