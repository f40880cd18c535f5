import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

export { quote } from './quote.ts';

/** What was wrong, without a full stop, and what to type instead. */
export interface UsageProblem {
  readonly message: string;
  readonly hint: string;
}

/** Bad input on the command line: a `CONFIG_ERROR` that ends it with one line and exit code 2. */
export function usageError({ message, hint }: UsageProblem): RerailError {
  return RerailError.from(createFailure('CONFIG_ERROR', { message, hint }));
}
