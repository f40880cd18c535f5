import type { Json } from '../../base/json.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** What a failure of a store says. */
export interface StorageErrorDetails {
  readonly message: string;
  readonly hint: string;
  readonly retryable?: boolean;
  readonly context?: Readonly<Record<string, Json>>;
  readonly cause?: unknown;
}

/** A failure of a store, to throw. */
export function storageError(code: FailureCode, { cause, ...details }: StorageErrorDetails): RerailError {
  const failure = createFailure(code, { origin: 'storage', ...details });
  return cause === undefined ? RerailError.from(failure) : RerailError.from(failure, { cause });
}
