import type { CommandSpec } from './command-spec.ts';
import { findExitCodes, runArgument } from '../run-reading/run-options.ts';
import { configOption, jsonOption, storeOption, workspaceOption } from './shared-options.ts';

export const whySpec: CommandSpec = {
  name: 'why',
  group: 'look',
  summary: 'Say why a run retried, why it asked this model, why it stopped or waits, and what to do',
  args: [
    runArgument,
    { usage: '[question]', text: 'retried, model, stopped, waiting or origin; all that applies by default' },
  ],
  options: [storeOption, configOption, workspaceOption, jsonOption],
  details: [
    'Every sentence names the stored events behind it; rerail replay and rerail show --events show them. No model is asked: this works without a key and without a network.',
  ],
  examples: [
    { line: 'rerail why order-17' },
    { line: 'rerail why order-17 stopped' },
    { line: 'rerail why order-17 retried --json' },
  ],
  exitCodes: findExitCodes,
  load: async () => (await import('../commands/why-command.ts')).runWhy,
};
