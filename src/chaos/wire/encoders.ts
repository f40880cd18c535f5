import { anthropicEncoder } from './anthropic.ts';
import { geminiEncoder } from './gemini.ts';
import { openaiChatEncoder } from './openai-chat.ts';
import { openaiResponsesEncoder } from './openai-responses.ts';
import type { ChaosProtocol, WireEncoder } from './wire-answer.ts';

/** How each protocol writes an answer. */
export const wireEncoders = {
  'openai-chat': openaiChatEncoder,
  'openai-responses': openaiResponsesEncoder,
  anthropic: anthropicEncoder,
  gemini: geminiEncoder,
} as const satisfies Record<ChaosProtocol, WireEncoder>;
