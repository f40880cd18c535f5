import type { Json } from '../../base/json.ts';

const maxDepth = 100;
const maxMembers = 200_000;

/**
 * A copy of a value that is JSON already, or nothing where any part of it is not: a Date, a NaN, a cycle, a getter that
 * throws. Nothing is converted. Members that are `undefined` are left out, as JSON does.
 */
export function copyStrictJson(value: unknown): Json | undefined {
  try {
    return copy(value, { depth: 0, budget: { members: maxMembers } });
  } catch {
    return undefined; // Not JSON, or it refused to be read, as a revoked Proxy does.
  }
}

interface Place {
  readonly depth: number;
  /** Counted down over the whole value. */
  readonly budget: { members: number };
}

function copy(value: unknown, { depth, budget }: Place): Json {
  budget.members -= 1;
  if (budget.members < 0) throw new TypeError('Not JSON');
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || depth >= maxDepth) throw new TypeError('Not JSON');
  const below: Place = { depth: depth + 1, budget };
  if (Array.isArray(value)) return Array.from(value, (member: unknown) => copy(member, below));
  if (!isPlain(value)) throw new TypeError('Not JSON');
  const result: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const member: unknown = Reflect.get(value, name);
    if (member !== undefined) result.push([name, copy(member, below)]);
  }
  return Object.fromEntries(result);
}

/** Also an object of another realm, such as a test runner's. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
