import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSelfSigned } from './certificate.ts';
import type { SelfSigned } from './certificate.ts';
import { chaosConfigError } from './config-error.ts';
import { openConnections } from './connections.ts';
import { control, isControl } from './control.ts';
import type { ChaosCounters } from './counting.ts';
import { exchange } from './exchange.ts';
import type { ExchangeContext } from './exchange.ts';
import { readSettings } from './options.ts';
import type { ChaosServerOptions, Settings } from './options.ts';
import type { RecordedRequest } from './records.ts';
import type { FaultSchedule } from './schedule.ts';
import { createServerState } from './server-state.ts';
import type { ServerState } from './server-state.ts';
import type { ChaosProtocol } from './wire/wire-answer.ts';

/** A running provider that misbehaves on purpose. */
export interface ChaosServer {
  /** `http://127.0.0.1:40123`, without a path. */
  readonly url: string;
  readonly port: number;
  /** What a client of this protocol is given as its base URL. */
  readonly baseURL: (protocol: ChaosProtocol | 'ollama') => string;
  /** Under TLS: what a client must be told to trust, as PEM. */
  readonly certificate?: string;
  /** The latest requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
  readonly counters: () => ChaosCounters;
  /** Begins a new schedule at its first entry. */
  readonly setFaults: (faults: FaultSchedule | undefined) => void;
  /** As if just started: counters, requests, schedule, script and seed begin anew. */
  readonly reset: () => void;
  /** Ends every connection at once. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a server that speaks the protocols of OpenAI, Anthropic and Gemini, answers well, and breaks where it is told to.
 *
 * @example
 * const chaos = await startChaosServer({ faults: { script: ['overloaded', 'reset-mid-stream', null] } });
 * const model = openai('gpt-5.2', { baseURL: chaos.baseURL('openai-chat'), apiKey: 'none' });
 */
export async function startChaosServer(options: ChaosServerOptions = {}): Promise<ChaosServer> {
  const settings = readSettings(options);
  const state = createServerState(settings);
  const certificate = certificateOf(settings);
  const underWay = new Set<Promise<void>>();
  let isClosing = false;
  const context: ExchangeContext = {
    settings,
    records: state.records,
    schedule: state.schedule,
    answering: state.answering,
    nextSequence: state.nextSequence,
    origin: () => url,
    reset: (socket) => connections.reset(socket),
    isClosing: () => isClosing,
  };
  const connections = await openConnections({
    host: settings.host,
    port: settings.port,
    certificate,
    onRequest: (request, response) => {
      const handled = handle({ context, state, certificate: certificate?.cert }, request, response);
      underWay.add(handled);
      void handled.finally(() => underWay.delete(handled));
    },
    wantsHandshakeCut: state.takeHandshakeFault,
    onConnected: state.counting.connected,
    onDisconnected: state.counting.disconnected,
  });
  const url = urlOf(settings, connections.port);
  return {
    url,
    port: connections.port,
    baseURL: (protocol) => url + basePathOf(protocol),
    ...(certificate === undefined ? {} : { certificate: certificate.cert }),
    get requests() {
      return state.records.list();
    },
    counters: state.counting.counters,
    setFaults: state.setFaults,
    reset: state.reset,
    close: async () => {
      isClosing = true;
      await connections.close();
      // Each ends by itself now that its connection is gone; then its record is complete.
      await Promise.all(underWay);
    },
  };
}

/** As the providers' own clients want them. */
const basePaths = {
  'openai-chat': '/v1',
  'openai-responses': '/v1',
  anthropic: '/v1',
  gemini: '/v1beta',
  ollama: '',
} as const satisfies Record<ChaosProtocol | 'ollama', string>;

function basePathOf(protocol: keyof typeof basePaths): string {
  if (Object.hasOwn(basePaths, protocol)) return basePaths[protocol];
  const known = Object.keys(basePaths).map((name) => `"${name}"`);
  throw chaosConfigError(
    `The chaos server has no base URL for ${JSON.stringify(protocol)}`,
    `Ask for one of ${known.join(', ')}`,
  );
}

interface Handling {
  readonly context: ExchangeContext;
  readonly state: ServerState;
  readonly certificate: string | undefined;
}

function handle(
  { context, state, certificate }: Handling,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { host } = request.headers;
  // Only HTTP/1.0 has requests without one, and no browser speaks that.
  if (host !== undefined && !context.settings.isAllowedHost(host)) return misdirect(request, response);
  if (!isControl(request.url ?? '')) return exchange(context, request, response);
  const { counting, records, setFaults, reset } = state;
  const controlled = { counters: counting.counters, requests: records.list, setFaults, reset, certificate };
  return control(controlled, request, response);
}

/** Somebody has been led here under another name, perhaps by a web page: nothing is done, and nothing is said about this server. */
function misdirect(request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const message =
    'This server is asked by another name than its own. Use 127.0.0.1 or localhost, or allow the name: allowedHosts, --allow-host.';
  response.writeHead(421, { 'content-type': 'application/json', connection: 'close' });
  return new Promise((resolve) => {
    response.on('close', resolve);
    response.end(JSON.stringify({ error: { type: 'misdirected_request', message } }));
  });
}

function certificateOf({ tls, clock }: Settings): SelfSigned | undefined {
  if (tls === false) return undefined;
  if (typeof tls === 'object') return tls;
  return createSelfSigned(tls === true ? 'valid' : tls, clock.wallMs());
}

function urlOf({ tls, host }: Settings, port: number): string {
  return `${tls === false ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
