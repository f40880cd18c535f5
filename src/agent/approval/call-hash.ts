import { canonicalJson } from '../../base/canonical-json.ts';
import { hashText } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';

/** A call as far as an approval is bound to it. */
export interface HashedCall {
  readonly name: string;
  readonly input: Json;
  /** Of the sandbox that its tool demands; absent where it demands none. */
  readonly level?: string | undefined;
}

/** What the approval of a call is bound to: the tool, its canonical arguments, and the demanded level of the sandbox. */
export function callHash(call: HashedCall): string {
  return hashText(callText(call));
}

/** The text that is hashed. */
export function callText({ name, input, level }: HashedCall): string {
  return canonicalJson(level === undefined ? [name, input] : [name, input, level]);
}
