import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** What is attempted, as the sentence "Cannot …" ends with it. */
export interface Deed {
  readonly words: string;
  /** What it is where the server does not answer in time. */
  readonly lateCode?: 'TIMEOUT' | 'SIGNAL_TIMEOUT';
}

/** Status codes of gRPC. */
const grpcCodes = {
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  /** A workflow whose task has failed, or whose worker has died at it, cannot be asked until it is through. */
  failedPrecondition: 9,
  unavailable: 14,
} as const;

/** Whatever came from Temporal's client, as an error of ours that says what could not be done. */
export function typed({ words, lateCode = 'TIMEOUT' }: Deed, error: unknown): RerailError {
  if (RerailError.isInstance(error)) return error;
  const reason = reasonOf(error);
  const { causes } = classifyFailure(error instanceof Error ? error : new Error(reason), 'durable');
  if (isLate(error))
    return RerailError.from(
      createFailure(lateCode, {
        origin: 'durable',
        message: `Cannot ${words}: Temporal did not answer in time; it may still do so (${reason})`,
        hint: 'Ask again: nothing is done twice. For a question about a run, check that a process serves this agent (agent.serve()).',
        causes,
      }),
    );
  if (hasCode(error, grpcCodes.unavailable) || isTransport(error)) return unreachable(words, error);
  return RerailError.from(
    createFailure('UNKNOWN', { origin: 'durable', message: `Cannot ${words}: ${reason}`, causes }),
  );
}

/** The same where a connection could not be made: the side that does not answer then is not there. */
export function connectError(words: string, error: unknown): RerailError {
  return isLate(error) ? unreachable(words, error) : typed({ words }, error);
}

function unreachable(words: string, error: unknown): RerailError {
  const reason = reasonOf(error);
  const { causes } = classifyFailure(error instanceof Error ? error : new Error(reason), 'durable');
  return RerailError.from(
    createFailure('NETWORK_ERROR', {
      origin: 'durable',
      message: `Cannot ${words}: Temporal's server cannot be reached (${reason})`,
      hint: 'Runs pause until it is back, and then continue automatically. Check that the server runs and that `address` is right.',
      causes,
    }),
  );
}

/** The server knows no such workflow, or none that is under way. */
export function isNotFound(error: unknown): boolean {
  return nameOf(error) === 'WorkflowNotFoundError' || hasCode(error, grpcCodes.notFound);
}

/** There is one by this id already. */
export function isStarted(error: unknown): boolean {
  return nameOf(error) === 'WorkflowExecutionAlreadyStartedError' || hasCode(error, grpcCodes.alreadyExists);
}

function isLate(error: unknown): boolean {
  if (hasCode(error, grpcCodes.failedPrecondition)) return true;
  return hasCode(error, grpcCodes.deadlineExceeded) || /deadline|timed out/i.test(reasonOf(error));
}

/** What the native part of the SDK says without a code. */
function isTransport(error: unknown): boolean {
  return (
    nameOf(error) === 'TransportError' ||
    /ECONNREFUSED|connection refused|failed to connect/i.test(reasonOf(error))
  );
}

const maxDepth = 5;

function hasCode(error: unknown, code: number, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  return Reflect.get(error, 'code') === code || hasCode(error.cause, code, depth + 1);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}
