import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createFailure, failureCodes, renderFailure, RerailError } from '../../src/errors/index.ts';
import { flow } from '../../src/flow/index.ts';
import { createAgent, createLogHook, tool } from '../../src/index.ts';
import type { LogEntry, Tool, ToolContext } from '../../src/index.ts';
import { memoryStore, scriptedModel } from '../../src/testing/index.ts';

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefg';

function charge(context: ToolContext, act: (context: ToolContext) => unknown): unknown {
  return act(context);
}

function payTool(act: (context: ToolContext) => unknown, onError: 'tell' | 'abort' = 'abort'): Tool {
  return tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} },
    effect: 'read',
    onError,
    execute: (_, context) => charge(context, act),
  });
}

function agentOf(act: (context: ToolContext) => unknown, more: object = {}) {
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', arguments: {} }] }, 'done'], { repeat: 'last' });
  return createAgent({ name: 'clerk', model, tools: [payTool(act)], ...more });
}

async function thrownBy(work: Promise<unknown>): Promise<RerailError> {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!RerailError.isInstance(thrown)) throw new Error('it should have thrown');
  return thrown;
}

const bug = new TypeError(`Cannot read properties of undefined, key ${secret}`);
const here = /own-errors\.test\.ts:\d+:\d+/;

const errors: readonly (readonly [string, unknown])[] = [
  ['a TypeError', bug],
  ['a frozen error', Object.freeze(new Error('frozen'))],
  ['an error with causes', new Error('outer', { cause: new RangeError('inner') })],
  ['an aggregate', new AggregateError([new Error('one'), new Error('two')], 'all failed')],
  ['an error of another realm', runInNewContext('new TypeError("elsewhere")')],
  ['a text', 'boom'],
  ['a number', 7],
  [
    'an error that refuses to be read',
    Object.defineProperty(new Error('hostile'), 'stack', {
      get: () => {
        throw new Error('no');
      },
    }),
  ],
];

describe('what a tool of the user throws', () => {
  it.each(errors)('is the cause of what runOrThrow throws: %s', async (_, value) => {
    const error = await thrownBy(
      agentOf(() => {
        throw value;
      }).runOrThrow('go'),
    );
    expect(error.cause).toBe(value);
    expect(error.failure.origin).toBe('tool');
  });

  it('is it with a store too', async () => {
    const agent = agentOf(
      () => {
        throw bug;
      },
      { store: memoryStore() },
    );
    expect((await thrownBy(agent.runOrThrow('go'))).cause).toBe(bug);
  });

  it('has its stack in the report, the debug callback and the log, and nowhere for a person or a model', async () => {
    const debug: string[] = [];
    const log: LogEntry[] = [];
    const agent = agentOf(
      () => {
        throw bug;
      },
      {
        callbacks: { onDebug: (_: unknown, { detail = '' }) => void debug.push(detail) },
        hooks: [createLogHook((entry) => void log.push(entry))],
      },
    );
    const outcome = await agent.run('go');
    if (outcome.type !== 'failed') throw new Error(`it is ${outcome.type}`);
    const { failure, report } = outcome;
    expect(report.developer.text).toMatch(here);
    expect(renderFailure(failure, 'developer')).toMatch(here);
    expect(debug.join('\n')).toMatch(here);
    expect(debug.join('\n')).toContain('docs: docs/errors.md#tool_execution_error');
    expect(JSON.stringify(log)).toMatch(here);
    expect(report.person.text).not.toMatch(/own-errors|\bat /);
    expect(renderFailure(failure, 'person')).not.toContain('own-errors');
    expect(renderFailure(failure, 'model')).not.toContain('own-errors');
    expect(JSON.stringify({ outcome, debug, log })).not.toContain('abcdefghijklmnop');
    expect(failure.causes[0]?.stack?.length).toBeLessThanOrEqual(12);
  });

  it('keeps its stack in a document, and brought back it leads to the line of the user', async () => {
    const agent = agentOf(() => {
      throw bug;
    });
    const error = await thrownBy(agent.runOrThrow('go'));
    const revived = RerailError.fromJSON(JSON.parse(JSON.stringify(error)));
    expect(revived.failure).toEqual(error.failure);
    expect(revived.cause).toMatchObject({ name: 'TypeError' });
    expect((revived.cause as Error).stack).toMatch(here);
  });
});

describe('what other code of the user throws', () => {
  const fail = (): never => {
    throw bug;
  };
  const model = scriptedModel(['done']);

  it.each<readonly [string, () => { runOrThrow: (input: string) => Promise<unknown> }]>([
    [
      'a guardrail',
      () =>
        createAgent({
          name: 'clerk',
          model,
          hooks: [{ name: 'guard', kind: 'guardrail', on: { 'run-start': fail } }],
        }),
    ],
    [
      'a model',
      () => createAgent({ name: 'clerk', model: { ...model, call: fail }, policy: { retry: 'none' } }),
    ],
  ])('is the cause or among the causes of what runOrThrow throws: %s', async (_, make) => {
    const error = await thrownBy(make().runOrThrow('go'));
    const chain: unknown[] = [];
    for (
      let link: unknown = error.cause;
      link !== undefined && chain.length < 8;
      link = (link as Error).cause
    )
      chain.push(link);
    expect(chain).toContain(bug);
    expect(renderFailure(error.failure, 'developer')).toMatch(here);
  });

  it('leads to its line behind a flow, whose record keeps children as data', async () => {
    const error = await thrownBy(flow('clerk', { agents: { clerk: agentOf(fail) } }).runOrThrow('go'));
    expect((error.cause as Error).stack).toMatch(here);
    expect(renderFailure(error.failure, 'developer')).toMatch(here);
  });
});

describe('a typed failure of a tool', () => {
  const inner = new Error('the database is gone');

  it.each<readonly [string, (context: ToolContext) => unknown]>([
    ['fail()', ({ fail }) => fail('Cannot pay', { cause: inner })],
    [
      'a RerailError',
      () => {
        const failure = createFailure('TOOL_EXECUTION_ERROR', { message: 'Cannot pay' });
        throw RerailError.from(failure, { cause: inner });
      },
    ],
    [
      'createFailure',
      () => {
        throw RerailError.from(
          createFailure('TOOL_EXECUTION_ERROR', { message: 'Cannot pay', cause: inner }),
        );
      },
    ],
  ])('keeps the cause that %s was given', async (_, act) => {
    const error = await thrownBy(agentOf(act).runOrThrow('go'));
    expect(error.failure.message).toBe('Cannot pay');
    expect(error.failure.causes[0]).toMatchObject({ name: 'Error', message: 'the database is gone' });
    expect(error.cause).toBe(inner);
  });

  it.each<readonly [string, (context: ToolContext) => unknown, string]>([
    ['fail()', ({ fail }) => fail('no', { retriable: true } as object), 'did you mean "retryable"'],
    [
      'retry()',
      ({ retry }) => (retry as (hint: string, more: object) => never)('no', { delayMs: 5 }),
      'no option "delayMs" of retry()',
    ],
    [
      'RerailError.from()',
      () => RerailError.from(createFailure('UNKNOWN', { message: 'x' }), { casue: 1 } as object),
      'did you mean "cause"',
    ],
    [
      'createFailure()',
      () => createFailure('UNKNOWN', { message: 'x', retryAfter: 5 } as { message: string }),
      'did you mean "retryAfterMs"',
    ],
  ])('refuses an option of %s that does not exist', async (_, act, says) => {
    const { message } = await thrownBy(agentOf(act).runOrThrow('go'));
    expect(message).toContain(says);
  });
});

describe('the page of a code', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

  it.each(failureCodes)('has a section that errors and documents lead to: %s', (code) => {
    const failure = createFailure(code, { message: 'x' });
    const { docs } = RerailError.from(failure);
    const [path, anchor] = docs.split('#');
    expect(path).toBe('docs/errors.md');
    expect(page.split('\n').map((line) => line.toLowerCase())).toContain(`## ${anchor}`);
    expect(RerailError.from(failure).toJSON()).toMatchObject({ docs });
  });
});
