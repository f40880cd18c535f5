import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/**
 * A failure as an error that the AI SDK knows and does not retry: Rerail has done what could be done. The failure itself is
 * its `cause`. A cancelled call is an `AbortError`, which the AI SDK takes for what it is.
 */
export function toAiSdkError(failure: Failure): Error {
  const error = new Error(failure.message, { cause: RerailError.from(failure) });
  if (failure.code === 'CANCELLED') return Object.assign(error, { name: 'AbortError' });
  return Object.assign(error, {
    name: 'AI_APICallError',
    // The AI SDK knows its errors by these marks of the global registry, not by their class.
    [Symbol.for('vercel.ai.error')]: true,
    [Symbol.for('vercel.ai.error.AI_APICallError')]: true,
    url: '',
    // The prompt has no place in an error.
    requestBodyValues: {},
    statusCode: failure.provider?.statusCode,
    responseHeaders: undefined,
    responseBody: undefined,
    data: undefined,
    isRetryable: false,
  });
}
