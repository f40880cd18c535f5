import type { CommandSpec } from './command-spec.ts';
import { configOption, storeOption, workspaceOption } from './shared-options.ts';

export const importSpec: CommandSpec = {
  name: 'import',
  group: 'mend',
  summary: 'Take a run out of a bundle into a store',
  args: [{ usage: '<bundle>', text: 'A file as rerail export writes it; "-" is standard input' }],
  options: [
    { flags: '--as <name>', text: 'Another id for it here, where its own is taken' },
    storeOption,
    configOption,
    workspaceOption,
  ],
  details: [
    'It can then be shown, explained and replayed. A run that had not ended is parked: it is resumed only by hand. Nothing is written over.',
    'A bundle brings no rights: answers in it are dropped, and every call without a result is judged by your rules and asked about. Where the run came from is shown with each question.',
  ],
  examples: [
    { line: 'rerail import order-17.json --store runs.db' },
    { line: 'gunzip -c order-17.json.gz | rerail import - --as order-17-copy' },
  ],
  exitCodes: [
    { code: 2, means: 'there is a run of that id already, or the file cannot be read' },
    { code: 30, means: 'the bundle is damaged or newer than this program, or the store cannot be written' },
  ],
  load: async () => (await import('../commands/import-command.ts')).runImport,
};
