import { aFlag, aFunction, anObject, anObjectWith, anyValue } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';
import { someCapabilities } from '../model/capabilities.ts';
import type { Capabilities } from '../model/capabilities.ts';
import type { Model } from '../model/model.ts';
import { aPrice } from '../model/price.ts';
import type { Price } from '../model/price.ts';
import type { Environment } from './api-key.ts';
import type { ClassifyError } from './classify-error.ts';
import type { Transport } from './http/transport.ts';

/** What every provider takes. */
export interface ProviderOptions {
  /**
   * Defaults to the provider's usual environment variable. Several are a pool: where the account of one is empty, limited or refused, the
   * same model is asked with the next.
   */
  readonly apiKey?: string | readonly string[] | undefined;
  /** The address below which the provider's paths lie; its version belongs to it: `https://api.openai.com/v1`. */
  readonly baseURL?: string | undefined;
  /** Sent with every request; they win over ours. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Sends requests through this function instead of `node:http`, where a proxy or another runtime needs it. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sends requests through this instead; wins over `fetch`. */
  readonly transport?: Transport | undefined;
  /** What a million tokens cost here; wins over the built-in table. */
  readonly price?: Price | undefined;
  /** What the model takes, where the built-in table is wrong or behind: laid over it field by field. */
  readonly capabilities?: Partial<Capabilities> | undefined;
  /** Where keys are looked for. Defaults to `process.env`. */
  readonly environment?: Environment | undefined;
  /** `false` asks for the answer in one piece, for a server that cannot stream. */
  readonly stream?: boolean | undefined;
  /** Allows `http://` with a key to a host on the public network, where everybody on the way can read the key. */
  readonly allowInsecure?: boolean | undefined;
  /**
   * Corrects how a failure of this provider is classified: its code, whether it is retryable and how long to wait. It decides nothing else; the
   * runtime stays the one that retries.
   */
  readonly classifyError?: ClassifyError | undefined;
}

/** Key and address are looked at where they are read. */
export const providerOptionRules: Readonly<Record<keyof ProviderOptions, OptionRule>> = {
  apiKey: anyValue,
  baseURL: anyValue,
  headers: anObject("{ 'x-team': 'search' }"),
  fetch: aFunction,
  transport: anObjectWith('send', 'a transport with the function "send"'),
  price: aPrice,
  capabilities: someCapabilities,
  environment: anObject('process.env'),
  stream: aFlag,
  allowInsecure: aFlag,
  classifyError: aFunction,
};

/** What is known of a model without asking anybody and without a key. */
export interface ModelDescription {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly price?: Price;
  /** The environment variables in which its key is looked for. */
  readonly keyVariables: readonly string[];
  /** Names that look like it, where it is none that is known. It may exist all the same. */
  readonly nearest: readonly string[];
}

/** Makes models of one provider. */
export interface Provider<Options extends ProviderOptions = ProviderOptions> {
  /** Throws where the set-up is wrong: a key is missing, an address is none. Sends nothing. */
  (model: string, options?: Options): Model;
  readonly provider: string;
  /** What such a model takes and costs. Needs no key. */
  readonly describe: (model: string, options?: Options) => ModelDescription;
}
