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
  summary: 'Say yes to the call that a run asks about, and go on with it',
  args: [runArgument],
  options: [callOption, inputOption, recordOption, ...settingOptions, jsonOption],
  details: [
    'The exact call is shown first, and the yes is bound to it by its hash: it counts for no other call. Without --call you are asked at a terminal; elsewhere nothing is done, and the exact command to type is printed.',
    'With --input the call runs with your arguments. They must fit the tool, the rules are asked again, both versions are on record, and the model is told. --call stays the hash of the call as it was asked about.',
    'It works also where the process that asked is gone. Of two answers the first counts. After the time that the question stands, a yes is a no. The answer to a run of another program is written down in its store, and that program takes it when it resumes the run.',
  ],
  examples: [
    { line: 'rerail approve order-17', text: 'Shows the call and asks' },
    { line: 'rerail approve order-17 --call 3f9c21ab40de' },
    {
      line: `rerail approve order-17 --call 3f9c21ab40de --input '{"cents": 500}'`,
      text: 'Runs the call with these arguments',
    },
    { line: 'rerail approve order-17 --call 3f9c21ab40de --no-resume', text: 'A worker goes on with it' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('../commands/approve-command.ts')).runApprove,
};
