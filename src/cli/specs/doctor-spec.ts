import type { CommandSpec } from './command-spec.ts';
import {
  baseURLOption,
  configOption,
  modelOption,
  sandboxOption,
  workspaceOption,
} from './shared-options.ts';

export const doctorSpec: CommandSpec = {
  name: 'doctor',
  group: 'mend',
  summary:
    'Check whether this machine, its keys and the configuration will do, and whether a store is intact',
  options: [
    {
      flags: '--store <file>',
      text: 'A store to check, event by event; a missing one is not created',
    },
    {
      flags: '--online',
      text: 'Also ask each provider that has a key, once and free of charge, whether it answers and takes the key',
    },
    modelOption,
    baseURLOption,
    configOption,
    workspaceOption,
    sandboxOption,
    { flags: '--json', text: 'Print one JSON object and nothing else' },
  ],
  details: [
    'Each line says ok, warning or failure, what was found, and what to do about it. Keys are never shown. Without --online nothing leaves this machine.',
    'The worst case is what the configuration can come to if every attempt fails: most requests, longest time, highest cost.',
  ],
  examples: [
    { line: 'rerail doctor' },
    { line: 'rerail doctor --online' },
    { line: 'rerail doctor --store runs.db' },
    { line: 'rerail doctor --store runs.db --json' },
  ],
  exitCodes: [
    { code: 0, means: 'all is well, warnings aside' },
    { code: 2, means: 'something must be installed, or the configuration is wrong' },
    { code: 10, means: 'a key is malformed, or was refused' },
    { code: 13, means: 'a provider cannot be reached' },
    { code: 22, means: 'the required sandbox is not available' },
    { code: 30, means: 'a store is damaged or missing' },
  ],
  load: async () => (await import('../commands/doctor-command.ts')).runDoctor,
};
