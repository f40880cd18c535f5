import type { Capabilities } from '../../model/capabilities.ts';
import { aFlag, anyValue, aText } from '../../model/check/check-options.ts';
import { capabilitiesOf } from '../capability-tables.ts';
import { configError } from '../config-error.ts';
import { defineProvider } from '../define-provider.ts';
import { addressOf } from '../open-endpoint.ts';
import type { Wire } from '../define-provider.ts';
import { priceOf } from '../prices.ts';
import { openaiChat } from '../protocols/openai-chat/openai-chat.ts';
import { openaiResponses } from '../protocols/openai-responses/openai-responses.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';
import { openaiOfficial } from './openai-address.ts';

/** Which of OpenAI's two APIs is spoken. Responses is the newer one; Chat Completions takes more sampling options. */
export type OpenAIApi = 'responses' | 'chat';

/** What `openai` takes besides what every provider takes. */
export interface OpenAIOptions extends ProviderOptions {
  /** Defaults to `responses`. */
  readonly api?: OpenAIApi | undefined;
  /** Which organisation is billed, where the key belongs to several. */
  readonly organization?: string | undefined;
  /** Which project is billed, where the key belongs to several. */
  readonly project?: string | undefined;
  /** `true` asks for summaries of the reasoning, which OpenAI gives only to verified organisations. */
  readonly reasoningSummary?: boolean | undefined;
}

/**
 * A model of OpenAI, or of a server that speaks its Responses API. The key comes from `OPENAI_API_KEY`.
 *
 * @example openai('gpt-5.2')
 * @example openai('gpt-4o', { api: 'chat' })
 */
export const openai: Provider<OpenAIOptions> = defineProvider<OpenAIOptions>({
  provider: 'openai',
  keyVariables: ['OPENAI_API_KEY'],
  isKeyRequired: true,
  keyHeader: 'bearer',
  address: (options, environment) => addressOf(options, environment, openaiOfficial),
  ownOptions: { api: anyValue, organization: aText, project: aText, reasoningSummary: aFlag },
  wire: (model, { organization, project, ...options }) => ({
    ...openaiWire(model, options),
    headers: { 'openai-organization': organization, 'openai-project': project },
  }),
  capabilities: (model, { api }) => openaiCapabilities(model, api),
  price: (model) => priceOf('openai', model),
});

const apis: readonly OpenAIApi[] = ['responses', 'chat'];

/** How OpenAI's models are spoken to, at OpenAI and at Azure. */
export function openaiWire(
  model: string,
  { api = 'responses', reasoningSummary = false }: Pick<OpenAIOptions, 'api' | 'reasoningSummary'>,
): Wire {
  const isReasoning = openaiCapabilities(model, api).sampling.length === 0;
  if (api === 'responses') {
    return { protocol: openaiResponses, dialect: { reasoning: isReasoning, reasoningSummary } };
  }
  return {
    protocol: openaiChat,
    dialect: {
      maxTokensField: 'max_completion_tokens',
      // Models that reason take instructions from the developer; older ones know only the system.
      systemRole: isReasoning ? 'developer' : 'system',
      promptCacheKey: true,
    },
  };
}

/** What OpenAI's models take by the API they are asked through. */
export function openaiCapabilities(model: string, api: OpenAIApi = 'responses'): Capabilities {
  if (!apis.includes(api)) {
    throw configError(
      `The option "api" must be "responses" or "chat", got ${JSON.stringify(api)}: leave it out for "responses"`,
    );
  }
  return capabilitiesOf(api === 'responses' ? 'openai-responses' : 'openai-chat', model);
}
