import type { CommandSpec } from './command-spec.ts';
import { jsonOption, storeOption } from './shared-options.ts';

export const replaySpec: CommandSpec = {
  name: 'replay',
  group: 'look',
  summary: 'Show a recorded run step by step, without model, tools or network',
  args: [
    {
      usage: '<file>',
      text: 'A bundle, as rerail export writes it; "-" is standard input. With --store, the id of a run',
    },
  ],
  options: [
    storeOption,
    { flags: '--to <number>', text: 'The last event to show; all by default' },
    { ...jsonOption, text: 'Print JSON lines and nothing else' },
  ],
  details: [
    'Nothing is done again and nothing is written. It ends with 0 however the run itself ended, with 30 where the record is damaged, and where this version of rerail would have done something else than the record says, it says where.',
  ],
  examples: [
    { line: 'rerail replay order-17.json' },
    { line: 'rerail replay order-17.json --to 12' },
    { line: 'rerail replay order-17 --store runs.db --json' },
  ],
  exitCodes: [{ code: 30, means: 'there is no such run, or its record is damaged' }],
  load: async () => (await import('../commands/replay-command.ts')).runReplay,
};
