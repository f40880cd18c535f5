import { parseArgs } from 'node:util';
import type { CommandSpec, Given, OptionSpec } from '../specs/command-spec.ts';
import { quote } from '../text/quote.ts';
import type { UsageProblem } from '../text/usage-error.ts';

/** What a command line asks for. */
export type Asked =
  | { readonly type: 'version' }
  /** Of everything, or of the commands whose name begins with these words. */
  | { readonly type: 'help'; readonly words: readonly string[] }
  | { readonly type: 'command'; readonly spec: CommandSpec; readonly given: Given };

/** What is wrong with a command line. */
export interface Refusal extends UsageProblem {
  /** A name that is not known, and those that are: one of them may be meant. */
  readonly meant?: { readonly typed: string; readonly known: readonly string[] };
}

/**
 * Reads a command line by the specs alone. What is wrong with it is the `cause` of the error, in words: to make a failure of it takes
 * modules that no help needs.
 */
export function parseCommandLine(argv: readonly string[], specs: readonly CommandSpec[]): Asked {
  const [first = '', ...rest] = argv;
  if (first === '' || first === '-h' || first === '--help') return { type: 'help', words: [] };
  if (first === '-V' || first === '--version') return { type: 'version' };
  if (first === 'help') return { type: 'help', words: knownWords(rest, specs) };
  if (first.startsWith('-')) throw unknownOption(first, ['--help', '--version'], 'rerail --help');
  const spec = findSpec(argv, specs);
  if (spec !== undefined) return readCommand(spec, argv.slice(spec.name.split(' ').length));
  const [word = ''] = rest;
  const isGroup = specs.some(({ name }) => name.startsWith(`${first} `));
  if (!isGroup) throw unknownCommand(first, { specs, prefix: '' });
  if (word === '' || word === '-h' || word === '--help') return { type: 'help', words: [first] };
  if (word.startsWith('-')) throw unknownOption(word, ['--help'], `rerail ${first} --help`);
  throw unknownCommand(word, { specs, prefix: `${first} ` });
}

/** The longest name that the line begins with. */
function findSpec(argv: readonly string[], specs: readonly CommandSpec[]): CommandSpec | undefined {
  const two = argv.slice(0, 2).join(' ');
  return specs.find(({ name }) => name === two) ?? specs.find(({ name }) => name === argv[0]);
}

function knownWords(words: readonly string[], specs: readonly CommandSpec[]): readonly string[] {
  const typed = words.slice(0, 2).join(' ');
  if (specs.some(({ name }) => name === typed || name.startsWith(`${typed} `))) return typed.split(' ');
  if (typed === '') return [];
  throw unknownCommand(words[0] ?? '', { specs, prefix: '' });
}

interface Known {
  readonly specs: readonly CommandSpec[];
  /** What the words before it were, with a blank. */
  readonly prefix: string;
}

function unknownCommand(typed: string, { specs, prefix }: Known): Error {
  const within = specs.filter(({ name }) => name.startsWith(prefix));
  const known = within.map(({ name }) => name.slice(prefix.length).split(' ', 1)[0] ?? '');
  return refused({
    message: `Unknown command ${quote(typed)}`,
    hint: `Type: rerail ${prefix}--help`,
    meant: { typed, known },
  });
}

function unknownOption(typed: string, known: readonly string[], help: string): Error {
  // What follows the sign may be a secret.
  const [name = ''] = typed.split('=', 1);
  return refused({
    message: `Unknown option ${quote(name)}`,
    hint: `Type: ${help}`,
    meant: { typed: name, known },
  });
}

/** An option as the parser knows it. */
interface NamedOption {
  readonly spec: OptionSpec;
  readonly long: string;
  readonly short: string | undefined;
  readonly takesValue: boolean;
  readonly isRepeated: boolean;
}

/** Reads `-j, --json` and `--var <key=value...>`. */
function nameOption(spec: OptionSpec): NamedOption {
  const [, short, long = '', value = ''] = /^(?:-(\w), )?--([\w-]+)(?: <(.+)>)?$/.exec(spec.flags) ?? [];
  return { spec, long, short, takesValue: value !== '', isRepeated: value.endsWith('...') };
}

function readCommand(spec: CommandSpec, words: readonly string[]): Asked {
  const options = (spec.options ?? []).map(nameOption);
  const help = `rerail ${spec.name} --help`;
  const { tokens } = parseArgs({
    args: [...words],
    options: optionsForParser(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: Record<string, unknown> = {};
  const typed: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') typed.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help' || token.rawName === '-h') return { type: 'help', words: spec.name.split(' ') };
    const option = options.find(({ long }) => long === token.name);
    if (option === undefined)
      throw unknownOption(token.rawName, [...options.map(({ long }) => `--${long}`), '--help'], help);
    addFlag(flags, option, { value: token.value, help, names: options.map(({ long }) => `--${long}`) });
  }
  return { type: 'command', spec, given: { args: readArguments(spec, typed), flags } };
}

type ParserOptions = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

function optionsForParser(options: readonly NamedOption[]): ParserOptions {
  const rows = options.map(({ long, short, takesValue }) => [
    long,
    { type: takesValue ? 'string' : 'boolean', ...(short === undefined ? {} : { short }) },
  ]);
  return { help: { type: 'boolean', short: 'h' }, ...Object.fromEntries(rows) } as ParserOptions; // As its type says.
}

interface Typed {
  readonly value: string | undefined;
  readonly help: string;
  readonly names: readonly string[];
}

function addFlag(flags: Record<string, unknown>, option: NamedOption, { value, help, names }: Typed): void {
  const { spec, long, takesValue, isRepeated } = option;
  const name = long.replaceAll(/-(\w)/g, (_found, letter: string) => letter.toUpperCase());
  if (!takesValue) {
    if (value !== undefined)
      throw refused({ message: `Option "--${long}" takes no value`, hint: `Type: ${help}` });
    flags[name] = true;
    return;
  }
  if (value === undefined)
    throw refused({ message: `Option "${spec.flags}" needs a value`, hint: `Type: ${help}` });
  // A value that is an option itself is one that was forgotten.
  if (names.includes(value) || value === '--help')
    throw refused({
      message: `--${long} needs a value, but ${value} follows it`,
      hint: `Type: ${spec.flags}`,
    });
  const read = readValue(spec, long, value);
  flags[name] = isRepeated ? [...((flags[name] ?? []) as readonly unknown[]), read] : read; // A list by the line above.
}

function readValue({ parse, choices }: OptionSpec, long: string, value: string): unknown {
  if (choices !== undefined && !choices.includes(value)) {
    throw refused({
      message: `--${long} must be one of ${choices.join(', ')}, got ${quote(value)}`,
      hint: `Type: --${long} ${choices[0] ?? ''}`,
      meant: { typed: value, known: choices },
    });
  }
  return parse === undefined ? value : parse(value);
}

function readArguments(spec: CommandSpec, typed: readonly string[]): Given['args'] {
  const wanted = spec.args ?? [];
  const takesRest = wanted.at(-1)?.usage.includes('...') === true;
  if (typed.length > wanted.length && !takesRest) throw tooMany(spec, typed);
  return wanted.map(({ usage }, index) => {
    const value = usage.includes('...') ? typed.slice(index) : typed[index];
    if (usage.startsWith('<') && (value === undefined || value.length === 0)) throw missing(spec, usage);
    return value;
  });
}

function tooMany({ name, args = [] }: CommandSpec, typed: readonly string[]): Error {
  const word = name.split(' ').at(-1) ?? name;
  const most = args.length === 0 ? 'it takes none' : `it takes ${args.length}, got ${typed.length}`;
  return refused({
    message: `Too many arguments for "${word}": ${most}`,
    hint: `Put quotes around what belongs together. Type: rerail ${name} --help`,
  });
}

function missing({ name, examples }: CommandSpec, usage: string): Error {
  const [example] = examples;
  return refused({
    message: `rerail ${name} needs ${usage}`,
    hint: `Type: ${example?.line ?? `rerail ${name} --help`}`,
  });
}

function refused(refusal: Refusal): Error {
  return new Error(refusal.message, { cause: refusal });
}
