import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TestCertificate } from './certificate.ts';

/** What a server does with one request: it may write any bytes, or none. */
export type Serve = (socket: Socket, request: RawRequest) => void;

/** One request as it came. */
export interface RawRequest {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How many requests this server has had, this one included. */
  readonly count: number;
}

/** A server on 127.0.0.1 that can break every rule of HTTP. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly RawRequest[];
  readonly connections: () => number;
  readonly openConnections: () => number;
  readonly close: () => Promise<void>;
}

interface RawServerOptions {
  readonly certificate?: TestCertificate;
  /** Takes a connection over before anything is read from it. */
  readonly onConnection?: (socket: Socket) => void;
}

/** Starts a server that hands every whole request to `serve`. */
export async function startRawServer(serve: Serve, options: RawServerOptions = {}): Promise<RawServer> {
  const { certificate, onConnection } = options;
  const sockets = new Set<Socket>();
  const requests: RawRequest[] = [];
  let connections = 0;
  const accept = (socket: Socket): void => {
    connections += 1;
    socket.on('error', () => undefined); // Broken connections are what these tests are about.
    if (onConnection !== undefined) return onConnection(socket);
    return readRequests(socket, (request) => {
      const counted = { ...request, count: requests.length + 1 };
      requests.push(counted);
      serve(socket, counted);
    });
  };
  const server = certificate === undefined ? createServer(accept) : createTlsServer(certificate, accept);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  const port = await listen(server);
  return {
    port,
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    openConnections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

function readRequests(socket: Socket, onRequest: (request: Omit<RawRequest, 'count'>) => void): void {
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (let round = 0; round < 100; round += 1) {
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [line = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
      const headers = Object.fromEntries(lines.map(readHeader));
      const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
      if (received.length < bodyEnd) return;
      const body = received.subarray(end + 4, bodyEnd).toString('utf8');
      received = received.subarray(bodyEnd);
      onRequest({ line, headers, body });
    }
  });
}

function readHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** The head of a response. */
export function head(status: number, headers: Readonly<Record<string, string | number>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`;
}

/** One chunk of a chunked body; an empty one ends it. */
export function chunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const eventStream = { 'content-type': 'text/event-stream' } as const;
export const chunkedStream = { ...eventStream, 'transfer-encoding': 'chunked' } as const;
