import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { onAbort } from '../../base/abort.ts';
import type { Proxy } from './proxy.ts';
import { faultError } from './transport-fault.ts';

/** What the agent hands down from a request. */
interface TunnelOptions extends ConnectionOptions {
  /** The signal of the request that wants the tunnel. */
  readonly tunnelSignal?: AbortSignal;
}

type OnCreated = (error: Error | null, socket?: Duplex) => void;

/** An agent whose connections go through a proxy, TLS end to end. */
export function createTunnelAgent(proxy: Proxy, options: AgentOptions): Agent {
  const createConnection = (target: TunnelOptions, onCreated: OnCreated): undefined => {
    openTunnel(proxy, target, (error, socket) => {
      if (socket === undefined) return onCreated(error);
      return onCreated(null, connectTls({ ...target, socket }));
    });
  };
  return Object.assign(new Agent(options), { createConnection });
}

function openTunnel(proxy: Proxy, target: TunnelOptions, onOpen: OnCreated): void {
  const authority = `${target.host?.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  const send = proxy.isSecure ? httpsRequest : httpRequest;
  const request = send({
    method: 'CONNECT',
    host: proxy.host,
    port: proxy.port,
    path: authority,
    headers: {
      host: authority,
      ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
    },
    agent: false,
  });
  const stopListening = onAbort(target.tunnelSignal, () => request.destroy());
  request.once('connect', (response, socket, head) => {
    stopListening();
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      if (head.length > 0) socket.unshift(head);
      onOpen(null, socket);
      return;
    }
    socket.destroy();
    onOpen(refusedByProxy(proxy, status, authority));
  });
  request.once('error', (error) => {
    stopListening();
    onOpen(unreachableProxy(proxy, error));
  });
  request.end();
}

const settingsHint = 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and whether the proxy is up.';

/** Nothing answers as a proxy. Nothing has reached the provider. */
export function unreachableProxy(proxy: Proxy, cause: Error): Error {
  return faultError(
    {
      code: 'NETWORK_ERROR',
      message: `The proxy ${proxy.name} could not be reached: ${cause.message}`,
      phase: 'connect',
      hint: settingsHint,
      context: { proxy: proxy.name },
    },
    { cause },
  );
}

/** The proxy answers, and says no. Where it wants credentials or forbids the target, waiting does not help. */
export function refusedByProxy(proxy: Proxy, status: number, target: string): Error {
  const reason = status === 407 ? 'it asks for credentials' : `it does not connect to ${target}`;
  return faultError({
    code: 'NETWORK_ERROR',
    message: `The proxy ${proxy.name} refused with status ${status}: ${reason}`,
    retryable: status >= 500,
    phase: 'connect',
    status,
    hint:
      status === 407
        ? 'Put the user and password of the proxy into HTTPS_PROXY: http://user:password@host:port.'
        : settingsHint,
    context: { proxy: proxy.name },
  });
}
