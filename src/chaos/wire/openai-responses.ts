import { responseItems } from './openai-responses-items.ts';
import type { ResponseItem } from './openai-responses-items.ts';
import { countsOf } from './wire-answer.ts';
import type { WireAnswer, WireEncoder, WireEvent } from './wire-answer.ts';

/** OpenAI Responses. A stream ends with `response.completed` or `response.incomplete`; there is no [DONE]. */
export const openaiResponsesEncoder: WireEncoder = {
  json: (answer) => finishedResponse(answer, responseItems(answer)),
  events: (answer) => {
    const items = responseItems(answer);
    const { status, name } = endingOf(answer);
    const events: readonly Unnumbered[] = [
      { type: 'response.created', role: 'opening', fields: { response: pendingResponse(answer) } },
      { type: 'response.in_progress', role: 'note', fields: { response: pendingResponse(answer) } },
      ...items.flatMap(itemEvents),
      { type: name, role: 'terminal', fields: { response: { ...finishedResponse(answer, items), status } } },
    ];
    return events.map(({ type, role, fields }, index): WireEvent => {
      return { name: type, data: JSON.stringify({ type, sequence_number: index, ...fields }), role };
    });
  },
};

interface Unnumbered {
  readonly type: string;
  readonly role: WireEvent['role'];
  readonly fields: object;
}

interface Ending {
  readonly status: string;
  readonly name: string;
  readonly reason: string | undefined;
}

function endingOf({ finish, rawFinish }: WireAnswer): Ending {
  if (rawFinish !== undefined) return { status: rawFinish, name: 'response.completed', reason: undefined };
  if (finish === 'length') {
    return { status: 'incomplete', name: 'response.incomplete', reason: 'max_output_tokens' };
  }
  if (finish === 'filtered') {
    return { status: 'incomplete', name: 'response.incomplete', reason: 'content_filter' };
  }
  return { status: 'completed', name: 'response.completed', reason: undefined };
}

function pendingResponse(answer: WireAnswer): object {
  return {
    ...responseHead(answer),
    status: 'in_progress',
    incomplete_details: null,
    output: [],
    usage: null,
  };
}

function finishedResponse(answer: WireAnswer, items: readonly ResponseItem[]): object {
  const { status, reason } = endingOf(answer);
  const counts = countsOf(answer.usage);
  const usage = {
    input_tokens: counts?.input,
    input_tokens_details: { cached_tokens: counts?.none },
    output_tokens: counts?.output,
    output_tokens_details: { reasoning_tokens: counts?.none },
    total_tokens: counts?.total,
  };
  return {
    ...responseHead(answer),
    status,
    incomplete_details: reason === undefined ? null : { reason },
    output: items.map(({ whole }) => whole),
    usage: counts === undefined ? null : usage,
  };
}

function responseHead({ id, createdS, model }: WireAnswer): object {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdS,
    background: false,
    error: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
  };
}

function itemEvents(item: ResponseItem, output_index: number): readonly Unnumbered[] {
  return [
    {
      type: 'response.output_item.added',
      role: 'note',
      fields: { output_index, item: item.begun },
    },
    ...item.inner.map(({ type, isDelta, fields }): Unnumbered => {
      const place = { item_id: item.id, output_index };
      return { type, role: isDelta ? 'content' : 'note', fields: { ...place, ...fields } };
    }),
    {
      type: 'response.output_item.done',
      role: 'note',
      fields: { output_index, item: item.whole },
    },
  ];
}
