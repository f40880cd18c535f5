import { isRecord } from '../../base/json.ts';
import { boundText } from '../../base/text.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { ResolvedOptions } from './options.ts';

/** A request to Restate. */
export interface RestateRequest {
  readonly base: string;
  /** Parts of the path; each is encoded. */
  readonly path: readonly string[];
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Also these are answers, without a value. */
  readonly isFine?: (status: number, text: string) => boolean;
  /** What it is for: completes "Restate could not …". */
  readonly deed: string;
}

/** Asks Restate once, and gives what its answer holds. Rejects with a `DurableError`; asks for nothing twice. */
export async function askRestate(options: ResolvedOptions, request: RestateRequest): Promise<unknown> {
  const { path, method, deed, base } = request;
  const url = [base, ...path.map(encodeURIComponent)].join('/');
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  checkSize(options, deed, body);
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(request.timeoutMs ?? options.limits.requestTimeoutMs),
    });
    const text = await response.text();
    if (request.isFine?.(response.status, text) === true) return undefined;
    if (!response.ok) throw refused(request, response.status, text);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    throw RerailError.isInstance(error) ? error : unreachable(request, error);
  }
}

function checkSize({ limits }: ResolvedOptions, deed: string, body: string | undefined): void {
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  if (bytes <= limits.maxValueBytes) return;
  const message = `Restate could not ${deed}: it takes ${bytes} bytes, but at most ${limits.maxValueBytes} are kept`;
  throw RerailError.from(createFailure('HISTORY_LIMIT', { origin: 'durable', message }));
}

function refused({ deed, base }: RestateRequest, status: number, text: string): RerailError {
  const said = messageIn(text);
  if (status === 404)
    return RerailError.from(
      createFailure('ACTIVITY_FAILED', {
        origin: 'durable',
        message: `Restate could not ${deed}: ${said}`,
        hint: `No worker of this agent is registered at ${base}: open one with "adminUrl" and "serve", or register it with "restate deployments register".`,
        context: { status },
      }),
    );
  const isLater = status === 429 || status >= 500;
  return RerailError.from(
    createFailure(isLater ? 'NETWORK_ERROR' : 'ACTIVITY_FAILED', {
      origin: 'durable',
      message: `Restate could not ${deed}: it answered ${status}: ${said}`,
      context: { status },
    }),
  );
}

function messageIn(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRecord(parsed) && typeof parsed['message'] === 'string') return boundText(parsed['message'], 500);
  } catch {
    // Then the text itself says what there is to say.
  }
  return boundText(text, 500);
}

function unreachable({ deed, base, timeoutMs }: RestateRequest, error: unknown): RerailError {
  const known: Failure = classifyFailure(error, 'durable');
  const isLate = known.code === 'TIMEOUT' || known.code === 'CANCELLED';
  const within = timeoutMs === undefined ? 'in time' : `within ${timeoutMs} ms`;
  const why = isLate ? `it did not answer ${within}` : `it cannot be reached: ${known.message}`;
  return RerailError.from(
    createFailure(isLate ? 'TIMEOUT' : 'NETWORK_ERROR', {
      origin: 'durable',
      message: `Restate at ${base} could not ${deed}: ${why}`,
      hint: isLate
        ? 'Check that a worker of this agent is up: Restate keeps the request and delivers it then.'
        : 'Check that Restate is up, and that the address is right.',
    }),
    { cause: error },
  );
}
