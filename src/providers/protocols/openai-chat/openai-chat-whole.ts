import { isRecord } from '../../../base/json.ts';
import type { DecodeResult } from '../../protocol.ts';
import { malformedBody } from '../decode-json.ts';
import { createChatState, finishChat, readChunk } from './openai-chat-stream.ts';
import { findProviderError, problemResult } from '../openai-problem.ts';

/** Reads an answer that came in one piece. */
export function decodeChatBody(body: unknown): DecodeResult {
  if (!isRecord(body)) return malformedBody('The answer must be a JSON object', body);
  const error = findProviderError(body);
  if (error !== undefined) return problemResult(error);
  const choices = body['choices'];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isRecord(choice)) return malformedBody('The answer has no choice', body);
  if (!isRecord(choice['message']) && !isRecord(choice['error'])) {
    return malformedBody('The choice has no message', body);
  }

  const state = createChatState();
  const read = readChunk(state, body);
  if (read.type === 'problem') return read;
  const end = finishChat(state);
  if (end.parts.length === 0) return malformedBody('The choice has no finish_reason', body);
  return { type: 'parts', parts: [...read.parts, ...end.parts] };
}
