import { addressVariables } from '../address-variables.ts';

/** Where Gemini's developer API is, for models and embeddings alike. */
export const geminiOfficial = {
  url: 'https://generativelanguage.googleapis.com/v1beta',
  versionPath: '/v1beta',
  variable: addressVariables.gemini,
} as const;
