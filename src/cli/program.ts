import { Command, CommanderError, Option } from 'commander';
import { failureTraits } from '../errors/codes.ts';
import { addChaosCommand } from './chaos-command.ts';
import { runClassify } from './classify-command.ts';
import { classifyFlagRows, readFlag } from './classify-flags.ts';
import type { ClassifyFlags } from './classify-flags.ts';
import { runDemo } from './demo.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addExportCommand } from './export-command.ts';
import { failureAtTop, failureLine, stackLines } from './failure-line.ts';
import type { CliIo } from './io.ts';
import { createScreen } from './layout.ts';
import { addReplayCommand } from './replay-command.ts';
import { renderTour } from './tour.ts';
import { refusedUsage } from './usage-error.ts';

/** Runs one command line, without the names of node and the script. Returns the exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (thrown) {
    return reportThrown(thrown, io);
  }
}

/** Ends with one line on stderr, whatever was thrown. Returns the exit code of the failure. */
export function reportThrown(thrown: unknown, io: Pick<CliIo, 'stderr' | 'env'>): number {
  const failure = failureAtTop(thrown);
  io.stderr.write(failureLine(failure));
  if (failure.code === 'INTERNAL') io.stderr.write(stackLines(thrown, io.env));
  return failureTraits[failure.code].exitCode;
}

async function dispatch(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode = 0;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  if (argv.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw refusedUsage(error, argv);
  }
  return exitCode;
}

/** `onExitCode` hears how a command ended; a failure of the command line itself is thrown. */
function createProgram(io: CliIo, onExitCode: (exitCode: number) => void): Command {
  const screen = createScreen(io);
  const program = new Command('rerail')
    .description(
      'Says what a failed model call means, looks after recorded runs, and plays a provider that fails on purpose.',
    )
    .version(io.version, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .helpCommand('help [command]', 'Print the help of a command')
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      // What it would say there is said in one line by reportThrown.
      writeErr: () => undefined,
      getOutHelpWidth: () => screen.width,
      getOutHasColors: () => false,
    })
    .exitOverride()
    .addHelpText('after', `\n${exitCodeHelp}`);
  program
    .command('demo')
    .description('Watch an agent survive a provider that misbehaves; needs no key and no network')
    .action(() => runDemo(io));
  program
    .command('tour')
    .description('Show seven failures that are easily misread; needs no key and no network')
    .action(() => void io.stdout.write(renderTour(screen, io.command)));
  const classify = program
    .command('classify')
    .description('Say what one failed model call means')
    .argument('[file]', 'A response as curl -i prints it, a body, or an error text; "-" is standard input')
    .action(async (file: string | undefined, flags: ClassifyFlags) => {
      onExitCode(await runClassify({ file, flags }, io));
    })
    .addHelpText('after', `\n${classifyExamples}`);
  for (const row of classifyFlagRows) {
    const option = new Option(row.flags, row.description);
    classify.addOption(option.required ? option.argParser(readFlag(row)) : option);
  }
  for (const add of [addReplayCommand, addExportCommand, addDoctorCommand, addChaosCommand])
    add(program, { io, onExitCode });
  return program;
}

const exitCodeHelp = `Exit codes: 0 done, 2 wrong usage, 70 a defect in rerail. See also docs/cli.md.`;

const classifyExamples = `Without a file, standard input is read when it is a pipe and neither --body nor
--message is given. A flag wins over what was pasted. Keys are never printed.

Examples:
  curl -is https://api.openai.com/v1/models | rerail classify --provider openai
  rerail classify response.txt
  rerail classify --status 429 --header "retry-after: 20"
  rerail classify --status 429 --body "Please try again in 1m47.5s"
  rerail classify --message "fetch failed; cause: connect ECONNREFUSED ::1:80"
  rerail classify response.txt --json --exit-code`;
