import type { CommandSpec } from './command-spec.ts';
import { findExitCodes, runArgument } from '../run-reading/run-options.ts';
import { configOption, jsonOption, storeOption, workspaceOption } from './shared-options.ts';

export const showSpec: CommandSpec = {
  name: 'show',
  group: 'look',
  summary: 'Show what happened in a run: turns, attempts, waits, decisions, tools',
  args: [runArgument],
  options: [
    { flags: '--turn <number>', text: 'Only this turn' },
    { flags: '--events', text: 'With the numbers of the stored events behind each line' },
    storeOption,
    configOption,
    workspaceOption,
    jsonOption,
  ],
  details: [
    'The time before each line counts from the beginning of the run. What was recovered is gold. Nothing is run and nothing is written: the record is replayed by the same machine that made it.',
    'Of a long run the latest 300 lines are shown; --turn shows any other.',
  ],
  examples: [
    { line: 'rerail show order-17' },
    { line: 'rerail show order-17 --turn 3 --events' },
    { line: 'rerail show 0b9c --store runs.db --json' },
  ],
  exitCodes: findExitCodes,
  load: async () => (await import('../commands/show-command.ts')).runShow,
};
