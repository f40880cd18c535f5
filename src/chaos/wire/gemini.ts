import type { FinishReason } from '../../model/finish.ts';
import { argumentsOf, countsOf, cutText } from './wire-answer.ts';
import type { WireAnswer, WireEncoder, WireEvent, WireToolCall } from './wire-answer.ts';

const finishWords = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
  refused: 'PROHIBITED_CONTENT',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
  interrupted: 'OTHER',
  other: 'FINISH_REASON_UNSPECIFIED',
} as const satisfies Record<FinishReason, string>;

/** Google Gemini. Its calls are objects, so that arguments which are no object end as MALFORMED_FUNCTION_CALL. */
export const geminiEncoder: WireEncoder = {
  json: (answer) => {
    const parts = partsOf(answer, Number.POSITIVE_INFINITY);
    return { candidates: [candidate(parts, endingOf(answer))], ...tailOf(answer) };
  },
  events: (answer) => {
    const parts = partsOf(answer, answer.chunkCharacters);
    const last = parts.at(-1);
    return [
      ...parts.slice(0, -1).map((part) => event([candidate([part], {})], answer)),
      event([candidate(last === undefined ? [] : [last], endingOf(answer))], answer, 'terminal'),
    ];
  },
};

/** Some events carry only the last words and the end together, so that the last is content and terminal at once. */
function event(candidates: readonly object[], answer: WireAnswer, role?: WireEvent['role']): WireEvent {
  return { data: JSON.stringify({ candidates, ...tailOf(answer) }), role: role ?? 'content' };
}

function candidate(parts: readonly object[], ending: object): object {
  const content = parts.length === 0 ? { role: 'model' } : { parts, role: 'model' };
  return { content, ...ending, index: 0 };
}

function endingOf(answer: WireAnswer): object {
  const bent = answer.toolCalls.find((call) => !call.isCutOff && argumentsOf(call) === undefined);
  if (bent !== undefined && answer.rawFinish === undefined) {
    const finishMessage = `Malformed function call: ${bent.name}(${bent.argumentsText})`;
    return { finishReason: finishWords['malformed-call'], finishMessage };
  }
  return { finishReason: answer.rawFinish ?? finishWords[answer.finish] };
}

function partsOf(answer: WireAnswer, characters: number): readonly object[] {
  const cut = (text: string): readonly string[] => {
    if (text === '') return [];
    return Number.isFinite(characters) ? cutText(text, characters) : [text];
  };
  return [
    ...cut(answer.reasoning).map((text) => ({ text, thought: true })),
    ...cut(answer.text + answer.refusal).map((text) => ({ text })),
    ...answer.toolCalls.flatMap((call, index) => callPart(call, { answer, isFirst: index === 0 })),
  ];
}

interface CallPlace {
  readonly answer: WireAnswer;
  readonly isFirst: boolean;
}

/** The first call of a turn carries the signature of the thoughts that led to it. */
function callPart(call: WireToolCall, { answer, isFirst }: CallPlace): readonly object[] {
  const args = argumentsOf(call);
  if (args === undefined || call.isCutOff) return [];
  const functionCall = { name: call.name, args, id: call.callId };
  if (!isFirst) return [{ functionCall }];
  return [{ functionCall, thoughtSignature: Buffer.from(`chaos-thought-${answer.id}`).toString('base64') }];
}

function tailOf(answer: WireAnswer): object {
  const counts = countsOf(answer.usage);
  const usage =
    counts === undefined
      ? {}
      : {
          usageMetadata: {
            promptTokenCount: counts.input,
            candidatesTokenCount: counts.output,
            totalTokenCount: counts.total,
            promptTokensDetails: [{ modality: 'TEXT', tokenCount: counts.input }],
          },
        };
  return { ...usage, modelVersion: answer.model, responseId: answer.id };
}
