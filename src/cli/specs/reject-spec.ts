import type { CommandSpec } from './command-spec.ts';
import { callOption, goOnExitCodes, recordOption, runArgument } from '../run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const rejectSpec: CommandSpec = {
  name: 'reject',
  group: 'work',
  summary: 'Deny the call that a run asks about, and resume without it',
  args: [runArgument],
  options: [
    callOption,
    { flags: '--reason <words>', text: 'The reason, which the model receives' },
    recordOption,
    ...settingOptions,
    jsonOption,
  ],
  details: [
    'Nothing is run. The model is informed that a person denied it, with your words, and continues without it. After several denials the run ends as stopped.',
  ],
  examples: [
    { line: 'rerail reject order-17 --call 3f9c21ab40de --reason "Ask the customer first"' },
    { line: 'rerail reject order-17 --call 3f9c21ab40de --no-resume' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('../commands/reject-command.ts')).runReject,
};
