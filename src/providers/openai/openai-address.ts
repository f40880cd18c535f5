import { addressVariables } from '../address-variables.ts';

/** Where OpenAI is, for models and embeddings alike. */
export const openaiOfficial = {
  url: 'https://api.openai.com/v1',
  versionPath: '/v1',
  variable: addressVariables.openai,
} as const;
