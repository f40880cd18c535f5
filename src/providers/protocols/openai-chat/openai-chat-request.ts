import { defined } from '../../../base/defined.ts';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../../../model/request.ts';
import type { WireRequest, WireTarget } from '../../protocol.ts';
import { chatDialectOf } from './openai-chat-dialect.ts';
import type { OpenaiChatDialect } from './openai-chat-dialect.ts';
import { toChatMessages } from './openai-chat-messages.ts';
import { withProviderOptions } from '../provider-options.ts';
import { toWireOutput } from '../wire-output.ts';
import { toWireTools } from '../wire-tools.ts';
import type { WireTools } from '../wire-tools.ts';

/** The request in the words of Chat Completions. The provider's own options come last and win. */
export function buildChatRequest(given: ModelRequest, target: WireTarget): WireRequest {
  const { request, notes } = toWireOutput(given, 'openai');
  const dialect = chatDialectOf(target);
  const body: Body = { model: target.model, messages: toChatMessages(request, dialect) };
  // Field by field: this stands on the way of every call, and copies of objects are what costs there.
  addStream(body, dialect);
  const offered = toWireTools(request, 'openai', notes);
  addTools(body, offered, request.parallelToolCalls);
  addSampling(body, request, dialect);
  if (request.reasoning !== undefined) Object.assign(body, reasoningFields(request.reasoning, dialect));
  if (request.output !== undefined) body['response_format'] = toResponseFormat(request.output);
  addContinuation(body, request, dialect);
  if (dialect.promptCacheKey === true && request.cacheKey !== undefined) {
    body['prompt_cache_key'] = request.cacheKey;
  }
  const options = request.providerOptions?.[target.provider];
  return {
    path: '/chat/completions',
    body: withProviderOptions(body, options, joinedFields),
    ...offered.noted,
  };
}

/** Of these, the provider's options replace only the settings that they name. */
const joinedFields = ['stream_options', 'reasoning', 'thinking', 'chat_template_kwargs'];

/** Written field by field. */
type Body = Record<string, unknown>;

function addStream(body: Body, { stream, streamOptions }: OpenaiChatDialect): void {
  body['stream'] = stream !== false;
  if (stream !== false && streamOptions !== false) body['stream_options'] = { include_usage: true };
}

/** Servers refuse an empty list of tools, and the other two fields without one. */
function addTools(
  body: Body,
  { tools, toolChoice }: WireTools,
  parallelToolCalls: boolean | undefined,
): void {
  if (tools.length === 0) return;
  body['tools'] = tools.map(toTool);
  if (toolChoice !== undefined) body['tool_choice'] = toToolChoice(toolChoice);
  if (parallelToolCalls !== undefined) body['parallel_tool_calls'] = parallelToolCalls;
}

/** A field without a value is not written, so it need not be taken out. */
function toTool({ name, description, parameters, strict }: ToolDefinition): object {
  return { type: 'function', function: { name, description, parameters, strict } };
}

function toToolChoice(choice: ToolChoice): unknown {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice;
}

const samplingNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  stopSequences: 'stop',
} as const satisfies Partial<Record<keyof ModelRequest, string>>;

const samplingOptions = Object.keys(samplingNames) as readonly (keyof typeof samplingNames)[]; // Object.keys loses the key type.

function addSampling(body: Body, request: ModelRequest, dialect: OpenaiChatDialect): void {
  const { maxOutputTokens, seed } = request;
  if (maxOutputTokens !== undefined) body[dialect.maxTokensField ?? 'max_tokens'] = maxOutputTokens;
  for (const option of samplingOptions) {
    if (request[option] !== undefined) body[samplingNames[option]] = request[option];
  }
  if (seed !== undefined) body[dialect.seedField ?? 'seed'] = seed;
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

function reasoningFields(reasoning: Reasoning, { reasoningField }: OpenaiChatDialect): object {
  return defined(reasoningForms[reasoningField ?? 'reasoning_effort'](reasoning));
}

function toResponseFormat({ name, schema, strict }: NonNullable<ModelRequest['output']>): object {
  return { type: 'json_schema', json_schema: defined({ name, schema, strict }) };
}

function addContinuation(
  body: Body,
  { continueFrom }: ModelRequest,
  { continuation }: OpenaiChatDialect,
): void {
  if (continueFrom === undefined || continuation !== 'continue_final_message') return;
  body['continue_final_message'] = true;
  body['add_generation_prompt'] = false;
}
