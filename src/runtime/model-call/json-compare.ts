import { isRecord } from '../../base/json.ts';
import { boundText } from '../../base/text.ts';

/** Where two values first differ, and what stands there on either side. */
export interface JsonDifference {
  /** As in JavaScript: `.orders[3].id`; empty for the whole value. */
  readonly path: string;
  readonly left: string;
  readonly right: string;
}

/** Compares as JSON does: the order of members means nothing, and a member that is undefined is absent. */
export function firstDifference(left: unknown, right: unknown, path = ''): JsonDifference | undefined {
  if (Object.is(left, right) || left === right) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const found = firstDifference(left[index], right[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isRecord(left) || !isRecord(right)) return { path, left: showJson(left), right: showJson(right) };
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(own(left, name), own(right, name), path + memberPath(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What in a value JSON cannot hold, with its path: `.when is a Date`. Undefined where it survives a round trip. */
export function jsonFlaw(value: unknown): string | undefined {
  const open = new Set<object>();

  function visit(node: unknown, path: string): string | undefined {
    const flaw = flawOfKind(node);
    if (flaw !== undefined) return `${path === '' ? 'the value' : path} is ${flaw}`;
    if (typeof node !== 'object' || node === null) return undefined;
    if (open.has(node)) return `${path} is a cycle`;
    open.add(node);
    const found = Array.isArray(node) ? visitList(node, path) : visitMembers(node, path);
    open.delete(node);
    return found;
  }

  function visitList(list: readonly unknown[], path: string): string | undefined {
    for (let index = 0; index < list.length; index += 1) {
      const found = visit(list[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function visitMembers(node: object, path: string): string | undefined {
    if (Object.getOwnPropertySymbols(node).length > 0) return `${path} has a member named by a symbol`;
    for (const name of Object.keys(node)) {
      const found = visit(Reflect.get(node, name), path + memberPath(name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return visit(value, '');
}

const maxShownCharacters = 200;

/** A value as a short text for a message. */
export function showJson(value: unknown): string {
  // Undefined has no JSON, whatever the declared type says.
  const text = JSON.stringify(value) as string | undefined;
  return boundText(text ?? 'nothing', maxShownCharacters);
}

function own(holder: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}

function memberPath(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function flawOfKind(node: unknown): string | undefined {
  switch (typeof node) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(node) ? undefined : String(node);
    case 'object':
      return node === null || Array.isArray(node) ? undefined : flawOfObject(node);
    default:
      return node === undefined ? 'undefined' : `a ${typeof node}`;
  }
}

function flawOfObject(node: object): string | undefined {
  const prototype = Object.getPrototypeOf(node) as object | null;
  // The plain object of another realm, such as a test runner's, is plain too: above its prototype there is nothing.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) return `a ${node.constructor.name}`;
  return typeof Reflect.get(node, 'toJSON') === 'function' ? 'an object with a toJSON of its own' : undefined;
}
