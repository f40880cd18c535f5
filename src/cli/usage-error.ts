import type { CommanderError } from 'commander';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';

/** What was wrong, without a full stop, and what to type instead. */
export interface UsageProblem {
  readonly message: string;
  readonly hint: string;
}

/** Bad input on the command line: a `CONFIG_ERROR` that ends it with one line and exit code 2. */
export function usageError({ message, hint }: UsageProblem): RerailError {
  return RerailError.from(createFailure('CONFIG_ERROR', { message, hint }));
}

const maxQuoteLength = 60;

/** What someone typed, as it is repeated to them: quoted and bounded. */
export function quote(typed: string): string {
  const short = typed.length > maxQuoteLength ? `${typed.slice(0, maxQuoteLength)}…` : typed;
  return `"${short}"`;
}

/** What the parser of the command line refused, in our words: one line, quotes and a command to type. */
export function refusedUsage(error: CommanderError, argv: readonly string[]): RerailError {
  const [first = '', suggestion] = error.message.split('\n(', 2);
  const message = refusal(error.code, { text: first, argv });
  const isKnown = suggestion === undefined || message.endsWith('takes no value');
  const nearest = isKnown ? '' : `${suggestion.replace(/\)$/, '')} `;
  return usageError({ message, hint: `${nearest}${nextStep(error.code, argv)}` });
}

interface Refused {
  readonly text: string;
  readonly argv: readonly string[];
}

/** Commander says `error: unknown option '--key=value'`. The value is left out: it may be a secret. */
function refusal(code: string, { text, argv }: Refused): string {
  // `help` with a name that is none prints the whole help, as if that were asked for.
  if (code === 'commander.help') return `Unknown command ${quote(argv[1] ?? '')}`;
  const plain = text
    .replace(/^error: /, '')
    .replace(
      /^unknown option '(--(?:json|exit-code|help|tls|allow-remote))=.*$/s,
      "option '$1' takes no value",
    )
    .replace(/^(unknown option '[^'=]*)=.*$/s, "$1'")
    .replace(/^(option '.*') argument missing$/s, '$1 needs a value');
  return withQuotes(plain.charAt(0).toUpperCase() + plain.slice(1));
}

function nextStep(code: string, [command, subcommand = '']: readonly string[]): string {
  if (code === 'commander.excessArguments' && command === 'classify') {
    return 'Put quotes around a value with spaces: --header "retry-after: 20"';
  }
  if (command === 'chaos') {
    const isKnown = subcommand === 'serve' || subcommand === 'faults';
    return `Type: rerail chaos ${isKnown ? `${subcommand} ` : ''}--help`;
  }
  return plainCommands.has(command ?? '') ? `Type: rerail ${command} --help` : 'Type: rerail --help';
}

const plainCommands: ReadonlySet<string> = new Set(['classify', 'tour', 'replay', 'export', 'doctor']);

function withQuotes(text: string): string {
  return text.replaceAll("'", '"');
}
