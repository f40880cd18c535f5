import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CommandSpec } from '../specs/command-spec.ts';
import { parseCommandLine } from './parse-command-line.ts';
import type { Refusal } from './parse-command-line.ts';

const load = (): Promise<never> => Promise.reject(new Error('nothing is loaded to read a command line'));

const specs: readonly CommandSpec[] = [
  {
    name: 'run',
    group: 'work',
    summary: 'Run',
    args: [{ usage: '[words...]', text: 'The task' }],
    options: [
      { flags: '-j, --json', text: 'JSON' },
      { flags: '--max-turns <number>', text: 'Turns', parse: Number },
      { flags: '--var <key=value...>', text: 'Values' },
      { flags: '--sandbox <level>', text: 'Level', choices: ['contained', 'off'] },
    ],
    examples: [],
    load,
  },
  {
    name: 'show',
    group: 'look',
    summary: 'Show',
    args: [{ usage: '<run>', text: 'A run' }],
    examples: [{ line: 'rerail show 3f2a' }],
    load,
  },
  { name: 'chaos serve', group: 'learn', summary: 'Serve', examples: [], load },
];

function refusalOf(argv: readonly string[]): Refusal {
  try {
    parseCommandLine(argv, specs);
  } catch (error) {
    return (error as Error).cause as Refusal;
  }
  throw new Error('It was not refused');
}

describe('a command line that makes no sense', () => {
  it.each([
    { argv: ['rnu'], message: 'Unknown command "rnu"', hint: 'Type: rerail --help' },
    { argv: ['chaos', 'sevre'], message: 'Unknown command "sevre"', hint: 'Type: rerail chaos --help' },
    { argv: ['--jsno'], message: 'Unknown option "--jsno"', hint: 'Type: rerail --help' },
    { argv: ['run', '--key=secret'], message: 'Unknown option "--key"', hint: 'Type: rerail run --help' },
    { argv: ['run', '-x'], message: 'Unknown option "-x"', hint: 'Type: rerail run --help' },
    {
      argv: ['run', '--json=1'],
      message: 'Option "--json" takes no value',
      hint: 'Type: rerail run --help',
    },
    {
      argv: ['run', '--max-turns'],
      message: 'Option "--max-turns <number>" needs a value',
      hint: 'Type: rerail run --help',
    },
    {
      argv: ['run', '--max-turns', '--json'],
      message: '--max-turns needs a value, but --json follows it',
      hint: 'Type: --max-turns <number>',
    },
    {
      argv: ['run', '--sandbox', 'ofv'],
      message: '--sandbox must be one of contained, off, got "ofv"',
      hint: 'Type: --sandbox contained',
    },
    { argv: ['show'], message: 'rerail show needs <run>', hint: 'Type: rerail show 3f2a' },
    {
      argv: ['show', 'a', 'b'],
      message: 'Too many arguments for "show": it takes 1, got 2',
      hint: 'Put quotes around what belongs together. Type: rerail show --help',
    },
  ])('is refused: $argv', ({ argv, message, hint }) => {
    expect(refusalOf(argv)).toMatchObject({ message, hint });
  });

  it('never repeats the value of an option that is not known', () => {
    expect(JSON.stringify(refusalOf(['run', '--token=hunter2hunter2']))).not.toContain('hunter2');
  });
});

describe('a command line', () => {
  it.each([
    { argv: [], asked: { type: 'help', words: [] } },
    { argv: ['-h'], asked: { type: 'help', words: [] } },
    { argv: ['help', 'chaos', 'serve'], asked: { type: 'help', words: ['chaos', 'serve'] } },
    { argv: ['chaos'], asked: { type: 'help', words: ['chaos'] } },
    { argv: ['run', 'a', '--help'], asked: { type: 'help', words: ['run'] } },
    { argv: ['-V'], asked: { type: 'version' } },
  ])('asks for help or the version: $argv', ({ argv, asked }) => {
    expect(parseCommandLine(argv, specs)).toEqual(asked);
  });

  it.each([
    { argv: ['run', 'mend', 'it'], given: { args: [['mend', 'it']], flags: {} } },
    { argv: ['run', '-j', 'mend'], given: { args: [['mend']], flags: { json: true } } },
    { argv: ['run', '--max-turns=3'], given: { args: [[]], flags: { maxTurns: 3 } } },
    {
      argv: ['run', '--var', 'a=1', '--var', 'b=2'],
      given: { args: [[]], flags: { var: ['a=1', 'b=2'] } },
    },
    { argv: ['run', '--', '--json', '-x'], given: { args: [['--json', '-x']], flags: {} } },
    { argv: ['chaos', 'serve'], given: { args: [], flags: {} } },
  ])('is read by the spec: $argv', ({ argv, given }) => {
    expect(parseCommandLine(argv, specs)).toMatchObject({ type: 'command', given });
  });

  it('is read or refused in words, whatever it is', () => {
    const word = fc.oneof(
      fc.constantFrom(
        'run',
        'show',
        'chaos',
        '--json',
        '-j',
        '--var',
        '--',
        '-h',
        '--max-turns=',
        '-',
        '--=',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (argv) => {
        let told: unknown;
        try {
          told = parseCommandLine(argv, specs).type;
        } catch (error) {
          told = ((error as Error).cause as Refusal | undefined)?.hint;
        }
        expect(told).toEqual(expect.any(String));
      }),
      { seed: 6, numRuns: 500 },
    );
  });
});
