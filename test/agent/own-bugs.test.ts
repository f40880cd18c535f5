import { describe, expect, it } from 'vitest';
import { renderFailure, RerailError } from '../../src/errors/index.ts';
import { flow } from '../../src/flow/index.ts';
import { createAgent, createLogHook, defineModel, tool } from '../../src/index.ts';
import type { AgentOptions, RunInput } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

// Code of the user that is no `execute`: where it has a bug, its line is found all the same.

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefg';
const bug = new TypeError(`Cannot read properties of undefined, key ${secret}`);
const here = /own-bugs\.test\.ts:\d+:\d+/;

function fail(): never {
  throw bug;
}

function payTool(more: object) {
  return tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} },
    effect: 'read',
    onError: 'abort',
    execute: (): unknown => 'paid',
    ...more,
  });
}

const schema = (validate: () => never) => ({
  '~standard': {
    version: 1 as const,
    vendor: 'own',
    validate,
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
});

const long: RunInput = Array.from({ length: 41 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: 'word '.repeat(150),
}));

interface Case {
  readonly name: string;
  readonly options: object;
  readonly input?: RunInput;
  /** The bug is the cause of the failure that the run ends with, at this depth. */
  readonly isCause?: true;
}

const cases: readonly Case[] = [
  {
    name: 'classifyError of a tool',
    options: {
      tools: [
        payTool({
          classifyError: fail,
          execute: () => {
            throw new Error('the tool');
          },
        }),
      ],
    },
  },
  { name: 'the input schema of a tool', options: { tools: [payTool({ input: schema(fail) })] } },
  { name: 'resource of a tool', options: { tools: [payTool({ resource: fail })] } },
  {
    name: 'toJSON of a result',
    options: { tools: [payTool({ execute: () => ({ toJSON: fail }) })] },
    isCause: true,
  },
  {
    name: 'the output schema',
    options: { model: scriptedModel(['{}'], { repeat: 'last' }), output: schema(fail) },
    isCause: true,
  },
  { name: 'selectModel', options: { selectModel: fail }, isCause: true },
  { name: 'setup', options: { setup: fail }, isCause: true },
  {
    name: 'a transformer at the start',
    options: { hooks: [{ name: 'h', kind: 'transformer', on: { 'run-start': fail } }] },
    isCause: true,
  },
  {
    name: 'a guardrail at an approval',
    options: {
      tools: [payTool({ permission: 'ask' })],
      hooks: [{ name: 'h', kind: 'guardrail', on: { approval: fail } }],
    },
  },
  {
    name: 'a context strategy',
    options: { context: { maxTokens: 2000, reserveTokens: 100, strategy: [fail, 'window'] } },
    input: long,
  },
  { name: 'a token counter', options: { context: { maxTokens: 2000, tokenCounter: fail } }, input: long },
  {
    name: 'classifyError of a model',
    options: {
      model: defineModel({
        provider: 'own',
        model: 'own',
        capabilities: { tools: true },
        stream: () => {
          throw new Error('the model');
        },
        classifyError: fail,
      }),
    },
  },
];

function agentOf(options: object, seen: string[] = []) {
  const { hooks = [], ...given } = options as Partial<AgentOptions>;
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', arguments: {} }] }, 'done'], { repeat: 'last' });
  return createAgent({
    name: 'clerk',
    model,
    tools: [payTool({})],
    policy: { retry: 'none' },
    callbacks: { onDebug: (_, { detail = '' }) => void seen.push(`debug ${detail}`) },
    ...given,
    hooks: [...hooks, createLogHook((entry) => void seen.push(`log ${JSON.stringify(entry)}`))],
  });
}

describe('a bug of the user', () => {
  it.each(cases)('in $name leads to its line in the debug callback and in the log', async (example) => {
    const { options, input = 'go', isCause } = example;
    const seen: string[] = [];
    const outcome = await agentOf(options, seen).run(input);
    expect(seen.filter((text) => text.startsWith('debug')).join('\n')).toMatch(here);
    expect(seen.filter((text) => text.startsWith('log')).join('\n')).toMatch(here);
    expect(JSON.stringify([outcome, seen])).not.toContain('abcdefghijklmnop');
    expect(JSON.stringify(outcome.messages)).not.toMatch(here);
    if (isCause !== true) return;
    if (outcome.type !== 'failed') throw new Error(`it is ${outcome.type}`);
    expect(outcome.report.developer.text).toMatch(here);
    expect(outcome.report.person.text).not.toMatch(here);
    expect(renderFailure(outcome.failure, 'model')).not.toMatch(here);
    const thrown: unknown = await agentOf(options)
      .runOrThrow(input)
      .catch((error: unknown) => error);
    expect(RerailError.isInstance(thrown) && thrown.cause).toBe(bug);
  });

  it('in "accepts" of a node leads to its line behind the flow', async () => {
    const model = scriptedModel(['done'], { repeat: 'last' });
    const agents = { one: createAgent({ name: 'one', model }), two: createAgent({ name: 'two', model }) };
    const outcome = await flow('one >> two', { agents, nodes: { two: { accepts: schema(fail) } } }).run('go');
    if (outcome.type !== 'failed') throw new Error(`it is ${outcome.type}`);
    expect(outcome.report.developer.text).toMatch(here);
  });

  it('in a tool with a thread of its own leads to its line in that thread', async () => {
    const module = new URL('./own-bugs-module.mjs', import.meta.url);
    const outcome = await agentOf({
      tools: [payTool({ isolate: { module, export: 'pay' }, execute: undefined })],
    }).run('go');
    if (outcome.type !== 'failed') throw new Error(`it is ${outcome.type}`);
    expect(outcome.failure.causes[0]).toMatchObject({ name: 'TypeError' });
    expect(outcome.report.developer.text).toMatch(/own-bugs-module\.mjs:2:\d+/);
    expect(outcome.report.person.text).not.toMatch(/own-bugs-module/);
  });

  it('behind another error is in the log with the errors that it caused', async () => {
    const seen: string[] = [];
    const elsewhere = Object.assign(new Error('outer', { cause: bug }), {
      stack: 'Error: outer\n    at x (/o.ts:1:1)',
    });
    const execute = (): never => {
      throw elsewhere;
    };
    await agentOf({ tools: [payTool({ execute })] }, seen).run('go');
    const logged = seen.filter((text) => text.startsWith('log')).join('\n');
    expect(logged).toContain('"at x (/o.ts:1:1)","caused by TypeError"');
    expect(logged).toMatch(here);
  });
});
