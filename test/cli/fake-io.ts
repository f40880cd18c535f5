import { failureTraits } from '../../src/errors/codes.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { CommandRun, Given } from '../../src/cli/specs/command-spec.ts';
import type { CliIo } from '../../src/cli/start/io.ts';
import { failureLine } from '../../src/cli/text/failure-line.ts';
import { startMs } from './run-stories.ts';

/** What a command did to the world. */
export interface Done {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** An hour and a bit after the stories were told. */
export const laterMs = startMs + 4_000_000;

/** Runs a command without a process. What it throws is shown as the program shows it. */
export async function perform(
  run: CommandRun,
  given: Partial<Given>,
  world: Partial<CliIo> = {},
): Promise<Done> {
  const [out, err]: [string[], string[]] = [[], []];
  const io: CliIo = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stdin: nothing,
    readFile: nothing,
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: 100,
    env: {},
    now: () => laterMs,
    folder: '/somewhere',
    home: '/home/someone',
    terminal: undefined,
    command: 'rerail',
    version: '1.2.3',
    ...world,
  };
  const exitCode = await run({ args: [], flags: {}, ...given }, io).catch((thrown: unknown) => {
    if (!RerailError.isInstance(thrown)) throw thrown;
    err.push(failureLine(thrown.failure));
    return failureTraits[thrown.failure.code].exitCode;
  });
  return { exitCode, out: out.join(''), err: err.join('') };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // Nobody has typed anything.
}
