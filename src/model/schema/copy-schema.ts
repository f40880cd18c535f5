import { configError } from '../../errors/config-error.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { JsonSchema } from '../request.ts';
import { showPath } from './schema-visit.ts';

const maxDepth = 100;
const maxNodes = 50_000;

/** A frozen copy of a JSON Schema: what its owner does to it later changes nothing. Throws where it is no bounded plain JSON. */
export function copySchema(schema: JsonSchema, what: string): JsonSchema {
  try {
    return copy(schema, { what, path: [], budget: { nodes: maxNodes } }) as JsonSchema; // An object stays one.
  } catch (error) {
    if (RerailError.isInstance(error)) throw error;
    // A getter or a Proxy threw.
    const { failure } = configError(`Cannot read the JSON Schema of ${what}: ${String(error)}`);
    throw RerailError.from(failure, { cause: error });
  }
}

interface Place {
  readonly what: string;
  readonly path: string[];
  readonly budget: { nodes: number };
}

function copy(value: unknown, place: Place): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw notJson(place, `holds a ${typeof value}, which is no JSON`);
  place.budget.nodes -= 1;
  if (place.budget.nodes < 0) throw notJson(place, `has more than ${maxNodes} parts`);
  if (place.path.length >= maxDepth) {
    throw notJson(place, `nests more than ${maxDepth} levels deep, or holds itself (write "$ref" instead)`);
  }
  return Object.freeze(Array.isArray(value) ? copyList(value, place) : copyMembers(value, place));
}

function copyList(list: readonly unknown[], place: Place): readonly unknown[] {
  return list.map((item, index) => {
    place.path.push(String(index));
    const result = copy(item, place);
    place.path.pop();
    return result;
  });
}

function copyMembers(members: object, place: Place): object {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const member: unknown = Reflect.get(members, name);
    // As `JSON.stringify` does; makers of schemas leave such members behind.
    if (member === undefined) continue;
    place.path.push(name);
    const value = copy(member, place);
    // Defined, not assigned: a member called `__proto__` must stay a member.
    Object.defineProperty(result, name, { value, enumerable: true });
    place.path.pop();
  }
  return result;
}

function notJson({ what, path }: Place, problem: string): Error {
  return configError(`Cannot use the JSON Schema of ${what}: "${showPath(path)}" ${problem}`);
}
