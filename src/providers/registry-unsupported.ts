// Table: providers that are known by name and not spoken, each with the way to reach it all the same.
import { canonicalProvider, displayProvider } from '../errors/classify/provider-names.ts';

/** What to do about a provider that Rerail does not speak; nothing where the name is not known at all. */
export function unsupportedAdvice(name: string): string | undefined {
  const provider = canonicalProvider(name);
  if (!Object.hasOwn(otherWays, provider)) return undefined;
  const address = otherWays[provider];
  const shown = displayProvider(provider) ?? provider;
  const bridge = 'any AI SDK model through rerail/providers/ai-sdk';
  return address === undefined
    ? `Rerail does not speak ${shown} itself: use ${bridge}`
    : `Rerail does not speak ${shown} itself: use openaiCompatible({ name: '${provider}', baseURL: '${address}' }), or ${bridge}`;
}

/** The address at which they speak OpenAI's Chat Completions, where they do. */
const otherWays: Readonly<Record<string, string | undefined>> = {
  ai21: 'https://api.ai21.com/studio/v1',
  bedrock: 'https://bedrock-runtime.<region>.amazonaws.com/openai/v1',
  cloudflare: 'https://api.cloudflare.com/client/v4/accounts/<account>/ai/v1',
  cohere: 'https://api.cohere.ai/compatibility/v1',
  dashscope: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  databricks: 'https://<workspace>.cloud.databricks.com/serving-endpoints',
  'github-copilot': undefined,
  'github-models': 'https://models.github.ai/inference',
  huggingface: 'https://router.huggingface.co/v1',
  'litellm-proxy': 'https://<your proxy>/v1',
  minimax: 'https://api.minimax.io/v1',
  nvidia: 'https://integrate.api.nvidia.com/v1',
  replicate: undefined,
  sagemaker: undefined,
  siliconflow: 'https://api.siliconflow.cn/v1',
  watsonx: undefined,
  zhipu: 'https://api.z.ai/api/paas/v4',
};
