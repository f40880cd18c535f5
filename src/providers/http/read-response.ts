import { Buffer, isUtf8 } from 'node:buffer';
import type { Failure } from '../../errors/failure.ts';
import { parseExactly } from '../../model/check/exact-json.ts';
import { maxJsonDepth, nestsTooDeeply } from '../../model/check/json-depth.ts';
import { isProgress } from '../../model/stream-part.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import type { DecodeResult, StreamDecoder } from '../protocol.ts';
import { cutEventFailure, faultFailure, listenerFailure, problemFailure } from './attempt-failures.ts';
import type { Attempt } from './attempt-state.ts';
import { readOther, readRefusal } from './read-refusal.ts';
import { createSseParser } from './sse.ts';
import type { SseVerdict } from './sse.ts';
import type { TransportResponse } from './transport.ts';
import { tooLargeFault } from './transport-fault.ts';

/** Reads an answer to its end and ends the attempt with what it means. What the body throws is left to the caller. */
export function readResponse(attempt: Attempt, response: TransportResponse): Promise<void> {
  const { status, headers } = response;
  if (status < 200 || status >= 300 || status === 204 || status === 205)
    return readRefusal(attempt, response);
  const document = documentOf(headers['content-type'], attempt.target.isStream);
  return document === 'other' ? readOther(attempt, response) : readAnswer(attempt, response, document);
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

/** Takes an answer chunk by chunk. */
interface AnswerReader {
  readonly add: (chunk: Uint8Array) => Promise<void> | void;
  readonly end: () => Promise<void>;
}

const readers = { events: createEventReader, json: createJsonReader } as const;

async function readAnswer(
  attempt: Attempt,
  response: TransportResponse,
  said: keyof typeof readers,
): Promise<void> {
  const received = createCounter(attempt);
  let reader: AnswerReader | undefined;
  for await (const chunk of response.body) {
    if (!received.add(chunk)) return;
    reader ??= readers[looksLike(chunk) ?? said](attempt);
    const waiting = reader.add(chunk);
    if (waiting !== undefined) await waiting;
    if (attempt.isEnded()) return;
  }
  await (reader ?? readers[said](attempt)).end();
}

/** What the first letter shows: servers send an error as plain JSON where they announced events, and the other way round. */
function looksLike(chunk: Uint8Array): keyof typeof readers | undefined {
  const hasMark = chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
  const letter = String.fromCodePoint(chunk[hasMark ? 3 : 0] ?? 0);
  if (letter === '{' || letter === '[') return 'json';
  // The fields of an event are `data`, `event`, `id` and `retry`; a comment begins with a colon.
  return letter !== '\0' && ':deir'.includes(letter) ? 'events' : undefined;
}

interface SseEvent {
  readonly name: string;
  readonly data: string;
}

function createEventReader(attempt: Attempt): AnswerReader {
  const { maxEventBytes, protocol } = attempt.target;
  const decoder = protocol.stream();
  let events: SseEvent[] = [];
  const parser = createSseParser({
    maxEventBytes,
    onEvent: (name, data) => events.push({ name, data }),
    onComment: attempt.watch.event,
  });

  // Events that say nothing keep no stream open whose answer is whole.
  let isNew = false;
  const read = (event: SseEvent): Promise<void> | undefined => {
    const result = decoder.event(event);
    isNew ||= result.parts.length > 0;
    return accept(attempt, result);
  };
  const end = async (): Promise<void> => {
    const { droppedBytes } = parser.end();
    await accept(attempt, decoder.end());
    // Without its closing event the answer is none; `settle` says so, and here is why.
    const wasCut = droppedBytes > 0 && !attempt.isEnded();
    attempt.end(wasCut ? cutEventFailure(attempt.facts(), droppedBytes) : undefined);
  };
  /** Some servers never close behind the reason to stop, and send keep-alives for ever. */
  const closeSoon = (): void => {
    const ending = decoder.ending?.() ?? 'open';
    if (ending === 'open') {
      if (attempt.finish !== undefined) attempt.watch.reading();
      attempt.finish = undefined;
      return;
    }
    if (isNew || attempt.finish === undefined) attempt.watch.closing(ending);
    isNew = false;
    attempt.finish = (why) => finishOpen(attempt, decoder, why);
  };

  return {
    add: (chunk) => {
      const verdict = parser.push(chunk);
      const arrived = events;
      events = [];
      const waiting = readEach(attempt, arrived, read);
      // The events before the one that cannot be read count.
      const after = verdict === 'ok' ? closeSoon : () => attempt.end(unreadable(attempt, verdict));
      if (waiting !== undefined) return waiting.then(after);
      return verdict !== 'ok' || arrived.length > 0 ? after() : undefined;
    },
    end,
  };
}

/** A connection that is lost behind the reason is as good as closed; one that is quiet is taken for closed. */
function finishOpen(attempt: Attempt, decoder: StreamDecoder, why: 'quiet' | 'lost'): boolean {
  if (why === 'lost' && decoder.ending?.() !== 'said') return false;
  const result = why === 'quiet' ? decoder.end(why) : decoder.end();
  void accept(attempt, result);
  return result.parts.at(-1)?.type === 'finished';
}

function unreadable(attempt: Attempt, verdict: Exclude<SseVerdict, 'ok'>): Failure {
  const { maxEventBytes } = attempt.target;
  if (verdict === 'not-text') return problemFailure(attempt.facts(), notText);
  return faultFailure(attempt.facts(), tooLargeFault('One event of the answer', maxEventBytes));
}

const notText = { type: 'malformed', reason: 'It holds bytes that are not UTF-8.', data: '' } as const;

type Read = (event: SseEvent) => Promise<void> | undefined;

/** Without a promise as long as no listener returns one: there may be very many chunks. */
function readEach(attempt: Attempt, events: readonly SseEvent[], read: Read): Promise<void> | undefined {
  for (let index = 0; index < events.length; index += 1) {
    const waiting = read(events[index] as SseEvent); // The bound is one line above.
    if (waiting !== undefined) return waiting.then(() => readSlowly(attempt, events.slice(index + 1), read));
    if (attempt.isEnded()) return undefined;
  }
  return undefined;
}

async function readSlowly(attempt: Attempt, events: readonly SseEvent[], read: Read): Promise<void> {
  for (const event of events) {
    if (attempt.isEnded()) return;
    const waiting = read(event);
    if (waiting !== undefined) await waiting;
  }
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
    return isThenable(returned) ? listen(attempt, returned) : undefined;
  } catch (error) {
    attempt.end(listenerFailure(attempt.facts(), error));
    return undefined;
  }
}

/** A promise of another realm or library is one too. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}

async function listen(attempt: Attempt, returned: PromiseLike<unknown>): Promise<void> {
  attempt.watch.pause();
  try {
    await returned;
  } catch (error) {
    attempt.end(listenerFailure(attempt.facts(), error));
  }
  attempt.watch.resume();
}

/** An answer in one piece is bounded as one event is, for it must be held as a whole. */
function createJsonReader(attempt: Attempt): AnswerReader {
  const { maxEventBytes, protocol } = attempt.target;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      attempt.watch.event();
      bytes += chunk.length;
      if (bytes <= maxEventBytes)
        chunks.push(Buffer.from(chunk)); // A chunk is ours only until the next one.
      else
        attempt.end(faultFailure(attempt.facts(), tooLargeFault('The answer in one piece', maxEventBytes)));
    },
    end: async () => {
      const whole = Buffer.concat(chunks);
      if (!isUtf8(whole)) return attempt.end(problemFailure(attempt.facts(), notText));
      const text = whole.toString('utf8');
      const parsed = parseJson(text);
      if (parsed.type === 'invalid') {
        const { reason } = parsed;
        return attempt.end(problemFailure(attempt.facts(), { type: 'malformed', reason, data: text }));
      }
      await accept(attempt, protocol.whole(parsed.value));
      return attempt.end();
    },
  };
}

type Parsed =
  { readonly type: 'value'; readonly value: unknown } | { readonly type: 'invalid'; readonly reason: string };

function parseJson(text: string): Parsed {
  if (nestsTooDeeply(text))
    return { type: 'invalid', reason: `It nests more than ${maxJsonDepth} levels deep.` };
  try {
    return { type: 'value', value: parseExactly(text.startsWith('\u{FEFF}') ? text.slice(1) : text) };
  } catch {
    // The text itself is the evidence.
    return { type: 'invalid', reason: 'It is not JSON, or only the beginning of some.' };
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
