import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { AgentOptions } from 'node:https';
import { defined } from '../../base/defined.ts';
import { exchange, isStaleConnection } from './node-exchange.ts';
import type { Target } from './node-exchange.ts';
import { dropFreeSockets, dropStaleSockets, watchFreeSockets } from './free-sockets.ts';
import type { IdleSockets } from './free-sockets.ts';
import { proxyFor } from './proxy.ts';
import type { Proxy, ProxyEnvironment } from './proxy.ts';
import { decideRedirect } from './redirect.ts';
import type { SendOptions, Transport, TransportRequest, TransportResponse } from './transport.ts';
import { createTunnelAgent } from './tunnel.ts';
import { anObject, anyValue, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';

/** What `createNodeTransport` may be told; every bound has a default. */
export interface NodeTransportOptions {
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read from. */
  readonly environment?: ProxyEnvironment;
  /** Connections to one host at a time; further requests wait for one. */
  readonly maxSockets?: number;
  /** Idle connections to one host that are kept for the next request. */
  readonly maxFreeSockets?: number;
  /** How long an idle connection is kept: shorter than servers keep theirs, so that none is used while it is closed. */
  readonly freeSocketTimeoutMs?: number;
  /** Certificates of your own: a root of your organisation, or a client certificate. */
  readonly tls?: Pick<AgentOptions, 'ca' | 'cert' | 'key' | 'passphrase'>;
}

const optionRules: Readonly<Record<keyof NodeTransportOptions, OptionRule>> = {
  environment: anyValue,
  maxSockets: anyValue,
  maxFreeSockets: anyValue,
  freeSocketTimeoutMs: anyValue,
  tls: anObject('{ ca }', ['ca', 'cert', 'key', 'passphrase']),
};

/** A transport that owns connections. */
export interface NodeTransport extends Transport {
  /** Closes all connections, those in use too. */
  readonly close: () => void;
}

const defaults = { maxSockets: 1024, maxFreeSockets: 256, freeSocketTimeoutMs: 4000 } as const;
const maxKnownTargets = 256;

/** Requests over `node:http` and `node:https` with connections that are kept alive. Every phase of one is visible. */
export function createNodeTransport(options: NodeTransportOptions = {}): NodeTransport {
  checkOptions({ of: 'createNodeTransport()', rules: optionRules }, options);
  const freeSocketTimeoutMs = options.freeSocketTimeoutMs ?? defaults.freeSocketTimeoutMs;
  const agents = createAgents(options);
  const environment = options.environment ?? process.env;
  const targets = new Map<string, Target>();
  const idleSockets = new Map<string, IdleSockets>();

  /** An address is taken apart once, for the same few are asked over and over. */
  function targetOf(url: string): Target {
    const known = targets.get(url);
    if (known !== undefined) return known;
    if (targets.size >= maxKnownTargets) {
      targets.clear();
      // Those that are idle now find no request any more, and close in time.
      idleSockets.clear();
    }
    const target = createTarget(new URL(url), { environment, agents, idleSockets });
    targets.set(url, target);
    return target;
  }

  async function send(request: TransportRequest, sending: SendOptions): Promise<TransportResponse> {
    const response = await sendOnce(request, sending);
    return response.status >= 300 && response.status < 400 ? follow(response, request, sending) : response;
  }

  function sendOnce(request: TransportRequest, sending: SendOptions): Promise<TransportResponse> {
    const target = targetOf(request.url);
    dropStaleSockets(target.agent, freeSocketTimeoutMs);
    return exchange(target, request, sending).catch((error: unknown) => {
      if (isStaleConnection(error)) return exchangeAfresh(target, request, sending);
      throw error;
    });
  }

  async function follow(
    first: TransportResponse,
    request: TransportRequest,
    sending: SendOptions,
  ): Promise<TransportResponse> {
    let response = first;
    let { url } = request;
    // Bounded by `decideRedirect`, which counts.
    for (let followed = 0; ; followed += 1) {
      const { status, headers } = response;
      const decision = decideRedirect({ status, location: headers['location'], url, followed });
      if (decision.type === 'none') return response;
      await response.discard();
      if (decision.type === 'refuse') throw decision.error;
      url = decision.url;
      response = await sendOnce({ ...request, url }, silently(sending));
    }
  }

  return { send, close: agents.close };
}

/** Sends a request again whose kept connection was lost: see docs/decisions/kept-connections.md. */
function exchangeAfresh(
  target: Target,
  request: TransportRequest,
  sending: SendOptions,
): Promise<TransportResponse> {
  dropFreeSockets(target.agent, `${target.host}:${target.port}`);
  // Told when the new connection stands: one that is refused carries no second request.
  const onConnected = (): void => {
    sending.onReconnected?.();
    sending.onConnected();
  };
  // Not a copy: the signal stands on a prototype.
  const again = Object.create(sending, { onConnected: { value: onConnected } }) as SendOptions;
  return exchange({ ...target, isFresh: true }, request, again);
}

/** The connection was told of once. Written out, for a spread does not copy what stands on a prototype. */
function silently({ signal, onStop, onReconnected, maxBodyBytes }: SendOptions): SendOptions {
  return { signal, onConnected: () => undefined, ...defined({ onStop, onReconnected, maxBodyBytes }) };
}

let shared: NodeTransport | undefined;

/** The transport that all models share unless they are given another. Made when it is first used. */
export const nodeTransport: Transport = {
  send: (request, options) => {
    shared ??= createNodeTransport();
    return shared.send(request, options);
  },
};

interface Agents {
  readonly plain: HttpAgent;
  readonly secure: HttpsAgent;
  readonly through: (proxy: Proxy) => HttpsAgent;
  readonly close: () => void;
}

function createAgents({ tls, ...given }: NodeTransportOptions): Agents {
  const { maxSockets, maxFreeSockets, freeSocketTimeoutMs } = { ...defaults, ...given };
  const options: AgentOptions = { keepAlive: true, maxSockets, maxFreeSockets, timeout: freeSocketTimeoutMs };
  const plain = watchFreeSockets(new HttpAgent(options), freeSocketTimeoutMs);
  const secure = watchFreeSockets(new HttpsAgent({ ...options, ...tls }), freeSocketTimeoutMs);
  const tunnels = new Map<string, HttpsAgent>();
  return {
    plain,
    secure,
    through: (proxy) => {
      const key = JSON.stringify(proxy);
      const agent =
        tunnels.get(key) ??
        watchFreeSockets(createTunnelAgent(proxy, { ...options, ...tls }), freeSocketTimeoutMs);
      tunnels.set(key, agent);
      return agent;
    },
    close: () => {
      for (const agent of [plain, secure, ...tunnels.values()]) agent.destroy();
    },
  };
}

interface TargetOptions {
  readonly environment: ProxyEnvironment;
  readonly agents: Agents;
  /** By origin. */
  readonly idleSockets: Map<string, IdleSockets>;
}

function createTarget(url: URL, { environment, agents, idleSockets }: TargetOptions): Target {
  const proxy = proxyFor(url, environment);
  const isSecure = url.protocol === 'https:';
  const path = `${url.pathname}${url.search}`;
  const defaultPort = isSecure ? 443 : 80;
  const direct = {
    isSecure,
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: url.port === '' ? defaultPort : Number(url.port),
    path,
    authority: url.host,
    proxy,
    idleSockets: undefined,
    headers: {},
  };
  if (proxy === undefined) {
    const idle = idleSockets.get(url.origin) ?? [];
    idleSockets.set(url.origin, idle);
    return { ...direct, agent: isSecure ? agents.secure : agents.plain, idleSockets: idle };
  }
  if (isSecure) return { ...direct, agent: agents.through(proxy) };
  return {
    ...direct,
    isSecure: proxy.isSecure,
    host: proxy.host,
    port: proxy.port,
    path: `${url.origin}${path}`,
    agent: proxy.isSecure ? agents.secure : agents.plain,
    headers: {
      host: url.host,
      ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
    },
  };
}
