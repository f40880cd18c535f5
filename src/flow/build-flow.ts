import { isRecord } from '../base/json.ts';
import { flowError } from './flow-error.ts';
import { checkNodeName, joinShapes } from './flow-shape.ts';
import type { FlowEdges, FlowShape } from './flow-types.ts';

/** Only for the compiler: no value has it. */
declare const namesOfShape: unique symbol;

/** A shape of which the compiler knows the names. */
export type NamedShape<Name extends string> = FlowShape & { readonly [namesOfShape]?: Name };

/** Edges of which the compiler knows the names. */
export type NamedEdges<Name extends string> = FlowEdges & { readonly [namesOfShape]?: Name };

/** A flow in code, for these agents: a name that is not among them is an error of the compiler. */
export type FlowFor<Agents extends object> =
  NamedShape<Extract<keyof Agents, string>> | NamedEdges<Extract<keyof Agents, string>>;

/** What a flow is made of: a name, or what `node`, `sequence` and `parallel` made. */
export type FlowPart = string | NamedShape<string>;

/** The names in a part of a flow. */
export type NamesOf<Part> = Part extends string
  ? Part
  : Part extends { readonly [namesOfShape]?: infer Name }
    ? Extract<Name, string>
    : never;

/** One node: what a name alone says too. */
export function node<const Name extends string>(name: Name): NamedShape<Name> {
  checkNodeName(name);
  return { type: 'node', name };
}

/**
 * One after the other: `sequence('a', parallel('b', 'c'))` says what `a >> (b | c)` says.
 *
 * @example flow(sequence('triage', parallel('research', 'pricing'), 'writer'), { agents });
 */
export function sequence<const Parts extends readonly FlowPart[]>(
  ...parts: Parts
): NamedShape<NamesOf<Parts[number]>> {
  return joined('sequence', parts);
}

/** Side by side. */
export function parallel<const Parts extends readonly FlowPart[]>(
  ...parts: Parts
): NamedShape<NamesOf<Parts[number]>> {
  return joined('parallel', parts);
}

/**
 * A flow by its edges, for what `>>` and `|` cannot say: each pair is a node and one that comes directly after it.
 *
 * @example flow(graph([['a', 'c'], ['b', 'c'], ['b', 'd']]), { agents });
 */
export function graph<const Edges extends readonly (readonly [string, string])[]>(
  edges: Edges,
): NamedEdges<Edges[number][number]> {
  return { type: 'graph', edges };
}

function joined(type: 'sequence' | 'parallel', parts: readonly FlowPart[]): FlowShape {
  if (parts.length === 0)
    throw flowError(`${type}() is empty: name at least one node`, {
      hint: `Such as ${type}('research', 'writer').`,
    });
  return joinShapes(
    type,
    parts.map((part) => shapeOf(type, part)),
  );
}

const types: ReadonlySet<unknown> = new Set(['sequence', 'parallel']);

function shapeOf(type: string, part: unknown): FlowShape {
  if (typeof part === 'string') return node(part);
  if (isRecord(part) && (part['type'] === 'node' || (types.has(part['type']) && Array.isArray(part['of']))))
    return part as unknown as FlowShape; // What it holds is checked by `createGraph`.
  const got = Array.isArray(part) ? 'a list: write its items one by one' : typeof part;
  throw flowError(`${type}() takes names and what node(), sequence() and parallel() made, got ${got}`, {
    hint: isRecord(part) ? 'Give the name of the agent in "agents", not the agent.' : undefined,
  });
}
