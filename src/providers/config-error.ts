import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';

/** The error of a provider that was set up wrongly. `message` is one sentence: what is wrong, and what to do. */
export function configError(message: string): RerailError {
  return RerailError.from(createFailure('CONFIG_ERROR', { origin: 'config', message }));
}

/** The error of a provider that lacks its key or its address, or has a key that cannot be one. */
export function notConfiguredError(
  message: string,
  { provider, origin }: { readonly provider: string; readonly origin: 'model' | 'embedding' },
): RerailError {
  return RerailError.from(
    createFailure('PROVIDER_NOT_CONFIGURED', { origin, message, provider: { provider } }),
  );
}
