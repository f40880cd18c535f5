import { nearestNames } from '../base/nearest.ts';
import { canonicalProvider } from '../errors/classify/provider-names.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { Model } from '../model/model.ts';
import type { Price } from '../model/price.ts';
import type { Environment } from './api-key.ts';
import { configError } from './config-error.ts';
import { knownModels } from './known-models.ts';
import type { ModelDescription, Provider, ProviderOptions } from './provider-options.ts';
import { builtInProviders } from './registry-builtin.ts';
import { unsupportedAdvice } from './registry-unsupported.ts';
import { anObject, checkOptions } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';

/** Makes a model by its name. A `Provider` is one; so is any function of the user's own. */
export type ModelFactory = ((model: string, options?: ProviderOptions) => Model) & {
  readonly describe?: Provider['describe'];
};

/** Knows providers by name and makes models of strings such as `anthropic:claude-sonnet-5`. */
export interface ModelRegistry {
  /** Adds a provider. A name that is taken throws `ALREADY_REGISTERED`, unless `replace` is set. */
  readonly register: (name: string, factory: ModelFactory, options?: { readonly replace?: boolean }) => void;
  /** The model that the string names. A model that nobody has heard of is allowed: providers add some daily. */
  readonly resolve: (id: string, options?: ProviderOptions) => Model;
  /** What such a model takes and costs, without needing a key. */
  readonly describe: (id: string, options?: ProviderOptions) => ModelDescription;
  /** The names of all providers, sorted. */
  readonly list: () => readonly string[];
}

/** What a registry begins with. */
export interface ModelRegistryOptions {
  /** Providers besides the built-in ones, by name; one with a built-in's name takes its place. */
  readonly providers?: Readonly<Record<string, ModelFactory>> | undefined;
  /** Where keys are looked for. Defaults to `process.env`. */
  readonly environment?: Environment | undefined;
  /** Prices by `provider:model`; they win over the built-in table. */
  readonly prices?: Readonly<Record<string, Price>> | undefined;
}

const maxProviders = 1000;

const registryRules: Readonly<Record<keyof ModelRegistryOptions, OptionRule>> = {
  providers: anObject('{ acme: openaiCompatible({ … }) }'),
  environment: anObject('process.env'),
  prices: anObject("{ 'acme:large': { inputUsd: 2, outputUsd: 8 } }"),
};

/** Makes a registry with the built-in providers in it. */
export function createModelRegistry(options: ModelRegistryOptions = {}): ModelRegistry {
  checkOptions({ of: 'createModelRegistry()', rules: registryRules }, options);
  const factories = new Map<string, ModelFactory>(builtInProviders);
  for (const [name, factory] of Object.entries(options.providers ?? {})) {
    factories.set(checkName(name), checkFactory(name, factory));
  }
  const list = (): readonly string[] => [...factories.keys()].toSorted();
  const find = (id: string): Found => findFactory(id, factories);
  const join = ({ name, model }: Found, given: ProviderOptions = {}): ProviderOptions => {
    const price = given.price ?? options.prices?.[`${name}:${model}`];
    const environment = given.environment ?? options.environment;
    return {
      ...given,
      ...(price === undefined ? {} : { price }),
      ...(environment === undefined ? {} : { environment }),
    };
  };
  return {
    list,
    register: (name, factory, { replace = false } = {}) => {
      checkName(name);
      if (factories.has(name) && !replace) throw takenError(name);
      if (factories.size >= maxProviders) {
        throw configError(`The registry holds ${maxProviders} providers already: register fewer`);
      }
      factories.set(name, checkFactory(name, factory));
    },
    resolve: (id, given) => {
      const found = find(id);
      return found.factory(found.model, join(found, given));
    },
    describe: (id, given) => {
      const found = find(id);
      const joined = join(found, given);
      return (
        found.factory.describe?.(found.model, joined) ?? describeMade(found.factory(found.model, joined))
      );
    },
  };
}

let shared: ModelRegistry | undefined;

/**
 * The model that a string names, by the built-in providers.
 *
 * @example resolveModel('anthropic:claude-sonnet-5')
 */
export function resolveModel(id: string, options?: ProviderOptions): Model {
  shared ??= createModelRegistry();
  return shared.resolve(id, options);
}

interface Found {
  readonly name: string;
  readonly model: string;
  readonly factory: ModelFactory;
}

/** A name may hold colons itself, as in `ollama:qwen3:8b`: the first one counts. */
function findFactory(id: unknown, factories: ReadonlyMap<string, ModelFactory>): Found {
  const text = typeof id === 'string' ? id.trim() : '';
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(0, colon)).trim();
  const model = text.slice(colon + 1).trim();
  if (name === '' || model === '') throw shapeError(text, [...factories.keys()]);
  for (const candidate of [name, name.toLowerCase(), canonicalProvider(name)]) {
    const factory = factories.get(candidate);
    if (factory !== undefined) return { name: candidate, model, factory };
  }
  throw unknownProviderError(name, [...factories.keys()]);
}

const maxShownCharacters = 80;

function shapeError(text: string, names: readonly string[]): RerailError {
  const shown = JSON.stringify(text.slice(0, maxShownCharacters));
  const example = meantId(text, names) ?? 'anthropic:claude-sonnet-5';
  return configError(`${shown} names no model: write provider and model with a colon, such as "${example}"`);
}

/** The id that somebody probably meant: a slash for the colon, or the model alone. */
function meantId(text: string, names: readonly string[]): string | undefined {
  const [, first = '', rest = ''] = /^([\w.-]+)[/ ]([\w.:/-]{1,80})$/.exec(text) ?? [];
  if (names.includes(first.toLowerCase())) return `${first.toLowerCase()}:${rest}`;
  const owner = names.find((name) => knownModels(name).includes(text));
  return owner === undefined ? undefined : `${owner}:${text}`;
}

function unknownProviderError(name: string, names: readonly string[]): RerailError {
  const advice = unsupportedAdvice(name);
  if (advice !== undefined) {
    return RerailError.from(
      createFailure('PROVIDER_NOT_SUPPORTED', {
        origin: 'model',
        message: advice,
        provider: { provider: name.slice(0, maxShownCharacters) },
      }),
    );
  }
  const nearest = nearestNames(name, names);
  const shown = JSON.stringify(name.slice(0, maxShownCharacters));
  const known = nearest.length > 0 ? `did you mean ${orList(nearest)}?` : `known are ${names.join(', ')}`;
  return RerailError.from(
    createFailure('NOT_REGISTERED', {
      origin: 'registry',
      message: `No provider is called ${shown}: ${known}`,
      hint: 'Correct the part before the colon, or register the provider first.',
      context: { provider: name.slice(0, maxShownCharacters), nearest },
    }),
  );
}

function orList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(' or ');
}

function checkName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw configError(
    `${JSON.stringify(name.slice(0, maxShownCharacters))} cannot name a provider: use up to 64 letters, digits, "-", "_" or "."`,
  );
}

function checkFactory(name: string, factory: unknown): ModelFactory {
  if (typeof factory === 'function') return factory as ModelFactory; // What it returns shows when it is asked.
  throw configError(
    `The provider "${name}" must be a function that makes models, got ${factory === null ? 'null' : typeof factory}: hand in what openaiCompatible({ name, baseURL }) returns, or (model) => …`,
  );
}

function takenError(name: string): RerailError {
  return RerailError.from(
    createFailure('ALREADY_REGISTERED', {
      origin: 'registry',
      message: `A provider called "${name}" is registered already: choose another name, or set "replace"`,
      context: { provider: name },
    }),
  );
}

/** A factory that does not describe its models is asked for one. */
function describeMade({ provider, name, capabilities, price }: Model): ModelDescription {
  return {
    provider,
    name,
    capabilities,
    ...(price === undefined ? {} : { price }),
    keyVariables: [],
    nearest: [],
  };
}
