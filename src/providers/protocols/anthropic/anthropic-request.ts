import { defined } from '../../../base/defined.ts';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../../../model/request.ts';
import type { WireRequest, WireTarget } from '../../protocol.ts';
import { createBlockContext, systemContent, turnBlocks } from './anthropic-content.ts';
import type { Block, BlockContext } from './anthropic-content.ts';
import { isAskedAgain, markPrefix } from './anthropic-prefix.ts';
import { anthropicReasoning } from './anthropic-reasoning.ts';
import { toConversation } from '../conversation.ts';
import type { Turn } from '../conversation.ts';
import { withProviderOptions } from '../provider-options.ts';
import { toWireOutput } from '../wire-output.ts';
import { toWireTools } from '../wire-tools.ts';
import type { WireTools } from '../wire-tools.ts';

type Fields = Readonly<Record<string, unknown>>;

const version = '2023-06-01';

/** The request as Anthropic's Messages API takes it; the base URL ends in `/v1`. */
export function toAnthropicRequest(given: ModelRequest, target: WireTarget): WireRequest {
  const { request, notes } = toWireOutput(given, 'anthropic');
  const { system, turns } = toConversation(request.messages);
  const context = createBlockContext(request.messages);
  const { maxTokens, thinking, effort } = anthropicReasoning(request, target.dialect);
  const format = request.output && { type: 'json_schema', schema: request.output.schema };
  const output = defined({ effort, format });
  const offered = toWireTools(request, 'anthropic', notes);
  const prompt = {
    // Before the messages: marks are handed out in the order of the prompt.
    system: systemContent(system, context),
    messages: wireMessages(turns, request.continueFrom, context),
    tools: offered.tools.length > 0 ? offered.tools.map(wireTool) : undefined,
  };
  const options = request.providerOptions?.[target.provider];
  const isCached = target.dialect['promptCache'] === true && isAskedAgain(request);
  const body = defined({
    model: target.model,
    max_tokens: maxTokens,
    ...(isCached ? markPrefix(prompt, options) : prompt),
    tool_choice: toolChoice({ ...request, ...offered }),
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    stop_sequences: request.stopSequences,
    thinking,
    output_config: Object.keys(output).length === 0 ? undefined : output,
    stream: target.dialect['stream'] !== false,
  });
  return {
    path: '/messages',
    headers: { 'anthropic-version': version },
    ...offered.noted,
    body: withProviderOptions(body, options, ['output_config']),
  };
}

/**
 * Messages with alternating roles. One that would be empty is left out, as when an assistant's message held nothing but
 * another provider's thoughts; its neighbours are then of one side and joined.
 */
function wireMessages(
  turns: readonly Turn[],
  continueFrom: string | undefined,
  context: BlockContext,
): readonly Fields[] {
  const messages: { readonly role: Turn['role']; content: readonly Block[] }[] = [];
  const add = (role: Turn['role'], content: readonly Block[]): void => {
    const last = messages.at(-1);
    if (content.length === 0) return;
    if (last?.role === role) last.content = [...last.content, ...content];
    else messages.push({ role, content });
  };
  for (const turn of turns) add(turn.role, turnBlocks(turn, context));
  // Anthropic refuses an answer to continue that ends in white space.
  const begun = continueFrom?.trimEnd() ?? '';
  if (begun !== '') add('assistant', [{ type: 'text', text: begun }]);
  return messages;
}

function wireTool({ name, description, parameters, strict }: ToolDefinition): Fields {
  return defined({ name, description, input_schema: parameters, strict: strict === true ? true : undefined });
}

function toolChoice({
  toolChoice: choice,
  parallelToolCalls,
  tools,
}: Pick<WireTools, 'tools' | 'toolChoice'> & Pick<ModelRequest, 'parallelToolCalls'>): Fields | undefined {
  const hasTools = tools.length > 0;
  const isSerial = parallelToolCalls === false && hasTools;
  if (choice === undefined && !isSerial) return undefined;
  // Without tools these ask for what happens anyway, and Anthropic refuses a choice without tools.
  if (!hasTools && (choice === 'auto' || choice === 'none')) return undefined;
  const wire = choiceOf(choice ?? 'auto');
  return isSerial && choice !== 'none' ? { ...wire, disable_parallel_tool_use: true } : wire;
}

const choices = { auto: 'auto', required: 'any', none: 'none' } as const;

function choiceOf(choice: ToolChoice): Fields {
  return typeof choice === 'string' ? { type: choices[choice] } : { type: 'tool', name: choice.name };
}
