// Table: what the values of `finish_reason` mean, as OpenAI and the servers that imitate it write them.

import type { Finish, FinishReason } from '../../../model/finish.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { providerError } from '../openai-problem.ts';

/** Compared in lower case. `error` is no reason to stop but a failure of the server. */
const finishReasons = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  complete: 'stop',
  completed: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  // Mistral: the model's own context is full.
  model_length: 'length',
  tool_calls: 'tool-calls',
  tool_call: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'filtered',
  content_filtered: 'filtered',
  guardrail_intervened: 'filtered',
  safety: 'filtered',
  recitation: 'filtered',
  blocklist: 'filtered',
  prohibited_content: 'filtered',
  spii: 'filtered',
  // Zhipu.
  sensitive: 'filtered',
  refusal: 'refused',
  malformed_function_call: 'malformed-call',
  error: 'error',
  // Zhipu: the inference itself broke.
  network_error: 'error',
  // DeepSeek: the answer was broken off for want of machines.
  insufficient_system_resource: 'error',
  // vLLM and SGLang: the server dropped the request.
  abort: 'error',
} as const satisfies Record<string, FinishReason | 'error'>;

const knownReasons: ReadonlyMap<string, FinishReason | 'error'> = new Map(Object.entries(finishReasons));

/** Our word for a `finish_reason`; `other` for one that is not in the table. */
export function finishReasonOf(raw: string): FinishReason | 'error' {
  return knownReasons.get(raw) ?? knownReasons.get(raw.toLowerCase()) ?? 'other';
}

/** What the rest of the answer says about its end. */
interface Answer {
  readonly hasCalls: boolean;
  readonly isRefused: boolean;
}

/** Why the answer ended. Some servers say `stop` after tool calls, and OpenAI says it after a refusal. */
export function finishOf(raw: string, { hasCalls, isRefused }: Answer): Finish {
  const reason = finishReasonOf(raw);
  if (isRefused && reason !== 'filtered') return { reason: 'refused', raw };
  if (reason === 'stop' && hasCalls) return { reason: 'tool-calls', raw };
  return { reason: reason === 'error' ? 'other' : reason, raw };
}

/** The problem for a `finish_reason` that reports a failure without saying which. */
export function problemOfReason(raw: string): DecodeProblem {
  return providerError({
    type: 'server_error',
    message: `The server broke its answer off with the finish_reason "${raw}"`,
  });
}
