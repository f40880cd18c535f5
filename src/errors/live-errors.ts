import type { Cause } from './failure.ts';

// The errors themselves, for a developer in the same process. A record keeps causes as data; an error lives as long as the
// cause that was read from it, and no longer.
const thrownByCause = new WeakMap<object, unknown>();

/** Remembers what a cause was read from. */
export function rememberThrown(cause: Cause, thrown: unknown): void {
  thrownByCause.set(cause, thrown);
}

/** A copy of a cause was read from the same. */
export function passOnThrown(from: unknown, to: Cause): void {
  if (typeof from === 'object' && from !== null && thrownByCause.has(from))
    thrownByCause.set(to, thrownByCause.get(from));
}

/** What a cause was read from, where that was in this process. */
export function thrownOf(cause: Cause): { readonly thrown: unknown } | undefined {
  return thrownByCause.has(cause) ? { thrown: thrownByCause.get(cause) } : undefined;
}
