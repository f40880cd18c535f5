import type { Failure } from '../errors/failure.ts';
import { defined } from '../base/defined.ts';
import type { Capabilities } from '../model/capabilities.ts';
import { checkOptions } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';
import { asPool } from '../model/key-pool.ts';
import type { Model } from '../model/model.ts';
import type { Price } from '../model/price.ts';
import { configError } from './config-error.ts';
import { readHeaders, secretsIn } from './custom-headers.ts';
import { guardModel } from './guarded-model.ts';
import { createHttpModel } from './http-model.ts';
import type { HttpModelConfig } from './http-model.ts';
import { keepSecret } from './kept-secrets.ts';
import { knownModels, nearestModels, withNearest } from './known-models.ts';
import { openEndpoints } from './open-endpoint.ts';
import type { Access, Endpoint } from './open-endpoint.ts';
import type { WireProtocol, WireTarget } from './protocol.ts';
import { providerOptionRules } from './provider-options.ts';
import type { ModelDescription, Provider, ProviderOptions } from './provider-options.ts';
import { quotaKeyOf } from './quota-key.ts';

/** What tells one provider from another. */
export interface ProviderDefinition<Options extends ProviderOptions> extends Access<Options> {
  /** The options that it takes besides those of every provider. */
  readonly ownOptions?: Readonly<Record<Exclude<keyof Options, keyof ProviderOptions>, OptionRule>>;
  /** How one of its models is spoken to. */
  readonly wire: (model: string, options: Options) => Wire;
  readonly capabilities: (model: string, options: Options) => Capabilities;
  readonly price: (model: string) => Price | undefined;
}

/** How one model is spoken to. */
export interface Wire {
  readonly protocol: WireProtocol;
  readonly dialect?: WireTarget['dialect'];
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Fresh credentials for each attempt, instead of a key. */
  readonly authorize?: HttpModelConfig['authorize'];
  /** What stands for the key in the quota key, where there is none. */
  readonly quotaSecret?: string;
}

/** Makes a provider of its definition: reads key, address and headers, and checks them when a model is made. */
export function defineProvider<Options extends ProviderOptions>(
  definition: ProviderDefinition<Options>,
): Provider<Options> {
  const { provider } = definition;
  // No option of any provider is required by its type, so none at all is an empty set of them.
  const none = {} as Options;
  const spec = { of: `${provider}()`, rules: { ...providerOptionRules, ...definition.ownOptions } };
  const describe = (model: string, options: Options = none): ModelDescription => {
    const name = checkModelName(provider, model);
    checkOptions(spec, options);
    return describeModel(definition, name, options);
  };
  return Object.assign(
    (model: string, options: Options = none) => {
      const { capabilities, price } = describe(model, options);
      const wire = definition.wire(model, options);
      const toModel = (endpoint: Endpoint): Model => {
        const headers = { ...endpoint.keyHeaders, ...readHeaders(wire.headers), ...endpoint.ownHeaders };
        const config = defined({
          provider,
          model,
          protocol: wire.protocol,
          dialect: wire.dialect,
          baseURL: endpoint.baseURL,
          headers,
          authorize: wire.authorize,
          query: wire.query,
          capabilities,
          price,
          quotaKey: quotaKeyOf({
            provider,
            baseURL: endpoint.baseURL,
            secret: endpoint.secret ?? wire.quotaSecret,
          }),
          transport: endpoint.transport,
          stream: options.stream,
          classifyError: options.classifyError,
          refine: (failure: Failure) => withNearest(failure, provider, model),
        });
        const made = guardModel(createHttpModel(config));
        // Copies of a model share this function, and nothing is sent without it.
        for (const secret of secretsIn(headers)) keepSecret(secret, made.call);
        return made;
      };
      const [first, ...rest] = openEndpoints(definition, options, 'model');
      return asPool(toModel(first), rest.map(toModel));
    },
    { provider, describe },
  );
}

const maxModelNameCharacters = 256;

function checkModelName(provider: string, model: unknown): string {
  const example = `${provider}(${JSON.stringify(knownModels(provider)[0] ?? 'model-name')})`;
  if (typeof model !== 'string' || model.trim() === '') {
    throw configError(`A model of ${provider} needs a name: write it as in ${example}`);
  }
  if (model.length > maxModelNameCharacters || !/^[\u0021-\u007e]+$/.test(model)) {
    throw configError(
      `The name of a model of ${provider} must be up to ${maxModelNameCharacters} characters of plain ASCII without spaces: write it as in ${example}`,
    );
  }
  return model;
}

function describeModel<Options extends ProviderOptions>(
  definition: ProviderDefinition<Options>,
  name: string,
  options: Options,
): ModelDescription {
  const { provider, keyVariables } = definition;
  const known = definition.price(name);
  return defined({
    provider,
    name,
    capabilities: { ...definition.capabilities(name, options), ...defined(options.capabilities ?? {}) },
    price: options.price === undefined ? known : checkPrice(options.price, provider),
    keyVariables,
    // A name with a date after it is known by its price.
    nearest: known !== undefined || knownModels(provider).includes(name) ? [] : nearestModels(provider, name),
  });
}

function checkPrice(price: Price, provider: string): Price {
  const wrong = (['inputUsd', 'outputUsd', 'cacheReadUsd', 'cacheWriteUsd'] as const).find(
    (field) => price[field] !== undefined && !(Number.isFinite(price[field]) && price[field] >= 0),
  );
  if (wrong === undefined) return price;
  throw configError(
    `The option "price" of ${provider} has ${String(price[wrong])} as "${wrong}": write dollars for a million tokens, such as 2.5`,
  );
}
