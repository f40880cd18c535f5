import { printable } from '../../base/printable.ts';
import { failureTraits } from '../../errors/codes.ts';
import type { Failure } from '../../errors/failure.ts';
import { failureAtTop, failureLine, stackLines } from './failure-line.ts';
import { asTyped } from './as-typed.ts';
import type { CliIo } from '../start/io.ts';

/** One line on stderr for whatever was thrown. Returns the exit code of the failure. */
export function reportFailure(thrown: unknown, io: Pick<CliIo, 'stderr' | 'env' | 'command'>): number {
  const found = failureAtTop(thrown);
  const failure = found.hint === undefined ? found : { ...found, hint: asTyped(found.hint, io.command) };
  io.stderr.write(failureLine(failure));
  for (const problem of problemsOf(failure)) io.stderr.write(`  ${printable(problem)}\n`);
  if (failure.code === 'INTERNAL') io.stderr.write(stackLines(thrown, io.env));
  return failureTraits[failure.code].exitCode;
}

/** Where there are several, each has a line of its own. */
function problemsOf({ context }: Failure): readonly string[] {
  const { problems } = context;
  return Array.isArray(problems) && problems.length > 1 ? problems.map(String) : [];
}
