import { flowError } from './flow-error.ts';

/** What must come directly before each node; every name that occurs is a key. */
export type Before = ReadonlyMap<string, readonly string[]>;

/**
 * The names in an order in which each stands after all that come before it, otherwise as written. Throws a `FlowError` that
 * names the cycle where there is none. Takes time linear in nodes and edges.
 */
export function orderNodes(before: Before): readonly string[] {
  const walk: Walk = { before, path: new Set(), done: new Set() };
  for (const name of before.keys()) visit(walk, name);
  return [...walk.done];
}

interface Walk {
  readonly before: Before;
  /** From a node back to those before it. */
  readonly path: Set<string>;
  readonly done: Set<string>;
}

/** Calls itself at most once per node of a path, and nodes are bounded. */
function visit(walk: Walk, name: string): void {
  if (walk.done.has(name)) return;
  if (walk.path.has(name)) throw cycleError([...walk.path], name);
  walk.path.add(name);
  for (const other of walk.before.get(name) ?? []) visit(walk, other);
  walk.path.delete(name);
  walk.done.add(name);
}

/** The path was walked backwards: it is turned round, so that the sentence reads in the order of the work. */
function cycleError(path: readonly string[], name: string): Error {
  const cycle = [name, ...path.slice(path.indexOf(name)).toReversed()];
  return flowError(`The flow goes in a circle and would never end: ${showCycle(cycle)}`, {
    code: 'FLOW_CYCLE',
    hint: `Take out one of these edges, such as ["${cycle.at(-2)}", "${name}"].`,
    context: { cycle },
  });
}

const maxShown = 20;

/** `a → b → a`, of a long one both ends. */
export function showCycle(cycle: readonly string[]): string {
  if (cycle.length <= maxShown) return cycle.join(' → ');
  const half = maxShown / 2;
  const left = cycle.length - maxShown;
  return [...cycle.slice(0, half), `… ${left} more …`, ...cycle.slice(-half)].join(' → ');
}
