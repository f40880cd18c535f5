import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { Capabilities } from '../model/capabilities.ts';
import type { Model } from '../model/model.ts';
import type { Price } from '../model/price.ts';
import { runAttempt } from './http/attempt.ts';
import type { AttemptTarget } from './http/attempt-state.ts';
import type { ClassifyError } from './classify-error.ts';
import { createEndpoint } from './http/endpoint.ts';
import { nodeTransport } from './http/node-transport.ts';
import { defaultMaxEventBytes } from './http/sse.ts';
import { defaultMaxBodyBytes } from './http/transport.ts';
import type { Transport } from './http/transport.ts';
import type { WireProtocol, WireTarget } from './protocol.ts';

/** All that tells one HTTP provider from another. */
export interface HttpModelConfig {
  readonly provider: string;
  readonly model: string;
  readonly protocol: WireProtocol;
  readonly dialect?: WireTarget['dialect'];
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fresh credentials for each attempt. */
  readonly authorize?: (options: {
    readonly signal: AbortSignal;
  }) => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly capabilities: Capabilities;
  readonly price?: Price;
  readonly quotaKey: string;
  readonly transport?: Transport;
  /** Adds to a failure what only the provider's configuration knows, such as near names of a model. */
  readonly refine?: (failure: Failure) => Failure;
  readonly classifyError?: ClassifyError;
  readonly maxEventBytes?: number;
  readonly maxBodyBytes?: number;
  /** `false` asks for the answer in one piece. */
  readonly stream?: boolean;
}

/**
 * A model behind HTTP: joins a transport, a wire protocol and the timeouts. Throws a `CONFIG_ERROR` where the base URL is
 * none; a call itself never rejects.
 */
export function createHttpModel(config: HttpModelConfig): Model {
  const { provider, model, protocol, quotaKey, capabilities, price } = config;
  const isStream = config.stream !== false;
  const target: AttemptTarget = {
    // The protocol writes the request, so it must know whether a stream is wanted.
    wire: { provider, model, dialect: { ...defined({ stream: config.stream }), ...config.dialect } },
    protocol,
    endpoint: createEndpoint({
      provider,
      baseURL: config.baseURL,
      headers: config.headers,
      query: config.query ?? {},
      isStream,
    }),
    transport: config.transport ?? nodeTransport,
    authorize: config.authorize,
    price,
    refine: config.refine,
    classifyError: config.classifyError,
    isStream,
    maxEventBytes: config.maxEventBytes ?? defaultMaxEventBytes,
    maxBodyBytes: config.maxBodyBytes ?? defaultMaxBodyBytes,
  };
  return {
    provider,
    name: model,
    quotaKey,
    capabilities,
    ...defined({ price }),
    call: (request, options = {}) => runAttempt(target, request, options),
  };
}
