/**
 * Looks at values that may be hostile: getters that throw, Proxies, revoked ones, circular chains, frozen objects.
 * Nothing here throws.
 */

/** A property, or `undefined` where it is absent or refuses to be read. */
export function readProperty(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined; // A getter or a Proxy threw: to us the property does not exist.
  }
}

/** A property that is a text with something in it. */
export function readText(value: unknown, key: string): string | undefined {
  const property = readProperty(value, key);
  return typeof property === 'string' && property !== '' ? property : undefined;
}

/** Like `instanceof`, where a Proxy may refuse the question. */
export function isInstanceOf<T>(value: unknown, type: abstract new (...given: never[]) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false; // A revoked Proxy is nobody's instance.
  }
}

/** Like `Array.isArray`, with the same caution. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false; // A revoked Proxy again.
  }
}

/** The text of something thrown, whatever it is. */
export function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown === '' ? 'an empty text was thrown' : thrown;
  if (thrown === null || thrown === undefined) return `${String(thrown)} was thrown`;
  const message = readText(thrown, 'message');
  if (message !== undefined) return message;
  if (typeof thrown === 'object' || typeof thrown === 'function') {
    const code = readText(thrown, 'code');
    return `${nameOf(thrown) ?? 'an object'}${code === undefined ? '' : ` ${code}`} without a message was thrown`;
  }
  const primitive = thrown as number | bigint | boolean | symbol; // All that is left; `unknown` does not narrow so far.
  return `${String(primitive)} was thrown`;
}

/** The name of an error: its own, or that of its class. */
export function nameOf(thrown: unknown): string | undefined {
  return readText(thrown, 'name') ?? readText(readProperty(thrown, 'constructor'), 'name');
}

const maxChain = 8;

/** The thrown value and its causes, outermost first: `cause`, the errors of an aggregate, and what SDKs call theirs. */
export function causeChain(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  const waiting: unknown[] = [thrown];
  while (waiting.length > 0 && chain.length < maxChain) {
    const current = waiting.shift();
    if (current === undefined || current === null || chain.includes(current)) continue;
    chain.push(current);
    waiting.push(...innerErrors(current));
  }
  return chain;
}

const innerKeys = ['cause', 'lastError', 'originalError', 'innerError', 'reason'] as const;

function innerErrors(value: unknown): readonly unknown[] {
  const single = innerKeys
    .map((key) => readProperty(value, key))
    .filter((inner) => typeof inner === 'object' || typeof inner === 'string');
  const several = readEntries(listOrNothing(readProperty(value, 'errors')), maxChain).map(
    ([, inner]) => inner,
  );
  return [...single, ...several];
}

function listOrNothing(value: unknown): unknown {
  return isList(value) ? value : undefined;
}

/** The own fields of an object or the items of a list, at most `max`, each read safely. Bytes have none. */
export function readEntries(value: unknown, max: number): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return keysOf(value, max).map((key) => [key, readProperty(value, key)] as const);
}

function keysOf(value: object, max: number): readonly string[] {
  try {
    if (Array.isArray(value))
      return Array.from({ length: Math.min(value.length, max) }, (_, index) => String(index));
    return Object.keys(value).slice(0, max);
  } catch {
    return []; // A Proxy that refuses to be listed.
  }
}
