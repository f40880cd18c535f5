// How long one classification takes: npm run bench. Medians per call, and the ratio to two naive classifiers in the same run.
import { Bench } from 'tinybench';
import { classifyProviderFailure } from '../dist/errors/index.js';

/** @type {Record<string, Parameters<typeof classifyProviderFailure>[0]>} */
const samples = {
  'typical 429 with headers': {
    provider: 'openai',
    model: 'gpt-5.2',
    status: 429,
    headers: {
      'content-type': 'application/json',
      date: 'Tue, 03 Mar 2026 10:00:00 GMT',
      'retry-after': '20',
    },
    body: JSON.stringify({
      error: {
        message:
          'Rate limit reached for gpt-5.2 in organization org-x on tokens per min (TPM): Limit 30000, Used 28001, Requested 4000. Please try again in 4.002s. Visit https://platform.openai.com/account/rate-limits to learn more.',
        type: 'tokens',
        param: null,
        code: 'rate_limit_exceeded',
      },
    }),
  },
  'typical 529 event': {
    provider: 'anthropic',
    status: 200,
    body: '{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_x"}',
  },
  'typical 400': {
    provider: 'anthropic',
    status: 400,
    body: '{"type":"error","error":{"type":"invalid_request_error","message":"messages.3: all messages must have non-empty content except for the optional final assistant message"},"request_id":"req_x"}',
  },
  'SDK text with a Python repr': {
    provider: 'vllm',
    error: new Error(
      "Error code: 400 - {'object': 'error', 'message': \"This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8001 in the messages, 1000 in the completion).\", 'type': 'BadRequestError', 'param': None, 'code': 400}",
    ),
  },
  'network error with a cause': {
    provider: 'openai',
    error: new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:443'), { code: 'ECONNREFUSED' }),
    }),
  },
  'nothing known (every rule is tried)': {
    provider: 'openai',
    error: new Error('it just did not want to, for reasons of its own that nobody wrote down anywhere'),
  },
  'HTML page of 8 KB': {
    provider: 'openai',
    status: 502,
    body: `<!DOCTYPE html><title>502 Bad gateway</title>${'<p class="x">text</p>'.repeat(400)}`,
  },
  'body of 10 MB': {
    provider: 'openai',
    status: 400,
    body: `{"error":{"message":"${'x'.repeat(10_000_000)}"}}`,
  },
};

const bench = new Bench({ time: 400, warmupTime: 100 });
for (const [name, input] of Object.entries(samples))
  bench.add(name, () => void classifyProviderFailure(input));
bench.add('naive: status table only', () => void naiveStatus(samples['typical 429 with headers'] ?? {}));
bench.add(
  'naive: keyword search in the body',
  () => void naiveKeywords(samples['typical 429 with headers'] ?? {}),
);
await bench.run();

const medians = bench.tasks.map(({ name, result }) => ({
  name,
  microseconds: 'latency' in result ? result.latency.p50 * 1000 : NaN,
}));
const naive = medians.find(({ name }) => name.startsWith('naive: keyword'))?.microseconds ?? NaN;
console.log('| case | median µs | times the keyword search |\n|---|---|---|');
for (const { name, microseconds } of medians)
  console.log(`| ${name} | ${microseconds.toFixed(1)} | ${(microseconds / naive).toFixed(1)} |`);

// The bound is meant for a quiet machine; the ratio above holds on a busy one too.
const slow = medians.filter(({ name, microseconds }) => name.startsWith('typical') && !(microseconds < 30));
if (slow.length > 0) console.log(`Above 30 µs here and now: ${slow.map(({ name }) => name).join(', ')}`);

/** @param {{ status?: number | undefined }} input */
function naiveStatus({ status = 0 }) {
  return new Map([
    [401, 'AUTHENTICATION_ERROR'],
    [404, 'MODEL_NOT_FOUND'],
    [429, 'RATE_LIMITED'],
    [500, 'SERVER_ERROR'],
  ]).get(status);
}

/** @param {{ body?: string | object | undefined }} input */
function naiveKeywords({ body = '' }) {
  const parsed = /** @type {{ error: { message: string } }} */ (
    typeof body === 'string' ? JSON.parse(body) : body
  );
  const message = parsed.error.message.toLowerCase();
  if (message.includes('api key') || message.includes('unauthorized')) return 'AUTHENTICATION_ERROR';
  if (message.includes('rate limit') || message.includes('429')) return 'RATE_LIMITED';
  if (message.includes('timeout')) return 'TIMEOUT';
  return message.includes('network') || message.includes('econnrefused') ? 'NETWORK_ERROR' : 'UNKNOWN';
}
