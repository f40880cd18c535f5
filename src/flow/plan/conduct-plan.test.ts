import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallRecord, RecordedCall } from '../../agent/conducted.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { FailureCode, Severity } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { ConductorCall, ConductorStep, ConductorView } from '../../runtime/children/conductor.ts';
import { capability } from './capability.ts';
import { defaultPlanLimits, resolvePlanLimits } from './check-definition.ts';
import { createPlanConductor } from './conduct-plan.ts';
import { foldPlan, planAbout } from './fold-plan.ts';
import type { PlanDefinition, PlanLimits } from './plan-types.ts';

const execute = (): never => {
  throw new Error('Nothing runs here');
};
const description = 'For tests.';
const value = { degrees: z.number() };
const definition: PlanDefinition = {
  name: 'house',
  capabilities: [
    capability({ name: 'read', description, provides: value, execute }),
    capability({ name: 'guess', description, provides: value, execute }),
    capability({ name: 'tell', description, requires: value, execute }),
  ],
  mode: 'plan-first',
  classify: 'together',
  approvePlan: false,
  extractTask: false,
  limits: defaultPlanLimits,
};

function changed(change: Partial<PlanDefinition>, limits: Partial<PlanLimits> = {}): PlanDefinition {
  return { ...definition, ...change, limits: resolvePlanLimits(limits) };
}

type Reply = Omit<CallRecord, 'resumes'>;

const said = (output: Json): Reply => ({ status: 'ok', content: JSON.stringify({ text: '', output }) });
const wrote = (text: string): Reply => ({ status: 'ok', content: JSON.stringify({ text }) });
const gave = (values: Json): Reply => ({ status: 'ok', content: JSON.stringify(values) });
const person = (content: string): Reply => ({ status: 'ok', content });
const broke = (severity?: Severity, code: FailureCode = 'TOOL_EXECUTION_ERROR'): Reply => ({
  status: 'failed',
  failure: createFailure(code, { message: 'it broke', context: severity === undefined ? {} : { severity } }),
});
const denied = (comment?: string): Reply => ({
  status: 'denied',
  failure: createFailure('PERMISSION_DENIED', {
    origin: 'tool',
    message: 'The call was not approved: a person denied it',
    context: comment === undefined ? {} : { comment },
  }),
});

interface Step {
  readonly key: string;
  readonly capability: string;
  readonly objective: string;
  readonly inputs: readonly { readonly value: string; readonly from: string }[];
}

const step = (key: string, name: string, from?: string): Step => ({
  key,
  capability: name,
  objective: `do ${key}`,
  inputs: from === undefined ? [] : [{ value: 'degrees', from }],
});
const steps = (...planned: readonly Step[]): Reply =>
  said({ steps: planned, question: '' } as unknown as Json);
const chose = (...capabilities: readonly string[]): Reply => said({ capabilities, none: '' });
const asked = (question: string): Reply => said({ steps: [], question });
const finished: Reply = said({ steps: [], isDone: true, question: '' });
const plan = steps(step('a', 'read'), step('b', 'tell', 'a'));
const all = chose('read', 'guess', 'tell');
const warm = gave({ degrees: 3 });
const answer = wrote('It is warm.');

interface Played {
  readonly step: ConductorStep;
  readonly calls: readonly RecordedCall[];
  readonly names: readonly string[];
  readonly view: ConductorView;
}

/** Answers each call with the next reply; where there is none left, this is how far it came. */
function play(of: PlanDefinition, replies: readonly (Reply | 'resume')[]): Played {
  const { decide } = createPlanConductor(of);
  const calls: RecordedCall[] = [];
  let resumes = 0;
  const left = [...replies];
  for (let turn = 0; turn < 500; turn += 1) {
    const view: ConductorView = {
      runId: 'r',
      task: [{ role: 'user', content: 'How warm is it?' }],
      calls: [...calls],
      resumes,
    };
    const next = decide(view);
    const isOver = next.type !== 'call';
    if (isOver && left[0] === 'resume') {
      left.shift();
      resumes += 1;
      continue;
    }
    if (isOver || left.length === 0) return { step: next, calls, names: calls.map(({ name }) => name), view };
    for (const { name, input } of next.calls) {
      const reply = left.shift();
      if (reply === undefined || reply === 'resume') throw new Error(`No reply for ${name}`);
      calls.push({ callId: String(calls.length), name, input, round: turn, record: { ...reply, resumes } });
    }
  }
  throw new Error('It does not end');
}

function nextCall({ step: next }: Played): ConductorCall | undefined {
  return next.type === 'call' ? next.calls[0] : undefined;
}

describe('createPlanConductor()', () => {
  it.each([
    { change: { capabilities: [] }, message: 'Cannot create the plan "house": it has no capability' },
    {
      change: { capabilities: [capability({ name: 'make_plan', description, execute })] },
      message: 'no capability may be called "make_plan": choose another name',
    },
    {
      change: { capabilities: [...definition.capabilities, ...definition.capabilities] },
      message: 'two capabilities are called "read": rename one of them',
    },
    {
      change: { capabilities: [capability({ name: 'tell', description, requires: value, execute })] },
      message: 'capability "tell" requires the value "degrees", which none provides: add a capability',
    },
  ])('refuses a definition: $message', ({ change, message }) => {
    expect(() => createPlanConductor(changed(change))).toThrow(
      expect.objectContaining({ name: 'FlowError', message: expect.stringContaining(message) as string }),
    );
  });

  it.each([
    {
      limits: { maxSteps: 0 },
      message: '"bounds.maxSteps" of plan() must be a whole number from 1 to 1000, got 0',
    },
    { limits: { maxReplans: 1.5 }, message: 'got 1.5' },
    {
      limits: { maxReplan: 1 },
      message: 'There is no bound "maxReplan" of plan(): did you mean "maxReplans"?',
    },
  ])('refuses limits: $message', ({ limits, message }) => {
    expect(() => resolvePlanLimits(limits)).toThrow(message);
  });
});

describe('the route of a failed step', () => {
  const until = [all, plan];

  it.each<{ severity: Severity; to: string }>([
    { severity: 'replanning', to: 'make_plan' },
    { severity: 'reclassification', to: 'classify' },
  ])('of $severity is $to, told what failed', ({ severity, to }) => {
    const played = play(definition, [...until, broke(severity)]);
    expect(nextCall(played)).toMatchObject({ name: to, input: { because: 'Step "a" (read): it broke' } });
  });

  it.each<{ severity: Severity }>([
    { severity: 'retriable' },
    { severity: 'critical' },
    { severity: 'fatal' },
  ])('of $severity ends the run and names the step', ({ severity }) => {
    expect(play(definition, [...until, broke(severity)]).step).toMatchObject({
      type: 'fail',
      failure: {
        code: 'TOOL_EXECUTION_ERROR',
        message: 'Step "a" (read) failed: it broke',
        context: { step: 'a', capability: 'read', severity },
      },
    });
  });

  it.each<{ code: FailureCode; to: string }>([
    { code: 'TOOL_EXECUTION_ERROR', to: 'make_plan' },
    { code: 'TOOL_NOT_FOUND', to: 'classify' },
  ])('is that of the code where the capability says nothing: $code goes to $to', ({ code, to }) => {
    expect(nextCall(play(definition, [...until, broke(undefined, code)]))?.name).toBe(to);
  });

  it('replans where the step wants to be called differently', () => {
    const played = play(definition, [...until, { status: 'retry', content: 'say which room' }]);
    expect(nextCall(played)).toMatchObject({
      name: 'make_plan',
      input: { because: 'Step "a" (read): say which room' },
    });
  });

  it('replans where a person says no to the step, with the reason', () => {
    const played = play(definition, [...until, denied('too cold')]);
    expect(nextCall(played)).toMatchObject({
      name: 'make_plan',
      input: {
        because: 'Step "a" (read): it was not allowed: too cold',
        failed: [{ key: 'a', code: 'PERMISSION_DENIED' }],
      },
    });
  });

  it('ends the run where nobody knows whether the step happened, also after a resume', () => {
    const played = play(definition, [...until, { status: 'unknown' }, 'resume']);
    expect(played.step).toMatchObject({
      type: 'fail',
      failure: { code: 'UNKNOWN_OUTCOME', context: { step: 'a' } },
    });
    expect(played.names).toEqual(['classify', 'make_plan', 'read']);
  });

  it('ends the run where the step happened and its values are not known', () => {
    const played = play(definition, [...until, person('It happened: a person checked.'), 'resume']);
    expect(played.step).toMatchObject({
      type: 'fail',
      failure: { sideEffect: 'certain', context: { missing: ['degrees'] } },
    });
  });

  it('does not hand on what no call can hold', () => {
    const text = [capability({ name: 'read', description, provides: { degrees: z.string() }, execute })];
    const long = changed({ capabilities: [...text, ...definition.capabilities.slice(2)] });
    const played = play(long, [chose('read', 'tell'), plan, gave({ degrees: 'x'.repeat(960_000) })]);
    expect(played.step).toMatchObject({
      type: 'fail',
      failure: { hint: expect.stringContaining('reference') as string },
    });
  });
});

describe('a plan that is saved', () => {
  it('by another plan, which keeps what is done', () => {
    const first = steps(step('a', 'read'), step('b', 'tell', 'a'));
    const played = play(definition, [
      all,
      first,
      warm,
      broke('replanning'),
      steps(step('c', 'tell', 'a')),
      gave({}),
      answer,
    ]);
    expect(played.names).toEqual(['classify', 'make_plan', 'read', 'tell', 'make_plan', 'tell', 'respond']);
    expect(played.calls[4]?.input).toEqual({
      because: 'Step "b" (tell): it broke',
      failed: [{ key: 'b', capability: 'tell', severity: 'replanning', code: 'TOOL_EXECUTION_ERROR' }],
      kept: ['a'],
    });
    expect(played.calls[5]?.input).toEqual({
      key: 'c',
      task: 'How warm is it?',
      objective: 'do c',
      values: { degrees: 3 },
      difference: ['kept a (read)', 'removed b (tell)', 'added c (tell): do c'],
    });
    expect(played.step).toEqual({ type: 'answer', text: 'It is warm.' });
  });

  it('by another choice of capabilities', () => {
    const replies = [
      chose('read'),
      steps(step('a', 'read')),
      broke('reclassification'),
      chose('guess'),
      steps(step('a', 'guess')),
    ];
    const played = play(definition, [...replies, warm, answer]);
    expect(played.names).toEqual([
      'classify',
      'make_plan',
      'read',
      'classify',
      'make_plan',
      'guess',
      'respond',
    ]);
    expect(played.calls[5]?.input).toMatchObject({ difference: ['changed a (read): read becomes guess'] });
    expect(played.step).toMatchObject({ type: 'answer' });
  });

  it('by a planner who is told of a wrong context key', () => {
    const played = play(definition, [
      all,
      steps(step('a', 'read'), step('b', 'tell', 'z')),
      plan,
      warm,
      gave({}),
      answer,
    ]);
    expect(played.names).toEqual(['classify', 'make_plan', 'make_plan', 'read', 'tell', 'respond']);
    expect(played.calls[2]?.input).toEqual({
      problem: expect.stringContaining(
        'takes the value "degrees" from step "z", which does not exist',
      ) as string,
    });
  });

  it('by a classifier who is told of a wrong capability', () => {
    const played = play(definition, [chose('read'), plan, all, plan, warm, gave({}), answer]);
    expect(played.names).toEqual([
      'classify',
      'make_plan',
      'classify',
      'make_plan',
      'read',
      'tell',
      'respond',
    ]);
    expect(played.calls[2]?.input).toEqual({
      because: 'step "b" needs capability "tell", which was not chosen',
    });
  });

  it('by a planner who may not choose again and is told instead', () => {
    const of = changed({}, { maxReclassifications: 0 });
    const played = play(of, [chose('read'), plan, steps(step('a', 'read')), warm, answer]);
    expect(played.names).toEqual(['classify', 'make_plan', 'make_plan', 'read', 'respond']);
  });

  it('by the person, who says what is meant', () => {
    const played = play(definition, [all, asked('Which room?'), person('The kitchen'), plan]);
    expect(played.calls[2]).toMatchObject({ name: 'clarify', input: { question: 'Which room?' } });
    expect(foldPlan(definition, played.view).clarifications).toEqual([
      { question: 'Which room?', answer: 'The kitchen' },
    ]);
  });

  it('by the person, who asks for something that can be done', () => {
    const none = said({ capabilities: [], none: 'it is about music' });
    const played = play(definition, [none, person('Then the weather'), all, plan]);
    expect(played.names).toEqual(['classify', 'clarify', 'classify', 'make_plan']);
    expect(played.calls[1]?.input).toEqual({
      question: expect.stringContaining('- read: For tests.') as string,
    });
  });

  it('by a resume, which goes on at the failed step only', () => {
    const played = play(definition, [all, plan, warm, broke('critical'), 'resume', gave({}), answer]);
    expect(played.names).toEqual(['classify', 'make_plan', 'read', 'tell', 'tell', 'respond']);
    expect(played.calls[4]?.input).toEqual(played.calls[3]?.input);
    expect(played.step).toMatchObject({ type: 'answer' });
  });

  it.each([
    { name: 'make_plan', replies: [all] },
    { name: 'respond', replies: [all, steps(step('a', 'read')), warm] },
    { name: 'classify', replies: [] },
  ])('by a resume after $name failed or was broken off', ({ name, replies }) => {
    const failed = play(definition, [...replies, broke(undefined, 'OVERLOADED')]);
    expect(failed.step).toMatchObject({
      type: 'fail',
      failure: { code: 'OVERLOADED', context: { node: name } },
    });
    const played = play(definition, [...replies, { status: 'interrupted' }, 'resume', broke(), 'resume']);
    expect(nextCall(played)?.name).toBe(name);
  });

  it('by a resume that does not repeat what an earlier plan has given up', () => {
    const replies = [
      all,
      plan,
      broke('replanning'),
      steps(step('c', 'guess')),
      broke('critical'),
      'resume',
      warm,
      answer,
    ] as const;
    const played = play(definition, replies);
    expect(played.names).toEqual(['classify', 'make_plan', 'read', 'make_plan', 'guess', 'guess', 'respond']);
  });
});

describe('a bound of a plan', () => {
  const bad = said({ steps: 'none' });

  it('maxReplans ends it', () => {
    const of = changed({}, { maxReplans: 1 });
    const played = play(of, [all, plan, broke('replanning'), plan, broke('replanning')]);
    expect(played.step).toMatchObject({
      type: 'fail',
      failure: {
        code: 'REPLAN_LIMIT',
        context: { limit: 'maxReplans', maxReplans: 1, step: 'a', code: 'TOOL_EXECUTION_ERROR' },
      },
    });
  });

  it('maxReplans ends it for steps that a person denies, and for plans', () => {
    const of = changed({ approvePlan: true }, { maxReplans: 0 });
    const limit = { failure: { code: 'REPLAN_LIMIT', context: { limit: 'maxReplans' } } };
    expect(play(of, [all, plan, person(''), denied()]).step).toMatchObject(limit);
    expect(play(of, [all, plan, denied('not like this')]).step).toMatchObject(limit);
  });

  it('maxReclassifications ends it', () => {
    const of = changed({}, { maxReclassifications: 1 });
    const played = play(of, [all, plan, broke('reclassification'), all, plan, broke('reclassification')]);
    expect(played.step).toMatchObject({
      type: 'fail',
      failure: { code: 'REPLAN_LIMIT', context: { limit: 'maxReclassifications', maxReclassifications: 1 } },
    });
  });

  it('maxPlanAttempts ends it', () => {
    const played = play(changed({}, { maxPlanAttempts: 1 }), [all, bad, bad]);
    expect(played.step).toMatchObject({
      type: 'fail',
      failure: {
        code: 'PLAN_INVALID',
        context: { node: 'make_plan', attempts: 2, limit: 'maxPlanAttempts' },
      },
    });
  });

  it('maxPlanAttempts counts answers in a row, not of the whole run', () => {
    const of = changed({}, { maxPlanAttempts: 1 });
    const played = play(of, [
      all,
      bad,
      plan,
      broke('replanning'),
      bad,
      plan,
      warm,
      gave({}),
      wrote(''),
      answer,
    ]);
    expect(played.step).toMatchObject({ type: 'answer' });
  });

  it('maxClarifications makes the planner go on without', () => {
    const of = changed({}, { maxClarifications: 1, maxPlanAttempts: 1 });
    const replies = [all, asked('Where?'), person('Here'), asked('When?')];
    const played = play(of, replies);
    expect(nextCall(played)).toEqual({
      name: 'make_plan',
      input: { problem: 'the person cannot be asked any more: plan with the known facts' },
    });
    expect(play(of, [...replies, asked('When?')]).step).toMatchObject({ failure: { code: 'PLAN_INVALID' } });
  });

  it('maxSteps ends a plan that is too long', () => {
    const of = changed({}, { maxSteps: 1, maxPlanAttempts: 0 });
    expect(play(of, [all, plan]).step).toMatchObject({ failure: { code: 'PLAN_INVALID' } });
  });

  it('maxSteps lets a plan step by step only be done', () => {
    const of = changed({ mode: 'step-by-step' }, { maxSteps: 1, maxPlanAttempts: 1 });
    const one = said({ steps: [step('a', 'read')], isDone: false } as unknown as Json);
    const two = said({ steps: [step('b', 'tell', 'a')], isDone: false } as unknown as Json);
    expect(play(of, [all, one, warm, two, two]).step).toMatchObject({ failure: { code: 'PLAN_INVALID' } });
    expect(play(of, [all, one, warm, two, finished, answer]).step).toMatchObject({ type: 'answer' });
  });

  it('of capabilities: where none fits twice, it says what there is', () => {
    const none = said({ capabilities: [], none: 'it is about music' });
    expect(play(definition, [none, person('Music!'), none]).step).toMatchObject({
      type: 'fail',
      failure: {
        code: 'PLAN_INVALID',
        message: expect.stringContaining('there are read, guess, tell') as string,
      },
    });
    const of = changed({}, { maxClarifications: 0 });
    expect(play(of, [none]).step).toMatchObject({ failure: { code: 'PLAN_INVALID' } });
  });
});

describe('the approval of a plan', () => {
  const of = changed({ approvePlan: true });

  it('comes before the first step', () => {
    const played = play(of, [all, plan]);
    expect(nextCall(played)).toMatchObject({
      name: 'approve_plan',
      input: {
        steps: [
          { key: 'a', capability: 'read', inputs: {} },
          { key: 'b', inputs: { degrees: 'a' } },
        ],
      },
    });
    expect(nextCall(play(of, [all, plan, person('')]))?.name).toBe('read');
  });

  it('ends the run where it is denied', () => {
    expect(play(of, [all, plan, denied()]).step).toMatchObject({
      type: 'stop',
      reason: 'rejected',
      failure: { code: 'PERMISSION_DENIED' },
    });
  });

  it('takes no words of our own for a reason', () => {
    const ours: Reply = { ...denied(), content: 'A person said no to this call of approve_plan.' };
    expect(play(of, [all, plan, ours]).step).toMatchObject({ type: 'stop' });
  });

  it('makes another plan where it is denied with a reason, and shows what is different', () => {
    const played = play(of, [all, plan, denied('do not tell anybody'), steps(step('a', 'read'))]);
    expect(played.calls[3]?.input).toEqual({
      because: 'The person did not accept the plan: do not tell anybody',
    });
    expect(nextCall(played)).toMatchObject({
      name: 'approve_plan',
      input: { difference: ['kept a (read)', 'removed b (tell)'] },
    });
  });
});

describe('other ways to work', () => {
  it('extracts the task first', () => {
    const of = changed({ extractTask: true });
    const played = play(of, [said({ task: '' }), said({ task: 'Say how warm it is' }), all]);
    expect(played.names).toEqual(['extract_task', 'extract_task', 'classify']);
    expect(played.calls[1]?.input).toEqual({ problem: '"task" must be a text that says what to do' });
    expect(foldPlan(of, played.view).task).toBe('Say how warm it is');
  });

  it('asks about each capability side by side, again only where it must', () => {
    const of = changed({ classify: 'each' });
    const [yes, no] = [said({ isNeeded: true }), said({ isNeeded: false })];
    const played = play(of, [yes, said({}), no, no, steps(step('a', 'read'))]);
    expect(played.calls.map(({ input }) => isRecord(input) && input['subject'])).toEqual([
      'read',
      'guess',
      'tell',
      'guess',
      undefined,
    ]);
    expect(foldPlan(of, played.view).chosen).toEqual(['read']);
    const resumed = play(of, [yes, broke(), broke(), 'resume', no, yes]);
    expect(resumed.calls.slice(3).map(({ input }) => isRecord(input) && input['subject'])).toEqual([
      'guess',
      'tell',
    ]);
    expect(foldPlan(of, resumed.view).chosen).toEqual(['read', 'tell']);
  });

  it('asks about many capabilities eight at a time', () => {
    const many = Array.from({ length: 11 }, (_, index) =>
      capability({ name: `c${index}`, description, execute }),
    );
    const of = changed({ classify: 'each', capabilities: many });
    const yes = said({ isNeeded: true });
    expect(play(of, []).step).toMatchObject({ type: 'call', calls: { length: 8 } });
    const played = play(
      of,
      Array.from({ length: 11 }, () => yes),
    );
    expect(nextCall(played)?.name).toBe('make_plan');
    expect(foldPlan(of, played.view).chosen).toHaveLength(11);
  });

  it('plans one step after the other', () => {
    const of = changed({ mode: 'step-by-step' });
    const one = (planned: Step): Reply => said({ steps: [planned], isDone: false } as unknown as Json);
    const replies = [
      all,
      one(step('a', 'read')),
      warm,
      one(step('a', 'read')),
      one(step('b', 'tell', 'a')),
      gave({}),
      finished,
      answer,
    ];
    const played = play(of, replies);
    expect(played.names).toEqual([
      'classify',
      'make_plan',
      'read',
      'make_plan',
      'make_plan',
      'tell',
      'make_plan',
      'respond',
    ]);
    expect(played.step).toEqual({ type: 'answer', text: 'It is warm.' });
    expect(play(of, [all, finished]).calls).toHaveLength(2);
    expect(nextCall(play(of, [all, finished]))).toMatchObject({
      name: 'make_plan',
      input: { problem: expect.stringContaining('no step is done') as string },
    });
  });

  it('tells a node what it must know', () => {
    const { view } = play(definition, [chose('read', 'tell'), plan, broke('replanning')]);
    const about = planAbout(definition, view, { name: 'make_plan', input: {} });
    expect(about).toMatchObject({
      conversation: 'How warm is it?',
      because: 'Step "a" (read): it broke',
      mayAsk: true,
      stepsLeft: 20,
    });
    expect(about.capabilities.map(({ name }) => name)).toEqual(['read', 'tell']);
    expect(about.progress.failed).toHaveLength(1);
    const question = planAbout(definition, view, { name: 'clarify', input: { question: 'Where?' } });
    expect(question.because).toBe('Where?');
  });
});

describe('report()', () => {
  const outcome = (type: RunOutcome['type'], rest: object = {}): RunOutcome =>
    ({ type, ...rest }) as unknown as RunOutcome;
  const { report } = createPlanConductor(definition);

  it('says what became of each step', () => {
    const { view } = play(definition, [
      all,
      plan,
      broke('replanning'),
      steps(step('c', 'guess'), step('b', 'tell', 'c')),
      warm,
      broke('critical'),
    ]);
    expect(report(view, outcome('failed', { failure: broke().failure }))).toMatchObject([
      { name: 'a', status: 'failed', reason: 'read: do a', failure: { message: 'it broke' } },
      { name: 'c', status: 'succeeded', output: { degrees: 3 } },
      { name: 'b', status: 'failed', failure: { context: { step: 'b' } } },
    ]);
  });

  it('says what was not reached, and what waits', () => {
    const { view } = play(definition, [all, plan]);
    expect(report(view, outcome('suspended')).map(({ name, status }) => [name, status])).toEqual([
      ['a', 'waiting'],
      ['b', 'not-reached'],
    ]);
    expect(report(view, outcome('cancelled'))[0]).toMatchObject({ status: 'cancelled' });
  });

  it('names the question that failed or waits', () => {
    const failed = play(definition, [all, { ...broke(), childId: 'r/make_plan' }]);
    expect(report(failed.view, outcome('failed', { failure: broke().failure }))).toMatchObject([
      { name: 'make_plan', status: 'failed', runId: 'r/make_plan' },
    ]);
    const { view } = play(definition, [all, asked('Where?')]);
    const waiting = {
      ...view,
      calls: [...view.calls, { callId: '9', round: 9, name: 'clarify', input: { question: 'Where?' } }],
    };
    expect(report(waiting, outcome('suspended'))).toEqual([
      { name: 'clarify', status: 'waiting', reason: 'Where?' },
    ]);
  });
});

describe('what a plan does about a failure', () => {
  it.each([
    { severity: 'replanning', recovery: 'replan' },
    { severity: 'reclassification', recovery: 'reclassify' },
  ] as const)('is said once, in the step right after it: $recovery', ({ severity, recovery }) => {
    const failed = { ...broke(severity), lostMs: 40 };
    const { step: after } = play(definition, [all, plan, failed]);
    const reason = 'Step "a" (read): it broke';
    expect(after).toMatchObject({ rungs: [{ failure: failed.failure, recovery, reason, lostMs: 40 }] });
    const { step: later } = play(definition, [
      all,
      plan,
      failed,
      ...(recovery === 'replan' ? [plan] : [all]),
    ]);
    expect(later).not.toHaveProperty('rungs');
  });

  it.each([
    { what: 'it ends the run', replies: [all, plan, broke('critical')] },
    {
      what: 'its bound is reached',
      replies: [all, plan, ...Array.from({ length: 3 }, () => [broke('replanning'), plan]).flat()],
    },
    { what: 'a person denied it', replies: [all, plan, denied('not now')] },
  ])('is not said where $what', ({ replies }) => {
    expect(play(definition, replies).step).not.toHaveProperty('rungs');
  });
});

describe('a plan that has changed since its steps were taken', () => {
  const without = (name: string): PlanDefinition =>
    changed({ capabilities: definition.capabilities.filter((one) => one.name !== name) });

  it('keeps what is done and its values, of a capability that is gone too', () => {
    const { view } = play(definition, [all, plan, warm, gave({})]);
    const state = foldPlan(without('guess'), view);
    expect(state.done).toEqual(['a', 'b']);
    const other = foldPlan(without('read'), view);
    expect(other.values).toEqual({ a: { degrees: 3 }, b: {} });
    expect(other.at).not.toMatchObject({ type: 'step' });
  });

  it('never forgets that nobody knows of a step whether it was taken', () => {
    const { view } = play(definition, [all, plan, { status: 'unknown' }]);
    const decided = createPlanConductor(without('guess')).decide({ ...view, resumes: 5 });
    expect(decided).toMatchObject({ type: 'fail', failure: { code: 'UNKNOWN_OUTCOME' } });
  });
});

describe('any record', () => {
  const severities = ['retriable', 'replanning', 'reclassification', 'critical', 'fatal'] as const;
  const capabilityReplies: readonly Reply[] = [
    warm,
    warm,
    warm,
    gave({}),
    ...severities.map((severity) => broke(severity)),
    broke(),
    denied(),
    { status: 'unknown' },
    { status: 'interrupted' },
    { status: 'retry', content: 'otherwise' },
  ];
  const nodeReplies = [broke(), { status: 'interrupted' } as const, said({}), wrote('')];
  const planReplies = (turn: number): readonly Reply[] => [
    steps(step(`s${turn}`, 'read')),
    steps(step(`s${turn}`, 'read'), step(`t${turn}`, 'tell', `s${turn}`)),
    steps(step(`s${turn}`, 'guess'), step(`t${turn}`, 'tell', `s${turn}`), step(`u${turn}`, 'read')),
    steps(step('s1', 'read'), step('x', 'tell', 's1')),
    steps(step('x', 'fly')),
    steps(step('x', 'tell', 'nowhere')),
    asked('Where?'),
    finished,
  ];
  const table: Readonly<Record<string, (turn: number) => readonly Reply[]>> = {
    extract_task: () => [said({ task: 'x' }), said({ task: 'x' }), ...nodeReplies],
    classify: () => [
      all,
      said({ isNeeded: true }),
      chose('read'),
      chose(),
      said({ isNeeded: false }),
      ...nodeReplies,
    ],
    make_plan: (turn) => [...planReplies(turn), ...planReplies(turn), ...nodeReplies],
    approve_plan: () => [person(''), person(''), denied(), denied('why not'), broke()],
    clarify: () => [person('here'), denied(), person(''), broke()],
    respond: () => [answer, wrote('')],
  };

  function replyTo({ name, input }: ConductorCall, draw: number, turn: number): Reply {
    const choices = (table[name] ?? (() => capabilityReplies))(turn);
    const each = isRecord(input) && input['subject'] !== undefined;
    const reply = choices[draw % choices.length] ?? answer;
    return each && draw % 5 > 0 ? said({ isNeeded: draw % 2 === 0 }) : reply;
  }

  /** Every answer may be bad as often as allowed, every replan may follow every step, every resume may ask everything again. */
  function bound({ limits, capabilities }: PlanDefinition, resumes: number): number {
    const tries = 1 + limits.maxPlanAttempts;
    const choices = (2 + limits.maxReclassifications) * tries * capabilities.length;
    const plans =
      1 + limits.maxReplans + limits.maxReclassifications + limits.maxClarifications + limits.maxSteps;
    const taken = limits.maxSteps + limits.maxReplans + limits.maxReclassifications + 1;
    return (
      2 * tries +
      choices +
      plans * (tries + 1) +
      taken +
      limits.maxClarifications +
      resumes * (2 + tries * capabilities.length)
    );
  }

  const definitions = fc.record({
    mode: fc.constantFrom('plan-first', 'step-by-step'),
    classify: fc.constantFrom('together', 'each'),
    approvePlan: fc.boolean(),
    extractTask: fc.boolean(),
    limits: fc.record({
      maxSteps: fc.integer({ min: 1, max: 6 }),
      maxReplans: fc.integer({ min: 0, max: 3 }),
      maxReclassifications: fc.integer({ min: 0, max: 2 }),
      maxClarifications: fc.integer({ min: 0, max: 2 }),
      maxPlanAttempts: fc.integer({ min: 0, max: 2 }),
    }),
  });

  it('leads to an end within the bound, and no finished step is ever taken again', () => {
    const ends = new Set<string>();
    const check = (
      given: Omit<PlanDefinition, 'name' | 'capabilities'>,
      draws: readonly number[],
      maxResumes: number,
    ): void => {
      const of: PlanDefinition = { ...definition, ...given };
      const { decide } = createPlanConductor(of);
      const calls: RecordedCall[] = [];
      const done = new Set<string>();
      let [resumes, decisions] = [0, 0];
      for (;;) {
        decisions += 1;
        expect(decisions).toBeLessThanOrEqual(bound(of, maxResumes) + 1);
        const view: ConductorView = {
          runId: 'r',
          task: [{ role: 'user', content: 'x' }],
          calls: [...calls],
          resumes,
        };
        const next = decide(view);
        if (next.type !== 'call') {
          ends.add(next.type);
          if (next.type !== 'fail' || resumes >= maxResumes) return;
          resumes += 1;
          continue;
        }
        expect(next.calls.length).toBeGreaterThan(0);
        for (const call of next.calls) {
          const { name, input } = call;
          const key = isRecord(input) && typeof input['key'] === 'string' ? input['key'] : '';
          expect(done.has(key)).toBe(false);
          const reply = replyTo(call, draws[calls.length % draws.length] ?? 0, calls.length);
          calls.push({ callId: String(calls.length), name, input, round: 0, record: { ...reply, resumes } });
          const isWhole = name === 'tell' || reply === warm;
          if (key !== '' && reply.status === 'ok' && isWhole) done.add(key);
        }
      }
    };
    fc.assert(
      fc.property(definitions, fc.array(fc.nat(100_000), { minLength: 1, maxLength: 60 }), fc.nat(3), check),
      { numRuns: 500, seed: 7 },
    );
    expect([...ends].toSorted()).toEqual(['answer', 'fail', 'stop']);
  });
});
