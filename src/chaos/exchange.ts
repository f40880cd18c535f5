import type { IncomingMessage, ServerResponse } from 'node:http';
import { classifyFailure } from '../errors/classify-failure.ts';
import type { Answering } from './answering.ts';
import { compose } from './compose.ts';
import type { Asked, Composed } from './compose.ts';
import { readFaultSpec } from './fault-spec.ts';
import type { FaultSpec } from './fault-spec.ts';
import { redirectMark } from './faults/refusal-faults.ts';
import type { Settings } from './options.ts';
import { perform } from './perform.ts';
import { readBody, recordedBody } from './read-body.ts';
import type { ReadBody } from './read-body.ts';
import { hasCredentials, recordedHeaders, recordedPath } from './records.ts';
import type { OpenRecord, Records } from './records.ts';
import { routeOf } from './route.ts';
import type { Route } from './route.ts';
import type { Schedule } from './schedule.ts';
import { randomFor, seededId } from './seeded.ts';

/** What one exchange needs of the server. */
export interface ExchangeContext {
  readonly settings: Settings;
  readonly records: Records;
  readonly schedule: () => Schedule;
  readonly answering: () => Answering;
  readonly nextSequence: () => number;
  readonly origin: () => string;
  readonly reset: (socket: IncomingMessage['socket']) => void;
  readonly isClosing: () => boolean;
}

/** One request and what becomes of it, from its first byte to the last of the answer. Never rejects. */
export async function exchange(
  context: ExchangeContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { settings, records } = context;
  const gone = goneSignal(response);
  const sequence = context.nextSequence();
  const read = await readBody(request);
  const body: ReadBody = read ?? { parsed: undefined, bytes: 0, complaint: undefined };
  const { method = 'GET', url: path = '/', headers } = request;
  const route = routeOf({ method, path, headers, body: body.parsed });
  const record = openRecord(request, { route, sequence, body, settings });
  const choice = chooseFault(context, { request, record });
  if (choice.fault !== undefined) record.faultAsked = choice.fault;
  records.begin(record);
  const asked = toAsked(context, {
    route,
    path,
    sequence,
    body,
    complaint: choice.complaint ?? body.complaint,
  });
  const { steps, obstacle, isTurn } = composeSafely(asked, choice.fault, context.answering());
  if (obstacle !== undefined) record.undeliveredBecause = obstacle;
  const ending = await perform(read === undefined ? [] : steps, {
    response,
    socket: request.socket,
    reset: () => context.reset(request.socket),
    gone,
    clock: settings.clock,
    onDelivered: () => records.delivered(record),
    onStatus: (status) => {
      record.status = status;
    },
    onBytes: (count) => {
      record.bytesSent += count;
    },
    onFinish: () => {
      if (isTurn) context.answering().advance();
    },
  });
  const isLost = read === undefined || ending === 'closed-by-client';
  records.end(record, isLost ? lostEnding(context) : ending);
}

/** A model that is a function of the caller may throw. The client then gets the reason, and the server lives on. */
function composeSafely(asked: Asked, fault: FaultSpec | undefined, answering: Answering): Composed {
  try {
    return compose(asked, fault, answering);
  } catch (error) {
    const complaint = `The model of the chaos server threw: ${classifyFailure(error).message}`;
    return compose({ ...asked, complaint }, undefined, answering);
  }
}

function lostEnding({ isClosing }: ExchangeContext): 'server-closed' | 'closed-by-client' {
  return isClosing() ? 'server-closed' : 'closed-by-client';
}

function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  response.on('error', () => undefined); // The peer is gone; `close` follows and is what counts.
  return controller.signal;
}

interface RecordFacts {
  readonly route: Route;
  readonly sequence: number;
  readonly body: ReadBody;
  readonly settings: Settings;
}

function openRecord(request: IncomingMessage, { route, sequence, body, settings }: RecordFacts): OpenRecord {
  const { method = 'GET', url = '/', headers } = request;
  return {
    sequence,
    atMs: settings.clock.monotonicMs(),
    wallMs: settings.clock.wallMs(),
    method,
    path: recordedPath(url),
    protocol: route.type === 'answer' ? route.protocol : route.type,
    model: route.model,
    isStream: route.type === 'answer' && route.framing !== 'json',
    headers: recordedHeaders(headers),
    hasCredentials: hasCredentials(headers, url),
    body: recordedBody(body),
    bytesSent: 0,
    ended: 'open',
  };
}

interface Choice {
  readonly fault?: FaultSpec | undefined;
  readonly complaint?: string;
}

/** The header wins, then the schedule. Lists of models are left in peace, and so is whoever was redirected here. */
function chooseFault(
  { schedule }: ExchangeContext,
  { request, record }: { readonly request: IncomingMessage; readonly record: OpenRecord },
): Choice {
  const header = request.headers['x-rerail-fault'];
  const redirected = new RegExp(`[?&]${redirectMark}=(\\w+)`).exec(record.path)?.[1];
  if (redirected === 'loop') return { fault: { name: 'redirect', loop: 'true' } };
  try {
    if (typeof header === 'string') {
      const fault = readFaultSpec(header);
      return redirected === 'once' && fault.name === 'redirect' ? {} : { fault };
    }
    if (request.method !== 'POST' || redirected !== undefined) return {};
    return { fault: schedule().next(record) };
  } catch (error) {
    // A header with a typing error must not look like a good answer. Nor may a schedule that throws.
    const { message, hint } = classifyFailure(error);
    return { complaint: hint === undefined ? message : `${message}. ${hint}` };
  }
}

interface AskedFacts {
  readonly route: Route;
  readonly path: string;
  readonly sequence: number;
  readonly body: ReadBody;
  readonly complaint: string | undefined;
}

function toAsked(context: ExchangeContext, facts: AskedFacts): Asked {
  const { settings } = context;
  const random = randomFor(settings.seed, `answer-${facts.sequence}`);
  return {
    ...facts,
    body: facts.body.parsed,
    origin: context.origin(),
    requestId: `req_${seededId(random, 24)}`,
    random,
    wallMs: settings.clock.wallMs(),
    pace: { latencyMs: settings.latencyMs, chunkDelayMs: settings.chunkDelayMs },
    chunkCharacters: settings.chunkCharacters,
  };
}
