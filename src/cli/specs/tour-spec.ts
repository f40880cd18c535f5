import type { CommandSpec } from './command-spec.ts';

export const tourSpec: CommandSpec = {
  name: 'tour',
  group: 'learn',
  summary: 'Show seven failures that are easily misread; needs no key and no network',
  examples: [{ line: 'rerail tour' }],
  load: async () => (await import('../commands/tour-command.ts')).runTour,
};
