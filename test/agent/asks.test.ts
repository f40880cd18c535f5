import { describe, expect, it } from 'vitest';
import { askPerson } from '../../src/index.ts';
import type { PersonRequest, RunOutcome, Tool, ToolContext } from '../../src/index.ts';
import { flow, handOff, team } from '../../src/flow/index.ts';
import {
  calling,
  callingAll,
  eventsOf,
  expectType,
  plainTool,
  resultsIn,
  setScene,
  watchEverything,
} from './scene.ts';
import type { Scene, SceneOptions } from './scene.ts';
import { all, planOf, usual } from '../flow/plan-stage.ts';
import { member, runId, setStage } from '../flow/stage.ts';

watchEverything();

const hour = 3_600_000;

type Question = Extract<PersonRequest, { type: 'question' }>;

function questionOf(outcome: RunOutcome): Question {
  const { request, reason } = expectType(outcome, 'suspended');
  expect(reason).toBe('clarification');
  if (request?.type !== 'question') throw new Error(`Asked for ${request?.type ?? 'nothing'}`);
  return request;
}

interface Booking extends Scene {
  readonly booked: string[];
  /** How often the tool was called. */
  readonly calls: { count: number };
}

/** A tool that must know a seat and a meal, and then books once. */
function bookScene(options: Partial<SceneOptions> = {}): Booking {
  const booked: string[] = [];
  const calls = { count: 0 };
  const scene = setScene({
    tools: [bookTool(booked, calls)],
    script: [calling('book', { to: 'Oslo' }), 'Booked.'],
    ...options,
  });
  return { ...scene, booked, calls };
}

function bookTool(booked: string[], calls = { count: 0 }): Tool {
  return plainTool({
    name: 'book',
    timeoutMs: 5000,
    execute: async (_input, { ask, idempotencyKey }) => {
      calls.count += 1;
      const seat = await ask('Window or aisle?');
      const meal = await ask('Which meal?');
      booked.push(`${seat}, ${meal}, ${idempotencyKey}`);
      return `${seat}, ${meal}`;
    },
  });
}

describe('context.ask()', () => {
  it('suspends the run with the question, and the tool goes on with the answers', async () => {
    const { run, resume, events, booked, calls, model } = bookScene();
    const first = questionOf(await run('Book.', { runId: 'b1' }));
    expect(first).toMatchObject({
      question: 'Window or aisle?',
      why: expect.stringContaining('book') as string,
    });
    expect(booked).toEqual([]);
    const second = questionOf(await resume('b1', { answer: ' aisle ' }));
    expect(second.question).toBe('Which meal?');
    expect(second.id).not.toBe(first.id);
    const outcome = expectType(await resume('b1', { answer: { answer: 'soup' } }), 'completed');
    expect(resultsIn(outcome.messages)).toEqual(['aisle, soup']);
    expect(booked).toHaveLength(1);
    expect(calls.count).toBe(3);
    expect(model.calls).toHaveLength(2);
    expect(eventsOf(events, 'approval-requested').map(({ request }) => request)).toEqual([first, second]);
    expect(eventsOf(events, 'approval-answered').map(({ verdict }) => verdict)).toEqual([
      'answered',
      'answered',
    ]);
    expect(eventsOf(events, 'tool-finished')).toHaveLength(1);
    expect(eventsOf(events, 'tool-started').map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it('waits on without an answer, and calls nothing meanwhile', async () => {
    const { run, resume, calls } = bookScene();
    const asked = questionOf(await run('Book.', { runId: 'b1' }));
    expect(questionOf(await resume('b1'))).toEqual(asked);
    expect(calls.count).toBe(1);
  });

  it('does not count the time of the person: neither for the run, nor for the tool', async () => {
    const { run, resume, clock } = bookScene({ limits: { timeoutMs: 60_000 } });
    questionOf(await run('Book.', { runId: 'b1' }));
    await clock.advance(40 * 24 * hour);
    questionOf(await resume('b1', { answer: 'aisle' }));
    await clock.advance(hour);
    const outcome = expectType(await resume('b1', { answer: 'soup' }), 'completed');
    expect(outcome.usage.elapsedMs).toBeLessThan(60_000);
    expect(outcome.usage.toolCalls).toBe(1);
  });

  it('is answered by `onApproval` where there is one, and its time does not count either', async () => {
    const asked: PersonRequest[] = [];
    const { run, clock, booked } = bookScene({
      limits: { timeoutMs: 60_000 },
      callbacks: {
        onApproval: async (request) => {
          asked.push(request);
          await new Promise<void>((resolve) => void clock.after(2 * hour, resolve));
          return request.type === 'question' && request.question.includes('meal')
            ? 'soup'
            : { answer: 'aisle' };
        },
      },
    });
    const outcome = expectType(await run(), 'completed');
    expect(asked).toMatchObject([{ question: 'Window or aisle?' }, { question: 'Which meal?' }]);
    expect(booked).toHaveLength(1);
    expect(outcome.usage.elapsedMs).toBeLessThan(60_000);
  });

  it('waits for somebody else where the callback knows no answer', async () => {
    const { run, resume } = bookScene({ callbacks: { onApproval: () => undefined } });
    questionOf(await run('Book.', { runId: 'b1' }));
    expect(questionOf(await resume('b1', { answer: 'aisle' })).question).toBe('Which meal?');
  });

  it('asked twice has two answers, each given back once', async () => {
    const heard: string[][] = [];
    const guess = plainTool({
      name: 'guess',
      execute: async (_input, { ask }) => {
        const given = [await ask('A number?'), await ask('A number?')];
        heard.push(given);
        return given;
      },
    });
    const { run, resume } = setScene({ tools: [guess], script: [calling('guess'), 'Done.'] });
    questionOf(await run('Go.', { runId: 'g' }));
    questionOf(await resume('g', { answer: '1' }));
    expectType(await resume('g', { answer: '2' }), 'completed');
    expect(heard).toEqual([['1', '2']]);
  });

  it('is not answered by what names another question, and stays open', async () => {
    const { agent, booked } = bookScene();
    const first = questionOf(await agent.run('Book', { runId: 'named' }));
    const second = questionOf(await agent.resume('named', { answer: { ...first, answer: 'aisle' } }));
    for (const late of [first, { question: first.question }, { id: 'x' }])
      await expect(agent.resume('named', { answer: { ...late, answer: 'window' } })).rejects.toThrow(
        /is that of another question; ".+" is open$/,
      );
    expectType(await agent.resume('named', { answer: { ...second, answer: 'fish' } }), 'completed');
    expect(booked[0]).toMatch(/^aisle, fish,/);
  });

  it('keeps the other calls of the turn: each runs once, and questions come one after the other', async () => {
    const looked: string[] = [];
    const look = plainTool({ name: 'look', execute: () => void looked.push('x') });
    const booked: string[] = [];
    const { run, resume } = setScene({
      tools: [look, bookTool(booked)],
      script: [callingAll(['book', { n: 1 }], ['look'], ['book', { n: 2 }]), 'Done.'],
    });
    const ids: string[] = [];
    let outcome = await run('Go.', { runId: 'r' });
    for (const answer of ['a', 'b', 'c', 'd']) {
      ids.push(questionOf(outcome).id);
      outcome = await resume('r', { answer });
    }
    expect(resultsIn(expectType(outcome, 'completed').messages)).toEqual(['a, b', '(no result)', 'c, d']);
    expect(new Set(ids).size).toBe(4);
    expect(looked).toHaveLength(1);
    expect(booked).toHaveLength(2);
  });

  it('keeps what was remembered before, so that nothing is done twice', async () => {
    const created: string[] = [];
    const order = plainTool({
      name: 'order',
      execute: async (_input, { ask, remember, recall }) => {
        let id = recall('order');
        if (id === undefined) {
          id = `order-${created.push('x')}`;
          remember('order', id);
        }
        return `${id}: ${await ask('Pay now?')}`;
      },
    });
    const { run, resume } = setScene({ tools: [order], script: [calling('order'), 'Done.'] });
    questionOf(await run('Go.', { runId: 'r' }));
    const outcome = expectType(await resume('r', { answer: 'yes' }), 'completed');
    expect(resultsIn(outcome.messages)).toEqual(['order-1: yes']);
    expect(created).toHaveLength(1);
  });

  it('keeps its answers over a retry: the person is not asked again', async () => {
    let tries = 0;
    const send = plainTool({
      name: 'send',
      effect: 'idempotent',
      execute: async (_input, { ask, fail }) => {
        const to = await ask('To whom?');
        tries += 1;
        return tries < 3 ? fail('busy', { code: 'OVERLOADED', retryable: true }) : `sent to ${to}`;
      },
    });
    const { run, resume } = setScene({ tools: [send], script: [calling('send'), 'Done.'] });
    questionOf(await run('Go.', { runId: 'r' }));
    const outcome = expectType(await resume('r', { answer: 'Ada' }), 'completed');
    expect(resultsIn(outcome.messages)).toEqual(['sent to Ada']);
    expect(tries).toBe(3);
  });

  it('counts what assist used up before the question', async () => {
    const sum = plainTool({
      name: 'sum',
      execute: async (_input, { assist, ask }) => `${await assist('Sum up.')} ${await ask('Fine?')}`,
    });
    const { run, resume } = setScene({ tools: [sum], script: [calling('sum'), 'S', 'S', 'Done.'] });
    const waiting = await run('Go.', { runId: 'r' });
    expect(waiting.usage.requests).toBe(2);
    expect((await resume('r', { answer: 'yes' })).usage.requests).toBe(4);
  });

  it('asks for an approval first, and for no second one', async () => {
    const guarded = plainTool({
      name: 'pay',
      permission: 'ask',
      execute: (_input, { ask }) => ask('From where?'),
    });
    const { run, resume } = setScene({ tools: [guarded], script: [calling('pay'), 'Done.'] });
    expect(expectType(await run('Go.', { runId: 'r' }), 'suspended').reason).toBe('approval');
    questionOf(await resume('r', { answer: { approved: true } }));
    expectType(await resume('r', { answer: 'the till' }), 'completed');
  });
});

describe('a tool that does not wait for its answer', () => {
  it.each<{ how: string; execute: Tool['execute']; says: string }>([
    {
      how: 'catches what ask() rejects with',
      execute: async (_input, { ask }) => ask('Sure?').catch(() => 'no matter'),
      says: 'continued without the answer',
    },
    {
      how: 'does not await it',
      execute: (_input, { ask }) => {
        void ask('Sure?');
        return 'done';
      },
      says: 'continued without the answer',
    },
    {
      how: 'starts work in the background before',
      execute: async (_input, { ask, background }) => {
        background('upload', Promise.resolve('x'));
        return ask('Sure?');
      },
      says: 'Ask before you start work in the background',
    },
    { how: 'asks nothing', execute: (_input, { ask }) => ask('  '), says: 'must be a text' },
    {
      how: 'asks what is no text',
      execute: (_input, { ask }) => ask(7 as unknown as string),
      says: 'must be a text',
    },
  ])('$how: it fails, and is not called again', async ({ execute, says }) => {
    let calls = 0;
    const counted = (input: unknown, context: ToolContext): unknown => {
      calls += 1;
      return execute(input, context);
    };
    const { run } = setScene({
      tools: [plainTool({ name: 'once', execute: counted })],
      script: [calling('once'), 'It did not work.'],
    });
    const outcome = expectType(await run(), 'completed');
    expect(resultsIn(outcome.messages)[0]).toContain(says);
    expect(calls).toBe(1);
  });

  it('asks as often as a person can stand, and then fails', async () => {
    const nag = plainTool({
      name: 'nag',
      execute: async (_input, { ask }) => {
        for (let count = 0; count < 1000; count += 1) await ask('And now?');
      },
    });
    const { run } = setScene({
      tools: [nag],
      script: [calling('nag'), 'Enough.'],
      callbacks: { onApproval: () => 'no' },
    });
    expect(resultsIn(expectType(await run(), 'completed').messages)[0]).toContain('at most 50 questions');
  });

  it('in `verify` cannot ask: the call stays in doubt', async () => {
    const pay = plainTool({
      name: 'pay',
      timeoutMs: 1000,
      execute: () => new Promise(() => undefined),
      verify: async (_input, { ask }) => ({ happened: (await ask('Did it?')) === 'yes' }),
    });
    const { run } = setScene({ tools: [pay], script: [calling('pay'), 'Done.'], policy: { inDoubt: 'ask' } });
    expect(expectType(await run(), 'suspended').reason).toBe('in-doubt');
  });

  it('that asks after its call was aborted hears the reason', async () => {
    const heard: unknown[] = [];
    const slow = plainTool({
      name: 'slow',
      timeoutMs: 1000,
      effect: 'read',
      execute: async (_input, { ask, signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await ask('Still there?').catch((error: unknown) => heard.push(error, signal.reason));
        throw signal.reason;
      },
    });
    const { agent, clock } = setScene({ tools: [slow], script: [calling('slow'), 'Done.'] });
    const controller = new AbortController();
    const running = agent.run('Go.', { signal: controller.signal });
    await clock.advance(10);
    controller.abort(new Error('enough'));
    expectType(await clock.runUntil(running), 'cancelled');
    expect(heard).toHaveLength(2);
    expect(heard[0]).toBe(heard[1]);
  });
});

describe('askPerson(), returned by a tool', () => {
  it('makes what the person says the result, and the tool is not called again', async () => {
    let calls = 0;
    const question = plainTool({
      name: 'ask_user',
      execute: () => {
        calls += 1;
        return askPerson('Which account?');
      },
    });
    const { run, resume, events } = setScene({ tools: [question], script: [calling('ask_user'), 'Done.'] });
    expect(questionOf(await run('Go.', { runId: 'r' })).question).toBe('Which account?');
    const outcome = expectType(await resume('r', { answer: 'The second.' }), 'completed');
    expect(resultsIn(outcome.messages)).toEqual(['The second.']);
    expect(calls).toBe(1);
    expect(eventsOf(events, 'tool-finished')).toMatchObject([
      { end: { type: 'ok', content: 'The second.' } },
    ]);
  });

  it('without words fails the call', async () => {
    const question = plainTool({ name: 'ask_user', execute: () => askPerson('') });
    const { run } = setScene({ tools: [question], script: [calling('ask_user'), 'Done.'] });
    expect(resultsIn(expectType(await run(), 'completed').messages)[0]).toContain('must be a text');
  });
});

describe('a question that stands when the run is broken off', () => {
  it('is gone; the model is told that the call had begun', async () => {
    const { run, resume, agent, clock, model } = bookScene({
      script: [calling('book'), 'I leave it.'],
    });
    questionOf(await run('Book.', { runId: 'b1' }));
    await clock.runUntil(agent.cancel('b1'));
    const outcome = expectType(await resume('b1'), 'completed');
    expect(resultsIn(outcome.messages)[0]).toContain('had started and asked a person');
    expect(model.calls).toHaveLength(2);
  });

  it('is refused by a guardrail in the place of the person', async () => {
    const { run, calls } = bookScene({
      hooks: [
        {
          name: 'quiet',
          kind: 'guardrail',
          on: { approval: () => ({ action: 'halt', reason: 'nobody is to be disturbed' }) },
        },
      ],
    });
    const outcome = expectType(await run(), 'completed');
    expect(resultsIn(outcome.messages)[0]).toContain('nobody is to be disturbed');
    expect(calls.count).toBe(1);
  });
});

describe('a question over the end of the process', () => {
  it('is asked again by whoever takes the run up, and answered there', async () => {
    const first = setStage();
    const booked: string[] = [];
    const script = [calling('book'), 'Booked.'];
    const clerk = member(script, { ...first.world, name: 'clerk', tools: [bookTool(booked)] });
    questionOf(await first.run(clerk.agent));
    const second = first.die();
    const again = member(script.slice(1), { ...second.world, name: 'clerk', tools: [bookTool(booked)] });
    expect(questionOf(await second.resume(again.agent)).question).toBe('Window or aisle?');
    expect(questionOf(await second.resume(again.agent, { answer: 'aisle' })).question).toBe('Which meal?');
    const third = second.die();
    const last = member(script.slice(1), { ...third.world, name: 'clerk', tools: [bookTool(booked)] });
    expectType(await third.resume(last.agent, { answer: 'soup' }), 'completed');
    expect(booked).toHaveLength(1);
    expect(booked[0]).toMatch(/^aisle, soup, /u);
  });

  it('has the first of two answers', async () => {
    const first = setStage();
    const booked: string[] = [];
    const clerk = member([calling('book')], { ...first.world, name: 'clerk', tools: [bookTool(booked)] });
    questionOf(await first.run(clerk.agent));
    const second = first.die();
    const again = member(['Booked.'], { ...second.world, name: 'clerk', tools: [bookTool(booked)] });
    const answers = ['aisle', 'window'].map((answer) => again.agent.resume(runId, { answer }));
    for (const outcome of await second.clock.runUntil(Promise.all(answers)))
      expect(questionOf(outcome).question).toBe('Which meal?');
    expectType(await second.resume(again.agent, { answer: 'soup' }), 'completed');
    expect(booked[0]).toMatch(/^aisle, soup/u);
  });
});

describe('a question of a run below', () => {
  const script = [calling('book'), 'Booked.'];
  const booker = (booked: string[]): ReturnType<typeof member> =>
    member(script, { name: 'booker', tools: [bookTool(booked)] });

  it.each([
    {
      of: 'a flow',
      make: (booked: string[], world: object) =>
        flow('book', { ...world, agents: { book: booker(booked).agent } }),
    },
    {
      of: 'a hand-off',
      make: (booked: string[], world: object) =>
        handOff({ ...world, start: 'book', agents: { book: booker(booked).agent } }),
    },
    {
      of: 'a team',
      make: (booked: string[], world: object) =>
        team({
          lead: member([calling('book', { task: 'Book.' }), 'Done.'], { name: 'lead', ...world }).agent,
          agents: { book: booker(booked).agent },
        }),
    },
  ])('$of is put by the one above, and answered there', async ({ make }) => {
    const stage = setStage();
    const booked: string[] = [];
    const made = make(booked, stage.world);
    expect(questionOf(await stage.run(made)).question).toBe('Window or aisle?');
    expect(questionOf(await stage.resume(made, { answer: 'aisle' })).question).toBe('Which meal?');
    expectType(await stage.resume(made, { answer: 'soup' }), 'completed');
    expect(booked).toHaveLength(1);
  });

  it('a capability of a plan asks for itself', async () => {
    const stage = setStage();
    const { made, told } = planOf(stage, {
      script: [all, usual, 'It is warm.'],
      read: async (_times, { ask }) => Number(await ask('How warm is it?')),
    });
    expect(questionOf(await stage.run(made)).question).toBe('How warm is it?');
    expectType(await stage.resume(made, { answer: '19' }), 'completed');
    expect(told).toEqual([19]);
  });
});
