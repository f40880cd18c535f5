import { describe, expect, it } from 'vitest';
import type { Model, ModelResponse } from '../../src/model/model.ts';
import { modelConformance } from '../../src/testing/model-conformance.ts';
import type { Scenario } from '../../src/testing/model-conformance.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptEntry } from '../../src/testing/scripted-model.ts';

const lookup = (id: string) => ({ name: 'lookup_order', arguments: { id } });
const scripts = {
  text: 'This is an answer of several words.',
  'tool-call': { toolCalls: [lookup('17')] },
  'parallel-tool-calls': { toolCalls: [lookup('17'), lookup('18')] },
  empty: {},
  length: { text: 'This is', finish: 'length' },
  'missing-terminal': { brokenAfter: 'This is half' },
  'server-error': { failure: 'SERVER_ERROR' },
  silent: { text: 'late', delayMs: Infinity },
  slow: { text: ['This ', 'is slow'], chunkDelayMs: 3_600_000 },
} as const satisfies Record<Scenario, ScriptEntry>;

type Spoil = (model: Model) => Model['call'];
const afterwards =
  (change: (response: ModelResponse) => ModelResponse): Spoil =>
  (model) =>
  async (request, options) =>
    change(await model.call(request, options));

/** Each breaks one sentence of the port's contract. */
const liars: readonly (readonly [string, Spoil])[] = [
  [
    'throws instead of rejecting',
    () => () => {
      throw new Error('thrown');
    },
  ],
  [
    'ignores the timeout for headers',
    (model) => (request, options) => {
      const timeouts = { ...options?.timeouts, headersMs: 60_000 };
      return model.call(request, { ...options, timeouts });
    },
  ],
  [
    'ignores the clock that it is handed',
    (model) => (request, options) => model.call(request, { ...options, clock: undefined }),
  ],
  [
    'tells parts after the end',
    (model) => async (request, options) => {
      const response = await model.call(request, options);
      setImmediate(() => void options?.onPart?.({ type: 'text-delta', text: 'late' }));
      return response;
    },
  ],
  [
    'leaves a listener on the signal when it is cancelled',
    (model) => (request, options) => {
      options?.signal?.addEventListener('never', () => undefined);
      if (options?.signal?.aborted === false) {
        const { signal } = options;
        return model.call(request, options).then((response) => {
          if (response.type === 'failure' && response.failure.code === 'TIMEOUT')
            signal.addEventListener('abort', () => undefined);
          return response;
        });
      }
      return model.call(request, options);
    },
  ],
  [
    'gives another finish than it told',
    afterwards((response) =>
      response.type === 'failure'
        ? response
        : {
            ...response,
            result: { ...response.result, finish: { ...response.result.finish, raw: 'made up' } },
          },
    ),
  ],
  [
    'gives another usage than it told',
    afterwards((response) =>
      response.type === 'failure'
        ? response
        : { ...response, result: { ...response.result, usage: { inputTokens: 1, outputTokens: 1 } } },
    ),
  ],
  [
    'has calls in its content that are not in toolCalls',
    afterwards((response) =>
      response.type === 'failure'
        ? response
        : { ...response, result: { ...response.result, toolCalls: response.result.toolCalls.slice(0, 1) } },
    ),
  ],
  [
    'hands its failure on as an Error',
    afterwards((response) =>
      response.type === 'success'
        ? response
        : { ...response, failure: Object.assign(new Error('x'), response.failure) },
    ),
  ],
  [
    'has no partial result beside its failure',
    afterwards((response) =>
      response.type === 'success' ? response : ({ type: 'failure', failure: response.failure } as never),
    ),
  ],
  [
    'drops features that it says it lacks',
    (model) => {
      const call: Model['call'] = (request, options) => model.call({ messages: request.messages }, options);
      return call;
    },
  ],
  [
    'writes into the request',
    (model) => (request, options) => {
      (request as { messages: unknown[] }).messages = [...request.messages];
      Object.assign(request, { touched: true });
      return model.call(request, options);
    },
  ],
  [
    'hangs for ever on its listener after its time',
    (model) => (request, options) => {
      const waits: Promise<void>[] = [];
      return model
        .call(request, {
          ...options,
          onPart: (part) => {
            const heard = options?.onPart?.(part);
            if (heard !== undefined) waits.push(heard);
            return heard;
          },
        })
        .then(async (response) => {
          if (response.type === 'failure' && response.failure.code === 'TIMEOUT') await Promise.all(waits);
          return response;
        });
    },
  ],
];

describe.concurrent('modelConformance', () => {
  it.each(liars)('catches a model that %s', { timeout: 60_000 }, async (_name, spoil) => {
    const broken: string[] = [];
    const cases = modelConformance({
      createModel: (scenario) => {
        const model = scriptedModel([scripts[scenario]], { repeat: 'last' });
        let requests = 0;
        const call: Model['call'] = (request, options) => {
          const wasSent = options?.signal?.aborted !== true && !Number.isNaN(options?.timeouts?.totalMs);
          if (wasSent) requests += 1;
          return model.call(request, options);
        };
        const counted = { ...model, call };
        return Promise.resolve({
          model: { ...counted, call: spoil(counted) },
          requests: () => requests,
          close: () => Promise.resolve(),
        });
      },
    });
    await Promise.all(cases.map(({ name, run }) => run().catch(() => broken.push(name))));
    expect(broken).not.toEqual([]);
  });
});
