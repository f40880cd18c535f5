/** Where OpenAI is, for models and embeddings alike. */
export const openaiOfficial = { url: 'https://api.openai.com/v1', versionPath: '/v1' } as const;
