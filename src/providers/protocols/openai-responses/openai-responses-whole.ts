import { isRecord } from '../../../base/json.ts';
import type { DecodeResult } from '../../protocol.ts';
import { malformedBody } from '../decode-json.ts';
import { findProviderError, problemResult } from '../openai-problem.ts';
import { endStatusOf, finishResponse } from './openai-responses-end.ts';
import { createResponsesState } from './openai-responses-state.ts';

/** Reads an answer that came in one piece: the response that a stream repeats in its closing event. */
export function decodeResponsesBody(body: unknown): DecodeResult {
  if (!isRecord(body)) return malformedBody('The answer must be a JSON object', body);
  const error = findProviderError(body);
  if (error !== undefined) return problemResult(error);
  const status = endStatusOf(body);
  if (status === undefined)
    return malformedBody('The response has not ended: its status is none of an end', body);
  const hasOutput = Array.isArray(body['output']);
  if (!hasOutput && (status === 'completed' || status === 'incomplete')) {
    return malformedBody('The response has no output', body);
  }

  const state = createResponsesState();
  const problem = finishResponse(state, body, status);
  const { parts } = state;
  return problem === undefined ? { type: 'parts', parts } : { type: 'problem', problem, parts };
}
