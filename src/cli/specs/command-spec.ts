import type { CliIo } from '../start/io.ts';

/**
 * One command, as data: `--help`, `docs/cli/` and the parser are made from it. It is in a file that loads nothing heavy; the
 * code behind it is loaded when the command runs.
 */
export interface CommandSpec {
  /** `run`, or `chaos serve`. */
  readonly name: string;
  readonly group: CommandGroup;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly args?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Paragraphs with more detail, wrapped where they are shown. */
  readonly details?: readonly string[];
  readonly examples: readonly ExampleSpec[];
  /** Beyond those that every command has. */
  readonly exitCodes?: readonly { readonly code: number; readonly means: string }[];
  readonly load: () => Promise<CommandRun>;
}

/** The group of a command in the list. */
export type CommandGroup = 'work' | 'look' | 'mend' | 'learn';

export interface ArgumentSpec {
  /** `<run>` is needed, `[file]` is not, `[words...]` takes the rest. */
  readonly usage: string;
  readonly text: string;
}

export interface OptionSpec {
  /** `-j, --json`, `--model <name>`, `--var <key=value...>` where it may come more than once. */
  readonly flags: string;
  readonly text: string;
  /** Checks a value and gives what it means. Throws a `usageError`. */
  readonly parse?: (value: string) => unknown;
  readonly choices?: readonly string[];
}

export interface ExampleSpec {
  readonly line: string;
  readonly text?: string;
}

/** What was typed. */
export interface Given {
  readonly args: readonly (string | readonly string[] | undefined)[];
  /** By the name of the option in camelCase, as `maxTurns` for `--max-turns`. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** Does it. Gives the exit code; a failure is thrown as a `RerailError`, whose code decides the exit code. */
export type CommandRun = (given: Given, io: CliIo) => Promise<number>;
