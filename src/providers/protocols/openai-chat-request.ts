import { defined } from '../../base/defined.ts';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../../model/request.ts';
import type { WireRequest, WireTarget } from '../protocol.ts';
import { chatDialectOf } from './openai-chat-dialect.ts';
import type { OpenaiChatDialect } from './openai-chat-dialect.ts';
import { toChatMessages } from './openai-chat-messages.ts';
import { withProviderOptions } from './provider-options.ts';

/** The request in the words of Chat Completions. The provider's own options come last and win. */
export function buildChatRequest(request: ModelRequest, target: WireTarget): WireRequest {
  const dialect = chatDialectOf(target);
  const body = {
    model: target.model,
    messages: toChatMessages(request, dialect),
    ...streamFields(dialect),
    ...toolFields(request),
    ...samplingFields(request, dialect),
    ...reasoningFields(request, dialect),
    ...outputFields(request),
    ...continuationFields(request, dialect),
    ...(dialect.promptCacheKey === true ? defined({ prompt_cache_key: request.cacheKey }) : {}),
  };
  const options = request.providerOptions?.[target.provider];
  return { path: '/chat/completions', body: withProviderOptions(body, options, joinedFields) };
}

/** Of these, the provider's options replace only the settings that they name. */
const joinedFields = ['stream_options', 'reasoning', 'thinking', 'chat_template_kwargs'];

function streamFields({ stream, streamOptions }: OpenaiChatDialect): object {
  if (stream === false) return { stream: false };
  return streamOptions === false
    ? { stream: true }
    : { stream: true, stream_options: { include_usage: true } };
}

/** Servers refuse an empty list of tools, and the other two fields without one. */
function toolFields({ tools = [], toolChoice, parallelToolCalls }: ModelRequest): object {
  if (tools.length === 0) return {};
  return defined({
    tools: tools.map(toTool),
    tool_choice: toToolChoice(toolChoice),
    parallel_tool_calls: parallelToolCalls,
  });
}

function toTool({ name, description, parameters, strict }: ToolDefinition): object {
  return { type: 'function', function: defined({ name, description, parameters, strict }) };
}

function toToolChoice(choice: ToolChoice | undefined): unknown {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice;
}

function samplingFields(request: ModelRequest, dialect: OpenaiChatDialect): object {
  return defined({
    [dialect.maxTokensField ?? 'max_tokens']: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    stop: request.stopSequences,
    [dialect.seedField ?? 'seed']: request.seed,
  });
}

type Reasoning = NonNullable<ModelRequest['reasoning']>;

const reasoningForms = {
  reasoning_effort: ({ effort }) => ({ reasoning_effort: effort }),
  // Of the two the server takes only one; the budget is the more exact.
  reasoning: ({ effort, budgetTokens }) => ({
    reasoning: defined(
      budgetTokens === undefined
        ? { effort, enabled: effort === undefined ? true : undefined }
        : { max_tokens: budgetTokens },
    ),
  }),
  thinking: ({ effort }) => ({ thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } }),
  enable_thinking: ({ effort, budgetTokens }) => ({
    enable_thinking: effort !== 'none',
    thinking_budget: budgetTokens,
  }),
  chat_template_kwargs: ({ effort }) => ({ chat_template_kwargs: { enable_thinking: effort !== 'none' } }),
} as const satisfies Record<
  NonNullable<OpenaiChatDialect['reasoningField']>,
  (reasoning: Reasoning) => object
>;

function reasoningFields({ reasoning }: ModelRequest, { reasoningField }: OpenaiChatDialect): object {
  return reasoning === undefined
    ? {}
    : defined(reasoningForms[reasoningField ?? 'reasoning_effort'](reasoning));
}

function outputFields({ output }: ModelRequest): object {
  if (output === undefined) return {};
  const { name, schema, strict } = output;
  return { response_format: { type: 'json_schema', json_schema: defined({ name, schema, strict }) } };
}

function continuationFields({ continueFrom }: ModelRequest, { continuation }: OpenaiChatDialect): object {
  if (continueFrom === undefined || continuation !== 'continue_final_message') return {};
  return { continue_final_message: true, add_generation_prompt: false };
}
