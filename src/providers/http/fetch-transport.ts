import { runOwned, warningOwner } from '../../model/stray-errors.ts';
import { decideRedirect } from './redirect.ts';
import { encodingOf, inspectRatio } from './decompress.ts';
import { defaultMaxBodyBytes } from './transport.ts';
import type { SendOptions, Transport, TransportRequest, TransportResponse } from './transport.ts';
import { faultError, tooLargeFault, unexpectedStatus } from './transport-fault.ts';

/** The part of `fetch` that is needed. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Requests over a `fetch` of yours: for another runtime, an agent of your own, a test. It cannot see the connection, and
 * the body comes unpacked as the function likes it; all else is as with `createNodeTransport`.
 */
export function createFetchTransport(fetchFunction: FetchFunction): Transport {
  const owner = warningOwner('The function "fetch" of a model');

  async function send(request: TransportRequest, options: SendOptions): Promise<TransportResponse> {
    options.onConnected();
    let { url } = request;
    // Bounded by `decideRedirect`, which counts.
    for (let followed = 0; ; followed += 1) {
      const init: RequestInit = {
        method: 'POST',
        headers: request.headers,
        body: request.body,
        redirect: 'manual',
        signal: options.signal,
      };
      const response = await runOwned(owner, () => fetchFunction(url, init));
      const decision = decideRedirect({
        // A browser hides what a redirect says.
        status: response.type === 'opaqueredirect' ? 302 : response.status,
        location: response.headers.get('location') ?? undefined,
        url,
        followed,
      });
      if (decision.type === 'none') return toResponse(response, options);
      await response.body?.cancel();
      if (decision.type === 'refuse') throw decision.error;
      url = decision.url;
    }
  }

  return { send, hidesConnection: true };
}

function toResponse(response: Response, options: SendOptions): TransportResponse {
  const { status } = response;
  if (status < 200) throw unexpectedStatus(status);
  const reader = response.body?.getReader();
  const discard = (): void => {
    // Nobody waits for it, and a stream that has failed says so to whoever reads it.
    reader?.cancel().catch(() => undefined);
  };
  const headers: Record<string, string> = Object.fromEntries(response.headers);
  const chunks = createChunks(reader, { headers, maxBytes: options.maxBodyBytes ?? defaultMaxBodyBytes });
  const done = (): Promise<IteratorResult<Uint8Array>> => {
    discard();
    return Promise.resolve({ done: true, value: undefined });
  };
  const body = { [Symbol.asyncIterator]: () => ({ next: chunks, return: done }) };
  return { status, headers, body, discard };
}

interface ChunkOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

function createChunks(
  reader: Reader | undefined,
  { headers, maxBytes }: ChunkOptions,
): () => Promise<IteratorResult<Uint8Array>> {
  const encoding = encodingOf(headers['content-encoding']);
  // The packed size is known only where the server states it.
  const packedBytes = encoding.type === 'packed' ? statedLength(headers['content-length']) : Infinity;
  let bytes = 0;
  return async () => {
    if (encoding.type === 'unreadable') throw encoding.error;
    const result = await reader?.read();
    if (result === undefined || result.done) return { done: true, value: undefined };
    bytes += result.value.length;
    const error =
      bytes > maxBytes
        ? faultError(tooLargeFault('The body of the answer', maxBytes))
        : inspectRatio(bytes, packedBytes);
    if (error !== undefined) throw error;
    return { done: false, value: result.value };
  };
}

function statedLength(header: string | undefined): number {
  const length = Number(header ?? Infinity);
  return Number.isNaN(length) ? Infinity : length;
}
