import { createServer } from 'node:http2';
import type { Http2Server, Http2Session } from 'node:http2';
import { wait } from '../../base/abort.ts';
import { systemClock } from '../../base/system.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { ServeHandler, ServePort } from './options.ts';
import type { RequestHandler } from './sdk.ts';

/** Where Restate reaches the agents of one process. */
export interface Endpoint {
  /** Serves an agent under a path of its own, and gives the address to register. */
  readonly open: (path: string, handler: RequestHandler) => Promise<string>;
  /** No longer serves it. The last one closes the port; what is under way has `waitMs` to end. */
  readonly close: (path: string, waitMs: number) => Promise<void>;
}

/** Serves through a server that another process runs. */
export function mountedEndpoint({ mount, url }: ServeHandler): Endpoint {
  const handlers = new Map<string, RequestHandler>();
  return {
    open: async (path, handler) => {
      handlers.set(path, handler);
      await mount((request, response) => {
        const current = handlers.get(path);
        if (current === undefined) response.writeHead(503).end();
        else current(request, response);
      }, path);
      return url + path;
    },
    close: async (path) => void handlers.delete(path),
  };
}

interface Held {
  readonly options: ServePort;
  readonly handlers: Map<string, RequestHandler>;
  readonly sessions: Set<Http2Session>;
  /** Absent while it serves no agent. */
  server: Promise<Http2Server> | undefined;
}

/** Serves on a port of its own, which is opened for the first agent. */
export function listeningEndpoint(options: ServePort): Endpoint {
  const held: Held = { options, handlers: new Map(), sessions: new Set(), server: undefined };
  return {
    open: (path, handler) => open(held, path, handler),
    close: (path, waitMs) => close(held, path, waitMs),
  };
}

async function open(held: Held, path: string, handler: RequestHandler): Promise<string> {
  const { handlers, options } = held;
  handlers.set(path, handler);
  held.server ??= listen(held);
  try {
    const address = (await held.server).address();
    const port = typeof address === 'object' ? address?.port : undefined;
    return (options.url ?? `http://${options.host ?? defaultHost}:${port ?? options.port}`) + path;
  } catch (error) {
    handlers.delete(path);
    held.server = undefined;
    throw error;
  }
}

const defaultHost = '127.0.0.1';

function listen({ options, handlers, sessions }: Held): Promise<Http2Server> {
  const { port, host = defaultHost } = options;
  const server = createServer((request, response) => {
    const [, name = ''] = request.url.split('/');
    const handler = handlers.get(`/${name}`);
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    // A connection that breaks ends its attempts; Restate begins others.
    session.on('error', () => undefined);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error) => reject(cannotListen(error, { host, port })));
    server.listen(port, host, () => resolve(server));
  });
}

function cannotListen(error: Error, { host, port }: { readonly host: string; readonly port: number }): Error {
  const message = `The engine "restate" cannot listen on ${host}:${port}: ${error.message}`;
  return RerailError.from(createFailure('NETWORK_ERROR', { origin: 'durable', message, retryable: false }), {
    cause: error,
  });
}

async function close(held: Held, path: string, waitMs: number): Promise<void> {
  const { handlers, sessions } = held;
  if (!handlers.delete(path) || handlers.size > 0 || held.server === undefined) return;
  const server = await held.server;
  held.server = undefined;
  const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const session of sessions) session.close();
  await Promise.race([isClosed, wait(waitMs, { clock: systemClock })]);
  for (const session of sessions) session.destroy();
  await isClosed;
}
