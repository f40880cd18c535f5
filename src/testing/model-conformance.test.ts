import { describe, expect, it } from 'vitest';
import type { Model } from '../model/model.ts';
import { simulated } from '../providers/simulated/simulated.ts';
import { modelConformance } from './model-conformance.ts';
import type { HarnessedModel, ModelHarness, Scenario } from './model-conformance.ts';
import { scriptedModel } from './scripted-model.ts';
import type { ScriptEntry } from './scripted-model.ts';

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

/** Counts calls that were not cancelled before, as a server counts requests. */
function counted(model: Model): HarnessedModel {
  let requests = 0;
  const call: Model['call'] = (request, options) => {
    const wasSent = options?.signal?.aborted !== true && !Number.isNaN(options?.timeouts?.totalMs);
    if (wasSent) requests += 1;
    return model.call(request, options);
  };
  return { model: { ...model, call }, requests: () => requests, close: () => Promise.resolve() };
}

const scripted: ModelHarness = {
  createModel: (scenario) => Promise.resolve(counted(scriptedModel([scripts[scenario]], { repeat: 'last' }))),
};

const builtIn: ModelHarness = {
  unsupported: ['empty', 'missing-terminal', 'server-error'],
  createModel: (scenario) =>
    Promise.resolve(
      counted(
        simulated({
          delayMs: scenario === 'silent' ? 3_600_000 : 0,
          chunkDelayMs: scenario === 'slow' ? 3_600_000 : 0,
        }),
      ),
    ),
};

describe('modelConformance', () => {
  /** Each breaks one promise. */
  const liars: readonly (readonly [string, Scenario, (model: Model) => Model['call']])[] = [
    ['rejects', 'text', () => () => Promise.reject(new Error('thrown'))],
    [
      'retries by itself',
      'server-error',
      (model) => async (request, options) => {
        await model.call(request, options);
        return model.call(request, options);
      },
    ],
    [
      'does not wait for its listener',
      'text',
      (model) => (request, options) =>
        model.call(request, { ...options, onPart: (part) => void options?.onPart?.(part) }),
    ],
    [
      'ignores the signal',
      'text',
      (model) => (request, options) => model.call(request, { ...options, signal: undefined }),
    ],
    [
      'tells parts twice',
      'text',
      (model) => (request, options) =>
        model.call(request, {
          ...options,
          onPart: async (part) => {
            await options?.onPart?.(part);
            await options?.onPart?.(part);
          },
        }),
    ],
    [
      'counts tokens as NaN',
      'text',
      (model) => async (request, options) => {
        const response = await model.call(request, options);
        if (response.type === 'failure') return response;
        return { ...response, result: { ...response.result, usage: { inputTokens: Number.NaN } } };
      },
    ],
    [
      'takes a broken stream for an answer',
      'missing-terminal',
      (model) => async (request, options) => {
        const response = await model.call(request, options);
        if (response.type === 'success') return response;
        return { type: 'success', result: { ...response.partial, finish: { reason: 'stop', raw: 'stop' } } };
      },
    ],
  ];

  it.each(liars)('catches a model that %s', async (_, scenario, spoil) => {
    const others = Object.keys(scripts).filter((name) => name !== scenario) as readonly Scenario[];
    const broken: string[] = [];
    const cases = modelConformance({
      unsupported: others,
      createModel: async (wanted) => {
        const harnessed = await scripted.createModel(wanted);
        return { ...harnessed, model: { ...harnessed.model, call: spoil(harnessed.model) } };
      },
    });
    for (const { name, run } of cases) {
      await run().catch(() => broken.push(name));
      if (broken.length > 0) break; // One is enough; some of the others would wait long for a call that never ends.
    }
    expect(broken).not.toEqual([]);
  });

  it('leaves out what the other side cannot play', () => {
    const names = modelConformance({ ...scripted, unsupported: ['empty'] }).map(({ name }) => name);
    expect(names.filter((name) => /empty|EMPTY/.test(name))).toEqual([]);
    expect(names).toHaveLength(modelConformance(scripted).length - 2);
  });
});

describe.concurrent.each([
  ['scriptedModel', modelConformance(scripted)],
  // It leaves refusals to `callModel`, which looks at every request before any model sees it.
  ['simulated', modelConformance(builtIn)],
])('%s', (_, cases) => {
  it.each(cases.map(({ name, run }) => [name, run] as const))('%s', (_name, run) =>
    expect(run()).resolves.toBeUndefined(),
  );
});
