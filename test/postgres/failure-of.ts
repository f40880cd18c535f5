import type { Failure } from '../../src/errors/failure.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';

/** The failure that a verb rejects with; fails where it does not. */
export async function failureOf(verb: Promise<unknown>): Promise<Failure> {
  const thrown: unknown = await verb.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (RerailError.isInstance(thrown)) return thrown.failure;
  throw new Error(`Expected a failure, got ${String(thrown)}`);
}
