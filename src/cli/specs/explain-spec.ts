import type { CommandSpec } from './command-spec.ts';
import { findExitCodes, runArgument } from '../run-reading/run-options.ts';
import {
  baseURLOption,
  configOption,
  jsonOption,
  modelOption,
  storeOption,
  workspaceOption,
} from './shared-options.ts';

export const explainSpec: CommandSpec = {
  name: 'explain',
  group: 'look',
  summary:
    'Report why a run failed, stopped or waits: what is known, and a model in plain words where one is available',
  args: [runArgument],
  options: [
    { flags: '--full', text: 'The report for developers: codes, causes, attempts, limits' },
    { flags: '--static', text: 'Ask no model' },
    modelOption,
    baseURLOption,
    storeOption,
    configOption,
    workspaceOption,
    jsonOption,
  ],
  details: [
    'The report is made without any model and is printed first. If a model other than the embedded one is available, it is then asked to say the same in a few plain words: once, for at most 20 s and 500 tokens, with secrets removed. Its sentences are checked against the record: one with a number, a code or a name that is not there is left out. If that fails, one line says so, and nothing else changes. If the run was explained when it ended, that explanation is shown and no model is asked.',
  ],
  examples: [
    { line: 'rerail explain order-17' },
    { line: 'rerail explain order-17 --full' },
    { line: 'rerail explain order-17 --static --json' },
  ],
  exitCodes: findExitCodes,
  load: async () => (await import('../commands/explain-command.ts')).runExplain,
};
