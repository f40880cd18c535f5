import { defined } from '../../../base/defined.ts';
import type { ModelRequest, ReasoningEffort, ToolChoice, ToolDefinition } from '../../../model/request.ts';
import type { WireRequest, WireTarget } from '../../protocol.ts';
import { toConversation } from '../conversation.ts';
import { content, textParts, turnContents } from './gemini-content.ts';
import { geminiDialect } from './gemini-dialect.ts';
import type { GeminiDialect } from './gemini-dialect.ts';
import { withProviderOptions } from '../provider-options.ts';
import { toWireTools } from '../wire-tools.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The request as Gemini takes it; the base URL ends in the version, such as `/v1beta`. */
export function toGeminiRequest(request: ModelRequest, target: WireTarget): WireRequest {
  const dialect = geminiDialect(target);
  const { system, turns } = toConversation(request.messages);
  const systemParts = system.flatMap(({ text }) => textParts(text));
  const generationConfig = generationConfigOf(request, dialect);
  const offered = toWireTools(request, 'gemini');
  const body = defined({
    systemInstruction: systemParts.length === 0 ? undefined : { parts: systemParts },
    contents: [
      ...turns.flatMap((turn) => turnContents(turn, dialect)),
      ...content('model', textParts(request.continueFrom ?? '')),
    ],
    tools:
      offered.tools.length > 0
        ? [{ functionDeclarations: offered.tools.map(functionDeclaration) }]
        : undefined,
    toolConfig: offered.toolChoice && { functionCallingConfig: callingConfig(offered.toolChoice) },
    generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
  });
  return {
    path: `/${modelPath(target.model)}:${dialect.isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: withProviderOptions(body, request.providerOptions?.[target.provider], ['generationConfig']),
    ...offered.noted,
  };
}

/** `gemini-2.5-pro` is a model; `tunedModels/mine` and longer names say themselves what they are. */
function modelPath(model: string): string {
  const name = model.replaceAll(/[^\w.~:@/-]/gu, percentEncode);
  return name.includes('/') ? name : `models/${name}`;
}

/** Unlike `encodeURIComponent` it cannot throw, whatever the name holds. */
function percentEncode(character: string): string {
  return Buffer.from(character).reduce((text, byte) => `${text}%${byte.toString(16).padStart(2, '0')}`, '');
}

function generationConfigOf(request: ModelRequest, dialect: GeminiDialect): Fields {
  return defined({
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    stopSequences: request.stopSequences,
    seed: request.seed,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    responseMimeType: request.output && 'application/json',
    responseJsonSchema: request.output?.schema,
    thinkingConfig: thinkingConfig(request, dialect),
  });
}

/** What an effort is worth where a model takes only a budget. */
const budgetTokens = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 24_576,
} as const satisfies Record<ReasoningEffort, number>;

function thinkingConfig({ reasoning }: ModelRequest, dialect: GeminiDialect): Fields | undefined {
  const { effort, budgetTokens: budget } = reasoning ?? {};
  // One of the two, for Gemini refuses both at once; the number says more.
  if (budget !== undefined) return { includeThoughts: budget !== 0, thinkingBudget: budget };
  if (effort === undefined) return undefined;
  const includeThoughts = effort !== 'none';
  if (!dialect.isThirdGeneration) return { includeThoughts, thinkingBudget: budgetTokens[effort] };
  // The third generation cannot be kept from thinking; this is the least it offers.
  return { includeThoughts, thinkingLevel: effort === 'none' ? 'minimal' : effort };
}

function functionDeclaration({ name, description, parameters }: ToolDefinition): Fields {
  return defined({ name, description, parametersJsonSchema: parameters });
}

const modes = { auto: 'AUTO', required: 'ANY', none: 'NONE' } as const;

function callingConfig(choice: ToolChoice): Fields {
  return typeof choice === 'string'
    ? { mode: modes[choice] }
    : { mode: 'ANY', allowedFunctionNames: [choice.name] };
}
