import type { Json } from './json.ts';

const maxDepth = 12;
const maxMembers = 200;
const maxTextLength = 4000;
const leftOut = '[left out]';

/**
 * Copies any value as plain, bounded JSON. What JSON cannot hold is written as text (`NaN`, a bigint) or left out (a
 * function, `undefined`); what refuses to be read, lies too deep or is one too many becomes `[left out]`. Never throws.
 */
export function toPlainJson(value: unknown): Json {
  return copy(value, { depth: 0, budget: { members: maxMembers } });
}

interface Place {
  readonly depth: number;
  /** Counted down over the whole value. */
  readonly budget: { members: number };
}

function copy(value: unknown, place: Place): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.length > maxTextLength ? value.slice(0, maxTextLength) : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return leftOut;
  if (place.depth >= maxDepth) return leftOut;
  try {
    return copyMembers(value, { ...place, depth: place.depth + 1 });
  } catch {
    return leftOut; // A getter or a Proxy threw.
  }
}

function copyMembers(value: object, place: Place): Json {
  if (Array.isArray(value))
    return value
      .slice(0, maxMembers)
      .filter(() => take(place))
      .map((member) => copy(member, place));
  const entries = Object.entries(value)
    .filter(
      ([, member]) => member !== undefined && typeof member !== 'function' && typeof member !== 'symbol',
    )
    .filter(() => take(place))
    .map(([name, member]) => [name, copy(member, place)] as const);
  return Object.fromEntries(entries);
}

function take({ budget }: Place): boolean {
  budget.members -= 1;
  return budget.members >= 0;
}
