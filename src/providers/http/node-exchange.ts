import { Buffer } from 'node:buffer';
import { request as httpRequest } from 'node:http';
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { onAbort } from '../../base/abort.ts';
import { encodingOf, inspectRatio } from './decompress.ts';
import { markBusy } from './free-sockets.ts';
import type { HandedDown, IdleSockets } from './free-sockets.ts';
import { createNodeBody } from './node-body.ts';
import type { NodeBody } from './node-body.ts';
import type { Proxy } from './proxy.ts';
import { defaultMaxBodyBytes } from './transport.ts';
import type { SendOptions, TransportRequest, TransportResponse } from './transport.ts';
import { faultError, unexpectedStatus } from './transport-fault.ts';
import { refusedByProxy, unreachableProxy } from './tunnel.ts';

/** Where one request goes: the host that is connected to, which may be a proxy, and what it is asked. */
export interface Target {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Host and port of the provider, for people. */
  readonly authority: string;
  readonly agent: Agent;
  readonly proxy: Proxy | undefined;
  /** Those of its host; absent where a proxy stands between. */
  readonly idleSockets: IdleSockets | undefined;
  /** What a proxy wants to be told. */
  readonly headers: Readonly<Record<string, string>>;
  /** Takes no connection that was kept. */
  readonly isFresh?: true;
}

const maxInterim = 32;

/** Sends one request and waits for status and headers. Whatever happens before they are there rejects. */
export function exchange(
  target: Target,
  request: TransportRequest,
  options: SendOptions,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    if (options.onStop === undefined && options.signal.aborted) {
      reject(options.signal.reason);
      return;
    }
    const outgoing = open(target, request, options);
    let isConnected = false;
    let answer: IncomingMessage | undefined;
    const give = (error: Error): void => {
      reject(error);
      outgoing.destroy();
    };
    const onStop = options.onStop ?? ((listener) => onAbort(options.signal, listener));
    outgoing.on(
      'close',
      onStop(() => {
        reject(options.signal.reason);
        outgoing.destroy();
      }),
    );
    let receivedBytes = 0;
    outgoing.on('error', (error) => {
      const isSilent = answer === undefined && outgoing.socket?.bytesRead === receivedBytes;
      if (isSilent && outgoing.reusedSocket) markStale(error);
      reject(isConnected ? error : beforeConnection(error, target));
      // Whoever reads the answer is told; what is wrong behind its end is no longer about it.
      if (answer?.complete === false) answer.destroy(error);
    });
    outgoing.on('socket', (socket) => {
      markBusy(socket);
      receivedBytes = socket.bytesRead;
      whenReady(socket, target.isSecure, () => {
        isConnected = true;
        options.onConnected();
      });
    });
    guardInterim(outgoing, target, give);
    outgoing.on('response', (incoming) => {
      answer = incoming;
      const error = refusalOf(incoming, target);
      if (error === undefined) resolve(toResponse(incoming, options));
      else give(error);
    });
    outgoing.end(request.body);
  });
}

const staleKey = Symbol('stale-connection');
const lostCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

function markStale(error: Error & { readonly code?: unknown }): void {
  if (lostCodes.has(error.code)) Object.defineProperty(error, staleKey, { value: true });
}

/** Whether a connection that was kept from the call before was lost before anything was answered on it. */
export function isStaleConnection(error: unknown): boolean {
  return error instanceof Error && staleKey in error;
}

/** Interim answers say nothing; a server that sends nothing else, or changes the protocol, is left. */
function guardInterim(outgoing: ClientRequest, target: Target, give: (error: Error) => void): void {
  let interim = 0;
  outgoing.on('information', () => {
    interim += 1;
    if (interim > maxInterim) give(endlessInterim(target));
  });
  outgoing.on('upgrade', (_response, socket) => {
    socket.destroy();
    give(switchedProtocols(target));
  });
}

function open(target: Target, { headers, body }: TransportRequest, options: SendOptions): ClientRequest {
  const length = String(Buffer.byteLength(body));
  const settings: RequestOptions & HandedDown = {
    method: 'POST',
    host: target.host,
    port: target.port,
    path: target.path,
    headers: headerList(target, headers).concat('content-length', length),
    agent: target.agent,
    idleSockets: target.idleSockets,
    isFresh: target.isFresh,
  };
  if (target.proxy !== undefined) {
    // The signal is asked for only where it is needed: see `SendOptions.onStop`.
    Object.assign(settings, {
      headers: { ...headers, ...target.headers, 'content-length': length },
      tunnelSignal: options.signal,
    });
  }
  return target.isSecure ? httpsRequest(settings) : httpRequest(settings);
}

/** By object, for a model sends the same headers every time. */
const headerLists = new WeakMap<object, { readonly authority: string; readonly list: readonly string[] }>();

/** Names and values one after the other: Node writes such a list as it is, and looks at each of an object's three times. */
function headerList({ authority }: Target, headers: TransportRequest['headers']): readonly string[] {
  const known = headerLists.get(headers);
  if (known?.authority === authority) return known.list;
  const list = [
    ...(headers['host'] === undefined ? ['host', authority] : []),
    ...Object.entries(headers).flat(),
  ];
  headerLists.set(headers, { authority, list });
  return list;
}

// On the socket itself, for a weak set costs more than all else here.
const readyKey = Symbol('ready');

interface MarkedSocket extends Socket {
  [readyKey]?: true;
}

/** A connection that is used again has been ready before; a new one is when its handshake is done. */
function whenReady(socket: MarkedSocket, isSecure: boolean, listener: () => void): void {
  if (socket[readyKey]) return listener();
  const onReady = (): void => {
    socket[readyKey] = true;
    listener();
  };
  if (isSecure) socket.once('secureConnect', onReady);
  else if (socket.connecting) socket.once('connect', onReady);
  // One that could not even begin to connect, for want of a file, is neither connecting nor connected.
  else if (!socket.destroyed) onReady();
  return undefined;
}

/** Before it stands, a plain connection through a proxy is one to the proxy. Tunnels say so themselves. */
function beforeConnection(error: Error, { proxy, path }: Target): Error {
  return proxy !== undefined && !path.startsWith('/') ? unreachableProxy(proxy, error) : error;
}

/** Answers that are none. */
function refusalOf({ statusCode = 0 }: IncomingMessage, target: Target): Error | undefined {
  if (statusCode === 101) return switchedProtocols(target);
  if (statusCode < 200) return unexpectedStatus(statusCode);
  return statusCode === 407 && target.proxy !== undefined
    ? refusedByProxy(target.proxy, statusCode, target.authority)
    : undefined;
}

function switchedProtocols({ authority }: Target): Error {
  return faultError({
    code: 'INVALID_RESPONSE',
    message: `${authority} switched to another protocol (status 101), which was not asked for`,
    retryable: false,
    phase: 'headers',
    status: 101,
    hint: 'Check the base URL: something other than the API of a model provider answers there.',
  });
}

function endlessInterim({ authority }: Target): Error {
  return faultError({
    code: 'INVALID_RESPONSE',
    message: `${authority} sent more than ${maxInterim} interim answers (status 1xx) and no real one`,
    phase: 'headers',
    context: { maxInterim },
  });
}

function toResponse(incoming: IncomingMessage, options: SendOptions): TransportResponse {
  const { chunks, discard } = createBody(incoming, options);
  return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: chunks, discard };
}

function createBody(
  incoming: IncomingMessage,
  { maxBodyBytes = defaultMaxBodyBytes }: SendOptions,
): NodeBody {
  const encoding = encodingOf(incoming.headers['content-encoding']);
  if (encoding.type === 'plain') {
    return createNodeBody(incoming, { maxBytes: maxBodyBytes, isComplete: () => incoming.complete });
  }
  if (encoding.type === 'packed') {
    const { stream, packedBytes } = encoding.unpack(incoming);
    return createNodeBody(stream, {
      maxBytes: maxBodyBytes,
      inspect: (bytes) => inspectRatio(bytes, packedBytes()),
    });
  }
  // The status is still worth having, so only the body fails.
  const { discard } = createNodeBody(incoming, { maxBytes: maxBodyBytes });
  const next = async (): Promise<never> => {
    await discard();
    throw encoding.error;
  };
  return { chunks: { [Symbol.asyncIterator]: () => ({ next }) }, discard };
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const cookies = headers['set-cookie'];
  const joined = cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') };
  return joined as Readonly<Record<string, string>>; // Only `set-cookie` comes as a list.
}
