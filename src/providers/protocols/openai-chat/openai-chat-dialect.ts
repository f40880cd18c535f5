import type { WireTarget } from '../../protocol.ts';

/** Where servers that speak Chat Completions differ. Every flag is optional; the defaults suit most servers. */
export interface OpenaiChatDialect {
  /** `false` asks for the answer in one piece. Default: a stream. */
  readonly stream?: boolean;
  /** `false` leaves `stream_options` out, for servers that refuse it. They then may not tell their usage. */
  readonly streamOptions?: boolean;
  /** Default `max_tokens`; OpenAI itself wants `max_completion_tokens`. */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens';
  /** Default `system`. */
  readonly systemRole?: 'system' | 'developer';
  /** Default `seed`; Mistral wants `random_seed`. */
  readonly seedField?: 'seed' | 'random_seed';
  /**
   * How thinking is asked for. Default `reasoning_effort` (OpenAI, Groq, xAI …); `reasoning` is OpenRouter's object, `thinking`
   * that of DeepSeek, Zhipu and Moonshot, `enable_thinking` Qwen's switch with its budget, `chat_template_kwargs` vLLM's.
   */
  readonly reasoningField?:
    'reasoning_effort' | 'reasoning' | 'thinking' | 'enable_thinking' | 'chat_template_kwargs';
  /** The field in which reasoning is sent back, for servers that want it. Default: it is not sent back. */
  readonly reasoningBack?: 'reasoning_content' | 'reasoning';
  /**
   * How a broken answer is continued: `prefix` marks the last message (Mistral, DeepSeek), `continue_final_message` is vLLM's,
   * `plain` is a trailing message of the assistant (llama.cpp, OpenRouter). Default: it is not continued.
   */
  readonly continuation?: 'prefix' | 'continue_final_message' | 'plain';
  /** `false` joins several text parts into one string, by an empty line, for servers that take no lists. */
  readonly textParts?: boolean;
  /** `true` turns `cache` on text parts into `cache_control`, as OpenRouter takes it. */
  readonly cacheControl?: boolean;
  /** `mistral`: ids of calls are nine letters and digits. Default: as OpenAI takes them. */
  readonly callIds?: 'mistral';
  /** `true` marks the instructions and the conversation so far for the cache, where the model wants marks. */
  readonly promptCache?: boolean;
  /** `true` sends `cacheKey` as `prompt_cache_key`, as OpenAI takes it. */
  readonly promptCacheKey?: boolean;
}

/** The dialect of a target. A flag that this protocol does not know is left alone. */
export function chatDialectOf(target: WireTarget): OpenaiChatDialect {
  return target.dialect;
}
