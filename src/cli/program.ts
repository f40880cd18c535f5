import type { CliIo } from './start/io.ts';
import { commands } from './specs/commands.ts';
import { renderCommandHelp, renderHelp } from './text/help-text.ts';
import { createScreen } from './text/layout.ts';
import { parseCommandLine } from './start/parse-command-line.ts';
import type { Refusal } from './start/parse-command-line.ts';
import { safeSink } from './text/safe-sink.ts';

/** Runs one command line, without the names of node and the script. Returns the exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], given: CliIo): Promise<number> {
  const io = { ...given, stdout: safeSink(given.stdout), stderr: safeSink(given.stderr) };
  try {
    return await dispatch(argv, io);
  } catch (thrown) {
    return reportThrown(thrown, io);
  }
}

/** Ends with one line on stderr, whatever was thrown. Returns the exit code of the failure. */
export async function reportThrown(
  thrown: unknown,
  io: Pick<CliIo, 'stderr' | 'env' | 'command'>,
): Promise<number> {
  const { reportFailure } = await import('./text/report-failure.ts');
  return reportFailure(thrown, io);
}

/** Whatever is not needed to show help is loaded only where it is needed. */
async function dispatch(argv: readonly string[], io: CliIo): Promise<number> {
  const asked = await parse(argv);
  switch (asked.type) {
    case 'version':
      io.stdout.write(`${io.version}\n`);
      return 0;
    case 'help':
      io.stdout.write(helpFor(asked.words, io));
      return 0;
    default: {
      const run = await asked.spec.load();
      return run(asked.given, io);
    }
  }
}

async function parse(argv: readonly string[]): Promise<ReturnType<typeof parseCommandLine>> {
  try {
    return parseCommandLine(argv, commands);
  } catch (error) {
    const refusal = error instanceof Error ? error.cause : undefined;
    if (!isRefusal(refusal)) throw error;
    const { nearestNames } = await import('../base/nearest.ts');
    const { usageError } = await import('./text/usage-error.ts');
    const { message, hint, meant } = refusal;
    const [nearest] = meant === undefined ? [] : nearestNames(meant.typed, meant.known);
    throw usageError({ message, hint: nearest === undefined ? hint : `Did you mean ${nearest}? ${hint}` });
  }
}

function isRefusal(cause: unknown): cause is Refusal {
  return typeof cause === 'object' && cause !== null && 'message' in cause && 'hint' in cause;
}

function helpFor(words: readonly string[], io: CliIo): string {
  const screen = createScreen(io);
  const name = words.join(' ');
  const spec = commands.find((command) => command.name === name);
  if (spec !== undefined) return renderCommandHelp(spec, screen);
  return renderHelp(
    commands.filter((command) => name === '' || command.name.startsWith(`${name} `)),
    { ...screen, prefix: name },
  );
}
