import { createAgent } from '../../src/index.ts';
import type { RunOutcome } from '../../src/index.ts';
import type { FaultName } from '../../src/chaos/index.ts';
import { callEmbedding, callModel } from '../../src/model/index.ts';
import type { CallOutcome } from '../../src/model/index.ts';
import { openai, openaiEmbedding } from '../../src/providers/openai/index.ts';
import { key } from './row.ts';
import type { Row, Stage } from './row.ts';

// What a provider does to a request, over a socket of the loopback.

/** The fault at every request of an agent. */
function faulty(name: FaultName): Row {
  return { origin: 'model', ends: (stage) => askedWith(stage, name) };
}

async function askedWith(stage: Stage, fault: FaultName): Promise<RunOutcome> {
  const agent = createAgent({
    model: await stage.model({ fault }),
    policy: { retry: 'none', salvage: false },
  });
  return agent.run('Hello');
}

const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;
const once = { policy: { retry: 'none' } } as const;

const lookUp = {
  name: 'look_up',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
} as const;

async function calledWith(stage: Stage, fault: FaultName): Promise<CallOutcome> {
  return callModel(await stage.model({ fault }), { ...request, tools: [lookUp] }, once);
}

/** A way to the network that the user has brought along, and that fails with words which say nothing. */
const speechless = (): Promise<never> => Promise.reject(new Error('Blorp.'));

export const modelRows = {
  AUTHENTICATION_ERROR: faulty('auth'),
  PERMISSION_DENIED: faulty('forbidden'),
  MODEL_NOT_FOUND: faulty('model-not-found'),
  MODEL_LOADING: faulty('model-loading'),
  RATE_LIMITED: {
    origin: 'embedding',
    ends: async (stage) => {
      const baseURL = await stage.serve({ fault: 'rate-limit' });
      return callEmbedding(
        openaiEmbedding('text-embedding-3-small', { apiKey: key, baseURL }),
        ['Hello'],
        once,
      );
    },
  },
  QUOTA_EXCEEDED: faulty('quota'),
  OVERLOADED: faulty('overloaded'),
  SERVER_ERROR: faulty('server-error'),
  NETWORK_ERROR: faulty('reset-before-headers'),
  TIMEOUT: {
    origin: 'model',
    ends: async (stage) => {
      const model = await stage.model({ fault: 'header-hang' });
      return callModel(model, request, { policy: { ...once.policy, timeouts: { headersMs: 50 } } });
    },
  },
  CONTEXT_LENGTH_EXCEEDED: faulty('context-length'),
  REQUEST_TOO_LARGE: faulty('request-too-large'),
  CONTENT_FILTERED: faulty('content-filter'),
  INVALID_REQUEST: faulty('bad-request'),
  INVALID_RESPONSE: faulty('wrong-content-type'),
  EMPTY_RESPONSE: faulty('empty-answer'),
  OUTPUT_TRUNCATED: { origin: 'model', ends: (stage) => calledWith(stage, 'cut-off-answer') },
  STREAM_INTERRUPTED: faulty('close-mid-stream'),
  TOOL_CALL_INVALID: { origin: 'model', ends: (stage) => calledWith(stage, 'bad-tool-arguments') },
  CANCELLED: {
    origin: 'model',
    ends: async (stage) => {
      const caller = new AbortController();
      const model = await stage.model();
      const onEvent = (): void => caller.abort();
      return callModel(model, request, { ...once, signal: caller.signal, onEvent });
    },
  },
  UNKNOWN: {
    origin: 'model',
    ends: () => callModel(openai('gpt-4o', { apiKey: key, fetch: speechless }), request, once),
  },
} as const satisfies Readonly<Record<string, Row>>;
