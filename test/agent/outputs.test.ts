import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createAgent, RerailError } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import type { Json } from '../../src/base/json.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { ScriptedModelOptions, ScriptStep } from '../../src/testing/index.ts';
import { calling, expectType, plainTool, watchedModel, watchEverything } from './scene.ts';

watchEverything();

const weather = z.object({ city: z.string(), degrees: z.number() });
const good = '{"city":"Oslo","degrees":4}';
const native: ScriptedModelOptions = { capabilities: { structuredOutput: 'native' } };
const plain: ScriptedModelOptions = { capabilities: { structuredOutput: 'none' } };

const look = plainTool({ name: 'look', effect: 'read', execute: () => '4 degrees' });

/** An agent with a schema. */
function weatherAgent(script: readonly ScriptStep[], options: ScriptedModelOptions = native) {
  const model = watchedModel(script, options);
  const agent = createAgent({
    model,
    tools: [look],
    output: weather,
    gates: createGates(),
    limits: { maxReasks: 2 },
  });
  return { agent, model };
}

describe('a structured answer', () => {
  it('that never fits is a typed failure, after as many re-asks as allowed, with what there is', async () => {
    const { agent, model } = weatherAgent(['warm', '{"city":"Oslo"}', '{"city":1,"degrees":4}']);
    const outcome = expectType(await agent.run('Oslo?'), 'failed');
    expect(outcome.failure).toMatchObject({ code: 'OUTPUT_PARSE_ERROR', origin: 'output' });
    expect(outcome.partial).toBe('{"city":1,"degrees":4}');
    expect(model.calls).toHaveLength(3);
    await expect(agent.runOrThrow('Oslo?')).rejects.toSatisfy((error) => RerailError.isInstance(error));
  });

  it.each([
    { mistake: 'words', text: 'It is warm.', says: /not JSON/ },
    { mistake: 'a missing field', text: '{"city":"Oslo"}', says: /degrees/ },
    { mistake: 'a wrong type', text: '{"city":"Oslo","degrees":"four"}', says: /degrees[^]*number/ },
    { mistake: 'half an object', text: '{"city":"Oslo",', says: /not JSON/ },
  ])('of $mistake is asked for again with what is wrong', async ({ text, says }) => {
    const { agent, model } = weatherAgent([text, good]);
    const outcome = expectType(await agent.run('Oslo?'), 'completed');
    expect(outcome.output).toEqual({ city: 'Oslo', degrees: 4 });
    const [, , again] = model.calls[1]?.request.messages ?? [];
    expect(JSON.stringify(again)).toMatch(says);
    expect(outcome.recoveries).toMatchObject([
      { recovery: 're-ask', failure: { code: 'OUTPUT_PARSE_ERROR' } },
    ]);
  });

  it.each([
    { form: 'as it is', text: good },
    { form: 'in a code fence', text: `\`\`\`json\n${good}\n\`\`\`` },
    { form: 'with words around it', text: `Here it is:\n${good}\nAnything else?` },
  ])('is read $form', async ({ text }) => {
    const { agent, model } = weatherAgent([text]);
    const outcome = expectType(await agent.run('Oslo?'), 'completed');
    expect(outcome.output).toEqual({ city: 'Oslo', degrees: 4 });
    expect(model.calls).toHaveLength(1);
  });

  it.each([
    { model: 'can be held to a schema', options: native, isNative: true },
    { model: 'cannot', options: plain, isNative: false },
  ])('is asked for of a model that $model', async ({ options, isNative }) => {
    const { agent, model } = weatherAgent([calling('look'), good], options);
    expectType(await agent.run('Oslo?'), 'completed');
    for (const { request } of model.calls) {
      expect(request.output !== undefined).toBe(isNative);
      expect(request.messages.some(({ role }) => role === 'system')).toBe(!isNative);
    }
    const [first] = model.calls[0]?.request.messages ?? [];
    expect(JSON.stringify(first).includes('degrees')).toBe(!isNative);
  });

  it('after tools is only the last one', async () => {
    const { agent } = weatherAgent([{ text: 'Let me look.', toolCalls: [{ name: 'look' }] }, good]);
    const outcome = expectType(await agent.run('Oslo?'), 'completed');
    expect(outcome.output).toMatchObject({ degrees: 4 });
    expect(outcome.recoveries).toEqual([]);
  });

  it('is held to plain JSON Schema as well', async () => {
    const output = {
      type: 'object',
      properties: { degrees: { type: 'integer' } },
      required: ['degrees'],
      additionalProperties: false,
    } as const;
    const model = watchedModel(['{"degrees":4.5}', '{"degrees":4}']);
    const agent = createAgent({ model, output, gates: createGates() });
    const outcome = expectType(await agent.run('Oslo?'), 'completed');
    expect(outcome.output).toEqual({ degrees: 4 });
    expect(model.calls).toHaveLength(2);
  });

  it('comes as the schema made it', async () => {
    const output = z.object({ at: z.string().transform((text) => new Date(text).getUTCFullYear()) });
    const agent = createAgent({ model: watchedModel(['{"at":"2026-05-01"}']), output, gates: createGates() });
    const outcome = expectType(await agent.run('When?'), 'completed');
    expect(outcome.output).toEqual({ at: 2026 });
    expect(outcome.text).toBe('{"at":"2026-05-01"}');
  });

  it('has the type of its schema', async () => {
    const { agent } = weatherAgent([good, good]);
    const outcome = await agent.run('Oslo?');
    if (outcome.type !== 'completed') throw new Error(outcome.type);
    expectTypeOf(outcome.output).toEqualTypeOf<{ city: string; degrees: number }>();
    const result = await agent.runOrThrow('Oslo?');
    expectTypeOf(result.output.degrees).toEqualTypeOf<number>();
    const free = createAgent({ model: watchedModel([]) });
    expectTypeOf(free).toEqualTypeOf<Agent>();
    const json = createAgent({ model: watchedModel([]), output: { type: 'object' } });
    expectTypeOf(json).toEqualTypeOf<Agent<Readonly<Record<string, Json>>>>();
    expect(result.output.degrees).toBe(4);
  });

  it('of ask() is the text', async () => {
    const { agent } = weatherAgent([good]);
    expect(await agent.ask('Oslo?')).toBe(good);
  });
});
