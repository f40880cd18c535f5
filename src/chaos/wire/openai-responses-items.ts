import { cutText } from './wire-answer.ts';
import type { WireAnswer, WireToolCall } from './wire-answer.ts';

/** One item of a response: a message, a function call or reasoning, whole and as it is streamed. */
export interface ResponseItem {
  readonly id: string;
  readonly whole: object;
  readonly begun: object;
  readonly inner: readonly InnerEvent[];
}

export interface InnerEvent {
  readonly type: string;
  readonly isDelta: boolean;
  readonly fields: object;
}

/** Everything that the answer holds, in the order in which it is streamed. */
export function responseItems(answer: WireAnswer): readonly ResponseItem[] {
  const { reasoning, text, refusal, toolCalls } = answer;
  return [
    ...(reasoning === '' ? [] : [reasoningItem(answer)]),
    ...(text === '' && refusal === '' ? [] : [messageItem(answer)]),
    ...toolCalls.map((call, index) => callItem(call, { answer, index })),
  ];
}

function reasoningItem({ id: answerId, reasoning, chunkCharacters }: WireAnswer): ResponseItem {
  const id = `rs_${answerId}`;
  const part = { type: 'summary_text', text: reasoning };
  const place = { summary_index: 0 };
  const delta = (text: string): InnerEvent => ({
    type: 'response.reasoning_summary_text.delta',
    isDelta: true,
    fields: { ...place, delta: text },
  });
  return {
    id,
    begun: { id, type: 'reasoning', summary: [] },
    whole: { id, type: 'reasoning', summary: [part] },
    inner: [
      note('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }),
      ...cutText(reasoning, chunkCharacters).map(delta),
      note('response.reasoning_summary_text.done', { ...place, text: reasoning }),
      note('response.reasoning_summary_part.done', { ...place, part }),
    ],
  };
}

function messageItem(answer: WireAnswer): ResponseItem {
  const id = `msg_${answer.id}`;
  const head = { id, type: 'message', role: 'assistant' };
  const parts = [
    ...(answer.text === '' ? [] : [textContent(answer)]),
    ...(answer.refusal === '' ? [] : [refusalContent(answer)]),
  ];
  return {
    id,
    begun: { ...head, status: 'in_progress', content: [] },
    whole: {
      ...head,
      status: answer.finish === 'length' ? 'incomplete' : 'completed',
      content: parts.map(({ whole }) => whole),
    },
    inner: parts.flatMap(({ empty, whole, deltas, done }, content_index) => [
      note('response.content_part.added', { content_index, part: empty }),
      ...deltas.map((event) => ({ ...event, fields: { content_index, ...event.fields } })),
      note(done.type, { content_index, ...done.fields }),
      note('response.content_part.done', { content_index, part: whole }),
    ]),
  };
}

interface Content {
  readonly empty: object;
  readonly whole: object;
  readonly deltas: readonly InnerEvent[];
  readonly done: InnerEvent;
}

function textContent({ text, chunkCharacters }: WireAnswer): Content {
  const whole = { type: 'output_text', annotations: [], logprobs: [], text };
  return {
    empty: { ...whole, text: '' },
    whole,
    deltas: cutText(text, chunkCharacters).map((delta) => ({
      type: 'response.output_text.delta',
      isDelta: true,
      fields: { delta, logprobs: [] },
    })),
    done: note('response.output_text.done', { text, logprobs: [] }),
  };
}

function refusalContent({ refusal, chunkCharacters }: WireAnswer): Content {
  const whole = { type: 'refusal', refusal };
  return {
    empty: { ...whole, refusal: '' },
    whole,
    deltas: cutText(refusal, chunkCharacters).map((delta) => ({
      type: 'response.refusal.delta',
      isDelta: true,
      fields: { delta },
    })),
    done: note('response.refusal.done', { refusal }),
  };
}

interface CallPlace {
  readonly answer: WireAnswer;
  readonly index: number;
}

function callItem(call: WireToolCall, { answer, index }: CallPlace): ResponseItem {
  const id = `fc_${answer.id}${index}`;
  const head = { id, type: 'function_call', call_id: call.callId, name: call.name };
  const { argumentsText } = call;
  return {
    id,
    begun: { ...head, status: 'in_progress', arguments: '' },
    whole: { ...head, status: call.isCutOff ? 'incomplete' : 'completed', arguments: argumentsText },
    inner: [
      ...cutText(argumentsText, answer.chunkCharacters).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        isDelta: true,
        fields: { delta },
      })),
      // A call that was cut off has no end of its own.
      ...(call.isCutOff
        ? []
        : [note('response.function_call_arguments.done', { arguments: argumentsText, name: call.name })]),
    ],
  };
}

function note(type: string, fields: object): InnerEvent {
  return { type, isDelta: false, fields };
}
