import type { CommandSpec } from './command-spec.ts';
import { callOption, goOnExitCodes, runArgument } from '../run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const resumeSpec: CommandSpec = {
  name: 'resume',
  group: 'work',
  summary: 'Go on with a run that was interrupted, waits, failed or was cancelled',
  args: [runArgument],
  options: [
    {
      flags: '--answer <answer>',
      text: 'The answer to its question: yes, no, happened, did-not-happen, unknown, or JSON',
    },
    callOption,
    ...settingOptions,
    jsonOption,
  ],
  details: [
    'What had finished is not done again. A call that had begun and whose end nobody saw is not repeated by itself: somebody is asked. The exit code is that of what the run comes to.',
    'An --answer about a call needs --call. A run that waits for a yes or no is not resumed without one: at a terminal you are asked, elsewhere it says what to type. A run that completed or was stopped is not resumed.',
  ],
  examples: [
    { line: 'rerail resume order-17' },
    {
      line: 'rerail resume order-17 --call 3f9c21ab40de --answer happened',
      text: 'The payment is on the statement',
    },
    { line: 'rerail resume order-17 --model openai:gpt-5.4', text: 'With another model than before' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('../commands/resume-command.ts')).runResume,
};
