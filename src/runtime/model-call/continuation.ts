import { minOverlapCharacters } from '../../model/join-continuation.ts';
import type { Model, ModelResponse } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import { recoveryRoutes } from '../../resilience/recovery-routes.ts';

/**
 * The text from which a broken answer can be continued by the same model, or nothing where it must be restarted: where the
 * model cannot, where it had thought or called a tool, where the answer has a schema, and where hardly anything had come.
 */
export function continuableText(model: Model, request: ModelRequest, response: ModelResponse): string {
  if (response.type === 'success' || model.capabilities.continuation !== 'prefill') return '';
  const { failure, partial } = response;
  const isBroken = recoveryRoutes[failure.code].isOutage && failure.retryable && failure.phase === 'body';
  if (!isBroken || request.output !== undefined) return '';
  if (partial.content.some((part) => part.type !== 'text' || part.signature !== undefined)) return '';
  // Servers refuse to continue from trailing space, and the model would repeat it.
  const text = dropHalfCharacter(partial.text).trimEnd();
  return text.length < minOverlapCharacters ? '' : text;
}

/** A stream may break between the two halves of a character, and no server can continue from there. */
function dropHalfCharacter(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
