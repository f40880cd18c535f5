import type { CallRequest, PersonRequest } from '../../agent/run-outcome.ts';
import { printable } from '../../base/printable.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { usageError } from '../text/usage-error.ts';

/** What is shown and typed of a call's hash. */
function shortHash({ hash }: Pick<CallRequest, 'hash'>): string {
  return hash.slice(0, shownCharacters);
}

const shownCharacters = 12;
const leastCharacters = 8;

/** ` --call 3f9c21ab40de`, or nothing for a question that is about no call. */
export function callFlag(request: PersonRequest): string {
  return 'hash' in request ? ` --call ${shortHash(request)}` : '';
}

/** Holds the call that was typed against the one that is asked about. Throws where they differ. */
export function checkCall(runId: string, request: CallRequest, typed: unknown): void {
  const hash = typeof typed === 'string' ? typed.trim().toLowerCase() : '';
  if (hash.length < leastCharacters)
    throw usageError({
      message: `--call must be the hash of a call, or its first ${leastCharacters} or more characters`,
      hint: `The call that is asked about is ${shortHash(request)}`,
    });
  if (request.hash.toLowerCase().startsWith(hash)) return;
  throw RerailError.from(
    createFailure('INVALID_STATE', {
      origin: 'agent',
      message: `The run "${runId}" asks about the call ${shortHash(request)} of "${printable(request.tool)}", not about ${printable(hash)}: nothing was answered`,
      hint: 'Look at what it asks now, and decide about that.',
      context: { runId, hash: request.hash },
    }),
  );
}
