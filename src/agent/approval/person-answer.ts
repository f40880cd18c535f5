import type { CallRequest } from '../run-outcome.ts';

/**
 * The named fields of an answer from outside, as plain data; nothing where it is no object, or one that could answer
 * differently when it is asked again: a Proxy, a getter, something that throws. Never throws.
 */
export function readFields(
  answer: unknown,
  names: readonly string[],
): ReadonlyMap<string, unknown> | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  try {
    if (Array.isArray(answer)) return undefined;
    const fields = new Map<string, unknown>();
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(answer, name);
      if (descriptor === undefined) continue;
      if (!('value' in descriptor)) return undefined;
      if (descriptor.value !== undefined) fields.set(name, descriptor.value);
    }
    // A Proxy cannot be distinguished from its target, but it cannot be copied either.
    structuredClone(answer);
    return fields;
  } catch {
    return undefined; // What refuses to be read says nothing.
  }
}

/** The words that answer a question: a text, or one under `answer`. Nothing where there are none. */
export function readReply(answer: unknown): string | undefined {
  const text = typeof answer === 'string' ? answer : readFields(answer, ['answer'])?.get('answer');
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  return text.trim();
}

/** Whether an answer names another call than the request: by id, hash, tool or arguments. What names none fits any. */
export function isAboutOther(request: CallRequest, answer: unknown): boolean {
  if (typeof answer !== 'object') return false;
  const fields = readFields(answer, ['id', 'hash', 'tool', ...inputFields]);
  if (fields === undefined) return true;
  const differs = (name: 'id' | 'hash' | 'tool'): boolean =>
    fields.has(name) && fields.get(name) !== request[name];
  if (differs('id') || differs('hash') || differs('tool')) return true;
  return inputFields.some((name) => fields.has(name) && !isSameJson(fields.get(name), request.input));
}

const inputFields = ['input', 'args', 'arguments', 'editedInput', 'edited_args'] as const;

/** Whether two values are the same JSON, whatever the order of their members. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return isSame(one, other, 0);
}

const maxDepth = 100;

function isSame(one: unknown, other: unknown, depth: number): boolean {
  if (one === other) return true;
  if (depth > maxDepth || typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(other, name) && isSame(Reflect.get(one, name), Reflect.get(other, name), depth + 1),
  );
}
