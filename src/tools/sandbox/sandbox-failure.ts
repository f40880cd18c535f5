import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { SandboxLevel } from './sandbox.ts';

const maxSaidCharacters = 500;

/** A command that was not run, as an error to throw. */
export function notStarted(says: string): RerailError {
  return RerailError.from(
    createFailure('SANDBOX_EXECUTION_FAILED', {
      origin: 'sandbox',
      sideEffect: 'none',
      message: `The command could not be started: ${said(says)}`,
    }),
  );
}

/** What was demanded cannot be had, as an error to throw. */
export function notAvailable(
  wanted: SandboxLevel,
  { found, reasons }: { readonly found: SandboxLevel; readonly reasons: readonly string[] },
): RerailError {
  const why = reasons.length === 0 ? '' : `: ${reasons.map(said).join('; ')}`;
  return RerailError.from(
    createFailure('SANDBOX_SETUP_FAILED', {
      origin: 'sandbox',
      sideEffect: 'none',
      message: `Commands must run in a sandbox of level "${wanted}" at least, and this machine has "${found}"${why}`,
      hint: hints[found],
      context: { wanted, found, reasons: [...reasons] },
    }),
  );
}

/** What a program said, on one line and bounded. */
export function said(text: string): string {
  return boundText(printable(text), maxSaidCharacters);
}

const hints = {
  contained: 'Nothing is missing.',
  restricted: 'Install bubblewrap 0.5 or later, or let "min" be "restricted".',
  bare: 'Install bubblewrap 0.5 or later and allow user namespaces, or let "min" be "bare" and look at each command.',
  off: 'Somebody has switched the sandbox off and somebody demands it: take one of the two back.',
} as const satisfies Record<SandboxLevel, string>;
