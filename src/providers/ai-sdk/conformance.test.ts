import { describe, expect, it } from 'vitest';
import { apiCallError, fakeModel, finishPart, textParts } from '../../../test/ai-sdk/fake-model.ts';
import { modelConformance } from '../../testing/model-conformance.ts';
import type { ModelHarness, Scenario } from '../../testing/model-conformance.ts';
import { aiSdk } from './ai-sdk.ts';
import { specificationVersions } from './language-model.ts';
import type { AiSdkRecord, SpecificationVersion } from './language-model.ts';

const pieces: readonly AiSdkRecord[] = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'This is ' },
  { type: 'text-delta', id: '0', delta: 'an answer.' },
  { type: 'text-end', id: '0' },
];
const lookup = (id: string): AiSdkRecord => ({
  type: 'tool-call',
  toolCallId: `call_${id}`,
  toolName: 'lookup_order',
  input: JSON.stringify({ id }),
});

type Parts = NonNullable<NonNullable<Parameters<typeof fakeModel>[0]>['parts']>;

const scenarios = {
  text: (version) => [...pieces, finishPart(version)],
  'tool-call': (version) => [lookup('17'), finishPart(version, 'tool-calls')],
  'parallel-tool-calls': (version) => [lookup('17'), lookup('18'), finishPart(version, 'tool-calls')],
  empty: (version) => [finishPart(version)],
  length: (version) => [...textParts('This is'), finishPart(version, 'length')],
  'missing-terminal': () => pieces,
  'server-error': () => [apiCallError({ statusCode: 500, responseBody: 'Internal Server Error' })],
  silent: () => ['hang'],
  slow: () => [...pieces.slice(0, 2), 'hang'],
} as const satisfies Record<Scenario, (version: SpecificationVersion) => Parts>;

function harnessOf(version: SpecificationVersion): ModelHarness {
  return {
    createModel: (scenario) => {
      const fake = fakeModel({ version, parts: scenarios[scenario](version) });
      return Promise.resolve({
        model: aiSdk(fake),
        requests: () => fake.calls.length,
        close: () => Promise.resolve(),
      });
    },
  };
}

describe.concurrent.each(specificationVersions)('aiSdk() of specification %s', (version) => {
  it.each(modelConformance(harnessOf(version)).map(({ name, run }) => [name, run] as const))(
    '%s',
    (_name, run) => expect(run()).resolves.toBeUndefined(),
  );
});
