import { isRecord } from '../base/json.ts';
import type { JsonSchema } from '../model/request.ts';
import { flowError } from './flow-error.ts';
import type { FlowGraph } from './flow-types.ts';

/** Schemas by node, as far as they are known. */
export interface KnownSchemas {
  readonly outputs: Readonly<Record<string, JsonSchema | undefined>>;
  readonly accepts: Readonly<Record<string, JsonSchema>>;
}

/**
 * Throws a `FlowError` where what a node gives can never be what the next one takes: another type, or a property that is
 * required and not there. What a schema leaves open is checked when the flow runs.
 */
export function checkAccepts(graph: FlowGraph, { outputs, accepts }: KnownSchemas): void {
  for (const { name, before } of graph.nodes) {
    if (!Object.hasOwn(accepts, name)) continue;
    const taken = accepts[name];
    for (const giver of before.flatMap((each) => standIns(graph, each))) {
      const given = Object.hasOwn(outputs, giver) ? outputs[giver] : undefined;
      const problem = taken === undefined || given === undefined ? undefined : misfit(given, taken);
      if (problem === undefined) continue;
      throw flowError(`The node "${name}" cannot take what "${giver}" gives: ${problem.why}`, {
        hint: `Change "accepts" of "${name}" or the output schema of "${giver}".`,
        context: {
          node: name,
          from: giver,
          ...(problem.property === '' ? {} : { property: problem.property }),
        },
      });
    }
  }
}

/** A node and the fallbacks that may take its place. */
function standIns({ nodes }: FlowGraph, name: string): readonly string[] {
  const found = [name];
  for (const { name: other, isFallbackOf } of nodes)
    if (isFallbackOf?.some((each) => found.includes(each)) === true) found.push(other);
  return found;
}

interface Misfit {
  readonly why: string;
  readonly property: string;
}

function misfit(given: JsonSchema, taken: JsonSchema): Misfit | undefined {
  const why = differingTypes(given, taken);
  if (why !== undefined) return { why, property: '' };
  const properties = given['properties'];
  // A schema without properties, or put together of others, may let through more than it says here.
  if (!isRecord(properties) || openEnds.some((keyword) => given[keyword] !== undefined)) return undefined;
  const required: readonly unknown[] = Array.isArray(taken['required']) ? taken['required'] : [];
  for (const property of required)
    if (typeof property === 'string' && !Object.hasOwn(properties, property))
      return { why: `"${property}" is required, and the output has no such property`, property };
  return misfitOfProperties(properties, taken['properties']);
}

const openEnds = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'];

function misfitOfProperties(given: Readonly<Record<string, unknown>>, taken: unknown): Misfit | undefined {
  if (!isRecord(taken)) return undefined;
  for (const [property, schema] of Object.entries(taken)) {
    const other = Object.hasOwn(given, property) ? given[property] : undefined;
    const why = isRecord(schema) && isRecord(other) ? differingTypes(other, schema) : undefined;
    if (why !== undefined) return { why: `of "${property}", ${why}`, property };
  }
  return undefined;
}

/** Why no value is of both. */
function differingTypes(given: JsonSchema, taken: JsonSchema): string | undefined {
  const [gives, takes] = [typesOf(given), typesOf(taken)];
  if (gives.length === 0 || takes.length === 0) return undefined;
  const isShared = gives.some((type) => takes.includes(type) || (isNumber(type) && takes.some(isNumber)));
  return isShared ? undefined : `it takes ${takes.join(' or ')}, and the output is ${gives.join(' or ')}`;
}

function typesOf({ type }: JsonSchema): readonly string[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((each) => typeof each === 'string');
}

/** A whole number is a number, and a number may be whole. */
function isNumber(type: string): boolean {
  return type === 'number' || type === 'integer';
}
