import type { CommandSpec } from './command-spec.ts';
import { runArgument } from '../run-reading/run-options.ts';
import { configOption, storeOption, workspaceOption } from './shared-options.ts';

export const storeSalvageSpec: CommandSpec = {
  name: 'store salvage',
  group: 'mend',
  summary: 'Save what a damaged store still proves into a new one',
  args: [
    { usage: '<from>', text: 'The damaged store: a file, or the address of a database. It is only read' },
    { usage: '<to>', text: 'The store to write to; made if it is not there' },
  ],
  options: [
    { flags: '--json', text: 'Print one line of JSON for each run, and a last one of the type "end"' },
  ],
  details: [
    'Each run is copied as far as its hash chain proves it: no event is changed or made up. It says for each run what was saved and what was lost.',
    'A run whose end is lost may have done more than is on record. It is parked, and is not resumed before you accept that: rerail store accept <run>.',
    'Stop every process that uses the damaged store first, and keep its files (with -wal and -heads) until you have looked at the result.',
  ],
  examples: [
    { line: 'rerail store salvage runs.db saved.db' },
    { line: 'rerail store salvage runs.db saved.db --json' },
  ],
  exitCodes: [
    { code: 0, means: 'every run is whole' },
    { code: 30, means: 'something was lost, or a store cannot be read or written' },
  ],
  load: async () => (await import('../commands/store-command.ts')).runStoreSalvage,
};

export const storeAcceptSpec: CommandSpec = {
  name: 'store accept',
  group: 'mend',
  summary: 'Let a salvaged run be resumed, although its end is lost',
  args: [runArgument],
  options: [storeOption, configOption, workspaceOption],
  details: [
    'What the run did after its last proven event is not known. Look first: rerail show <run>. Once accepted, it can be resumed, and what was lost may be done a second time.',
  ],
  examples: [{ line: 'rerail store accept order-17 --store saved.db' }],
  exitCodes: [{ code: 30, means: 'there is no such run, or it was not salvaged' }],
  load: async () => (await import('../commands/store-command.ts')).runStoreAccept,
};
