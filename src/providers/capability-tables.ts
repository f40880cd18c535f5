// Table: what the models of each provider take. A family is looked for by name, the first that fits counts, and a model that
// fits none gets the provider's own line. Where a table is behind the world, the option `capabilities` is ahead of it.
import type { Capabilities, SamplingOption } from '../model/capabilities.ts';

/** The tables there are. One provider may have two, one for each of its APIs. */
export type CapabilityTable = keyof typeof tables;

/** What a model takes, as far as the table knows. */
export function capabilitiesOf(table: CapabilityTable, model: string): Capabilities {
  const { base, families }: Table = tables[table];
  // A fine-tuned model takes what its base takes: ft:gpt-4o-mini-2024-07-18:acme::abc123
  const name = model.toLowerCase().replace(/^ft:/, '');
  const family = families.find(({ pattern }) => pattern.test(name));
  return { ...base, ...family?.differs };
}

interface Table {
  readonly base: Capabilities;
  readonly families: readonly { readonly pattern: RegExp; readonly differs: Partial<Capabilities> }[];
}

const chatSampling: readonly SamplingOption[] = [
  'temperature',
  'topP',
  'frequencyPenalty',
  'presencePenalty',
  'stopSequences',
  'seed',
];
const plainSampling: readonly SamplingOption[] = ['temperature', 'topP', 'stopSequences'];
const claudeSampling: readonly SamplingOption[] = ['temperature', 'topP', 'topK', 'stopSequences'];
const geminiSampling: readonly SamplingOption[] = ['temperature', 'topP', 'topK', 'stopSequences', 'seed'];
const openModelSampling: readonly SamplingOption[] = [...chatSampling, 'topK'];

/** A server that speaks Chat Completions and says nothing else about itself. */
const chat: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: true,
  files: false,
  reasoningEffort: true,
  reasoningBudget: false,
  caching: 'automatic',
  sampling: chatSampling,
  continuation: 'none',
};

/** OpenAI's models since 2024 that reason by themselves. */
const openaiReasoning = /^(?:o[134](?:-|$)|codex|computer-use|gpt-[5-9](?:[.-]|$))/;
const openaiFamilies: Table['families'] = [
  // gpt-5-chat, gpt-5.1-chat-latest: the models behind ChatGPT's quick answers.
  { pattern: /^(?:gpt-[\d.]+-chat|chatgpt-)/, differs: { reasoningEffort: false } },
  { pattern: /^o1(?:-|$)|^o3-mini/, differs: { sampling: [], parallelToolCalls: false } },
  { pattern: openaiReasoning, differs: { sampling: [] } },
  // gpt-35-turbo is how deployments on Azure are called.
  {
    pattern: /^gpt-(?:3\.?5|4(?:-|$))/,
    differs: { reasoningEffort: false, structuredOutput: 'none', files: false },
  },
  { pattern: /^gpt-4/, differs: { reasoningEffort: false } },
];

const claude: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: true,
  files: true,
  reasoningEffort: true,
  // From Opus 4.7 and Sonnet 5 on, a budget, temperature, top_p and top_k are refused with 400, and so is prefill.
  reasoningBudget: false,
  caching: 'marked',
  sampling: ['stopSequences'],
  continuation: 'none',
};
/** Where a model takes only a budget, the protocol makes one of the effort. */
const claudeWithBudget: Partial<Capabilities> = {
  sampling: claudeSampling,
  reasoningBudget: true,
  continuation: 'prefill',
};

const gemini: Capabilities = {
  ...chat,
  // Gemini calls several tools at once when it likes, and nobody can ask it not to.
  parallelToolCalls: false,
  files: true,
  reasoningBudget: false,
  sampling: geminiSampling,
};

/** A server on one's own machine: what its model can do, only its owner knows. */
const local: Capabilities = { ...chat, sampling: openModelSampling, caching: 'automatic' };

const tables = {
  'openai-responses': {
    base: { ...chat, files: true, sampling: ['temperature', 'topP'] },
    families: openaiFamilies,
  },
  'openai-chat': { base: { ...chat, files: true }, families: openaiFamilies },
  anthropic: {
    base: claude,
    families: [
      // A model of somebody else behind the same API: glm, kimi, deepseek. What it takes, it says itself.
      {
        pattern: /^(?!claude-)/,
        differs: { ...claudeWithBudget, structuredOutput: 'none', continuation: 'none' },
      },
      {
        pattern: /^claude-(?:2|instant|3-(?:5|opus|sonnet|haiku))/,
        differs: {
          ...claudeWithBudget,
          reasoningBudget: false,
          reasoningEffort: false,
          structuredOutput: 'none',
        },
      },
      {
        pattern: /^claude-(?:3-7|(?:opus|sonnet)-4(?:-[01])?(?:[-@]\d{8})?$)/,
        differs: { ...claudeWithBudget, structuredOutput: 'none' },
      },
      { pattern: /^claude-(?:opus|sonnet|haiku)-4-5/, differs: claudeWithBudget },
      { pattern: /^claude-(?:opus|sonnet)-4-6/, differs: { ...claudeWithBudget, continuation: 'none' } },
    ],
  },
  gemini: {
    base: gemini,
    families: [
      {
        pattern: /^gemini-(?:1|2\.0)/,
        differs: {
          reasoningEffort: false,
          outputBesideTools: false,
          sampling: [...geminiSampling, 'frequencyPenalty', 'presencePenalty'],
        },
      },
      { pattern: /^gemini-2\.5/, differs: { reasoningBudget: true, outputBesideTools: false } },
      {
        pattern: /^gemma-/,
        differs: { reasoningEffort: false, tools: false, structuredOutput: 'none', files: false },
      },
    ],
  },
  'openai-compatible': { base: chat, families: [] },
  groq: {
    base: { ...chat, sampling: [...plainSampling, 'seed'], reasoningEffort: false, continuation: 'prefill' },
    families: [
      { pattern: /gpt-oss/, differs: { reasoningEffort: true, images: false, continuation: 'none' } },
      {
        pattern: /qwen|deepseek|r1/,
        differs: { reasoningEffort: true, images: false, continuation: 'none' },
      },
      { pattern: /^llama-3/, differs: { images: false, structuredOutput: 'none' } },
    ],
  },
  mistral: {
    // A field that Mistral does not know is refused with 422.
    base: { ...chat, reasoningEffort: false, continuation: 'prefill', caching: 'none' },
    families: [],
  },
  deepseek: {
    base: {
      ...chat,
      structuredOutput: 'none',
      parallelToolCalls: false,
      images: false,
      sampling: chatSampling.filter((option) => option !== 'seed'),
      // Only the beta address continues an answer: see presets.ts.
      continuation: 'none',
    },
    families: [{ pattern: /^deepseek-chat/, differs: { reasoningEffort: false } }],
  },
  openrouter: {
    base: { ...chat, files: true, caching: 'marked', reasoningBudget: true, sampling: openModelSampling },
    families: [
      {
        pattern: /^anthropic\/claude-(?:3|(?:opus|sonnet)-4(?:\.[015])?(?::|$)|haiku-4\.5)/,
        differs: { continuation: 'prefill', structuredOutput: 'none' },
      },
      {
        pattern: /^anthropic\/claude-(?:opus-(?:4\.[789]|5)|sonnet-5|fable|haiku-5)/,
        differs: { sampling: ['stopSequences'] },
      },
      { pattern: /^mistralai\//, differs: { continuation: 'prefill' } },
    ],
  },
  together: { base: { ...chat, sampling: openModelSampling }, families: [] },
  fireworks: { base: { ...chat, sampling: openModelSampling }, families: [] },
  xai: {
    base: { ...chat, sampling: ['temperature', 'topP', 'seed'] },
    families: [
      {
        pattern: /^grok-(?:4-0709|4$|4-latest|code)/,
        differs: { sampling: ['temperature', 'topP', 'seed'], reasoningEffort: false },
      },
      { pattern: /^grok-(?:2|3(?!-mini))/, differs: { sampling: chatSampling, reasoningEffort: false } },
    ],
  },
  cerebras: {
    base: { ...chat, images: false, sampling: [...plainSampling, 'seed'] },
    families: [{ pattern: /^llama/, differs: { reasoningEffort: false } }],
  },
  perplexity: {
    base: {
      ...chat,
      tools: false,
      parallelToolCalls: false,
      sampling: ['temperature', 'topP'],
      caching: 'none',
    },
    families: [{ pattern: /^sonar(?:-pro)?$/, differs: { reasoningEffort: false } }],
  },
  moonshot: {
    base: { ...chat, parallelToolCalls: false },
    families: [
      { pattern: /^moonshot-v1.*vision/, differs: { reasoningEffort: false } },
      { pattern: /^(?:moonshot-v1|kimi-k2(?:-|$))/, differs: { images: false, reasoningEffort: false } },
    ],
  },
  // Ollama continues a last assistant message with some templates and starts afresh with others, and does not say which.
  ollama: { base: { ...local, parallelToolCalls: false, sampling: chatSampling }, families: [] },
  lmstudio: { base: { ...local, parallelToolCalls: false }, families: [] },
  llamacpp: { base: { ...local, continuation: 'prefill' }, families: [] },
  vllm: { base: { ...local, continuation: 'prefill' }, families: [] },
} as const satisfies Record<string, Table>;
