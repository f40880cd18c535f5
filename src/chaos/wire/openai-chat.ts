import type { FinishReason } from '../../model/finish.ts';
import { countsOf, cutText } from './wire-answer.ts';
import type { WireAnswer, WireEncoder, WireEvent, WireUsage } from './wire-answer.ts';

const finishWords = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  filtered: 'content_filter',
  refused: 'stop',
  'malformed-call': 'tool_calls',
  interrupted: 'error',
  other: 'stop',
} as const satisfies Record<FinishReason, string>;

/** OpenAI Chat Completions. */
export const openaiChatEncoder: WireEncoder = {
  json: (answer) => ({
    id: `chatcmpl-${answer.id}`,
    object: 'chat.completion',
    created: answer.createdS,
    model: answer.model,
    choices: [{ index: 0, message: messageOf(answer), logprobs: null, finish_reason: finishWordOf(answer) }],
    ...usageField(answer.usage),
    service_tier: 'default',
    system_fingerprint: 'fp_chaos0001',
  }),
  events: (answer) => [
    chunkEvent(answer, { role: 'assistant', content: '', refusal: null }, 'opening'),
    ...contentDeltas(answer).map((delta) => chunkEvent(answer, delta, 'content')),
    finishEvent(answer),
    ...usageEvent(answer),
    { data: '[DONE]', role: 'terminal' },
  ],
};

function finishWordOf(answer: WireAnswer): string {
  return answer.rawFinish ?? finishWords[answer.finish];
}

function messageOf(answer: WireAnswer): object {
  const { text, refusal, reasoning, toolCalls } = answer;
  return {
    role: 'assistant',
    content: text === '' && (toolCalls.length > 0 || refusal !== '') ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    refusal: refusal === '' ? null : refusal,
    annotations: [],
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ callId, name, argumentsText }) => ({
            id: callId,
            type: 'function',
            function: { name, arguments: argumentsText },
          })),
        }),
  };
}

function contentDeltas(answer: WireAnswer): readonly object[] {
  const cut = (text: string): readonly string[] => cutText(text, answer.chunkCharacters);
  return [
    ...cut(answer.reasoning).map((reasoning_content) => ({ reasoning_content })),
    ...cut(answer.text).map((content) => ({ content })),
    ...cut(answer.refusal).map((refusal) => ({ refusal })),
    ...answer.toolCalls.flatMap(({ callId, name, argumentsText }, index) => [
      { tool_calls: [{ index, id: callId, type: 'function', function: { name, arguments: '' } }] },
      ...cut(argumentsText).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

function chunkEvent(answer: WireAnswer, delta: object, role: WireEvent['role']): WireEvent {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null }];
  return { data: JSON.stringify({ ...chunkHead(answer), choices, ...pendingUsage(answer) }), role };
}

function finishEvent(answer: WireAnswer): WireEvent {
  const choices = [{ index: 0, delta: {}, logprobs: null, finish_reason: finishWordOf(answer) }];
  const data = JSON.stringify({ ...chunkHead(answer), choices, ...pendingUsage(answer) });
  return { data, role: 'terminal' };
}

function usageEvent(answer: WireAnswer): readonly WireEvent[] {
  if (!answer.wantsStreamUsage || answer.usage.type === 'missing') return [];
  const data = JSON.stringify({ ...chunkHead(answer), choices: [], ...usageField(answer.usage) });
  return [{ data, role: 'terminal' }];
}

function chunkHead({ id, createdS, model }: WireAnswer): object {
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created: createdS,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_chaos0001',
  };
}

/** Whoever asked for usage finds an empty field in every chunk but the last. */
function pendingUsage({ wantsStreamUsage }: WireAnswer): object {
  return wantsStreamUsage ? { usage: null } : {};
}

function usageField(usage: WireUsage): object {
  const counts = countsOf(usage);
  if (counts === undefined) return {};
  return {
    usage: {
      prompt_tokens: counts.input,
      completion_tokens: counts.output,
      total_tokens: counts.total,
      prompt_tokens_details: { cached_tokens: counts.none, audio_tokens: counts.none },
      completion_tokens_details: { reasoning_tokens: counts.none, audio_tokens: counts.none },
    },
  };
}
