import { aFlag, anyValue, aText } from '../../model/check/check-options.ts';
import type { Environment } from '../api-key.ts';
import { configError, notConfiguredError } from '../config-error.ts';
import { defineProvider } from '../define-provider.ts';
import type { Address } from '../open-endpoint.ts';
import { openaiCapabilities, openaiWire } from '../openai/openai.ts';
import type { OpenAIApi } from '../openai/openai.ts';
import { priceOf } from '../prices.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';

/** What `azure` takes besides what every provider takes. */
export interface AzureOptions extends ProviderOptions {
  /** The resource: the first part of `https://{resource}.openai.azure.com`. `baseURL` wins over it. */
  readonly resourceName?: string | undefined;
  /** Only for features in preview, or for an address without `/openai/v1`. */
  readonly apiVersion?: string | undefined;
  /** Defaults to `responses`. */
  readonly api?: OpenAIApi | undefined;
  /** `true` asks for summaries of the reasoning, where the subscription has them. */
  readonly reasoningSummary?: boolean | undefined;
}

/**
 * A deployment on Azure OpenAI, by its version 1 API. `model` is the name of the deployment. The key comes from
 * `AZURE_OPENAI_API_KEY`, the address from `resourceName`, `baseURL` or `AZURE_OPENAI_ENDPOINT`.
 *
 * @example azure('my-gpt-5', { resourceName: 'contoso' })
 */
export const azure: Provider<AzureOptions> = defineProvider<AzureOptions>({
  provider: 'azure',
  keyVariables: ['AZURE_OPENAI_API_KEY'],
  isKeyRequired: true,
  keyHeader: 'api-key',
  address: azureAddress,
  ownOptions: { resourceName: anyValue, apiVersion: aText, api: anyValue, reasoningSummary: aFlag },
  wire: (model, { apiVersion, ...options }) => ({
    ...openaiWire(model, options),
    ...(apiVersion === undefined ? {} : { query: { 'api-version': apiVersion } }),
  }),
  capabilities: (model, { api }) => openaiCapabilities(model, api),
  price: (model) => priceOf('openai', model),
});

function azureAddress({ baseURL, resourceName }: AzureOptions, environment: Environment): Address {
  const versionPath = '/openai/v1';
  if (baseURL !== undefined) {
    return { url: baseURL, place: 'The option "baseURL"', versionPath, isOfficial: isAzureHost(baseURL) };
  }
  if (resourceName !== undefined) {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/i.test(resourceName)) {
      throw configError(
        'The option "resourceName" of azure must be the name alone, letters, digits and "-": hand in "contoso" for https://contoso.openai.azure.com, or the whole address as "baseURL"',
      );
    }
    const url = `https://${resourceName}.openai.azure.com${versionPath}`;
    return { url, place: 'The option "resourceName"', isOfficial: true };
  }
  const endpoint = environment['AZURE_OPENAI_ENDPOINT'];
  if (endpoint !== undefined && endpoint.trim() !== '') {
    const isOfficial = isAzureHost(endpoint);
    return { url: endpoint, place: 'The address in AZURE_OPENAI_ENDPOINT', versionPath, isOfficial };
  }
  throw notConfiguredError(
    'azure has no address: hand in the option "resourceName" or "baseURL", or set AZURE_OPENAI_ENDPOINT in the environment',
    { provider: 'azure', origin: 'model' },
  );
}

function isAzureHost(url: string): boolean {
  return /^https:\/\/[\w-]+(?:\.\w+)*\.azure\.(?:com|us|cn)(?:[/:]|$)/i.test(url.trim());
}
