import type { CommandSpec } from './command-spec.ts';
import { callOption, goOnExitCodes, runArgument } from '../run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const resumeSpec: CommandSpec = {
  name: 'resume',
  group: 'work',
  summary: 'Resume a run that was interrupted, waits, failed or was cancelled',
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
    'Finished work is not done again. A call that had started and whose end was not seen is not repeated automatically: a person is asked. The exit code is that of the outcome of the run.',
    'An --answer about a call needs --call. A run that waits for approval is not resumed without an answer: at a terminal you are asked, elsewhere it says what to type. A run that completed or was stopped is not resumed.',
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
