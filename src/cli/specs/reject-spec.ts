import type { CommandSpec } from './command-spec.ts';
import { callOption, goOnExitCodes, recordOption, runArgument } from '../run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const rejectSpec: CommandSpec = {
  name: 'reject',
  group: 'work',
  summary: 'Say no to the call that a run asks about, and go on without it',
  args: [runArgument],
  options: [
    callOption,
    { flags: '--reason <words>', text: 'What the model is told about it' },
    recordOption,
    ...settingOptions,
    jsonOption,
  ],
  details: [
    'Nothing is run. The model is told that a person said no, with your words, and goes on without it. A run that is told no several times ends as stopped.',
  ],
  examples: [
    { line: 'rerail reject order-17 --call 3f9c21ab40de --reason "Ask the customer first"' },
    { line: 'rerail reject order-17 --call 3f9c21ab40de --no-resume' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('../commands/reject-command.ts')).runReject,
};
