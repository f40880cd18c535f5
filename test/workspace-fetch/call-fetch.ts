import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ToolContext } from '../../src/model/tool.ts';
import { fetchTool } from '../../src/tools/workspace/fetch/fetch-page.ts';
import type { FetchOptions } from '../../src/tools/workspace/fetch/fetch-page.ts';

/** Calls the tool once, as an agent would. */
export async function callFetch(
  input: { readonly url: string; readonly maxCharacters?: number; readonly raw?: boolean },
  options: FetchOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const context = { signal } as ToolContext; // All that it uses of it.
  return String(await fetchTool(options).execute(input, context));
}

/** A server on loopback that counts whoever comes. */
export interface TestSite {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly connections: () => number;
  readonly openConnections: () => number;
  readonly requests: readonly { readonly url: string; readonly headers: Readonly<Record<string, unknown>> }[];
  readonly close: () => Promise<void>;
}

/** Starts a site that answers every request as it is told. */
export async function startSite(listener: RequestListener): Promise<TestSite> {
  const requests: { readonly url: string; readonly headers: Readonly<Record<string, unknown>> }[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers });
    response.on('error', () => undefined); // Whoever leaves in the middle is what these tests are about.
    listener(request, response);
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens on a port.
  return {
    host: `127.0.0.1:${port}`,
    port,
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    openConnections: () => sockets.size,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
