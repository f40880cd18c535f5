import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chaosProtocols } from '../../src/chaos/index.ts';
import { chaosModel, endsOf, expectedEnds, playRow, quickRetry } from './survival-stage.ts';
import type { Row } from './survival-stage.ts';

// What providers do to a run, over real sockets and in every protocol, through `run`, `stream` and `ask`: all three come to the
// same outcome, the server counts the requests, and says that the fault really reached the other side.

const goodText = 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich 🥊, and then they rest.';
const script = [goodText];
const saved = { type: 'completed', text: goodText } as const;

/** As the server cuts it. */
function half(text: string): string {
  const points = Array.from(text);
  return points.slice(0, Math.ceil(points.length / 2)).join('');
}

/** A fault that happens once, and is overcome by a second request. */
function once(id: string, fault: string, recovery: string): Row {
  return {
    id,
    script,
    faults: { script: [fault as 'overloaded'] }, // The server refuses a name that it does not know.
    delivered: { [fault]: 1 },
    expected: { ...saved, requests: 2, recoveries: [recovery] },
  };
}

/** A fault that no further request would mend. */
function suspending(fault: string, code: string, reason: string): Row {
  return {
    id: `${fault}: waits for a person after one request`,
    script,
    faults: { script: [fault as 'auth'], repeat: true }, // The server refuses a name that it does not know.
    delivered: { [fault]: 1 },
    expected: { type: 'suspended', reason, code, requests: 1, recoveries: [] },
  };
}

// Rows are of agents with any output.
const structured = { output: z.looseObject({ total: z.number() }) } as unknown as NonNullable<Row['options']>;

const rows: readonly Row[] = [
  { id: 'nothing: the answer', script, delivered: {}, expected: { ...saved, requests: 1, recoveries: [] } },
  suspending('quota', 'QUOTA_EXCEEDED', 'credit'),
  suspending('billing', 'QUOTA_EXCEEDED', 'credit'),
  suspending('auth', 'AUTHENTICATION_ERROR', 'credentials'),
  suspending('forbidden', 'PERMISSION_DENIED', 'credentials'),
  suspending('model-not-found', 'MODEL_NOT_FOUND', 'credentials'),
  {
    id: 'Retry-After: 90 is never undercut',
    script,
    faults: { script: [{ name: 'rate-limit', retryAfter: 90 }], repeat: true },
    delivered: { 'rate-limit': 1 },
    expected: { type: 'suspended', reason: 'long-wait', code: 'RATE_LIMITED', requests: 1, recoveries: [] },
  },
  once('an overload', 'overloaded', 'OVERLOADED by retry'),
  once('a server error', 'server-error', 'SERVER_ERROR by retry'),
  once('a page of a gateway', 'gateway', 'SERVER_ERROR by retry'),
  once('a reset before anything', 'reset-before-headers', 'NETWORK_ERROR by retry'),
  once('P15 a reset in the middle', 'reset-mid-stream', 'STREAM_INTERRUPTED by retry'),
  once('P16 a close in the middle', 'close-mid-stream', 'STREAM_INTERRUPTED by retry'),
  once('P17 a clean end without the terminal event', 'missing-terminal', 'STREAM_INTERRUPTED by retry'),
  once('P29 an error event after some tokens', 'error-in-stream', 'OVERLOADED by retry'),
  once('P24 an event that is no JSON', 'invalid-json-event', 'INVALID_RESPONSE by retry'),
  once('P27 a login page', 'wrong-content-type', 'INVALID_RESPONSE by retry'),
  {
    id: 'overload without end: typed, after the attempts of the policy',
    script,
    faults: { script: ['overloaded'], repeat: true },
    delivered: { overloaded: 4 },
    expected: { type: 'failed', code: 'OVERLOADED', requests: 4, recoveries: [] },
  },
  {
    id: 'three different faults in a row',
    script,
    faults: { script: ['overloaded', 'reset-mid-stream', 'server-error'] },
    delivered: { overloaded: 1, 'reset-mid-stream': 1, 'server-error': 1 },
    expected: {
      ...saved,
      requests: 4,
      recoveries: ['OVERLOADED by retry', 'STREAM_INTERRUPTED by retry', 'SERVER_ERROR by retry'],
    },
  },
  {
    id: 'M11 an empty answer, twice: told to the model, then it answers',
    script,
    faults: { script: ['empty-answer', 'empty-answer'] },
    delivered: { 'empty-answer': 2 },
    expected: { ...saved, requests: 3, recoveries: ['EMPTY_RESPONSE by retry', 'EMPTY_RESPONSE by nudge'] },
  },
  {
    id: 'M11 always empty: failed, never completed with nothing',
    script,
    faults: { script: ['empty-answer'], repeat: true },
    delivered: { 'empty-answer': 6 },
    expected: { type: 'failed', code: 'EMPTY_RESPONSE', requests: 6, recoveries: [] },
  },
  {
    id: 'M13 cut off: continued and joined',
    script: [{ text: goodText.slice(0, 40), finish: 'length' }, goodText.slice(40)],
    delivered: {},
    expected: { ...saved, requests: 2, recoveries: ['OUTPUT_TRUNCATED by continue'] },
  },
  {
    id: 'M13 cut off twice: continued twice and joined',
    script: [
      { text: goodText.slice(0, 30), finish: 'length' },
      { text: goodText.slice(30, 60), finish: 'length' },
      goodText.slice(60),
    ],
    delivered: {},
    expected: {
      ...saved,
      requests: 3,
      recoveries: ['OUTPUT_TRUNCATED by continue', 'OUTPUT_TRUNCATED by continue'],
    },
  },
  {
    id: 'M13 cut off, and the model begins anew: the first half is taken back',
    script: [{ text: goodText.slice(0, 40), finish: 'length' }, goodText],
    delivered: {},
    expected: { ...saved, requests: 2, recoveries: ['OUTPUT_TRUNCATED by continue'] },
  },
  {
    id: 'M13 cut off, the model begins anew and is cut off again, then goes on: nothing stands there twice',
    script: [
      { text: goodText.slice(0, 40), finish: 'length' },
      { text: goodText.slice(0, 60), finish: 'length' },
      goodText.slice(60),
    ],
    delivered: {},
    expected: {
      ...saved,
      requests: 3,
      recoveries: ['OUTPUT_TRUNCATED by continue', 'OUTPUT_TRUNCATED by continue'],
    },
  },
  {
    id: 'an overload, then a cut-off answer: both stand among what was overcome',
    script: [{ text: goodText.slice(0, 40), finish: 'length' }, goodText.slice(40)],
    faults: { script: ['overloaded'] },
    delivered: { overloaded: 1 },
    expected: { ...saved, requests: 3, recoveries: ['OVERLOADED by retry', 'OUTPUT_TRUNCATED by continue'] },
  },
  {
    id: 'M13 cut off, and the continuation breaks in the middle: still joined',
    script: [{ text: goodText.slice(0, 30), finish: 'length' }, goodText.slice(30)],
    faults: { script: [null, 'reset-mid-stream'] },
    delivered: { 'reset-mid-stream': 1 },
    expected: {
      ...saved,
      requests: 3,
      recoveries: ['OUTPUT_TRUNCATED by continue', 'STREAM_INTERRUPTED by retry'],
    },
  },
  {
    id: 'M13 always cut off: failed typed',
    script,
    faults: { script: ['cut-off-answer'], repeat: true },
    delivered: { 'cut-off-answer': 12 },
    expected: {
      type: 'failed',
      code: 'OUTPUT_TRUNCATED',
      // It begins anew each time, so that there is never more than half of it.
      text: half(goodText),
      requests: 12,
      recoveries: [],
    },
  },
  {
    id: 'M14 a refusal in words',
    script,
    faults: { script: [{ name: 'refusal', text: 'I will not.' }], repeat: true },
    delivered: { refusal: 1 },
    expected: {
      type: 'stopped',
      reason: 'refused',
      code: 'CONTENT_FILTERED',
      text: 'I will not.',
      requests: 1,
      recoveries: [],
    },
  },
  {
    id: 'M14 a filter after half of the answer',
    script,
    faults: { script: ['filtered'], repeat: true },
    delivered: { filtered: 1 },
    expected: {
      type: 'stopped',
      reason: 'refused',
      code: 'CONTENT_FILTERED',
      text: half(goodText),
      requests: 1,
      recoveries: [],
    },
  },
  {
    id: 'M14 a filter before anything',
    script,
    faults: { script: [{ name: 'filtered', text: 'none' }], repeat: true },
    delivered: { filtered: 1 },
    expected: { type: 'stopped', reason: 'refused', code: 'CONTENT_FILTERED', requests: 1, recoveries: [] },
  },
  {
    id: 'a prompt that a filter blocks',
    script,
    faults: { script: ['content-filter'], repeat: true },
    delivered: { 'content-filter': 1 },
    expected: { type: 'stopped', reason: 'refused', code: 'CONTENT_FILTERED', requests: 1, recoveries: [] },
  },
  {
    // The prompt is far from the limit that the provider states, so it is asked twice more; a prompt that is really too long is not.
    id: 'P31 a prompt that is called too long, with nothing to shorten: failed',
    script,
    faults: { script: ['context-length'], repeat: true },
    delivered: { 'context-length': 3 },
    expected: { type: 'failed', code: 'CONTEXT_LENGTH_EXCEEDED', requests: 3, recoveries: [] },
  },
  {
    id: 'P30 a request that is wrong: failed at once',
    script,
    faults: { script: ['bad-request'], repeat: true },
    delivered: { 'bad-request': 1 },
    expected: { type: 'failed', code: 'INVALID_REQUEST', requests: 1, recoveries: [] },
  },
  {
    id: 'M17 a structured answer of the wrong form, three times over: asked for again, then completed',
    script: ['Twelve.', '{"total":"twelve"}', '{"sum":12}', '{"total":12}'],
    options: structured,
    delivered: {},
    expected: {
      type: 'completed',
      text: '{"total":12}',
      requests: 4,
      recoveries: Array.from({ length: 3 }, () => 'OUTPUT_PARSE_ERROR by re-ask'),
    },
  },
  {
    id: 'M17 a structured answer of the wrong form for ever: failed typed, after a bounded number',
    script: ['Twelve.'],
    repeat: true,
    options: structured,
    delivered: {},
    expected: { type: 'failed', code: 'OUTPUT_PARSE_ERROR', text: 'Twelve.', requests: 4, recoveries: [] },
  },
  {
    id: 'M17 a structured answer that breaks half way: asked for anew, never joined',
    script: ['{"total":12,"words":"twelve and not a bit more than that"}'],
    faults: { script: ['reset-mid-stream'] },
    options: structured,
    delivered: { 'reset-mid-stream': 1 },
    expected: {
      type: 'completed',
      text: '{"total":12,"words":"twelve and not a bit more than that"}',
      requests: 2,
      recoveries: ['STREAM_INTERRUPTED by retry'],
    },
  },
  {
    id: 'the first model overloaded, the second answers',
    script,
    faults: ({ sequence }) => (sequence <= 2 ? 'overloaded' : null),
    models: (server, protocol) => [
      chaosModel(server, protocol),
      chaosModel(server, protocol === 'anthropic' ? 'gemini' : 'anthropic'),
    ],
    options: { policy: { retry: { ...quickRetry, maxAttempts: 2 } } },
    delivered: { overloaded: 2 },
    expected: { ...saved, requests: 3, recoveries: ['OVERLOADED by retry', 'OVERLOADED by fall-back'] },
  },
  {
    id: 'the first model without credit, the second breaks half way, the third answers',
    script,
    faults: { script: ['quota', 'reset-mid-stream', null] },
    models: (server, protocol) => [
      chaosModel(server, protocol),
      chaosModel(server, protocol === 'anthropic' ? 'gemini' : 'anthropic'),
      chaosModel(server, protocol === 'openai-chat' ? 'openai-responses' : 'openai-chat'),
    ],
    options: { policy: { retry: { ...quickRetry, maxAttempts: 1 } } },
    delivered: { quota: 1, 'reset-mid-stream': 1 },
    expected: {
      ...saved,
      requests: 3,
      recoveries: ['QUOTA_EXCEEDED by fall-back', 'STREAM_INTERRUPTED by fall-back'],
    },
  },
  {
    id: 'a wait that is too long, and another model that need not wait',
    script,
    faults: { script: [{ name: 'rate-limit', retryAfter: 90 }] },
    models: (server, protocol) => [
      chaosModel(server, protocol),
      chaosModel(server, protocol === 'anthropic' ? 'gemini' : 'anthropic'),
    ],
    delivered: { 'rate-limit': 1 },
    expected: { ...saved, requests: 2, recoveries: ['RATE_LIMITED by fall-back'] },
  },
];

describe.each(chaosProtocols)('a wait that was asked for over %s', (protocol) => {
  it('P38 is kept to the millisecond, as the server sees it', async () => {
    const arrivals: number[][] = [];
    const row: Row = {
      id: 'rate-limit',
      script,
      faults: { script: [{ name: 'rate-limit', retryAfter: 1 }] },
      delivered: { 'rate-limit': 1 },
      expected: { ...saved, requests: 2, recoveries: ['RATE_LIMITED by retry'] },
      look: ({ requests }) => void arrivals.push(requests.map(({ atMs }) => atMs)),
    };
    expect(await endsOf(row, protocol)).toEqual(expectedEnds(row));
    expect(arrivals).toHaveLength(3);
    for (const [first = 0, second = 0] of arrivals) expect(second - first).toBeGreaterThanOrEqual(1000);
  });
});

describe.each(chaosProtocols)('what is too long over %s', (protocol) => {
  it('P31 is told with the numbers of the provider', async () => {
    const row = rows.find(({ id }) => id.startsWith('P31')) as Row; // It is in the table above.
    const { played } = await playRow(row, { protocol, way: 'run' });
    expect(played.outcome).toMatchObject({
      failure: { message: expect.stringMatching(/\d{4,}/) as unknown },
    });
  });
});

describe.each(chaosProtocols)('a run over %s survives', (protocol) => {
  it.each(rows.map((row) => [row.id, row] as const))('%s', async (_id, row) => {
    expect(await endsOf(row, protocol)).toEqual(expectedEnds(row));
  });
});
