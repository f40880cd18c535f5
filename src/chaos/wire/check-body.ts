import { isRecord } from '../../base/json.ts';
import { findHistoryProblems } from '../../model/check/check-history.ts';
import type { MindRequest } from '../../providers/simulated/mind.ts';
import { listOf } from './fields.ts';
import type { Fields } from './fields.ts';
import type { ChaosProtocol } from './wire-answer.ts';

/** What a real provider would refuse the request for, or nothing. Only what every one of them refuses. */
export function complaintAbout(
  protocol: ChaosProtocol,
  body: unknown,
  conversation: MindRequest | undefined,
): string | undefined {
  if (!isRecord(body) || conversation === undefined) return 'The body must be a JSON object';
  if (protocol !== 'gemini' && typeof body['model'] !== 'string') return 'model: Field required';
  if (protocol === 'anthropic' && !Number.isInteger(body['max_tokens'])) return 'max_tokens: Field required';
  const hasContent = conversation.messages.some(({ role }) => role !== 'system');
  if (!hasContent) return `${contentFields[protocol]}: at least one message is required`;
  // Without ids two calls of one tool cannot be told apart, and Gemini may leave them out.
  if (protocol === 'gemini' && !hasCallIds(body)) return undefined;
  const [problem] = findHistoryProblems(conversation.messages);
  return problem === undefined ? undefined : `${contentFields[protocol]}: ${problem}`;
}

const contentFields = {
  'openai-chat': 'messages',
  'openai-responses': 'input',
  anthropic: 'messages',
  gemini: 'contents',
} as const satisfies Record<ChaosProtocol, string>;

function hasCallIds(body: Fields): boolean {
  const parts = listOf(body, 'contents').flatMap((content) => listOf(content, 'parts'));
  const calls = parts.flatMap(({ functionCall }) => (isRecord(functionCall) ? [functionCall] : []));
  return calls.every(({ id }) => typeof id === 'string');
}
