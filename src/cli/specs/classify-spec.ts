import type { CommandSpec } from './command-spec.ts';

export const classifySpec: CommandSpec = {
  name: 'classify',
  group: 'learn',
  summary: 'Say what one failed model call means',
  args: [
    {
      usage: '[file]',
      text: 'A response as curl -i prints it, a body, or an error text; "-" is standard input',
    },
  ],
  options: [
    { flags: '--provider <name>', text: 'Who was called: openai, anthropic, gemini, groq …' },
    { flags: '--model <name>', text: 'The model that was asked for' },
    { flags: '--status <code>', text: 'The HTTP status of the answer' },
    { flags: '--header <line...>', text: 'A header of the answer, "name: value"; may be repeated' },
    { flags: '--body <text>', text: 'The body of the answer, or one event of a stream' },
    { flags: '--message <text>', text: 'The error text of an SDK; "; cause: " sets off its cause' },
    { flags: '--errno <code>', text: 'The error code of the system: ECONNREFUSED …' },
    { flags: '--now <date>', text: 'The time at which it was received; by default the clock' },
    { flags: '--file <path>', text: 'Read the response from a file; "-" is standard input' },
    { flags: '--json', text: 'Print one JSON object and nothing else' },
    { flags: '--exit-code', text: 'End with the exit code of the failure instead of 0' },
  ],
  details: [
    'Without a file, standard input is read when it is a pipe and neither --body nor --message is given. A flag wins over what was pasted. Keys are never printed.',
  ],
  examples: [
    { line: 'curl -is https://api.openai.com/v1/models | rerail classify --provider openai' },
    { line: 'rerail classify response.txt' },
    { line: 'rerail classify --status 429 --header "retry-after: 20"' },
    { line: 'rerail classify --status 429 --body "Please try again in 1m47.5s"' },
    { line: 'rerail classify --message "fetch failed; cause: connect ECONNREFUSED ::1:80"' },
    { line: 'rerail classify response.txt --json --exit-code' },
  ],
  load: async () => (await import('../commands/classify-command.ts')).runClassify,
};
