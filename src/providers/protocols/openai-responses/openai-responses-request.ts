import { defined } from '../../../base/defined.ts';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../../../model/request.ts';
import type { WireRequest, WireTarget } from '../../protocol.ts';
import type { OpenaiResponsesDialect } from './openai-responses-dialect.ts';
import { toResponsesInput } from './openai-responses-input.ts';
import { withProviderOptions } from '../provider-options.ts';
import { toWireOutput } from '../wire-output.ts';
import { toWireTools } from '../wire-tools.ts';
import type { WireTools } from '../wire-tools.ts';

/** The request in the words of Responses. The provider's own options come last and win. */
export function buildResponsesRequest(given: ModelRequest, target: WireTarget): WireRequest {
  const { request, notes } = toWireOutput(given, 'openai');
  const dialect: OpenaiResponsesDialect = target.dialect;
  const offered = toWireTools(request, 'openai', notes);
  const body = {
    model: target.model,
    ...toResponsesInput(request.messages, dialect),
    stream: dialect.stream !== false,
    store: false,
    ...toolFields(offered, request.parallelToolCalls),
    ...defined({
      max_output_tokens: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      prompt_cache_key: request.cacheKey,
    }),
    ...outputFields(request),
    ...reasoningFields(request, dialect),
  };
  const options = request.providerOptions?.[target.provider];
  return { path: '/responses', body: withProviderOptions(body, options, joinedFields), ...offered.noted };
}

/** Of these, the provider's options replace only the settings that they name. */
const joinedFields = ['text', 'reasoning'];

function toolFields({ tools, toolChoice }: WireTools, parallelToolCalls: boolean | undefined): object {
  if (tools.length === 0) return {};
  return defined({
    tools: tools.map(toTool),
    tool_choice: toToolChoice(toolChoice),
    parallel_tool_calls: parallelToolCalls,
  });
}

/** Here, unlike in Chat Completions, leaving `strict` out means yes, and a schema that was not made for it is refused. */
function toTool({ name, description, parameters, strict }: ToolDefinition): object {
  return defined({ type: 'function', name, description, parameters, strict: strict ?? false });
}

function toToolChoice(choice: ToolChoice | undefined): unknown {
  return typeof choice === 'object' ? { type: 'function', name: choice.name } : choice;
}

function outputFields({ output }: ModelRequest): object {
  if (output === undefined) return {};
  const { name, schema, strict } = output;
  return { text: { format: defined({ type: 'json_schema', name, schema, strict }) } };
}

function reasoningFields({ reasoning }: ModelRequest, dialect: OpenaiResponsesDialect): object {
  if (reasoning === undefined && dialect.reasoning !== true) return {};
  const include = { include: ['reasoning.encrypted_content'] };
  if (reasoning === undefined) return include;
  const { effort } = reasoning;
  const hasSummary = dialect.reasoningSummary !== false && effort !== 'none';
  return { reasoning: defined({ effort, summary: hasSummary ? 'auto' : undefined }), ...include };
}
