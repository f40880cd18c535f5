import type { AssistantPart } from '../model/message.ts';
import { textOf } from '../model/message.ts';
import type { Model, ModelResponse, PartialResult } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import { recoveryRoutes } from '../resilience/recovery-routes.ts';

// A continuation that begins like the text it continues is the whole answer anew. Of shorter texts nobody could tell, and
// little is lost by starting again.
const minOverlapCharacters = 24;

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

/** A stream may break between the two halves of a character, and no server can go on from there. */
function dropHalfCharacter(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

/** Joins what came before and what came now. A server that began anew is taken at its word, never glued. */
export function joinContinuation(base: string, partial: PartialResult): PartialResult {
  if (base === '' || beginsAnew(base, partial.text)) return partial;
  const [first, ...rest] = partial.content;
  const head: AssistantPart = { type: 'text', text: base + (first?.type === 'text' ? first.text : '') };
  const content = first === undefined || first.type === 'text' ? [head, ...rest] : [head, ...partial.content];
  return { ...partial, content, text: textOf(content) };
}

/** Whether a continuation repeats the start of what it should continue. */
export function beginsAnew(base: string, continuation: string): boolean {
  const words = continuation.trimStart();
  if (words.length < minOverlapCharacters) return false;
  return base.trimStart().startsWith(words.slice(0, minOverlapCharacters));
}

/** Whether so little has come that it may still turn out to begin anew. */
export function mayBeginAnew(base: string, continuation: string): boolean {
  const words = continuation.trimStart();
  return words.length < minOverlapCharacters && base.trimStart().startsWith(words);
}
