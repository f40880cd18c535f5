import type { CommandSpec, OptionSpec } from './command-spec.ts';
import { callOption, goOnExitCodes, recordOption, runArgument } from '../run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

const inputOption: OptionSpec = {
  flags: '--input <json>',
  text: 'Other arguments for the call, as a JSON object, or @file to read them: it runs with these',
};

export const approveSpec: CommandSpec = {
  name: 'approve',
  group: 'work',
  summary: 'Approve the call that a run asks about, and resume the run',
  args: [runArgument],
  options: [callOption, inputOption, recordOption, ...settingOptions, jsonOption],
  details: [
    'The exact call is shown first, and the approval is bound to it by its hash: it counts for no other call. Without --call you are asked at a terminal; elsewhere nothing is done, and the exact command to type is printed.',
    'With --input the call runs with your arguments. They must fit the schema of the tool, the rules are checked again, both versions are recorded, and the model is informed. --call stays the hash of the original call.',
    'It works also where the process that asked is gone. Of two answers the first counts. After the question expires, an approval is denied. The answer to a run of another program is recorded in its store, and that program reads it when it resumes the run.',
  ],
  examples: [
    { line: 'rerail approve order-17', text: 'Shows the call and asks' },
    { line: 'rerail approve order-17 --call 3f9c21ab40de' },
    {
      line: `rerail approve order-17 --call 3f9c21ab40de --input '{"cents": 500}'`,
      text: 'Runs the call with these arguments',
    },
    { line: 'rerail approve order-17 --call 3f9c21ab40de --no-resume', text: 'A worker resumes it' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('../commands/approve-command.ts')).runApprove,
};
