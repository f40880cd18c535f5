import { defined } from '../../base/defined.ts';
import type { Capabilities } from '../../model/capabilities.ts';
import type { EmbeddingModel } from '../../model/embedding.ts';
import { anObject, anyValue, aText, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';
import { capabilitiesOf } from '../capability-tables.ts';
import type { CapabilityTable } from '../capability-tables.ts';
import { configError } from '../config-error.ts';
import { defineProvider } from '../define-provider.ts';
import { addressOf } from '../open-endpoint.ts';
import type { ProviderDefinition, Wire } from '../define-provider.ts';
import { createEmbeddingModel } from '../embedding-model.ts';
import type { EmbeddingOptions } from '../embedding-options.ts';
import { openaiEmbeddings } from '../embedding-protocols.ts';
import { priceOf } from '../prices.ts';
import { openaiChat } from '../protocols/openai-chat/openai-chat.ts';
import type { OpenaiChatDialect } from '../protocols/openai-chat/openai-chat-dialect.ts';
import type { OfficialAddress } from '../open-endpoint.ts';
import { providerOptionRules } from '../provider-options.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';

/** A server that speaks OpenAI's Chat Completions. */
export interface OpenAICompatibleConfig extends ProviderOptions {
  /** What it is called in failures, in the registry and in `providerOptions`. */
  readonly name: string;
  readonly baseURL: string;
  /** The environment variable of its key. Without it and without `apiKey`, no key is sent. */
  readonly keyVariable?: string | undefined;
  /** Where it differs from what most servers understand. */
  readonly dialect?: OpenaiChatDialect | undefined;
}

/** Makes chat models and embedding models of one server. */
export interface OpenAICompatibleProvider extends Provider {
  readonly embedding: (model: string, options?: EmbeddingOptions) => EmbeddingModel;
}

/**
 * Any server that speaks OpenAI's Chat Completions, as a provider. What is handed in here holds for all its models; what is
 * handed in with a model wins.
 *
 * @example const acme = openaiCompatible({ name: 'acme', baseURL: 'https://llm.acme.example/v1', apiKey });
 *          const model = acme('llama-4-70b');
 */
export function openaiCompatible(config: OpenAICompatibleConfig): OpenAICompatibleProvider {
  // A caller without types may hand in nothing.
  const given: Partial<OpenAICompatibleConfig> | undefined = config;
  checkOptions({ of: 'openaiCompatible()', rules: compatibleRules }, given ?? {});
  const { name, baseURL, keyVariable, dialect, ...shared } = given ?? {};
  if (typeof name !== 'string' || !/^[a-z0-9][\w.-]{0,63}$/i.test(name)) {
    throw configError(
      'The option "name" of openaiCompatible must be up to 64 letters, digits, "-", "_" or ".": hand in a name such as "acme"',
    );
  }
  if (baseURL === undefined) {
    throw configError(
      `The option "baseURL" of ${name} is missing: hand in the address up to its version, such as "https://host/v1"`,
    );
  }
  return createCompatible({
    name,
    url: baseURL,
    keyVariables: keyVariable === undefined ? [] : [keyVariable],
    isKeyRequired: keyVariable !== undefined,
    isOfficial: false,
    table: 'openai-compatible',
    dialect: () => dialect ?? {},
    shared: { ...shared, capabilities: { ...continuationOf(dialect), ...shared.capabilities } },
  });
}

const compatibleRules: Readonly<Record<keyof OpenAICompatibleConfig, OptionRule>> = {
  ...providerOptionRules,
  name: anyValue,
  keyVariable: aText,
  dialect: anObject("{ maxTokensField: 'max_completion_tokens' }"),
};

/** All that a compatible provider is made of. */
export interface CompatibleSetup extends Pick<OfficialAddress, 'variable'> {
  readonly name: string;
  readonly url: string;
  /** Where a bare origin means the version below it. */
  readonly versionPath?: string;
  readonly keyVariables: readonly string[];
  readonly isKeyRequired: boolean;
  /** A house of its own, where only its own keys are taken. */
  readonly isOfficial: boolean;
  readonly table: CapabilityTable;
  readonly dialect: (baseURL: string) => OpenaiChatDialect;
  /** What the address itself changes: DeepSeek continues answers only below `/beta`. */
  readonly atAddress?: (baseURL: string) => Partial<Capabilities>;
  readonly shared?: ProviderOptions;
}

/** Makes the provider; the presets use it too. */
export function createCompatible(setup: CompatibleSetup): OpenAICompatibleProvider {
  const { name, shared = {} } = setup;
  const addressFor = (options: ProviderOptions): string => options.baseURL ?? setup.url;
  const definition: ProviderDefinition<ProviderOptions> = {
    provider: name,
    keyVariables: setup.keyVariables,
    isKeyRequired: setup.isKeyRequired,
    keyHeader: 'bearer',
    address: (options, environment) => {
      const { url, versionPath, variable } = setup;
      const address = addressOf(options, environment, defined({ url, versionPath, variable }));
      return { ...address, isOfficial: setup.isOfficial && address.isOfficial };
    },
    wire: (model, options) => ({
      protocol: openaiChat,
      dialect: withPromptCache(setup.dialect(addressFor(options)), model),
    }),
    capabilities: (model, options) => ({
      ...capabilitiesOf(setup.table, model),
      ...setup.atAddress?.(addressFor(options)),
    }),
    // A server of the user's own has prices of its own, whatever it is called.
    price: (model) => (setup.isOfficial ? priceOf(name, model) : undefined),
  };
  const provider = defineProvider(definition);
  const joined = (options: ProviderOptions | undefined): ProviderOptions => joinOptions(shared, options);
  return Object.assign((model: string, options?: ProviderOptions) => provider(model, joined(options)), {
    provider: name,
    describe: (model: string, options?: ProviderOptions) => provider.describe(model, joined(options)),
    embedding: (model: string, options?: EmbeddingOptions) =>
      createEmbeddingModel(definition, model, {
        options: joinEmbeddingOptions(shared, options),
        protocol: openaiEmbeddings,
      }),
  });
}

/** What is configured for all models, less what says something about chat models alone. */
function joinEmbeddingOptions(
  { capabilities: _, ...shared }: ProviderOptions,
  options: EmbeddingOptions = {},
): EmbeddingOptions {
  return { ...shared, ...defined(options), headers: { ...shared.headers, ...options.headers } };
}

/** What is handed in with a model wins, field by field; headers and capabilities are joined. */
function joinOptions(shared: ProviderOptions, own: ProviderOptions = {}): ProviderOptions {
  return {
    ...shared,
    ...defined(own),
    headers: { ...shared.headers, ...own.headers },
    capabilities: { ...shared.capabilities, ...own.capabilities },
  };
}

/** Whoever says how an answer is continued says that it can be. */
/** Of the models behind such a server only Anthropic's want to be told what to cache. */
function withPromptCache(dialect: OpenaiChatDialect, model: string): Wire['dialect'] & object {
  const wantsMarks = dialect.cacheControl === true && model.startsWith('anthropic/');
  return { ...dialect, ...(wantsMarks && dialect.promptCache === undefined ? { promptCache: true } : {}) };
}

function continuationOf(dialect: OpenaiChatDialect | undefined): Partial<Capabilities> {
  return dialect?.continuation === undefined ? {} : { continuation: 'prefill' };
}
