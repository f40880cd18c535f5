import type { CommandSpec } from './command-spec.ts';
import { goOnExitCodes, runArgument } from './run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const approveSpec: CommandSpec = {
  name: 'approve',
  group: 'work',
  summary: 'Say yes to the call that a run asks about, and go on with it',
  args: [runArgument],
  options: [
    { flags: '--no-resume', text: 'Only write the answer down; whoever takes the run up goes on by it' },
    ...settingOptions,
    jsonOption,
  ],
  details: [
    'The exact call is shown first, and the yes is bound to it: it counts for no other call. It works also where the process that asked is gone. Of two answers the first counts. After the time that the question stands, a yes is a no.',
  ],
  examples: [
    { line: 'rerail approve order-17' },
    { line: 'rerail approve order-17 --no-resume', text: 'A worker goes on with it' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('./approve-command.ts')).runApprove,
};
