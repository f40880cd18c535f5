import { createFailure } from './failure.ts';
import type { FailureDetails } from './failure.ts';
import { RerailError } from './rerail-error.ts';

/** What can never work, told when the thing is made or the call begins: a `ConfigError` to throw. */
export function configError(message: string, details: Partial<FailureDetails> = {}): RerailError {
  return RerailError.from(createFailure('CONFIG_ERROR', { origin: 'config', ...details, message }));
}
