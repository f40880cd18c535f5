import { Buffer } from 'node:buffer';
import type { StreamPart } from '../../model/stream-part.ts';
import type { DecodeResult } from '../protocol.ts';
import {
  answeredFailure,
  cutEventFailure,
  faultFailure,
  listenerFailure,
  problemFailure,
  wrongDocumentFailure,
} from './attempt-failures.ts';
import type { Attempt } from './attempt-state.ts';
import { createSseParser } from './sse.ts';
import type { TransportResponse } from './transport.ts';
import { tooLargeFault } from './transport-fault.ts';

const maxRefusalBytes = 256 * 1024;
const maxEvidenceBytes = 4 * 1024;

/** Reads an answer to its end and ends the attempt with what it means. What the body throws is left to the caller. */
export function readResponse(attempt: Attempt, response: TransportResponse): Promise<void> {
  const { status, headers } = response;
  if (status < 200 || status >= 300 || status === 204 || status === 205)
    return readRefusal(attempt, response);
  switch (documentOf(headers['content-type'], attempt.target.isStream)) {
    case 'events':
      return readEvents(attempt, response);
    case 'json':
      return readWhole(attempt, response);
    default:
      return readOther(attempt, response);
  }
}

function documentOf(contentType: string | undefined, isStream: boolean): 'events' | 'json' | 'other' {
  if (contentType === 'text/event-stream') return 'events'; // The usual one, and the rest takes time.
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/event-stream') return 'events';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  // Small servers leave it out; then it is what was asked for.
  if (type === '') return isStream ? 'events' : 'json';
  return 'other';
}

interface SseEvent {
  readonly name: string;
  readonly data: string;
}

async function readEvents(attempt: Attempt, response: TransportResponse): Promise<void> {
  const { maxEventBytes, protocol } = attempt.target;
  const decoder = protocol.stream();
  let events: SseEvent[] = [];
  const parser = createSseParser({
    maxEventBytes,
    onEvent: (name, data) => events.push({ name, data }),
    onComment: attempt.watch.event,
  });
  const received = createCounter(attempt);
  for await (const chunk of response.body) {
    if (!received.add(chunk)) return;
    const verdict = parser.push(chunk);
    const arrived = events;
    events = [];
    for (const event of arrived) {
      const waiting = accept(attempt, decoder.event(event));
      if (waiting !== undefined) await waiting;
      if (attempt.isEnded()) return;
    }
    if (verdict === 'too-large') {
      attempt.end(faultFailure(attempt.facts(), tooLargeFault('One event of the answer', maxEventBytes)));
      return;
    }
  }
  const { droppedBytes } = parser.end();
  await accept(attempt, decoder.end());
  // Without its closing event the answer is none; `settle` says so, and here is why.
  const wasCut = droppedBytes > 0 && !attempt.isEnded();
  attempt.end(wasCut ? cutEventFailure(attempt.facts(), droppedBytes) : undefined);
}

/** Takes what an event means. Returns a promise only where the listener did, for there may be very many events. */
function accept(attempt: Attempt, result: DecodeResult): Promise<void> | undefined {
  if (result.parts.some(isProgress)) attempt.watch.progress();
  else attempt.watch.event();
  const waiting = deliver(attempt, result.parts, 0);
  if (waiting === undefined) return conclude(attempt, result);
  return waiting.then(() => conclude(attempt, result));
}

function conclude(attempt: Attempt, result: DecodeResult): undefined {
  if (result.parts.at(-1)?.type === 'finished') attempt.end();
  if (result.type === 'problem') attempt.end(problemFailure(attempt.facts(), result.problem));
}

function deliver(attempt: Attempt, parts: readonly StreamPart[], from: number): Promise<void> | undefined {
  for (let index = from; index < parts.length && !attempt.isEnded(); index += 1) {
    const waiting = tell(attempt, parts[index] as StreamPart); // The bound is one line above.
    if (waiting !== undefined) return waiting.then(() => deliver(attempt, parts, index + 1));
  }
  return undefined;
}

function tell(attempt: Attempt, part: StreamPart): Promise<void> | undefined {
  attempt.assembly.push(part);
  if (attempt.onPart === undefined) return undefined;
  try {
    const returned: unknown = attempt.onPart(part);
    return returned instanceof Promise ? listen(attempt, returned) : undefined;
  } catch (error) {
    attempt.end(listenerFailure(attempt.facts(), error));
    return undefined;
  }
}

async function listen(attempt: Attempt, returned: Promise<unknown>): Promise<void> {
  attempt.watch.pause();
  try {
    await returned;
  } catch (error) {
    attempt.end(listenerFailure(attempt.facts(), error));
  }
  attempt.watch.resume();
}

/** Keep-alives come as events without parts, as counts, or as deltas without text. */
function isProgress(part: StreamPart): boolean {
  switch (part.type) {
    case 'started':
    case 'usage':
      return false;
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
      return part.text !== '';
    default:
      return true;
  }
}

async function readWhole(attempt: Attempt, response: TransportResponse): Promise<void> {
  const received = createCounter(attempt);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) {
    attempt.watch.event();
    if (!received.add(chunk)) return;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const parsed = parseJson(text);
  if (parsed.type === 'invalid') {
    const reason = 'It is not JSON, or only the beginning of some.';
    attempt.end(problemFailure(attempt.facts(), { type: 'malformed', reason, data: text }));
    return;
  }
  await accept(attempt, attempt.target.protocol.whole(parsed.value));
  attempt.end();
}

type Parsed = { readonly type: 'value'; readonly value: unknown } | { readonly type: 'invalid' };

function parseJson(text: string): Parsed {
  try {
    return { type: 'value', value: JSON.parse(text.startsWith('\u{FEFF}') ? text.slice(1) : text) };
  } catch {
    return { type: 'invalid' }; // The text itself is the evidence.
  }
}

interface Counter {
  /** Returns false, and has ended the attempt, where the body is over its bound or not wanted any more. */
  readonly add: (chunk: Uint8Array) => boolean;
}

/** The transport bounds the body too; one that is handed in may not. */
function createCounter(attempt: Attempt): Counter {
  const { maxBodyBytes } = attempt.target;
  let bytes = 0;
  return {
    add: (chunk) => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) {
        attempt.end(faultFailure(attempt.facts(), tooLargeFault('The body of the answer', maxBodyBytes)));
      }
      return !attempt.isEnded();
    },
  };
}

async function readRefusal(attempt: Attempt, response: TransportResponse): Promise<void> {
  const head = createHead(maxRefusalBytes);
  attempt.refusalText = head.text;
  await readHead(attempt, response, head);
  attempt.end(answeredFailure(attempt.facts(), head.text()));
}

async function readOther(attempt: Attempt, response: TransportResponse): Promise<void> {
  const head = createHead(maxEvidenceBytes);
  await readHead(attempt, response, head);
  attempt.end(wrongDocumentFailure(attempt.facts(), head.text()));
}

async function readHead(attempt: Attempt, response: TransportResponse, head: Head): Promise<void> {
  for await (const chunk of response.body) {
    attempt.watch.event();
    if (!head.add(chunk) || attempt.isEnded()) return;
  }
}

interface Head {
  /** Returns false when there is enough. */
  readonly add: (chunk: Uint8Array) => boolean;
  readonly text: () => string;
}

/** The beginning of a body. */
function createHead(maxBytes: number): Head {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      chunks.push(chunk.subarray(0, maxBytes - bytes));
      bytes += Math.min(chunk.length, maxBytes - bytes);
      return bytes < maxBytes;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}
