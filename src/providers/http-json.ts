import { Buffer, isUtf8 } from 'node:buffer';
import { defined } from '../base/defined.ts';
import { systemClock } from '../base/system.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { isRecord } from '../base/json.ts';
import type { EmbedOptions } from '../model/embedding.ts';
import { checkTimeouts, completeTimeouts } from '../model/stream-watch.ts';
import { endFailure, startEnding } from './attempt-ending.ts';
import type { Ending } from './attempt-ending.ts';
import {
  answeredFailure,
  problemFailure,
  thrownFailure,
  wrongDocumentFailure,
} from './http/attempt-failures.ts';
import type { AttemptFacts } from './http/attempt-failures.ts';
import { faultError, tooLargeFault } from './http/transport-fault.ts';
import type { Transport, TransportRequest, TransportResponse } from './http/transport.ts';

/** One request whose answer is one piece of JSON. */
export interface JsonPost extends Omit<TransportRequest, 'body'> {
  readonly provider: string;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly transport: Transport;
  /** As of the transport. */
  readonly onReconnected?: () => void;
}

/** What came of it: any JSON at all, or a failure of the origin `embedding`. */
export type JsonAnswer =
  | { readonly type: 'success'; readonly body: unknown }
  | { readonly type: 'failure'; readonly failure: Failure };

/** Two thousand vectors of four thousand numbers, written out. */
const maxBodyBytes = 256 * 1024 * 1024;

/** Sends one request and reads its answer, bounded in time and size. Never rejects, never retries. */
export async function postJson(post: JsonPost, attempt: EmbedOptions): Promise<JsonAnswer> {
  const invalid = checkTimeouts(attempt.timeouts);
  if (invalid !== undefined) return { type: 'failure', failure: invalid };
  const { signal, clock = systemClock } = attempt;
  const timeouts = completeTimeouts(attempt.timeouts);
  const course: Course = { phase: 'connect', response: undefined };
  const facts = (): AttemptFacts => factsOf(post, course, clock.wallMs());
  const ending = startEnding({ timeouts, clock, signal });
  try {
    const before = ending.read();
    if (before !== undefined) return refuse(endFailure(before, facts(), { timeouts, signal }));
    // A transport that does not hear the signal is not waited for.
    const waited = await ending.wait(exchange(post, course, ending));
    if (waited.type === 'value') return readAnswer(facts(), waited.value);
    return refuse(endFailure(ending.read() ?? 'aborted', facts(), { timeouts, signal }));
  } catch (error) {
    // The rest of a body that broke a bound is not wanted any more.
    void course.response?.discard();
    return refuse(thrownFailure(facts(), error));
  } finally {
    ending.stop();
  }
}

/** How far the request has come; written as it goes. */
interface Course {
  phase: AttemptFacts['phase'];
  response: TransportResponse | undefined;
}

async function exchange(
  { url, headers, body, transport, onReconnected }: JsonPost,
  course: Course,
  { watch, signal: signalOf }: Ending,
): Promise<string> {
  const signal = signalOf();
  const response = await transport.send(
    { url, headers, body: JSON.stringify(body) },
    {
      signal,
      maxBodyBytes,
      ...defined({ onReconnected }),
      onConnected: () => {
        if (course.phase !== 'connect') return;
        course.phase = 'headers';
        watch.connected();
      },
    },
  );
  course.phase = 'body';
  course.response = response;
  watch.headers();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    if (signal.aborted) break;
    bytes += chunk.length;
    // The transport bounds the body too; one that is handed in may not.
    if (bytes > maxBodyBytes) throw faultError(tooLargeFault('The body of the answer', maxBodyBytes));
    chunks.push(Buffer.from(chunk)); // A chunk is ours only until the next one.
    watch.progress();
  }
  return decodeText(Buffer.concat(chunks), response.status);
}

/** An answer must be UTF-8; the words of a refusal are shown as far as they can be read. */
function decodeText(bytes: Buffer, status: number): string {
  if (status >= 200 && status < 300 && !isUtf8(bytes)) {
    const message = 'The answer holds bytes that are not UTF-8';
    throw faultError({ code: 'INVALID_RESPONSE', message, phase: 'parse' });
  }
  const text = bytes.toString('utf8');
  return text.startsWith('\u{FEFF}') ? text.slice(1) : text;
}

function factsOf({ provider, model, transport }: JsonPost, course: Course, wallMs: number): AttemptFacts {
  return {
    provider,
    model,
    phase: course.phase,
    status: course.response?.status,
    headers: course.response?.headers,
    hidesConnection: transport.hidesConnection,
    wallMs,
  };
}

function readAnswer(facts: AttemptFacts, text: string): JsonAnswer {
  const { status = 0, headers } = facts;
  if (status < 200 || status > 299) return refuse(answeredFailure(facts, text));
  const body = parseJson(text);
  if (body === undefined) {
    if (/html/i.test(headers?.['content-type'] ?? '')) return refuse(wrongDocumentFailure(facts, text));
    const reason = 'It is not JSON, or only the beginning of some.';
    return refuse(problemFailure(facts, { type: 'malformed', reason, data: text }));
  }
  // Some servers answer 200 and say in the body that it went wrong.
  const isError = isRecord(body) && body['error'] !== undefined && body['error'] !== null;
  return isError ? refuse(answeredFailure(facts, text)) : { type: 'success', body };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The text itself is the evidence; JSON has no undefined to confuse it with.
  }
}

/** The same failure, told of embeddings. What is wrong with the set-up stays that. */
function refuse(failure: Failure): JsonAnswer {
  const isModel = failure.origin === 'model';
  return {
    type: 'failure',
    failure: isModel ? createFailure(failure.code, { ...failure, origin: 'embedding' }) : failure,
  };
}
