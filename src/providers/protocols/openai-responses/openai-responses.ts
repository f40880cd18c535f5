import type { WireProtocol } from '../../protocol.ts';
import { buildResponsesRequest } from './openai-responses-request.ts';
import { createResponsesDecoder } from './openai-responses-stream.ts';
import { decodeResponsesBody } from './openai-responses-whole.ts';

/**
 * OpenAI's Responses, used without its memory: nothing is stored there, and the whole conversation is sent each time, its
 * encrypted reasoning included. See `OpenaiResponsesDialect`.
 *
 * The closing event (`response.completed`, `response.incomplete`) ends an answer; `[DONE]` after it means nothing.
 */
export const openaiResponses: WireProtocol = {
  name: 'openai-responses',
  request: buildResponsesRequest,
  stream: createResponsesDecoder,
  whole: decodeResponsesBody,
};
