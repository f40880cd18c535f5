import { addressIn } from './address-variables.ts';
import type { AddressVariable } from './address-variables.ts';
import { readApiKeys } from './api-key.ts';
import type { Environment } from './api-key.ts';
import { readBaseURL } from './base-url.ts';
import { readHeaders } from './custom-headers.ts';
import { keepEnvironmentKeys } from './kept-secrets.ts';
import { createFetchTransport } from './http/fetch-transport.ts';
import type { Transport } from './http/transport.ts';
import type { ProviderOptions } from './provider-options.ts';

/** How one gets at a provider, for models and embeddings alike. */
export interface Access<Options extends ProviderOptions = ProviderOptions> {
  readonly provider: string;
  readonly keyVariables: readonly string[];
  /** Whether it cannot be asked without a key. */
  readonly isKeyRequired: boolean;
  /** The header that carries the key. */
  readonly keyHeader: 'bearer' | 'api-key' | 'x-api-key' | 'x-goog-api-key';
  /** Where it is, and what the message calls that place. */
  readonly address: (options: Options, environment: Environment) => Address;
}

/** An address that was found, not yet checked. */
export interface Address {
  readonly url: string;
  /** How to speak of it: `The option "baseURL"`. */
  readonly place: string;
  /** Where a bare origin means the version below it. */
  readonly versionPath?: string;
  /** Every path without a version at its end means the version below it. */
  readonly isVersionMissed?: boolean;
  /** The provider's own address: only keys of its own are taken there. */
  readonly isOfficial: boolean;
}

/** Where to send requests and with which credentials, all of it checked. */
export interface Endpoint {
  readonly baseURL: string;
  readonly keyHeaders: Readonly<Record<string, string>>;
  /** The user's own; they go last and win. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly secret: string | undefined;
  readonly transport: Transport | undefined;
}

/** One endpoint for each key, the first one first. Reads and checks address, keys and headers. Throws where one of them cannot be right. */
export function openEndpoints<Options extends ProviderOptions>(
  access: Access<Options>,
  options: Options,
  origin: 'model' | 'embedding',
): readonly [Endpoint, ...Endpoint[]] {
  const { provider, keyVariables, isKeyRequired, keyHeader } = access;
  const environment = options.environment ?? process.env;
  keepEnvironmentKeys(environment);
  const address = access.address(options, environment);
  const ownHeaders = readHeaders(options.headers);
  const secrets = readApiKeys({
    provider,
    apiKey: options.apiKey,
    variables: keyVariables,
    environment,
    // Whoever brings credentials of their own in a header needs no key.
    isRequired: isKeyRequired && !Object.keys(ownHeaders).some((name) => credentialHeaders.has(name)),
    isOwnServer: !address.isOfficial,
    origin,
  });
  const baseURL = readBaseURL(address.url, {
    provider,
    place: address.place,
    versionPath: address.versionPath,
    isVersionMissed: address.isVersionMissed,
    hasKey: secrets[0] !== undefined,
    allowInsecure: options.allowInsecure === true,
  });
  const transport = options.transport ?? (options.fetch && createFetchTransport(options.fetch));
  const toEndpoint = (secret: string | undefined): Endpoint => ({
    baseURL,
    keyHeaders: secret === undefined ? {} : keyHeaders(keyHeader, secret),
    ownHeaders,
    secret,
    transport,
  });
  const [first, ...rest] = secrets;
  return [toEndpoint(first), ...rest.map(toEndpoint)];
}

const credentialHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
]);

function keyHeaders(header: Access['keyHeader'], key: string): Readonly<Record<string, string>> {
  return header === 'bearer' ? { authorization: `Bearer ${key}` } : { [header]: key };
}

/** The address that was handed in, the one that its variable names, or the provider's own. */
export function addressOf(
  { baseURL }: Pick<ProviderOptions, 'baseURL'>,
  environment: Environment,
  { variable, ...official }: OfficialAddress,
): Address {
  const named = variable === undefined ? undefined : addressIn(variable, environment);
  const given = baseURL ?? named;
  const isNamed = baseURL === undefined && named !== undefined;
  return {
    ...official,
    url: given ?? official.url,
    place: isNamed ? `The address in ${variable?.variable}` : 'The option "baseURL"',
    isOfficial: given === undefined || hostOf(given) === hostOf(official.url),
  };
}

/** Where a provider is by itself. */
export interface OfficialAddress extends Pick<Address, 'url' | 'versionPath' | 'isVersionMissed'> {
  /** The variable that may name another address. */
  readonly variable?: AddressVariable;
}

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url.trim()) ? new URL(url.trim()).host : undefined;
}
