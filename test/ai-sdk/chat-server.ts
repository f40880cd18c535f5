import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server does with one request. */
export type Answer = (response: ServerResponse, body: unknown) => void;

/** A server on this machine that speaks as much of OpenAI's chat protocol as the tests need. */
export interface ChatServer {
  readonly baseURL: string;
  /** The bodies of all requests, in their order. */
  readonly requests: unknown[];
  readonly close: () => Promise<void>;
}

/** Starts it on a free port. */
export async function startChatServer(answer: Answer): Promise<ChatServer> {
  const requests: unknown[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    requests.push(body);
    answer(response, body);
  };
  const server = createServer((request, response) => {
    void respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens on a port.
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const bytes of request) text += String(bytes);
  return JSON.parse(text);
}

/** One chunk of a streamed answer. */
export function chunk(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'served-1',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

/** Sends events and leaves the stream open. */
export function send(response: ServerResponse, events: readonly (object | string)[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
}

/** Sends events and the proper end. */
export function sendAll(response: ServerResponse, events: readonly object[]): void {
  send(response, [...events, '[DONE]']);
  response.end();
}
