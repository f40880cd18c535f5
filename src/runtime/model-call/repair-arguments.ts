import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { findInexact } from '../../model/check/exact-json.ts';
import { toStrictJson } from './lenient-json.ts';

/** Longer arguments are refused anyway. */
const maxTextCharacters = 1_000_000;

/**
 * Reads arguments that are no JSON but have exactly one reading: a code fence around them, or a harmless spelling (see
 * `toStrictJson`). Nothing where a value would have to be guessed, where something is cut off, and where something stands
 * before or behind: then the model is asked again.
 */
export function repairArguments(
  text: string,
): { readonly value: Readonly<Record<string, Json>> } | undefined {
  if (text.length > maxTextCharacters) return undefined;
  const bare = withoutFence(text);
  const strict = bare === undefined ? undefined : toStrictJson(bare);
  if (strict === undefined || findInexact(strict) !== undefined) return undefined;
  const value = JSON.parse(strict) as Json; // Written by us.
  return isArguments(value) ? { value } : undefined;
}

function isArguments(value: Json): value is Readonly<Record<string, Json>> {
  return isRecord(value);
}

const fence = '```';
const fenceOpening = /^```[ \t]*(?:json5?|jsonc|javascript|js|python|py)?[ \t]*\r?\n/i;

/** What is inside of a code fence around the whole. Nothing where a fence is open. */
function withoutFence(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith(fence)) return trimmed;
  const opening = fenceOpening.exec(trimmed)?.[0];
  if (opening === undefined || !trimmed.endsWith(fence)) return undefined;
  return trimmed.slice(opening.length, -fence.length);
}
