import type { Json } from '../../base/json.ts';
import type { FailureCode } from '../../errors/codes.ts';
import type { Phase } from '../../errors/failure.ts';

/** What a transport itself finds wrong, where no error of the system says it. */
export interface TransportFault {
  readonly code: FailureCode;
  readonly message: string;
  readonly retryable?: boolean;
  readonly phase?: Phase;
  readonly status?: number;
  readonly hint?: string;
  readonly context?: Readonly<Record<string, Json>>;
}

const faultKey = Symbol('transport-fault');

/** An error that knows its own meaning; `faultOf` reads it back. */
export function faultError(fault: TransportFault, options: { readonly cause?: unknown } = {}): Error {
  const error = new Error(fault.message, options);
  error.name = 'TransportError';
  Object.defineProperty(error, faultKey, { value: fault });
  return error;
}

/** The fault of an error that a transport made, or of what caused it. */
export function faultOf(thrown: unknown): TransportFault | undefined {
  if (!(thrown instanceof Error)) return undefined;
  return (thrown as { readonly [faultKey]?: TransportFault })[faultKey]; // Only `faultError` knows the symbol.
}

/** The body, or one event of it, is over its bound. Another attempt may be whole, and is bounded as this one was. */
export function tooLargeFault(what: string, maxBytes: number): TransportFault {
  return {
    code: 'INVALID_RESPONSE',
    message: `${what} is larger than ${maxBytes} bytes`,
    phase: 'body',
    hint: 'No answer of a model is that large: look at what stands between you and the provider, or raise the limit.',
    context: { maxBytes },
  };
}

/** A status that no answer has. */
export function unexpectedStatus(status: number): Error {
  return faultError({
    code: 'INVALID_RESPONSE',
    message: `The answer has the status ${status}, which is none for an answer`,
    retryable: false,
    phase: 'headers',
    hint: 'Check the base URL: something other than the API of a model provider answers there.',
  });
}
