import { beginningOf, joinPieces, lengthOf } from '../reply.ts';
import type { Reply } from '../reply.ts';
import { bodySteps, headStep, raw, rawHead } from '../steps.ts';
import type { Step } from '../steps.ts';
import { numberOf } from './fault-row.ts';
import type { FaultRow, Occasion } from './fault-row.ts';

const after = { after: 'how many events of content come before; half of them by default' };

/** So that the other side has read what came before, for a reset throws away what is still under way. */
const settleMs = 20;

/** What happens to the connection itself. */
export const connectionFaults = {
  'connect-hang': {
    group: 'connection',
    summary:
      'Never answers: on a connection that was accepted, the same as header-hang; see startDeafServer for more',
    steps: () => [{ type: 'delivered' }, { type: 'silence' }],
  },
  'header-hang': {
    group: 'connection',
    summary: 'Takes the request and never answers',
    steps: () => [{ type: 'delivered' }, { type: 'silence' }],
  },
  'reset-before-headers': {
    group: 'connection',
    summary: 'Breaks the connection (RST) before the first byte of an answer',
    isEveryday: true,
    steps: () => [{ type: 'reset' }, { type: 'delivered' }],
  },
  'close-before-headers': {
    group: 'connection',
    summary: 'Closes the connection (FIN) before the first byte of an answer',
    isEveryday: true,
    steps: () => [{ type: 'close' }, { type: 'delivered' }],
  },
  'silence-after-headers': {
    group: 'connection',
    summary: 'Sends status and headers, and nothing after them',
    steps: (reply) => [headStep({ ...reply, isStream: true }), { type: 'delivered' }, { type: 'silence' }],
  },
  'silence-mid-stream': {
    group: 'connection',
    summary: 'Falls silent in the middle of the answer',
    parameters: after,
    steps: (reply, occasion) => brokenSteps(reply, occasion, [{ type: 'delivered' }, { type: 'silence' }]),
  },
  'reset-mid-stream': {
    group: 'connection',
    summary: 'Breaks the connection (RST) in the middle of the answer',
    isEveryday: true,
    parameters: after,
    steps: (reply, occasion) =>
      brokenSteps(reply, occasion, [
        { type: 'wait', delayMs: settleMs },
        { type: 'reset' },
        { type: 'delivered' },
      ]),
  },
  'close-mid-stream': {
    group: 'connection',
    summary: 'Closes the connection (FIN) in the middle of a chunked answer',
    isEveryday: true,
    parameters: after,
    steps: (reply, occasion) => brokenSteps(reply, occasion, [{ type: 'close' }, { type: 'delivered' }]),
  },
  'close-short-of-length': {
    group: 'connection',
    summary: 'Closes the connection before as many bytes came as Content-Length promised',
    parameters: after,
    steps: shortSteps,
  },
  'close-without-length': {
    group: 'connection',
    summary: 'A cut answer with neither length nor chunks: to HTTP it looks like success',
    parameters: after,
    steps: unframedSteps,
  },
  'garbage-http': {
    group: 'connection',
    summary: 'Something that is not HTTP',
    steps: () => [
      raw('\u0000\u00ff SSH-2.0-Chaos\r\nnot http at all\r\n\r\n'),
      { type: 'close' },
      { type: 'delivered' },
    ],
  },
  'bad-chunk-size': {
    group: 'connection',
    summary: 'A chunked body whose chunk size is not a number',
    steps: badChunkSteps,
  },
  'huge-header': {
    group: 'connection',
    summary: 'A good answer below a header of 100 KB',
    parameters: { kilobytes: 'its size, 100 by default' },
    steps: hugeHeaderSteps,
  },
  'slow-drip': {
    group: 'connection',
    summary: 'The good answer, a byte at a time',
    parameters: { bytes: 'how many at once, 1 by default', everyMs: 'the wait between them, 100 by default' },
    steps: dripSteps,
  },
  'tls-handshake-cut': {
    group: 'connection',
    summary: 'Breaks the connection in the middle of the TLS handshake',
    needs: 'tls',
  },
} as const satisfies Record<string, FaultRow>;

function* brokenSteps(reply: Reply, occasion: Occasion, ending: readonly Step[]): Iterable<Step> {
  yield headStep({ ...reply, isStream: true });
  yield* bodySteps(beginningOf(reply, numberOf(occasion, 'after')), occasion.pace.chunkDelayMs);
  yield* ending;
}

function* shortSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  yield { type: 'head', reply, length: lengthOf(reply.pieces) };
  yield* bodySteps(beginningOf(reply, numberOf(occasion, 'after')), occasion.pace.chunkDelayMs);
  yield { type: 'close' };
  yield { type: 'delivered' };
}

function* unframedSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  yield rawHead({ ...reply, headers: { ...reply.headers, connection: 'close' } });
  for (const { bytes } of beginningOf(reply, numberOf(occasion, 'after'))) yield { type: 'raw', bytes };
  yield { type: 'close' };
  yield { type: 'delivered' };
}

function* badChunkSteps(reply: Reply): Iterable<Step> {
  yield rawHead({ ...reply, headers: { ...reply.headers, 'transfer-encoding': 'chunked' } });
  yield raw('zz\r\n');
  const [first] = reply.pieces;
  if (first !== undefined) yield { type: 'raw', bytes: first.bytes };
  yield { type: 'close' };
  yield { type: 'delivered' };
}

function* hugeHeaderSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  const kilobytes = Math.min(numberOf(occasion, 'kilobytes') ?? 100, 10_000);
  const body = joinPieces(reply.pieces);
  const framing = { 'content-length': String(body.length), connection: 'close' };
  yield rawHead({
    ...reply,
    headers: { ...reply.headers, ...framing, 'x-huge': 'h'.repeat(kilobytes * 1024) },
  });
  yield { type: 'delivered' };
  yield { type: 'raw', bytes: body };
  yield { type: 'close' };
}

function* dripSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  const size = Math.max(1, Math.floor(numberOf(occasion, 'bytes') ?? 1));
  const delayMs = numberOf(occasion, 'everyMs') ?? 100;
  const body = joinPieces(reply.pieces);
  yield headStep({ ...reply, isStream: true });
  for (let start = 0; start < body.length; start += size) {
    if (start > 0) yield { type: 'wait', delayMs };
    yield { type: 'body', bytes: body.subarray(start, start + size) };
    // From the second drop on it is slow.
    if (start === size) yield { type: 'delivered' };
  }
  yield { type: 'finish' };
}
