/** Other names for the same provider, in lower case without separators, so that one table of rules serves all. */
const aliases: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  azureai: 'azure-openai',
  azureopenai: 'azure-openai',
  azurefoundry: 'azure-openai',
  aifoundry: 'azure-openai',
  google: 'gemini',
  googleai: 'gemini',
  googleaistudio: 'gemini',
  googlegenai: 'gemini',
  googlegenerativeai: 'gemini',
  generativelanguage: 'gemini',
  googlevertex: 'vertex',
  vertexai: 'vertex',
  aiplatform: 'vertex',
  aws: 'bedrock',
  amazonbedrock: 'bedrock',
  awsbedrock: 'bedrock',
  claude: 'anthropic',
  codex: 'openai',
  chatgpt: 'openai',
  mistralai: 'mistral',
  kimi: 'moonshot',
  moonshotai: 'moonshot',
  qwen: 'dashscope',
  tongyi: 'dashscope',
  bailian: 'dashscope',
  alibaba: 'dashscope',
  aliyun: 'dashscope',
  modelstudio: 'dashscope',
  glm: 'zhipu',
  zai: 'zhipu',
  zhipuai: 'zhipu',
  chatglm: 'zhipu',
  bigmodel: 'zhipu',
  minimaxi: 'minimax',
  hailuo: 'minimax',
  qianfan: 'baidu',
  ernie: 'baidu',
  wenxin: 'baidu',
  spark: 'xfyun',
  xunfei: 'xfyun',
  iflytek: 'xfyun',
  naver: 'clova',
  hyperclova: 'clova',
  clovastudio: 'clova',
  sber: 'gigachat',
  sagemaker: 'bedrock',
  llamaserver: 'llamacpp',
  hf: 'huggingface',
  hfinference: 'huggingface',
  hftgi: 'huggingface',
  tgi: 'huggingface',
  grok: 'xai',
  togetherai: 'together',
  togethercomputer: 'together',
  fireworksai: 'fireworks',
  workersai: 'cloudflare',
  litellm: 'litellm-proxy',
  litellmproxy: 'litellm-proxy',
  copilot: 'github-copilot',
  githubcopilot: 'github-copilot',
  githubmodels: 'github-models',
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
  baidu: 'Baidu Qianfan',
  xfyun: 'iFlytek Spark',
  clova: 'CLOVA Studio',
  gigachat: 'GigaChat',
};

/**
 * The one spelling of a provider's name that the rules use; the empty text where it is unknown. Prefixes of models, hosts
 * and the names of SDKs are folded too: `azure/gpt-4o`, `google.vertex.chat`, `@ai-sdk/xai`, `api.moonshot.cn`.
 */
export function canonicalProvider(name: unknown): string {
  if (typeof name !== 'string') return '';
  const lower = name.trim().toLowerCase().slice(0, 60);
  if (Object.hasOwn(displayNames, lower)) return lower;
  const whole = knownName(lower.replaceAll(/[^a-z\d]/g, ''));
  if (whole !== undefined) return whole;
  const parts = lower.split(/[^a-z\d]+/);
  const pairs = parts.flatMap((part, index) => [`${part}${parts[index + 1] ?? ''}`, part]);
  return pairs.map(knownName).find((known) => known !== undefined) ?? lower;
}

function knownName(folded: string): string | undefined {
  if (Object.hasOwn(aliases, folded)) return aliases[folded];
  return Object.hasOwn(displayNames, folded) ? folded : undefined;
}

/** The name to show to a person, or `undefined` where none is known. */
export function displayProvider(name: string | undefined): string | undefined {
  const provider = canonicalProvider(name);
  if (provider === '' || provider === 'node' || provider === 'proxy') return undefined;
  return Object.hasOwn(displayNames, provider) ? displayNames[provider] : name;
}
