import { onAbort } from '../base/abort.ts';
import { systemClock } from '../base/system.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { isRecord } from '../base/json.ts';
import type { EmbedOptions } from '../model/embedding.ts';
import { checkTimeouts, completeTimeouts, createStreamWatch } from '../model/stream-watch.ts';
import type { StreamWatch } from '../model/stream-watch.ts';
import {
  answeredFailure,
  cancelledFailure,
  problemFailure,
  thrownFailure,
  timeoutFailure,
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
}

/** What came of it: any JSON at all, or a failure of the origin `embedding`. */
export type JsonAnswer =
  | { readonly type: 'success'; readonly body: unknown }
  | { readonly type: 'failure'; readonly failure: Failure };

/** Two thousand vectors of four thousand numbers, written out. */
const maxBodyBytes = 256 * 1024 * 1024;

/** Sends one request and reads its answer, bounded in time and size. Never rejects, never retries. */
export function postJson(post: JsonPost, attempt: EmbedOptions): Promise<JsonAnswer> {
  const invalid = checkTimeouts(attempt.timeouts);
  if (invalid !== undefined) return Promise.resolve({ type: 'failure', failure: invalid });
  return new Promise((resolve) => {
    const clock = attempt.clock ?? systemClock;
    const timeouts = completeTimeouts(attempt.timeouts);
    const controller = new AbortController();
    const course: Course = { phase: 'connect', response: undefined };
    const facts = (): AttemptFacts => factsOf(post, course, clock.wallMs());
    // Whoever comes first decides, and a transport that does not hear the signal is not waited for.
    const end = (answer: JsonAnswer): void => {
      watch.stop();
      stopListening();
      resolve(answer);
    };
    const fail = (failure: Failure): void => {
      // Only then: after a success the connection is kept for the next request.
      controller.abort();
      end({ type: 'failure', failure: asEmbedding(failure) });
    };
    const watch = createStreamWatch(timeouts, {
      clock,
      onExpired: (kind) => {
        fail(timeoutFailure(facts(), kind, timeouts[`${kind}Ms`]));
      },
    });
    let stopListening = (): void => undefined;
    const { signal } = attempt;
    stopListening = onAbort(signal, () => {
      fail(cancelledFailure(facts(), signal?.reason));
    });
    if (controller.signal.aborted) return;
    exchange(post, { course, watch, signal: controller.signal })
      .then((text) => readAnswer(facts(), text))
      .then(end, (error: unknown) => fail(thrownFailure(facts(), error)));
  });
}

/** How far the request has come; written as it goes. */
interface Course {
  phase: AttemptFacts['phase'];
  response: TransportResponse | undefined;
}

interface Surroundings {
  readonly course: Course;
  readonly watch: StreamWatch;
  readonly signal: AbortSignal;
}

async function exchange(
  { url, headers, body, transport }: JsonPost,
  { course, watch, signal }: Surroundings,
): Promise<string> {
  const response = await transport.send(
    { url, headers, body: JSON.stringify(body) },
    {
      signal,
      maxBodyBytes,
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
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body) {
    if (signal.aborted) break;
    bytes += chunk.length;
    // The transport bounds the body too; one that is handed in may not.
    if (bytes > maxBodyBytes) throw faultError(tooLargeFault('The body of the answer', maxBodyBytes));
    text += decoder.decode(chunk, { stream: true });
    watch.progress();
  }
  return text + decoder.decode();
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
  const refuse = (failure: Failure): JsonAnswer => ({ type: 'failure', failure: asEmbedding(failure) });
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
function asEmbedding(failure: Failure): Failure {
  return failure.origin === 'model'
    ? createFailure(failure.code, { ...failure, origin: 'embedding' })
    : failure;
}
