import { capabilitiesOf } from '../capability-tables.ts';
import { defineProvider } from '../define-provider.ts';
import { addressOf } from '../open-endpoint.ts';
import { priceOf } from '../prices.ts';
import { gemini as geminiProtocol } from '../protocols/gemini/gemini.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';
import { geminiOfficial } from './gemini-address.ts';

/**
 * A model of Google Gemini, by its developer API. The key comes from `GEMINI_API_KEY` or `GOOGLE_API_KEY`.
 *
 * @example gemini('gemini-2.5-flash')
 */
export const gemini: Provider = defineProvider<ProviderOptions>({
  provider: 'gemini',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  isKeyRequired: true,
  keyHeader: 'x-goog-api-key',
  address: (options, environment) => addressOf(options, environment, geminiOfficial),
  wire: () => ({ protocol: geminiProtocol }),
  capabilities: (model) => capabilitiesOf('gemini', model),
  price: (model) => priceOf('gemini', model),
});
