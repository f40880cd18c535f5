import { describe, expect, it } from 'vitest';
import type { ChaosModel } from '../chaos/answering.ts';
import type { FaultName } from '../chaos/faults/fault-table.ts';
import { startChaosServer } from '../chaos/server.ts';
import type { ChaosServer } from '../chaos/server.ts';
import type { Model } from '../model/model.ts';
import { anthropic } from '../providers/anthropic/anthropic.ts';
import { gemini } from '../providers/gemini/gemini.ts';
import { openai } from '../providers/openai/openai.ts';
import { modelConformance } from './model-conformance.ts';
import type { ModelHarness, Scenario } from './model-conformance.ts';

const apiKey = 'test-key-of-no-worth';
const lookup = (id: string) => ({ name: 'lookup_order', arguments: { id } });
const sentence = 'This is an answer of several words, so that it comes in pieces.';

const turns: Partial<Record<Scenario, Extract<ChaosModel, { readonly script: unknown }>['script'][number]>> =
  {
    'tool-call': { toolCalls: [lookup('17')] },
    'parallel-tool-calls': { toolCalls: [lookup('17'), lookup('18')] },
    length: { text: 'This is', finish: 'length' },
  };

const faults: Partial<Record<Scenario, FaultName>> = {
  empty: 'empty-answer',
  'missing-terminal': 'missing-terminal',
  'server-error': 'server-error',
  silent: 'header-hang',
  slow: 'silence-mid-stream',
};

function harnessOf(connect: (chaos: ChaosServer) => Model): ModelHarness {
  return {
    createModel: async (scenario) => {
      const fault = faults[scenario];
      const chaos = await startChaosServer({
        model: { script: [turns[scenario] ?? sentence], repeat: true },
        ...(fault === undefined ? {} : { faults: { script: [fault], repeat: true } }),
      });
      return { model: connect(chaos), requests: () => chaos.counters().requests, close: chaos.close };
    },
  };
}

const providers: readonly (readonly [string, (chaos: ChaosServer) => Model])[] = [
  [
    'openai (responses)',
    (chaos) => openai('gpt-5.2', { apiKey, baseURL: chaos.baseURL('openai-responses') }),
  ],
  [
    'openai (chat)',
    (chaos) => openai('gpt-4o', { apiKey, api: 'chat', baseURL: chaos.baseURL('openai-chat') }),
  ],
  ['anthropic', (chaos) => anthropic('claude-sonnet-5', { apiKey, baseURL: chaos.baseURL('anthropic') })],
  ['gemini', (chaos) => gemini('gemini-2.5-flash', { apiKey, baseURL: chaos.baseURL('gemini') })],
];

// Side by side: every case has a model and a server of its own.
describe.concurrent.each(providers)('%s', (_, connect) => {
  it.each(modelConformance(harnessOf(connect)).map(({ name, run }) => [name, run] as const))(
    '%s',
    (_name, run) => expect(run()).resolves.toBeUndefined(),
  );
});
