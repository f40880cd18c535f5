import type { Clock } from '../../base/clock.ts';
import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Model } from '../../model/model.ts';
import { createNodeTransport } from '../../providers/http/node-transport.ts';
import type { Transport } from '../../providers/http/transport.ts';
import { createModelRegistry } from '../../providers/registry.ts';
import { addressedModel, isPathMissing } from '../config/addressed-model.ts';
import { findLocalServer, localPorts } from '../config/local-server.ts';
import type { LocalServer } from '../config/local-server.ts';
import { baseURLOf, environmentAddress, wordsFor } from '../config/provider-address.ts';
import type { ChosenAddress } from '../config/provider-address.ts';
import type { ChosenModel } from '../config/settings.ts';
import { failedCheck, failureOf } from './doctor-check.ts';
import type { Check } from './doctor-check.ts';
import type { ServerTime } from './doctor-machine.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that is set and is for the key of a provider. Never the key itself. */
export interface KeyFound {
  readonly provider: string;
  readonly variable: string;
  /** Why it cannot be one, found without sending it anywhere. */
  readonly failure?: Failure;
}

/** All keys of known providers that the environment has. */
export function findKeys(env: Environment): readonly KeyFound[] {
  const registry = createModelRegistry({ environment: env });
  return registry.list().flatMap((provider): readonly KeyFound[] => {
    const id = `${provider}:${probedModel}`;
    const variable = registry.describe(id).keyVariables.find((name) => (env[name] ?? '').trim() !== '');
    if (variable === undefined) return [];
    try {
      const address = environmentAddress(provider, env);
      const baseURL = address === undefined ? undefined : baseURLOf(address, { provider, hasKey: true });
      registry.resolve(id, { baseURL });
      return [{ provider, variable }];
    } catch (error) {
      return [{ provider, variable, failure: failureOf(error) }];
    }
  });
}

/** No model has this name, so no answer is charged. */
const probedModel = 'rerail-doctor';

export function checkKeys(keys: readonly KeyFound[]): readonly Check[] {
  if (keys.length === 0) {
    const text = 'None is set.';
    return [
      { name: 'keys', status: 'ok', text, advice: 'Set ANTHROPIC_API_KEY, OPENAI_API_KEY or another.' },
    ];
  }
  const usable = keys.filter(({ failure }) => failure === undefined).map(({ variable }) => variable);
  return [
    ...(usable.length === 0
      ? []
      : [{ name: 'keys', status: 'ok', text: `${usable.join(', ')} set` } as const]),
    ...keys.flatMap(({ failure }) => (failure === undefined ? [] : [failedCheck('keys', failure)])),
  ];
}

/** What is needed to ask. */
export interface OnlineOptions {
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Where providers are asked that are not asked at their own address, by their name; the environment is looked at besides. */
  readonly addresses?: ReadonlyMap<string, ChosenAddress>;
  /** The network by default. */
  readonly transport?: Transport;
}

/** What providers said. */
export interface Reached {
  readonly checks: readonly Check[];
  readonly times: readonly ServerTime[];
}

/**
 * Asks each provider with a usable key once, for a model that does not exist: who answers that there is no such model has let the key
 * in, and charges nothing. Each is asked where runs ask it, and a key goes to no other host.
 */
export async function reachProviders(keys: readonly KeyFound[], options: OnlineOptions): Promise<Reached> {
  const own = options.transport === undefined ? createNodeTransport({ environment: options.env }) : undefined;
  const transport = options.transport ?? own;
  if (transport === undefined) return { checks: [], times: [] };
  const times: ServerTime[] = [];
  try {
    const asked = keys.filter(({ failure, provider }) => failure === undefined && !ownServers.has(provider));
    const checks = await Promise.all(
      asked.map(async ({ provider }) => reach(provider, { ...options, transport, times })),
    );
    return { checks, times };
  } finally {
    own?.close();
  }
}

/** The addresses of the providers that a setting chose an address for, by provider name. */
export function addressesOf(models: readonly ChosenModel[]): ReadonlyMap<string, ChosenAddress> {
  return new Map(
    models.flatMap(({ model, address }) => (address === undefined ? [] : [[model.provider, address]])),
  );
}

/** They run at an address of the user's choice. */
const ownServers: ReadonlySet<string> = new Set([
  'ollama',
  'lmstudio',
  'llamacpp',
  'vllm',
  'vertex',
  'simulated',
]);

interface Asking extends OnlineOptions {
  readonly transport: Transport;
  readonly times: ServerTime[];
}

const maxWaitMs = 3000;

async function reach(provider: string, asking: Asking): Promise<Check> {
  const { env, clock, signal, transport, times } = asking;
  const noting: Transport = {
    ...transport,
    send: async (request, sending) => {
      const response = await transport.send(request, sending);
      const serverMs = Date.parse(response.headers['date'] ?? '');
      if (Number.isFinite(serverMs)) times.push({ provider, serverMs, wallMs: clock.wallMs() });
      return response;
    },
  };
  if (provider === 'azure' && !isAzure(env['AZURE_OPENAI_ENDPOINT'])) {
    const text = 'azure: not asked, for AZURE_OPENAI_ENDPOINT is no host of Azure and would be sent the key.';
    return { name: 'provider', status: 'warning', text, advice: 'Check the address.' };
  }
  const address = asking.addresses?.get(provider) ?? environmentAddress(provider, env);
  const model = probe(provider, { env, address, transport: noting });
  const startMs = clock.monotonicMs();
  const timeouts = { connectMs: maxWaitMs, headersMs: maxWaitMs, totalMs: maxWaitMs };
  const response = await model.call(
    { messages: [{ role: 'user', content: 'ping' }] },
    { signal, clock, timeouts },
  );
  signal.throwIfAborted();
  const tookMs = Math.round(clock.monotonicMs() - startMs);
  const where =
    address === undefined ? '' : ` at ${printable(redact(address.url))} (${wordsFor(address.from)})`;
  return judge(response.type === 'failure' ? response.failure : undefined, { provider, where, tookMs });
}

interface Probe extends Pick<Asking, 'env' | 'transport'> {
  readonly address: ChosenAddress | undefined;
}

function probe(provider: string, { env, transport, address }: Probe): Model {
  const registry = createModelRegistry({ environment: env });
  const id = `${provider}:${probedModel}`;
  if (address === undefined) return registry.resolve(id, { transport });
  const baseURL = baseURLOf(address, { provider, hasKey: true });
  return addressedModel((noting) => registry.resolve(id, { baseURL, transport: noting }), address, transport);
}

function isAzure(endpoint: string | undefined): boolean {
  const address = (endpoint ?? '').trim();
  return URL.canParse(address) && /\.azure\.(?:com|us|cn)$/i.test(new URL(address).hostname);
}

/** A provider that answers "no such model" or "invalid request" has accepted the key. */
const letIn: ReadonlySet<string> = new Set(['MODEL_NOT_FOUND', 'INVALID_REQUEST', 'PERMISSION_DENIED']);
const busy: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED', 'MODEL_LOADING', 'SERVER_ERROR']);

interface Heard {
  readonly provider: string;
  /** ` at http://127.0.0.1:8000/v1 (OPENAI_BASE_URL)`, or nothing. */
  readonly where: string;
  readonly tookMs: number;
}

function judge(failure: Failure | undefined, { provider, where, tookMs }: Heard): Check {
  const name = 'provider';
  // Who does not know the path has not looked at the key.
  const isElsewhere = where !== '' && failure !== undefined && isPathMissing(failure);
  if (failure === undefined || (letIn.has(failure.code) && !isElsewhere)) {
    return { name, status: 'ok', text: `${provider}${where} answers in ${tookMs} ms, and took the key` };
  }
  if (!busy.has(failure.code))
    return { ...failedCheck(name, failure), text: `${provider}${where}: ${failure.message}` };
  const text = `${provider}${where} answers in ${tookMs} ms, but not now: ${failure.message}.`;
  return { name, status: 'warning', text, advice: 'Runs wait and try again by themselves.' };
}

/** Every server that speaks OpenAI's protocol on a usual port of this machine. */
export async function findLocalServers(ports = localPorts): Promise<readonly LocalServer[]> {
  const found = await Promise.all(ports.map(async (port) => findLocalServer([port])));
  return found.filter((server) => server !== undefined);
}

export function checkLocal(servers: readonly LocalServer[], ports = localPorts): Check {
  const name = 'local';
  const shown = servers.map(({ provider, port, model }) => `${provider}:${model} at 127.0.0.1:${port}`);
  if (shown.length > 0) return { name, status: 'ok', text: shown.join(', ') };
  return { name, status: 'ok', text: `No server on port ${ports.map(({ port }) => port).join(', ')}` };
}
