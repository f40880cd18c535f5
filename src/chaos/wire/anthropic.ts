import type { FinishReason } from '../../model/finish.ts';
import { argumentsOf, countsOf, cutText } from './wire-answer.ts';
import type { WireAnswer, WireEncoder, WireEvent } from './wire-answer.ts';

const finishWords = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  filtered: 'refusal',
  refused: 'refusal',
  'malformed-call': 'tool_use',
  interrupted: 'pause_turn',
  other: 'stop_sequence',
} as const satisfies Record<FinishReason, string>;

/** Anthropic Messages. */
export const anthropicEncoder: WireEncoder = {
  json: (answer) => ({
    ...messageHead(answer),
    content: blocksOf(answer).map(({ whole }) => whole),
    stop_reason: finishWordOf(answer),
    stop_sequence: null,
    ...usageField(answer),
  }),
  events: (answer) => {
    const blocks = blocksOf(answer).map((block, index) => blockEvents(block, index));
    const [first = [], ...rest] = blocks;
    return [
      openingEvent(answer),
      ...first.slice(0, 1),
      event({ type: 'ping' }, 'note'),
      ...first.slice(1),
      ...rest.flat(),
      ...closingEvents(answer),
    ];
  },
};

function finishWordOf(answer: WireAnswer): string {
  return answer.rawFinish ?? finishWords[answer.finish];
}

function messageHead({ id, model }: WireAnswer): object {
  return { id: `msg_01${id}`, type: 'message', role: 'assistant', model };
}

function openingEvent(answer: WireAnswer): WireEvent {
  const message = {
    ...messageHead(answer),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...usageField(answer, 1),
  };
  return event({ type: 'message_start', message }, 'opening');
}

function closingEvents(answer: WireAnswer): readonly WireEvent[] {
  const counts = countsOf(answer.usage);
  const delta = { stop_reason: finishWordOf(answer), stop_sequence: null };
  const usage = counts === undefined ? {} : { usage: { output_tokens: counts.output } };
  return [
    event({ type: 'message_delta', delta, ...usage }, 'terminal'),
    event({ type: 'message_stop' }, 'terminal'),
  ];
}

interface Block {
  readonly whole: object;
  /** As the block stands when it begins. */
  readonly empty: object;
  readonly deltas: readonly object[];
}

function blocksOf(answer: WireAnswer): readonly Block[] {
  const cut = (text: string): readonly string[] => cutText(text, answer.chunkCharacters);
  const { reasoning } = answer;
  // This provider has no field for a refusal: it is text like any other, and the stop reason says what it is.
  const text = answer.text + answer.refusal;
  const signature = Buffer.from(`chaos-signature-${answer.id}`).toString('base64');
  const thinking: Block = {
    whole: { type: 'thinking', thinking: reasoning, signature },
    empty: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...cut(reasoning).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  };
  const prose: Block = {
    whole: { type: 'text', text },
    empty: { type: 'text', text: '' },
    deltas: cut(text).map((piece) => ({ type: 'text_delta', text: piece })),
  };
  const calls = answer.toolCalls.map((call): Block => {
    const head = { type: 'tool_use', id: call.callId, name: call.name };
    return {
      // Where the arguments are bent they cannot be an object; the text itself is the honest rendering of that.
      whole: { ...head, input: call.isCutOff ? {} : (argumentsOf(call) ?? call.argumentsText) },
      empty: { ...head, input: {} },
      deltas: ['', ...cut(call.argumentsText)].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      })),
    };
  });
  return [...(reasoning === '' ? [] : [thinking]), ...(text === '' ? [] : [prose]), ...calls];
}

function blockEvents({ empty, deltas }: Block, index: number): readonly WireEvent[] {
  return [
    event({ type: 'content_block_start', index, content_block: empty }, 'note'),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta }, 'content')),
    event({ type: 'content_block_stop', index }, 'note'),
  ];
}

function event(
  data: { readonly type: string; readonly [field: string]: unknown },
  role: WireEvent['role'],
): WireEvent {
  return { name: data.type, data: JSON.stringify(data), role };
}

function usageField({ usage }: WireAnswer, outputSoFar?: number): object {
  const counts = countsOf(usage);
  if (counts === undefined) return {};
  const isCounted = usage.type === 'counted';
  return {
    usage: {
      input_tokens: counts.input,
      cache_creation_input_tokens: counts.none,
      cache_read_input_tokens: counts.none,
      output_tokens: isCounted ? (outputSoFar ?? counts.output) : counts.output,
      service_tier: 'standard',
    },
  };
}
