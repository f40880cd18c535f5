/** Other names for the same provider, so that one table of rules serves all. */
const aliases: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  azure_openai: 'azure-openai',
  'azure-ai': 'azure-openai',
  google: 'gemini',
  'google-ai': 'gemini',
  'google-generative-ai': 'gemini',
  'google-vertex': 'vertex',
  'vertex-ai': 'vertex',
  vertex_ai: 'vertex',
  aws: 'bedrock',
  'amazon-bedrock': 'bedrock',
  mistralai: 'mistral',
  kimi: 'moonshot',
  moonshotai: 'moonshot',
  qwen: 'dashscope',
  alibaba: 'dashscope',
  glm: 'zhipu',
  zai: 'zhipu',
  'z.ai': 'zhipu',
  bigmodel: 'zhipu',
  'llama.cpp': 'llamacpp',
  'llama-cpp': 'llamacpp',
  'lm-studio': 'lmstudio',
  'hugging-face': 'huggingface',
  hf: 'huggingface',
  grok: 'xai',
  'x.ai': 'xai',
  togetherai: 'together',
  'fireworks-ai': 'fireworks',
  litellm: 'litellm-proxy',
};

/** How a person knows them. */
const displayNames: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  'azure-openai': 'Azure OpenAI',
  gemini: 'Google Gemini',
  vertex: 'Google Vertex AI',
  bedrock: 'Amazon Bedrock',
  mistral: 'Mistral',
  groq: 'Groq',
  cohere: 'Cohere',
  deepseek: 'DeepSeek',
  openrouter: 'OpenRouter',
  together: 'Together AI',
  fireworks: 'Fireworks AI',
  xai: 'xAI',
  perplexity: 'Perplexity',
  cerebras: 'Cerebras',
  moonshot: 'Moonshot AI',
  dashscope: 'Alibaba Model Studio',
  zhipu: 'Zhipu AI',
  minimax: 'MiniMax',
  siliconflow: 'SiliconFlow',
  ollama: 'Ollama',
  llamacpp: 'llama.cpp',
  vllm: 'vLLM',
  lmstudio: 'LM Studio',
  huggingface: 'Hugging Face',
  'github-copilot': 'GitHub Copilot',
  'github-models': 'GitHub Models',
  'litellm-proxy': 'the LiteLLM proxy',
  cloudflare: 'Cloudflare',
};

/** The one spelling of a provider's name that the rules use; the empty text where it is unknown. */
export function canonicalProvider(name: unknown): string {
  if (typeof name !== 'string') return '';
  const lower = name.trim().toLowerCase().slice(0, 60);
  return Object.hasOwn(aliases, lower) ? (aliases[lower] ?? lower) : lower;
}

/** The name to show to a person, or `undefined` where none is known. */
export function displayProvider(name: string | undefined): string | undefined {
  const provider = canonicalProvider(name);
  if (provider === '' || provider === 'node' || provider === 'proxy') return undefined;
  return Object.hasOwn(displayNames, provider) ? displayNames[provider] : name;
}
