import { visible } from '../base/printable.ts';
import { flowError } from './flow-error.ts';
import type { FlowShape } from './flow-types.ts';

/** A flow is walked by functions that call themselves, and no flow written by hand is deeper. */
export const maxFlowDepth = 50;
export const maxFlowNodes = 1000;

/** What to do about a flow that is too large. */
export const divide = 'make several flows of it, for a flow can be a node of another one';

/** What a name of a node looks like: it is in texts, in the ids of runs and in `rerail show`. */
export const nodeName = /^[A-Za-z][\w-]{0,63}$/;
export const nodeNameRule =
  'a name begins with a letter and has at most 64 letters, digits, "_" and "-" in all';

/** Throws a `FlowError` for what cannot be the name of a node. */
export function checkNodeName(name: unknown): asserts name is string {
  if (typeof name === 'string' && nodeName.test(name)) return;
  const shown =
    typeof name === 'string' ? `"${visible(name.slice(0, 70))}"` : `A value of type ${typeof name}`;
  throw flowError(`${shown} cannot be the name of a node: ${nodeNameRule}`);
}

/** Joins what is at least one shape. What says the same is the same: groups of one kind are one group, and a group of one is none. */
export function joinShapes(type: 'sequence' | 'parallel', shapes: readonly FlowShape[]): FlowShape {
  const of = shapes.flatMap((shape) => (shape.type === type ? shape.of : [shape]));
  const [only] = of;
  return only !== undefined && of.length === 1 ? only : { type, of };
}
