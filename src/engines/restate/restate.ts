import type { Json } from '../../base/json.ts';
import { isRecord } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { engineError } from '../../runtime/record/durable-errors.ts';
import type {
  CreateEngine,
  Engine,
  EngineSetup,
  RunStatus,
  SignalMessage,
  Started,
  StartOptions,
} from '../../runtime/record/durable.ts';
import { abortEffects } from './carry.ts';
import { createDesk } from './desk.ts';
import { listeningEndpoint, mountedEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import type { Host } from './generation.ts';
import { askDesk } from './ask-desk.ts';
import { createInOrder } from './in-order.ts';
import type { InOrder } from './in-order.ts';
import { askRestate } from './ingress.ts';
import type { RestateRequest } from './ingress.ts';
import { lookAfter } from './look-after.ts';
import type { Lookouts } from './look-after.ts';
import type { DeskStatus, SettleMessage } from './messages.ts';
import { namesOf } from './names.ts';
import { resolveOptions } from './options.ts';
import type { ResolvedOptions, RestateOptions } from './options.ts';
import { createProgram } from './program.ts';
import { readJournal } from './read-journal.ts';
import { loadSdk } from './sdk.ts';
import type { LogMetadata } from './sdk.ts';

/**
 * Executes the runs of agents on Restate. Agents that are given the same engine share its port.
 *
 * @example
 * const engine = restate({ ingressUrl: 'http://localhost:8080', adminUrl: 'http://localhost:9070', serve: { port: 9080 } });
 * const agent = createAgent({ name: 'clerk', model, engine });
 */
export function restate(options: RestateOptions): CreateEngine {
  const resolved = resolveOptions(options);
  const endpoint = endpointOf(resolved);
  return (setup) => open(resolved, setup, endpoint);
}

function endpointOf({ serve: wanted }: ResolvedOptions): Endpoint | undefined {
  if (wanted === undefined) return undefined;
  return 'mount' in wanted ? mountedEndpoint(wanted) : listeningEndpoint(wanted);
}

interface Held {
  readonly host: Host;
  readonly endpoint: Endpoint | undefined;
  readonly lookouts: Lookouts;
  readonly inOrder: InOrder;
  isClosed: boolean;
}

async function open(
  options: ResolvedOptions,
  setup: EngineSetup,
  endpoint: Endpoint | undefined,
): Promise<Engine> {
  const sdk = loadSdk(options.sdk);
  const host: Host = { sdk, names: namesOf(setup.name), options, setup, live: new Map() };
  const held: Held = { host, endpoint, lookouts: new Map(), inOrder: createInOrder(), isClosed: false };
  if (endpoint !== undefined) await serve(host, endpoint);
  return {
    start: (input, wanted) => start(held, input, wanted),
    signal: (runId, name, message) => signal(held, { runId, name, message }),
    cancel: (runId, reason) => cancel(held, runId, reason),
    status: (runId) => status(held, runId),
    journal: (runId) => readJournal(host, runId),
    close: () => close(held),
  };
}

async function serve(host: Host, endpoint: Endpoint): Promise<void> {
  const { sdk, names, options } = host;
  const { identityKeys, onLog, adminUrl, limits } = options;
  const handler = sdk.createEndpointHandler({
    services: [
      createDesk({ sdk, names, limits, abort: (runId, reason) => abortEffects(host, runId, reason) }),
      createProgram(host, (runId, invocationId, settle) => endChanged(host, { runId, invocationId, settle })),
    ],
    ...(identityKeys === undefined ? {} : { identityKeys }),
    logger: ({ level }: LogMetadata, ...words) => onLog?.(level, words.map(String).join(' ')),
  });
  const url = await endpoint.open(names.path, handler);
  if (adminUrl === undefined) return;
  try {
    await askRestate(options, {
      base: adminUrl,
      path: ['deployments'],
      method: 'POST',
      // The code at this address may have changed since it was registered.
      body: { uri: url, force: true },
      deed: `register ${url}`,
    });
  } catch (error) {
    await endpoint.close(names.path, 0);
    throw error;
  }
}

interface Changed {
  readonly runId: string;
  readonly invocationId: string;
  readonly settle: SettleMessage;
}

async function endChanged(host: Host, { runId, invocationId, settle }: Changed): Promise<void> {
  const { options } = host;
  await askDesk(host, runId, { handler: 'settle', body: settle, deed: `note the end of run "${runId}"` });
  if (options.adminUrl === undefined) return;
  await askRestate(options, {
    base: options.adminUrl,
    path: ['invocations', invocationId, 'kill'],
    method: 'PATCH',
    deed: `end the invocation ${invocationId} of run "${runId}"`,
  });
}

async function start(held: Held, input: Json, { runId, version, after }: StartOptions): Promise<Started> {
  const { host } = held;
  if (held.isClosed)
    throw engineError(`Cannot start run "${runId}": the engine is closed`, { retryable: false });
  if (version !== host.setup.version) {
    const sides = `version "${host.setup.version}", not "${version}"`;
    throw engineError(`Cannot start run "${runId}": this engine runs ${sides}`, { retryable: false });
  }
  const request = { handler: 'start', body: { input, version, after }, deed: `start run "${runId}"` };
  const answer = await held.inOrder(runId, () => askDesk(host, runId, request));
  return answer === 'known' ? answer : 'begun';
}

interface Signalling {
  readonly runId: string;
  readonly name: string;
  readonly message: SignalMessage;
}

/** First Restate has it for certain; then a worker is given time to take it. */
async function signal({ host, inOrder }: Held, { runId, name, message }: Signalling): Promise<void> {
  const { options, names } = host;
  const deed = `take the signal "${name}" for run "${runId}"`;
  const request: RestateRequest = {
    base: options.ingressUrl,
    path: [names.desk, runId, 'signal', 'send'],
    method: 'POST',
    body: { name, id: message.id, payload: message.payload },
    // Only of what has such a key can be asked what became of it. The desk knows by the id what came before: what was refused may be
    // taken the next time.
    headers: { 'idempotency-key': crypto.randomUUID() },
    deed,
  };
  const sent = await inOrder(runId, () => askRestate(options, request));
  const invocationId = isRecord(sent) ? String(sent['invocationId']) : '';
  const answer = await signalAnswer(options, { invocationId, deed });
  if (answer === 'unknown')
    throw engineError(`Run "${runId}" cannot ${deed}: there is no such run`, { retryable: false });
  if (answer === 'full')
    throw engineError(
      `Run "${runId}" cannot take the signal "${name}": ${options.limits.maxSignals} are waiting already`,
      { retryable: true },
    );
}

interface Asked {
  readonly invocationId: string;
  readonly deed: string;
}

async function signalAnswer(options: ResolvedOptions, { invocationId, deed }: Asked): Promise<unknown> {
  const timeoutMs = options.limits.signalTimeoutMs;
  try {
    return await askRestate(options, {
      base: options.ingressUrl,
      path: ['restate', 'invocation', invocationId, 'attach'],
      method: 'GET',
      timeoutMs,
      deed,
    });
  } catch (error) {
    if (!RerailError.isInstance(error) || error.failure.code !== 'TIMEOUT') throw error;
    const message = `Restate has kept the message, but no worker did ${deed} within ${timeoutMs} ms`;
    const hint = 'Start a worker of this agent: it then gets the message. Sending it again does no harm.';
    throw RerailError.from(createFailure('SIGNAL_TIMEOUT', { origin: 'durable', message, hint }), {
      cause: error,
    });
  }
}

async function cancel({ host, inOrder }: Held, runId: string, reason: string): Promise<void> {
  const request = { handler: 'cancel', body: { reason }, deed: `cancel run "${runId}"` };
  const answer = await inOrder(runId, () => askDesk(host, runId, request));
  if (answer === 'unknown')
    throw engineError(`Run "${runId}" cannot be cancelled: there is no such run`, { retryable: false });
}

async function status({ host, lookouts }: Held, runId: string): Promise<RunStatus> {
  const answer = await askDesk(host, runId, {
    handler: 'status',
    deed: `report the state of run "${runId}"`,
  });
  const known = answer as DeskStatus; // What the desk gives.
  await lookAfter(host, lookouts, { runId, known });
  return known.status;
}

/** Runs continue: in another worker, or in this one when it is there again. */
async function close(held: Held): Promise<void> {
  held.isClosed = true;
  const { options, names } = held.host;
  await held.endpoint?.close(names.path, options.limits.closeWaitMs);
}
