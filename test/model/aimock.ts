import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { callModel, createGates } from '../../src/model/index.ts';
import type {
  CallOutcome,
  CallPolicy,
  Message,
  ModelRequest,
  ToolDefinition,
} from '../../src/model/index.ts';
import { createNodeTransport } from '../../src/providers/http/node-transport.ts';
import type { NodeTransport } from '../../src/providers/http/node-transport.ts';
import type { ProviderOptions } from '../../src/providers/provider-options.ts';
import { providerModel } from './provider-models.ts';
import type { ProviderName } from './provider-models.ts';

/** All that a test says to a mock server of other people, and hears from it. */
export interface Aimock {
  readonly mock: LLMock;
  readonly baseURL: (provider: ProviderName) => string;
  /** How many requests the server has seen since the last call. */
  readonly seen: () => number;
  readonly call: (provider: ProviderName, request: ModelRequest, options?: AimockCall) => Promise<Called>;
}

export interface AimockCall extends ProviderOptions {
  readonly policy?: CallPolicy;
}

export interface Called {
  readonly outcome: CallOutcome;
  /** The text as a consumer of the events sees it at the end. */
  readonly shown: string;
  readonly seen: number;
}

export const providers: readonly ProviderName[] = [
  'openai-chat',
  'openai-responses',
  'anthropic',
  'gemini',
  'ollama',
];

/** Three quick tries; nothing that is fast here needs its bounds. */
export const quickRetry = { maxAttempts: 3, baseDelayMs: 2, maxDelayMs: 4, minDelayMs: 1 } as const;

/** A server for the tests of one file; fixtures and journal are empty before each test, and no connection is left from another. */
export function useAimock({ keys }: { readonly keys?: readonly string[] } = {}): Aimock {
  const auth = keys === undefined ? {} : { auth: { apiKeys: keys } };
  const mock = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 7, ...auth });
  const seen = (): number => mock.getRequests().length;
  // Versions are part of the address, as the providers' own clients want it; Ollama's is added by ours.
  const baseURL = (provider: ProviderName): string => mock.url + basePaths[provider];
  let transport: NodeTransport | undefined;
  beforeAll(() => mock.start());
  beforeEach(() => {
    transport = createNodeTransport();
  });
  afterEach(() => transport?.close());
  // A reset leaves the chaos that was set by hand.
  afterEach(() => void mock.reset().clearChaos());
  afterAll(() => mock.stop());
  return {
    mock,
    baseURL,
    seen,
    call: async (provider, request, { policy, ...options } = {}) => {
      mock.clearRequests();
      let shown = '';
      const outcome = await callModel(
        providerModel(provider, { baseURL: baseURL(provider), ...(transport && { transport }), ...options }),
        request,
        {
          gates: createGates(),
          policy: { retry: quickRetry, ...policy },
          onEvent: (event) => {
            if (event.type === 'text-delta') shown += event.text;
            if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
          },
        },
      );
      return { outcome, shown, seen: seen() };
    },
  };
}

const basePaths: Readonly<Record<ProviderName, string>> = {
  'openai-chat': '/v1',
  'openai-responses': '/v1',
  anthropic: '/v1',
  gemini: '/v1beta',
  ollama: '',
};

/** A question, with instructions before it. */
export function ask(question: string): ModelRequest {
  return { messages: conversation(question) };
}

export function conversation(question: string): readonly Message[] {
  return [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: question },
  ];
}

export const weatherTool: ToolDefinition = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
