import type { CommandSpec } from './command-spec.ts';
import { callOption, goOnExitCodes, recordOption, runArgument } from '../run-reading/run-options.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const settleSpec: CommandSpec = {
  name: 'settle',
  group: 'work',
  summary: 'Settle whether a call whose end was not seen happened, and resume the run',
  args: [runArgument],
  options: [
    callOption,
    { flags: '--happened', text: 'It happened: it is not made again, and the model is informed' },
    { flags: '--result <result>', text: 'With --happened: what it returned, as text or JSON' },
    { flags: '--did-not-happen', text: 'It did not happen: it is made now' },
    { flags: '--unknown', text: 'Not known: it is not made again, and the model is informed' },
    recordOption,
    ...settingOptions,
    jsonOption,
  ],
  details: [
    'The call is shown first, and the answer is bound to it by its hash. Without --call you are asked at a terminal; elsewhere nothing is done, and the exact command to type is printed.',
    'It works for the runs of every program: the answer to a run of another program is recorded in its store, and that program reads it when it resumes the run.',
  ],
  examples: [
    {
      line: 'rerail settle order-17 --call 3f9c21ab40de --happened',
      text: 'The payment is on the statement',
    },
    { line: 'rerail settle order-17 --call 3f9c21ab40de --happened --result \'{"id":"p-8"}\'' },
    { line: 'rerail settle order-17 --call 3f9c21ab40de --did-not-happen' },
  ],
  exitCodes: goOnExitCodes,
  load: async () => (await import('../commands/settle-command.ts')).runSettle,
};
