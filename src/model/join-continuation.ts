import { textOf } from './message.ts';
import type { AssistantPart } from './message.ts';
import type { PartialResult } from './model.ts';

/** A continuation that begins like the text it continues is the whole answer again. Shorter texts do not show it. */
export const minOverlapCharacters = 24;

/** Joins what came before and what came now. A model that started over is taken at its word, never glued. */
export function joinContinuation<Result extends PartialResult>(base: string, partial: Result): Result {
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

/** Whether so little has come that it may still turn out to start over. */
export function mayBeginAnew(base: string, continuation: string): boolean {
  const words = continuation.trimStart();
  return words.length < minOverlapCharacters && base.trimStart().startsWith(words);
}
