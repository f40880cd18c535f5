import type { CommandSpec } from './command-spec.ts';
import { findExitCodes, runArgument } from '../run-reading/run-options.ts';
import { configOption, storeOption, workspaceOption } from './shared-options.ts';

export const exportSpec: CommandSpec = {
  name: 'export',
  group: 'mend',
  summary: 'Write a run as one redacted bundle, to be replayed elsewhere',
  args: [runArgument],
  options: [
    { flags: '--out <file>', text: 'A new file for it, private to you; standard output by default' },
    { flags: '--no-children', text: 'Without its child runs: of a flow, a plan or a team' },
    storeOption,
    configOption,
    workspaceOption,
  ],
  details: [
    'The nodes of a flow and the members of a team are included: they are runs of their own. Without them it can be replayed, but a hand-off cannot be resumed.',
    'Known secrets are taken out. What a person or a tool has said is in it: look before you send it.',
  ],
  examples: [
    { line: 'rerail export order-17 --store runs.db --out order-17.json' },
    { line: 'rerail export order-17 --store runs.db | gzip > order-17.json.gz' },
  ],
  exitCodes: findExitCodes,
  load: async () => (await import('../commands/export-command.ts')).runExport,
};
