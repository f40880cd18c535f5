import { defined } from '../../base/defined.ts';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../../model/request.ts';
import { dialectOf, joinOptions } from './dialects.ts';
import { familyOf } from './language-model.ts';
import type { AiSdkRecord, CheckedModel } from './language-model.ts';
import { toPrompt } from './to-prompt.ts';

/** A request in the AI SDK's words, or what of it cannot be said in them. */
export type MappedRequest =
  | { readonly type: 'mapped'; readonly callOptions: AiSdkRecord }
  | { readonly type: 'refused'; readonly problems: readonly string[] };

/** Says a request in the words of the model's specification. Headers are the provider package's own affair. */
export function toCallOptions(request: ModelRequest, model: CheckedModel): MappedRequest {
  const problems = [...findProblems(request, model)];
  const prompt = [...toPrompt(request.messages, model, problems), ...toContinuation(request)];
  if (problems.length > 0) return { type: 'refused', problems };
  const { tools, output } = request;
  const callOptions = defined({
    prompt,
    tools: tools === undefined || tools.length === 0 ? undefined : tools.map((tool) => toTool(tool, model)),
    toolChoice: toToolChoice(request),
    responseFormat:
      output === undefined ? undefined : { type: 'json', schema: output.schema, name: output.name },
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    stopSequences: request.stopSequences === undefined ? undefined : [...request.stopSequences],
    seed: request.seed,
    reasoning: model.version === 'v4' ? request.reasoning?.effort : undefined,
    providerOptions: toPackageOptions(request, model),
  });
  return { type: 'mapped', callOptions };
}

/** What capabilities that were promised too freely would let through, and nothing would carry. */
function findProblems(request: ModelRequest, model: CheckedModel): readonly string[] {
  const dialect = dialectOf(model);
  const { effort, budgetTokens } = request.reasoning ?? {};
  const cannot = (field: string): string =>
    `"${field}" has no field in the AI SDK for ${familyOf(model)}; say it in providerOptions`;
  return [
    ...(request.parallelToolCalls !== undefined && dialect.parallelToolCalls === undefined
      ? [cannot('parallelToolCalls')]
      : []),
    ...(effort !== undefined && model.version !== 'v4' && dialect.effort === undefined
      ? [cannot('reasoning.effort')]
      : []),
    ...(budgetTokens !== undefined && dialect.budget === undefined ? [cannot('reasoning.budgetTokens')] : []),
  ];
}

/** A last message of the assistant's is continued by the models that can be asked to. */
function toContinuation({ continueFrom }: ModelRequest): readonly AiSdkRecord[] {
  if (continueFrom === undefined) return [];
  return [{ role: 'assistant', content: [{ type: 'text', text: continueFrom }] }];
}

function toTool(
  { name, description, parameters, strict }: ToolDefinition,
  { version }: CheckedModel,
): AiSdkRecord {
  return {
    type: 'function',
    name,
    inputSchema: parameters,
    ...defined({ description, strict: version === 'v2' ? undefined : strict }),
  };
}

/** Without tools there is nothing to choose, and some packages refuse the choice. */
function toToolChoice({ tools, toolChoice }: ModelRequest): AiSdkRecord | undefined {
  if (toolChoice === undefined || tools === undefined || tools.length === 0) return undefined;
  return typeof toolChoice === 'string'
    ? { type: toolChoice satisfies Extract<ToolChoice, string> }
    : { type: 'tool', toolName: toolChoice.name };
}

function toPackageOptions(request: ModelRequest, model: CheckedModel): AiSdkRecord | undefined {
  const dialect = dialectOf(model);
  const { parallelToolCalls, reasoning, providerOptions } = request;
  return joinOptions([
    parallelToolCalls === undefined ? undefined : dialect.parallelToolCalls?.(parallelToolCalls),
    reasoning?.effort === undefined || model.version === 'v4'
      ? undefined
      : dialect.effort?.(reasoning.effort),
    reasoning?.budgetTokens === undefined ? undefined : dialect.budget?.(reasoning.budgetTokens),
    providerOptions,
  ]);
}
