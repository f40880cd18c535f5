import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';

/** The chaos was asked for in a way that cannot be meant; nothing was started. */
export function chaosConfigError(message: string, hint: string): RerailError {
  return RerailError.from(createFailure('CONFIG_ERROR', { origin: 'config', message, hint }));
}
