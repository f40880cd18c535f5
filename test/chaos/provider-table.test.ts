import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultName } from '../../src/chaos/faults/fault-table.ts';
import { startChaosServer } from '../../src/chaos/server.ts';
import type { ChaosServer } from '../../src/chaos/server.ts';
import { chaosProtocols } from '../../src/chaos/wire/wire-answer.ts';
import type { ChaosProtocol } from '../../src/chaos/wire/wire-answer.ts';
import type { FailureCode } from '../../src/errors/codes.ts';
import type { ModelResponse } from '../../src/model/model.ts';
import type { ModelRequest } from '../../src/model/request.ts';
import { providerModel } from '../model/provider-models.ts';

// The table of faults against the providers of this package, over real sockets: what each fault becomes, on every protocol.

type Outcome = FailureCode | 'good' | Readonly<Partial<Record<ChaosProtocol, FailureCode | 'good'>>>;

const table: Readonly<Record<FaultName, Outcome>> = {
  status: 'SERVER_ERROR',
  'rate-limit': 'RATE_LIMITED',
  quota: 'QUOTA_EXCEEDED',
  overloaded: 'OVERLOADED',
  'server-error': 'SERVER_ERROR',
  auth: 'AUTHENTICATION_ERROR',
  forbidden: 'PERMISSION_DENIED',
  billing: 'QUOTA_EXCEEDED',
  'model-not-found': 'MODEL_NOT_FOUND',
  'model-loading': 'MODEL_LOADING',
  'context-length': 'CONTEXT_LENGTH_EXCEEDED',
  'request-too-large': 'REQUEST_TOO_LARGE',
  'bad-request': 'INVALID_REQUEST',
  'content-filter': 'CONTENT_FILTERED',
  gateway: 'SERVER_ERROR',
  'continue-storm': 'INVALID_RESPONSE',
  'error-in-200': 'OVERLOADED',
  'wrong-content-type': 'INVALID_RESPONSE',
  redirect: 'good',
  'connect-hang': 'TIMEOUT',
  'header-hang': 'TIMEOUT',
  'reset-before-headers': 'NETWORK_ERROR',
  'close-before-headers': 'NETWORK_ERROR',
  'silence-after-headers': 'TIMEOUT',
  'silence-mid-stream': 'TIMEOUT',
  'reset-mid-stream': 'STREAM_INTERRUPTED',
  'close-mid-stream': 'STREAM_INTERRUPTED',
  'close-short-of-length': 'STREAM_INTERRUPTED',
  'close-without-length': 'STREAM_INTERRUPTED',
  'garbage-http': 'INVALID_RESPONSE',
  'bad-chunk-size': 'INVALID_RESPONSE',
  'huge-header': 'INVALID_RESPONSE',
  'slow-drip': 'good',
  // Nothing of TLS on a plain connection.
  'tls-handshake-cut': 'good',
  'gzip-truncated': 'STREAM_INTERRUPTED',
  'gzip-garbage': 'INVALID_RESPONSE',
  'gzip-bomb': 'INVALID_RESPONSE',
  'encoding-chain': 'INVALID_RESPONSE',
  split: 'good',
  crlf: 'good',
  bom: 'good',
  comments: 'good',
  'multiline-data': 'good',
  // The last event of OpenAI chat is [DONE], and the answer was whole before it.
  'missing-final-blank-line': {
    'openai-chat': 'good',
    anthropic: 'STREAM_INTERRUPTED',
    gemini: 'STREAM_INTERRUPTED',
  },
  // Only Responses numbers its events, so that only there anybody can tell.
  'duplicate-event': { 'openai-chat': 'good', 'openai-responses': 'INVALID_RESPONSE', anthropic: 'good' },
  'out-of-order': { 'openai-chat': 'good', 'openai-responses': 'INVALID_RESPONSE', anthropic: 'good' },
  'missing-terminal': 'STREAM_INTERRUPTED',
  'error-in-stream': 'OVERLOADED',
  'invalid-json-event': 'INVALID_RESPONSE',
  'giant-event': 'INVALID_RESPONSE',
  'endless-keepalive': 'TIMEOUT',
  'empty-answer': 'EMPTY_RESPONSE',
  'cut-off-answer': 'OUTPUT_TRUNCATED',
  'cut-off-tool-call': 'OUTPUT_TRUNCATED',
  'bad-tool-arguments': 'TOOL_CALL_INVALID',
  'truncated-tool-arguments': 'TOOL_CALL_INVALID',
  'unknown-tool': 'good',
  'tool-loop': 'good',
  refusal: 'CONTENT_FILTERED',
  filtered: 'CONTENT_FILTERED',
  'usage-missing': 'good',
  'usage-nonsense': 'good',
  'bad-finish-reason': 'good',
};

const answer = 'It is sunny in Oslo today, and warm for the season.';
let server: ChaosServer;
beforeAll(async () => {
  server = await startChaosServer({ model: () => answer });
});
afterAll(() => server.close());

const request: ModelRequest = {
  messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
  tools: [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }],
};

const parameters: Partial<Record<FaultName, string>> = { 'slow-drip': ';bytes=100;everyMs=1' };
/** Only where nothing is meant to come: elsewhere a slow machine must not decide. */
const impatient = { headersMs: 300, idleMs: 300, progressMs: 600 };

function call(protocol: ChaosProtocol, name: FaultName): Promise<ModelResponse> {
  const headers = { 'x-rerail-fault': `${name}${parameters[name] ?? ''}` };
  const model = providerModel(protocol, { baseURL: server.baseURL(protocol), headers });
  return model.call(request, table[name] === 'TIMEOUT' ? { timeouts: impatient } : {});
}

const rows = Object.entries(table).flatMap(([name, outcome]) =>
  chaosProtocols.flatMap((protocol) => {
    const expected = typeof outcome === 'string' ? outcome : outcome[protocol];
    return expected === undefined ? [] : [{ name: name as FaultName, protocol, expected }];
  }),
);

// Side by side, for the rows that wait take most of the time; a fault is that of its request and of no other.
describe.concurrent('what a fault becomes', () => {
  it.each(rows)('$name is $expected on $protocol', async ({ name, protocol, expected }) => {
    const response = await call(protocol, name);
    expect(response.type === 'success' ? 'good' : response.failure.code).toBe(expected);
  });
});
