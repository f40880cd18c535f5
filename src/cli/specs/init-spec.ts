import type { CommandSpec } from './command-spec.ts';
import { workspaceOption } from './shared-options.ts';

export const initSpec: CommandSpec = {
  name: 'init',
  group: 'work',
  summary: 'Write a typed configuration file and an example agent',
  options: [
    { flags: '--json', text: 'Write rerail.config.json instead of rerail.config.ts' },
    workspaceOption,
  ],
  details: [
    'Writes rerail.config.ts and rerail-agent.ts, or both as .mjs where this Node cannot load TypeScript, and never over a file that is there. The configuration it has written itself is trusted; after you have changed it, type rerail trust.',
  ],
  examples: [{ line: 'rerail init' }, { line: 'rerail init --json' }],
  load: async () => (await import('../commands/init-command.ts')).runInit,
};
