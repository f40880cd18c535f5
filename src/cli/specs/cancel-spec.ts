import type { CommandSpec } from './command-spec.ts';
import { changeExitCodes, runArgument } from '../run-reading/run-options.ts';
import { settingOptions } from './shared-options.ts';

export const cancelSpec: CommandSpec = {
  name: 'cancel',
  group: 'work',
  summary: 'Cancel a run, in whichever process it runs',
  args: [runArgument],
  options: [{ flags: '--reason <words>', text: 'Why, for the record' }, ...settingOptions],
  details: [
    'What was done stays done, and a cancelled run can be resumed. If another process runs it, that process receives the request within 5 s.',
  ],
  examples: [
    { line: 'rerail cancel order-17' },
    { line: 'rerail cancel order-17 --reason "the customer called back"' },
  ],
  exitCodes: changeExitCodes,
  load: async () => (await import('../commands/cancel-command.ts')).runCancel,
};
