import { createAgent, tool } from 'rerail';
import type { ModelCallView, RunEvent, SelectModel } from 'rerail';
import { createGates } from 'rerail/model';
import { memoryStore, scriptedModel, simulatedClock } from 'rerail/testing';
import type { ScriptedModel, ScriptStep } from 'rerail/testing';
import { describe, expect, it } from 'vitest';

const look = tool({
  name: 'look',
  description: 'Looks.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  execute: () => 'seen',
});
const looking: ScriptStep = { toolCalls: [{ name: 'look' }] };
const named = (name: string, script: readonly ScriptStep[]): ScriptedModel =>
  scriptedModel(script, { name, quotaKey: name });

describe('selectModel', () => {
  it('chooses per turn, and is told what the call is about', async () => {
    const small = named('small', ['Done.']);
    const large = named('large', [looking]);
    const views: ModelCallView[] = [];
    const events: RunEvent[] = [];
    const agent = createAgent({
      model: [small, large],
      tools: [look],
      selectModel: (view) => {
        views.push(view);
        return view.turn === 1 ? large : small;
      },
    });
    const outcome = await agent.run('Go', { onEvent: (event) => void events.push(event) });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect([small.calls.length, large.calls.length]).toEqual([1, 1]);
    expect(views.map(({ turn, models, messages }) => [turn, models.length, messages.length])).toEqual([
      [1, 2, 1],
      [2, 2, 3],
    ]);
    const asked = events.flatMap((event) => (event.type === 'attempt-started' ? [event.model] : []));
    expect(asked).toEqual(['large', 'small']);
  });

  it.each([
    { chosen: 0, order: ['a', 'b', 'c'] },
    { chosen: 1, order: ['b', 'c', 'a'] },
    { chosen: 2, order: ['c', 'a', 'b'] },
  ])(
    '$chosen is asked first, then those after it, then those before it: $order',
    async ({ chosen, order }) => {
      const asked: string[] = [];
      const failing = (name: string): ScriptedModel =>
        named(name, [
          () => {
            asked.push(name);
            return { failure: 'QUOTA_EXCEEDED' };
          },
        ]);
      const models = [failing('a'), failing('b'), failing('c')];
      const agent = createAgent({
        model: models,
        gates: createGates(),
        selectModel: () => models[chosen] as ScriptedModel,
      });
      const outcome = await agent.run('Go');
      expect(outcome.type).not.toBe('completed');
      expect(asked).toEqual(order);
    },
  );

  it('does not bring back a model that is out of order for this run', async () => {
    const broke = named('broke', [{ failure: 'QUOTA_EXCEEDED' }]);
    const other = named('other', [looking, 'Done.']);
    const agent = createAgent({
      model: [other, broke],
      tools: [look],
      gates: createGates(),
      selectModel: () => broke,
    });
    expect(await agent.run('Go')).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(broke.calls).toHaveLength(1);
  });

  const stranger = named('stranger', ['Never.']);
  const bad: readonly { readonly name: string; readonly select: () => unknown; readonly says: string }[] = [
    {
      name: 'throws',
      select: () => {
        throw new Error('no table');
      },
      says: 'threw: no table',
    },
    { name: 'rejects', select: () => Promise.reject(new Error('no network')), says: 'threw: no network' },
    { name: 'hangs', select: () => new Promise(() => undefined), says: 'no answer within 10 s' },
    { name: 'gives nothing', select: () => undefined, says: "none of the agent's models" },
    { name: 'gives a name', select: () => 'own', says: "none of the agent's models" },
    {
      name: 'gives a model that was not declared',
      select: () => stranger,
      says: "none of the agent's models",
    },
  ];

  it.each(bad)(
    'that $name fails the run with a typed failure, and a resume asks it again',
    async ({ select, says }) => {
      const clock = simulatedClock();
      const own = named('own', ['Done.']);
      let isFixed = false;
      const selectModel = (() => (isFixed ? own : select())) as SelectModel;
      const agent = createAgent({ model: own, clock, selectModel });
      const outcome = await clock.runUntil(agent.run('Go'));
      expect(outcome).toMatchObject({ type: 'failed', failure: { code: 'HOOK_FAILED' } });
      expect(outcome.type === 'failed' && outcome.failure.message).toContain(says);
      expect([own.calls, stranger.calls]).toEqual([[], []]);
      isFixed = true;
      expect(await clock.runUntil(agent.resume(outcome.runId))).toMatchObject({ type: 'completed' });
    },
  );

  it('is not asked again for a step that is on record, and the resumed run asks the same model', async () => {
    const store = memoryStore();
    let asked = 0;
    await new Promise<void>((died) => {
      const dying = named('large', [
        () => {
          store.kill();
          died();
          return { text: 'never', delayMs: Infinity };
        },
      ]);
      const first = createAgent({
        name: 'a',
        model: [named('small', []), dying],
        store,
        selectModel: ({ models: [, large] }) => {
          asked += 1;
          return large as ScriptedModel;
        },
      });
      void first.run('Go', { runId: 'one' });
    });
    const small = named('small', ['From the small one.']);
    const large = named('large', ['From the large one.']);
    const second = createAgent({
      name: 'a',
      model: [small, large],
      store: store.reopen(),
      selectModel: () => {
        asked += 1;
        return small;
      },
    });
    expect(await second.resume('one')).toMatchObject({ type: 'completed', text: 'From the large one.' });
    expect(asked).toBe(1);
  });

  it('goes with compaction, a tool choice and tools of the run', async () => {
    const small = named('small', []);
    const large = named('large', [looking, 'Done.']);
    const agent = createAgent({
      model: [small, large],
      context: { maxTokens: 4000, tokenCounter: (text) => text.length },
      selectModel: () => large,
    });
    const outcome = await agent.run('Go', { tools: [look], toolChoice: 'required' });
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(large.calls.map(({ request }) => request.toolChoice)).toEqual(['required', undefined]);
  });

  it('may change what it is given, and changes nothing of the run', async () => {
    const model = named('a', ['Done.']);
    const agent = createAgent({
      model,
      selectModel: (view) => {
        const given = view as unknown as { messages: { content: unknown }[]; models: unknown[] };
        for (const message of given.messages) message.content = 'changed';
        given.messages.length = 0;
        given.models.length = 0;
        Object.assign(view, { models: undefined });
        return model;
      },
    });
    expect(await agent.run('Go')).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(model.calls[0]?.request.messages).toMatchObject([{ role: 'user', content: 'Go' }]);
  });

  it('must be a function', () => {
    const make = (): unknown => createAgent({ model: named('a', []), selectModel: 'a' as never });
    expect(make).toThrow('"selectModel" of createAgent() must be a function');
  });
});
