import { isRecord } from '../../../base/json.ts';
import type { DecodeProblem, DecodeResult, StreamDecoder } from '../../protocol.ts';
import { parseEventData } from '../decode-json.ts';
import { readMarker } from '../marker.ts';
import { findProviderError, nothing, problemOfErrorEvent, problemResult } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';
import { readArgumentsDelta, readArgumentsDone } from './openai-responses-calls.ts';
import { readEnd, startResponse } from './openai-responses-end.ts';
import { readItemAdded, readItemDone } from './openai-responses-items.ts';
import { readThoughtDelta, readThoughtDone } from './openai-responses-reasoning.ts';
import { createResponsesState } from './openai-responses-state.ts';
import type { ResponsesState } from './openai-responses-state.ts';
import { readRefusalDelta, readTextDelta, readTextDone } from './openai-responses-text.ts';

/** A decoder for one stream of events. */
export function createResponsesDecoder(): StreamDecoder {
  const state = createResponsesState();
  // The closing event says all there is to say, so the end of the stream adds nothing.
  return { event: (event) => readEvent(state, event), end: () => nothing };
}

type Read = (state: ResponsesState, event: Fields) => DecodeProblem | undefined;

/** What each event means. Others (keepalives, the parts of a message, tools of the provider itself) mean nothing here. */
const readers: ReadonlyMap<unknown, Read> = new Map<unknown, Read>([
  ['response.created', readStart],
  ['response.in_progress', readStart],
  ['response.output_item.added', readItemAdded],
  ['response.output_item.done', readItemDone],
  ['response.output_text.delta', readTextDelta],
  ['response.output_text.done', readTextDone],
  ['response.refusal.delta', readRefusalDelta],
  ['response.refusal.done', readTextDone],
  ['response.reasoning_summary_text.delta', readThoughtDelta('summary')],
  ['response.reasoning_summary_text.done', readThoughtDone('summary')],
  ['response.reasoning_text.delta', readThoughtDelta('text')],
  ['response.reasoning_text.done', readThoughtDone('text')],
  ['response.function_call_arguments.delta', readArgumentsDelta],
  ['response.function_call_arguments.done', readArgumentsDone],
  ['response.completed', readEnd('completed')],
  ['response.incomplete', readEnd('incomplete')],
  ['response.failed', readEnd('failed')],
  ['response.cancelled', readEnd('cancelled')],
]);

function readEvent(
  state: ResponsesState,
  { name, data }: { readonly name: string; readonly data: string },
): DecodeResult {
  if (state.phase === 'closed' || readMarker(data) !== undefined) return nothing;
  if (name === 'error') return problemResult(problemOfErrorEvent(data));
  const parsed = parseEventData(data);
  if (parsed.type === 'problem') return problemResult(parsed.problem);
  const error = findProviderError(parsed.value);
  if (error !== undefined) return problemResult(error);
  const read = readers.get(parsed.value['type'] ?? name);
  if (read === undefined) return nothing;
  state.parts = [];
  const problem = read(state, parsed.value);
  return problem === undefined
    ? { type: 'parts', parts: state.parts }
    : { type: 'problem', problem, parts: state.parts };
}

function readStart(state: ResponsesState, event: Fields): undefined {
  const { response } = event;
  startResponse(state, isRecord(response) ? response : {});
}
