import { isRecord } from './json.ts';

/** Whether a listener wants to be waited for. One without types may return anything, as `(part) => list.push(part)` does. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return isRecord(value) && typeof value['then'] === 'function';
}
