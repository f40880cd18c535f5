import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server as HttpServer, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createNetServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { SelfSigned } from './certificate.ts';

/** Takes connections and hands requests on. Below HTTP and TLS it keeps hold of every socket, to break it or to end all. */
export interface Connections {
  readonly port: number;
  /** Breaks the connection that a request came on. */
  readonly reset: (socket: Socket) => void;
  /** Ends every connection at once, and takes no more. */
  readonly close: () => Promise<void>;
}

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: SelfSigned | undefined;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Asked for each connection that begins a TLS handshake: true cuts it. */
  readonly wantsHandshakeCut: () => boolean;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
}

/** Listens. Rejects where the port cannot be had. */
export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const sockets = new Set<Socket>();
  const http = createHttp(options);
  const front = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    options.onConnected();
    socket.once('close', () => {
      sockets.delete(socket);
      options.onDisconnected();
    });
    // Peers of a chaos server hang up all the time; what became of the request is in its record.
    socket.on('error', () => undefined);
    if (options.certificate !== undefined && options.wantsHandshakeCut()) {
      socket.once('data', () => socket.resetAndDestroy());
      return;
    }
    http.emit('connection', socket);
  });
  await new Promise<void>((resolve, reject) => {
    front.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, options)));
    front.listen(options.port, options.host, resolve);
  });
  const { port } = front.address() as AddressInfo; // It listens on a port, so that it is no path.
  return {
    port,
    reset: (socket) => {
      // Under TLS the request knows only the upper socket; both have the same peer.
      const below = [...sockets].find(({ remotePort }) => remotePort === socket.remotePort);
      (below ?? socket).resetAndDestroy();
    },
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** It never listens itself: connections are handed to it. */
function createHttp({ certificate, onRequest }: ConnectionOptions): HttpServer {
  const listener: RequestListener = (request, response) => onRequest(request, response);
  const http =
    certificate === undefined ? createHttpServer(listener) : createHttpsServer({ ...certificate }, listener);
  // Whoever waits here is meant to: only the client's own patience may end it.
  http.requestTimeout = 0;
  http.headersTimeout = 0;
  http.keepAliveTimeout = 0;
  http.on('clientError', (_error, socket) => void socket.destroy());
  http.on('tlsClientError', () => undefined); // A client that does not trust the certificate; it says so itself.
  return http;
}

const otherPort = 'Give another port; 0 takes any that is free';
const otherHost = 'Give an address of this machine, such as 127.0.0.1';

const listenProblems: Readonly<Record<string, { readonly reason: string; readonly hint: string }>> = {
  EADDRINUSE: { reason: 'the port is taken', hint: otherPort },
  EACCES: { reason: 'the system keeps this port for itself', hint: otherPort },
  EADDRNOTAVAIL: { reason: 'this machine does not have that address', hint: otherHost },
  ENOTFOUND: { reason: 'no machine of that name is known', hint: otherHost },
};

function cannotListen(error: NodeJS.ErrnoException, { host, port }: ConnectionOptions): RerailError {
  const { reason, hint } = listenProblems[error.code ?? ''] ?? {
    reason: error.code ?? error.message,
    hint: 'Give another host or port',
  };
  const message = `The chaos server cannot listen on ${host}:${port}: ${reason}`;
  return RerailError.from(createFailure('CONFIG_ERROR', { origin: 'config', message, hint }), {
    cause: error,
  });
}
