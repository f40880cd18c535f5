import type { CommandSpec } from './command-spec.ts';
import { jsonOption, settingOptions } from './shared-options.ts';

export const configSpec: CommandSpec = {
  name: 'config',
  group: 'look',
  summary: 'Show every setting, and where it comes from',
  options: [...settingOptions, jsonOption],
  details: [
    'Settings come from flags, then from the environment (RERAIL_MODEL, RERAIL_STORE, RERAIL_SANDBOX …), then from rerail.config.ts or rerail.config.json in the workspace, then from config.ts or config.json in $XDG_CONFIG_HOME/rerail, then from defaults: value by value. Rules of "permissions" and paths of "protect" are joined instead.',
    'A configuration that is found in a workspace is used only after you have trusted it: see rerail trust. Keys of providers belong in the environment, never in a file; none is shown.',
  ],
  examples: [
    { line: 'rerail config' },
    { line: 'rerail config --model ollama:qwen3:8b', text: 'what would hold with this flag' },
    { line: 'rerail config --json' },
  ],
  exitCodes: [{ code: 2, means: 'A setting is wrong; every wrong one is named' }],
  load: async () => (await import('../commands/config-command.ts')).runConfig,
};
