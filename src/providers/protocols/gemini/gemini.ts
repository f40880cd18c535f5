import type { WireProtocol } from '../../protocol.ts';
import { toGeminiRequest } from './gemini-request.ts';
import { createGeminiDecoder, decodeGeminiBody } from './gemini-stream.ts';

/**
 * Google's Gemini API, as the developer API and Vertex speak it. Its dialect:
 *
 * - `thinkingLevel`: whether the model belongs to the third generation or a later one: an effort is then sent as a level
 *   and not as a budget, and calls of other models carry the signature that lets them pass. Told from the name if absent.
 * - `callIds: false`: the server knows no ids of function calls.
 * - `stream: false`: the answer is asked for in one piece.
 *
 * `providerOptions` win over whole fields, in `generationConfig` over single settings.
 */
export const gemini: WireProtocol = {
  name: 'gemini',
  request: toGeminiRequest,
  stream: createGeminiDecoder,
  whole: decodeGeminiBody,
};
