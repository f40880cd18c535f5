import type { Json } from './json.ts';
import { boundText } from './text.ts';

/** What stands for a part that was left out: too deep, too much, or unreadable. */
const leftOut = '[left out]';

export interface PlainJsonBounds {
  readonly maxDepth: number;
  /** Over the whole value. */
  readonly maxMembers: number;
  /** What a text may not exceed; applied to each. */
  readonly boundText: (text: string) => string;
}

/**
 * Copies any value as plain JSON. What JSON cannot hold is written as text (`NaN`, a bigint) or left out (a function,
 * `undefined`); what refuses to be read, lies too deep or is one too many becomes `[left out]`. Never throws.
 */
export function toPlainJson(value: unknown, bounds: PlainJsonBounds): Json {
  return copy(value, { bounds, depth: 0, budget: { members: bounds.maxMembers } });
}

interface Place {
  readonly bounds: PlainJsonBounds;
  readonly depth: number;
  /** Counted down over the whole value. */
  readonly budget: { members: number };
}

const maxNameLength = 200;

function copy(value: unknown, place: Place): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return place.bounds.boundText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || place.depth >= place.bounds.maxDepth) return leftOut;
  try {
    return copyMembers(value, { ...place, depth: place.depth + 1 });
  } catch {
    return leftOut; // A getter or a Proxy threw.
  }
}

function copyMembers(value: object, place: Place): Json {
  if (Array.isArray(value)) return copyList(value, place);
  const result: Record<string, Json> = {};
  for (const name of Object.keys(value)) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
    // A name is taken whole or not at all: half of it might be half a secret.
    if (name.length > maxNameLength) continue;
    if (!take(place)) break;
    define(result, name, copy(member, place));
  }
  return result;
}

function copyList(list: readonly unknown[], place: Place): Json {
  const result: Json[] = [];
  for (const member of list) {
    if (!take(place)) break;
    result.push(copy(member, place));
  }
  return result;
}

function take({ budget }: Place): boolean {
  budget.members -= 1;
  return budget.members >= 0;
}

/** Bounds each text and all of them together, and freezes the whole. For JSON that is already plain and redacted. */
export function boundAndFreeze(
  value: Json,
  bounds: { readonly maxTextLength: number; readonly maxTotalLength: number },
): Json {
  const budget = { characters: bounds.maxTotalLength };
  const visit = (node: Json): Json => {
    if (typeof node === 'string') {
      budget.characters -= Math.min(node.length, bounds.maxTextLength);
      return budget.characters < 0 ? leftOut : boundText(node, bounds.maxTextLength);
    }
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return Object.freeze(node.map((member: Json) => visit(member)));
    const result: Record<string, Json> = {};
    for (const [name, member] of Object.entries(node)) define(result, name, visit(member));
    return Object.freeze(result);
  };
  return visit(value);
}

/** Defined, not assigned: a member called `__proto__` must stay a member. */
function define(target: Record<string, Json>, name: string, value: Json): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
}
