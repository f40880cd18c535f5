import type { CommandSpec } from './command-spec.ts';
import { settingOptions } from './shared-options.ts';

export const runSpec: CommandSpec = {
  name: 'run',
  group: 'work',
  summary: 'Let the agent do one thing, and print its answer',
  args: [{ usage: '[words...]', text: 'What to do; standard input and --file are added to it' }],
  options: [
    { flags: '--file <file>', text: 'Read what to do from a file' },
    ...settingOptions,
    { flags: '--max-turns <number>', text: 'Stop after so many turns of the model; 50 by default' },
    { flags: '--timeout <time>', text: 'Stop after this time, as 90s, 10m or 1h; 1h by default' },
    { flags: '--session <id>', text: 'Continue a conversation: its earlier messages come first' },
    { flags: '--run-id <id>', text: 'A name for the run; a second run of that name is the first one' },
    {
      flags: '--output-schema <file>',
      text: 'A JSON Schema; the answer is printed as JSON that fits it',
    },
    {
      flags: '--on-approval <what>',
      text: 'Where a tool call needs approval: ask (the default at a terminal), deny (the default without one), or suspend',
      choices: ['ask', 'deny', 'suspend'],
    },
    { flags: '--json', text: 'Print every event as a line of JSON; the last line has the outcome' },
    { flags: '-q, --quiet', text: 'Nothing but the answer and what went wrong' },
  ],
  details: [
    'The answer goes to standard output; what happens meanwhile goes to standard error, so that the answer can be piped on. At a terminal both are shown as they come.',
    'With --json each line is one event, as docs/cli.md lists them, and the last one is always {"type":"run-finished","outcome":…}. Control characters are escaped.',
    'The first Ctrl-C cancels the run and prints how to resume it; a second one within two seconds exits at once. SIGTERM cancels in order and ends with 143 within ten seconds.',
    'In a script no person can approve, so calls that need approval are denied, and the exit code is 22. Allow them by a rule in the configuration, or let the run wait with --on-approval suspend.',
  ],
  examples: [
    { line: 'rerail run "The tests fail. Find out why and fix it."' },
    { line: 'git diff | rerail run "Review this change"', text: 'Standard input is added to the words' },
    { line: 'rerail run --file task.md --json > events.jsonl' },
    { line: 'rerail run "Count the lines" --output-schema lines.json | jq .lines' },
  ],
  exitCodes: [
    { code: 0, means: 'completed' },
    {
      code: 10,
      means:
        'the key or the rights at the provider are wrong; other failures by their family, see docs/cli.md',
    },
    { code: 21, means: 'stopped by a limit, a loop or the time' },
    { code: 22, means: 'a call that needed approval was denied' },
    { code: 23, means: 'the run waits, and can be resumed' },
    { code: 30, means: 'the store could not be read or written' },
    {
      code: 130,
      means:
        'cancelled with Ctrl-C; 143 by SIGTERM; 129 where the terminal was closed; 141 where the reader of the output is gone',
    },
  ],
  load: async () => (await import('../commands/run-command.ts')).runRun,
};
