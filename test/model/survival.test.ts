import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chaosProtocols, startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosProtocol, ChaosServer, FaultEntry } from '../../src/chaos/index.ts';
import { defined } from '../../src/base/defined.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { Timeouts } from '../../src/model/timeouts.ts';
import { providerModel, testKey, transportNames, transports } from './provider-models.ts';
import type { TransportName } from './provider-models.ts';

// The provider rows of the survival table, over real sockets: every protocol, every transport, the whole policy. What is
// counted is counted at the server.

const goodText = 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich 🥊, and then they rest.';

/** Tries are quick; bounds are long where nothing hangs, so that a loaded machine changes no outcome. */
const quickRetry = {
  maxAttempts: 3,
  baseDelayMs: 5,
  maxDelayMs: 10,
  minDelayMs: 1,
  deadlineMs: 50_000,
} as const;
const patient: Timeouts = {
  connectMs: 40_000,
  headersMs: 40_000,
  idleMs: 40_000,
  progressMs: 40_000,
  totalMs: 40_000,
};

interface Row {
  readonly id: string;
  readonly fault: FaultEntry;
  /** The code in which it ends when the fault never goes away, and facts that must stand with it. */
  readonly code: string;
  readonly phase?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly message?: RegExp;
  /** Requests until it gives up; 3 are allowed. */
  readonly requests: number;
  /** The one timeout that ends a row in which nothing comes; the others stay long, so that they cannot end it first. */
  readonly timeouts?: Partial<Timeouts>;
  /** Where the platform's `fetch` sees less than the socket shows. */
  readonly overFetch?: { readonly code?: string; readonly requests?: number };
  /** Redirects that were followed are part of one attempt. */
  readonly sentPerAttempt?: number;
}

const rows: readonly Row[] = [
  {
    id: 'P08 reset before headers',
    fault: 'reset-before-headers',
    code: 'NETWORK_ERROR',
    phase: 'headers',
    requests: 3,
  },
  {
    id: 'P09 close before headers',
    fault: 'close-before-headers',
    code: 'NETWORK_ERROR',
    phase: 'headers',
    requests: 3,
  },
  {
    id: 'P11 headers never come',
    fault: 'header-hang',
    code: 'TIMEOUT',
    phase: 'headers',
    context: { timeout: 'headers' },
    requests: 3,
    timeouts: { headersMs: 400 },
  },
  {
    id: 'P12 headers, then silence',
    fault: 'silence-after-headers',
    code: 'TIMEOUT',
    phase: 'body',
    context: { timeout: 'idle' },
    requests: 3,
    timeouts: { idleMs: 400 },
  },
  {
    id: 'P12 silence in the middle',
    fault: 'silence-mid-stream',
    code: 'TIMEOUT',
    phase: 'body',
    context: { timeout: 'idle' },
    requests: 3,
    timeouts: { idleMs: 400 },
  },
  {
    id: 'P13 a byte at a time',
    fault: { name: 'slow-drip', everyMs: 40 },
    code: 'TIMEOUT',
    context: { timeout: 'idle' },
    requests: 3,
    timeouts: { idleMs: 400 },
  },
  {
    id: 'P13 signs of life for ever',
    fault: { name: 'endless-keepalive', everyMs: 20 },
    code: 'TIMEOUT',
    context: { timeout: 'progress' },
    requests: 3,
    timeouts: { progressMs: 400 },
  },
  {
    id: 'P15 reset in the body',
    fault: 'reset-mid-stream',
    code: 'STREAM_INTERRUPTED',
    phase: 'body',
    requests: 3,
  },
  {
    id: 'P16 close in a chunked body',
    fault: 'close-mid-stream',
    code: 'STREAM_INTERRUPTED',
    phase: 'body',
    requests: 3,
  },
  {
    id: 'P16 close short of the length',
    fault: 'close-short-of-length',
    code: 'STREAM_INTERRUPTED',
    phase: 'body',
    requests: 3,
  },
  {
    id: 'P17 close without length or chunks',
    fault: 'close-without-length',
    code: 'STREAM_INTERRUPTED',
    phase: 'body',
    requests: 3,
  },
  {
    id: 'P17 no terminal event',
    fault: 'missing-terminal',
    code: 'STREAM_INTERRUPTED',
    phase: 'body',
    requests: 3,
  },
  // Past the bound of an event, 8 MB, and not much more: eight times it is unpacked.
  { id: 'P20 a bomb', fault: { name: 'gzip-bomb', megabytes: 12 }, code: 'INVALID_RESPONSE', requests: 3 },
  { id: 'P20 truncated gzip', fault: 'gzip-truncated', code: 'STREAM_INTERRUPTED', requests: 3 },
  { id: 'P20 garbage for gzip', fault: 'gzip-garbage', code: 'INVALID_RESPONSE', requests: 3 },
  {
    id: 'P24 an event that is not JSON',
    fault: 'invalid-json-event',
    code: 'INVALID_RESPONSE',
    phase: 'parse',
    requests: 3,
  },
  {
    id: 'P25 a giant event',
    fault: { name: 'giant-event', megabytes: 10 },
    code: 'INVALID_RESPONSE',
    requests: 3,
  },
  {
    id: 'P27 a login page',
    fault: 'wrong-content-type',
    code: 'INVALID_RESPONSE',
    message: /html/i,
    context: { isNoAnswer: true },
    requests: 2,
  },
  { id: 'P29 an error under 200', fault: 'error-in-200', code: 'OVERLOADED', requests: 3 },
  { id: 'P29 an error in the stream', fault: 'error-in-stream', code: 'OVERLOADED', requests: 3 },
  { id: 'P30 400', fault: 'bad-request', code: 'INVALID_REQUEST', requests: 1 },
  { id: 'P31 too long', fault: 'context-length', code: 'CONTEXT_LENGTH_EXCEEDED', requests: 1 },
  { id: 'P32 401', fault: 'auth', code: 'AUTHENTICATION_ERROR', requests: 1 },
  { id: 'P32 403', fault: 'forbidden', code: 'PERMISSION_DENIED', requests: 1 },
  { id: 'P33 quota', fault: 'quota', code: 'QUOTA_EXCEEDED', requests: 1 },
  { id: 'P33 billing', fault: 'billing', code: 'QUOTA_EXCEEDED', requests: 1 },
  { id: 'P34 404', fault: 'model-not-found', code: 'MODEL_NOT_FOUND', requests: 1 },
  { id: 'P35 408', fault: { name: 'status', status: 408 }, code: 'TIMEOUT', requests: 3 },
  { id: 'P35 409', fault: { name: 'status', status: 409 }, code: 'SERVER_ERROR', requests: 3 },
  { id: 'P35 425', fault: { name: 'status', status: 425 }, code: 'SERVER_ERROR', requests: 3 },
  { id: 'P37 422', fault: { name: 'status', status: 422 }, code: 'INVALID_REQUEST', requests: 1 },
  { id: 'P42 500', fault: 'server-error', code: 'SERVER_ERROR', requests: 3 },
  { id: 'P42 a page of a gateway', fault: 'gateway', code: 'SERVER_ERROR', requests: 3 },
  { id: 'P42 529', fault: 'overloaded', code: 'OVERLOADED', requests: 3 },
  { id: 'P42 a model that loads', fault: 'model-loading', code: 'MODEL_LOADING', requests: 3 },
  { id: 'P44 304', fault: { name: 'status', status: 304 }, code: 'INVALID_RESPONSE', requests: 2 },
  { id: 'P44 418', fault: { name: 'status', status: 418 }, code: 'INVALID_REQUEST', requests: 1 },
  { id: 'P44 599', fault: { name: 'status', status: 599 }, code: 'TIMEOUT', requests: 3 },
  { id: 'P46 garbage instead of HTTP', fault: 'garbage-http', code: 'INVALID_RESPONSE', requests: 3 },
  { id: 'P46 a bad chunk size', fault: 'bad-chunk-size', code: 'INVALID_RESPONSE', requests: 3 },
  { id: 'P46 a header of 100 KB', fault: 'huge-header', code: 'INVALID_RESPONSE', requests: 3 },
  { id: 'M11 an empty answer', fault: 'empty-answer', code: 'EMPTY_RESPONSE', requests: 2 },
  { id: 'M13 a cut-off answer', fault: 'cut-off-answer', code: 'OUTPUT_TRUNCATED', requests: 1 },
  {
    id: 'M14 a refusal',
    fault: { name: 'refusal', text: 'I will not.' },
    code: 'CONTENT_FILTERED',
    requests: 1,
  },
  { id: 'M14 a filter', fault: 'filtered', code: 'CONTENT_FILTERED', requests: 1 },
  {
    id: 'P20 packed six times',
    fault: 'encoding-chain',
    code: 'INVALID_RESPONSE',
    requests: 1,
    overFetch: { requests: 3 },
  },
  {
    id: 'P44 204 with a body',
    fault: { name: 'status', status: 204 },
    code: 'INVALID_RESPONSE',
    requests: 2,
  },
  {
    id: 'P44 101',
    fault: { name: 'status', status: 101 },
    code: 'INVALID_RESPONSE',
    requests: 1,
    overFetch: { code: 'NETWORK_ERROR', requests: 3 },
  },
  {
    id: 'redirects without end',
    fault: { name: 'redirect', loop: true },
    code: 'INVALID_RESPONSE',
    requests: 1,
    sentPerAttempt: 4,
  },
  {
    id: 'a redirect to another origin',
    fault: { name: 'redirect', to: 'other' },
    code: 'INVALID_RESPONSE',
    requests: 1,
  },
];

/** Faults that a careful reader does not even notice. */
const harmless: readonly (readonly [name: string, fault: FaultEntry])[] = [
  ['P23 CRLF', 'crlf'],
  ['P23 CR', { name: 'crlf', end: 'cr' }],
  ['P23 mixed line ends', { name: 'crlf', end: 'mixed' }],
  ['P23 a byte order mark', 'bom'],
  ['P23 comments', 'comments'],
  ['P23 data over several lines', 'multiline-data'],
  ['P44 299', { name: 'status', status: 299 }],
  ['P48 no usage', 'usage-missing'],
  ...['negative', 'fraction', 'text', 'huge', 'null', 'list'].map(
    (kind) => [`P48 usage that is ${kind}`, { name: 'usage-nonsense', kind }] as const,
  ),
  ['an end for a reason nobody knows', 'bad-finish-reason'],
];

// A server for each row: a connection that was used before, and is lost, would be replaced once without a word (test/wire).
let shared: ChaosServer;
beforeEach(async () => {
  shared = await start();
});
afterEach(() => shared.close());

function start(): Promise<ChaosServer> {
  return startChaosServer({ model: { script: [goodText], repeat: true } });
}

/** Who is asked, and over what. */
interface Scene {
  readonly protocol: ChaosProtocol;
  readonly transport: TransportName;
  readonly server: ChaosServer;
}

interface Called {
  readonly outcome: CallOutcome;
  readonly shown: string;
}

async function call({ protocol, transport, server }: Scene, timeouts?: Partial<Timeouts>): Promise<Called> {
  let shown = '';
  const outcome = await callModel(
    providerModel(protocol, { baseURL: server.baseURL(protocol), ...transports[transport] }),
    { messages: [{ role: 'user', content: 'Tell me a pangram.' }] },
    {
      gates: createGates(),
      policy: { retry: quickRetry, timeouts: { ...patient, ...timeouts } },
      onEvent: (event) => {
        if (event.type === 'text-delta') shown += event.text;
        if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
      },
    },
  );
  return { outcome, shown };
}

/** What a fault that never goes away comes to, at the caller and at the server. */
async function endOf(row: Row, scene: Scene): Promise<object> {
  const { server } = scene;
  server.setFaults({ script: [row.fault], repeat: true });
  const { outcome } = await call(scene, row.timeouts);
  return {
    failure: outcome.type === 'failure' && outcome.failure,
    requestsSent: server.counters().requests,
    requestsInLedger: outcome.report.ledger.requests,
    undelivered: server.requests.filter(({ faultDelivered }) => faultDelivered === undefined),
    tellsKey: JSON.stringify(outcome).includes(testKey),
  };
}

function expectedEnd(row: Row, { transport }: Scene): object {
  const seenLess = transport === 'fetch' ? row.overFetch : undefined;
  const requests = seenLess?.requests ?? row.requests;
  return {
    failure: {
      message: expect.stringMatching(row.message ?? /./) as unknown,
      code: seenLess?.code ?? row.code,
      ...defined({ phase: row.phase, context: row.context }),
    },
    requestsSent: requests * (row.sentPerAttempt ?? 1),
    requestsInLedger: requests,
    undelivered: [],
    tellsKey: false,
  };
}

/** What a fault comes to that happens once. */
async function rescueOf(row: Row, scene: Scene): Promise<object> {
  scene.server.setFaults({ script: [row.fault] });
  const { outcome, shown } = await call(scene, row.timeouts);
  return {
    text: outcome.type === 'success' && outcome.result.text,
    shown,
    recoveries: outcome.report.recoveries.length,
    requestsSent: scene.server.counters().requests,
  };
}

const rescued = { text: goodText, shown: goodText, recoveries: 1, requestsSent: 2 };

const prompt = rows.filter(({ timeouts }) => timeouts === undefined);
const waiting = rows.filter(({ timeouts }) => timeouts !== undefined);

describe.each(chaosProtocols)('%s', (protocol) => {
  describe.each(transportNames)('over %s', (transport) => {
    const scene = (server = shared): Scene => ({ protocol, transport, server });

    it.each(prompt)('$id: ends typed, and the server counts what was sent', async (row) => {
      expect(await endOf(row, scene())).toMatchObject(expectedEnd(row, scene()));
    });

    it.each(prompt.filter(({ requests }) => requests > 1))(
      '$id, once: the run is saved, and the answer is whole',
      async (row) => expect(await rescueOf(row, scene())).toEqual(rescued),
    );

    // Side by side, for all of their time is waiting; so each has a server of its own.
    describe.concurrent('where nothing comes', () => {
      async function withServer(look: (scene: Scene) => Promise<object>): Promise<object> {
        const server = await start();
        try {
          return await look(scene(server));
        } finally {
          await server.close();
        }
      }

      it.each(waiting)('$id: ends typed, and the server counts what was sent', async (row) => {
        expect(await withServer((own) => endOf(row, own))).toMatchObject(expectedEnd(row, scene()));
      });

      it.each(waiting)('$id, once: the run is saved, and the answer is whole', async (row) => {
        expect(await withServer((own) => rescueOf(row, own))).toEqual(rescued);
      });
    });

    it('P21 every byte on its own: the answer is byte-equal', async () => {
      shared.setFaults({ script: ['split'] });
      const { outcome, shown } = await call(scene());
      // The fault adds an emoji of four bytes to every answer, so that there is something to split.
      expect(outcome.type === 'success' && outcome.result.text.startsWith(goodText)).toBe(true);
      expect(outcome.type === 'success' && outcome.result.text).toBe(shown);
      expect(shown).not.toContain('\uFFFD');
    });

    it.each(['continue-storm', { name: 'status', status: 999 }] as const)(
      'P44 %o: ends typed',
      async (fault) => {
        shared.setFaults({ script: [fault], repeat: true });
        const { outcome } = await call(scene());
        expect(outcome.type).toBe('failure');
        expect(shared.counters().requests).toBeLessThanOrEqual(3);
      },
    );

    it.each(harmless)('%s: the answer is byte-equal', async (_name, fault) => {
      shared.setFaults({ script: [fault], repeat: true });
      const { outcome, shown } = await call(scene());
      expect(outcome.type === 'success' && outcome.result.text).toBe(goodText);
      expect(shown).toBe(goodText);
      expect(shared.counters().requests).toBe(1);
      expect(shared.requests[0]?.faultDelivered).toBeDefined();
      const { usage, costUsd } = outcome.type === 'success' ? outcome.result : outcome.partial;
      const counts: unknown[] = [usage, { costUsd: costUsd ?? 0 }, outcome.report.ledger].flatMap(
        Object.values,
      );
      expect(counts.every((count) => Number.isFinite(count) && Number(count) >= 0)).toBe(true);
    });
  });
});
