import type { CommandSpec } from './command-spec.ts';
import { goOnExitCodes, runArgument } from './run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const rejectSpec: CommandSpec = {
  name: 'reject',
  group: 'work',
  summary: 'Say no to the call that a run asks about, and go on without it',
  args: [runArgument],
  options: [
    { flags: '--reason <words>', text: 'What the model is told about it' },
    { flags: '--no-resume', text: 'Only write the answer down; whoever takes the run up goes on by it' },
    ...settingOptions,
    jsonOption,
  ],
  details: [
    'Nothing is run. The model is told that a person said no, with your words, and goes on without it. A run that is told no several times ends as stopped.',
  ],
  examples: [
    { line: 'rerail reject order-17 --reason "Ask the customer first"' },
    { line: 'rerail reject order-17 --no-resume' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('./reject-command.ts')).runReject,
};
