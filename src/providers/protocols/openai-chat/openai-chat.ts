import type { WireProtocol } from '../../protocol.ts';
import { buildChatRequest } from './openai-chat-request.ts';
import { createChatDecoder } from './openai-chat-stream.ts';
import { decodeChatBody } from './openai-chat-whole.ts';

/**
 * OpenAI's Chat Completions, which most servers speak in one dialect or another: see `OpenaiChatDialect`.
 *
 * What makes an answer whole is its `finish_reason`; `[DONE]` alone proves nothing. Since usage comes after the reason,
 * `finished` is held back until `[DONE]` or the end of the stream.
 */
export const openaiChat: WireProtocol = {
  name: 'openai-chat',
  request: buildChatRequest,
  stream: createChatDecoder,
  whole: decodeChatBody,
};
