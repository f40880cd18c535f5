import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { CliIo } from '../start/io.ts';

/** An uncaught error, as a failure. An error that is not from Rerail is a defect. */
export function failureAtTop(thrown: unknown): Failure {
  if (RerailError.isInstance(thrown)) return thrown.failure;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return createFailure('INTERNAL', {
    message: `${error.name}: ${error.message}`,
    hint: 'This is a defect in rerail. docs/cli.md says how to report it, under "If rerail itself fails"',
  });
}

/** A failure of the command line itself, as the one line that ends it: what was wrong, what to do, the code. */
export function failureLine(failure: Failure): string {
  const { message, hint, code } = printableFailure(failure);
  const stop = /[.?!]$/.test(message) ? '' : '.';
  const next = hint === undefined ? '' : ` ${hint}`;
  return `rerail: ${message}${stop}${next} (${code})\n`;
}

/** The stack of a defect, for `RERAIL_DEBUG=1` only. Empty otherwise. */
export function stackLines(thrown: unknown, env: CliIo['env']): string {
  if (env['RERAIL_DEBUG'] !== '1' || !(thrown instanceof Error)) return '';
  const lines = redact(thrown.stack ?? '').split('\n');
  return lines.map((line) => `  ${printable(line)}\n`).join('');
}
