import { isRecord } from '../../base/json.ts';
import type { JsonSchema } from '../request.ts';

/** What a `$ref` names: the root, a place in it, or an anchor. Nothing is ever fetched. */
export function resolveReference(reference: string, root: JsonSchema): unknown {
  const hash = reference.indexOf('#');
  const address = hash === -1 ? reference : reference.slice(0, hash);
  const fragment = hash === -1 ? '' : decode(reference.slice(hash + 1));
  if (fragment === undefined) return undefined;
  if (address !== '' && address !== rootAddress(root)) return undefined;
  if (fragment === '') return root;
  return fragment.startsWith('/') ? followPointer(root, fragment) : findAnchor(root, fragment);
}

function rootAddress(root: JsonSchema): unknown {
  const address = root['$id'] ?? root['id'];
  return typeof address === 'string' ? address.replace(/#$/, '') : undefined;
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined; // A stray "%": no such place.
  }
}

function followPointer(root: JsonSchema, pointer: string): unknown {
  let current: unknown = root;
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = Reflect.get(current, name);
  }
  return current;
}

function findAnchor(node: unknown, anchor: string): unknown {
  if (isRecord(node) && node['$anchor'] === anchor) return node;
  if (typeof node !== 'object' || node === null) return undefined;
  for (const member of Object.values(node)) {
    const found: unknown = findAnchor(member, anchor);
    if (found !== undefined) return found;
  }
  return undefined;
}
