import type { WireProtocol } from '../../protocol.ts';
import { toAnthropicRequest } from './anthropic-request.ts';
import { createAnthropicDecoder, decodeAnthropicBody } from './anthropic-stream.ts';

/**
 * Anthropic's Messages API. Its dialect:
 *
 * - `effort: true`: the model takes `output_config.effort` and decides by itself how much it thinks (`thinking.type` is
 *   `adaptive`). Without it an effort becomes a budget of tokens, and no effort means no thinking.
 * - `adaptive: false`, beside `effort`: the model takes an effort but does not know adaptive thinking.
 * - `promptCache: true`: what the next request will begin with is marked for the cache, see `markPrefix`.
 * - `stream: false`: the answer is asked for in one piece.
 *
 * `max_tokens` is what the caller allows, else 8192 tokens for the answer and as many again as the thinking may take.
 * `providerOptions` win over whole fields, in `output_config` over single settings.
 */
export const anthropicMessages: WireProtocol = {
  name: 'anthropic',
  request: toAnthropicRequest,
  stream: createAnthropicDecoder,
  whole: decodeAnthropicBody,
};
