import type { CommandSpec } from './command-spec.ts';

export const demoSpec: CommandSpec = {
  name: 'demo',
  group: 'learn',
  summary:
    'Watch an agent repair a small project while its provider misbehaves, and a payment survive kill -9; needs no key and no network',
  options: [
    {
      flags: '--seed <number>',
      text: 'Which faults come in which order; the same for the same number, 1 by default',
    },
    { flags: '--acts', text: 'Instead: eight short runs of another agent, one for each kind of fault' },
    {
      flags: '--pay <bank>',
      text: 'The process that pays: the demonstration starts it, kills it and starts it again',
    },
  ],
  details: [
    'A small project with a real bug is written into a temporary folder. An agent with real tools finds and fixes it: it runs the tests, reads, edits. The embedded model answers, over real sockets, behind a server on this machine that fails as providers do. The seed decides which faults occur; how Rerail handles them is decided while you watch.',
    'Then a process of its own pays an invoice, and is killed with kill -9 after the bank has booked the transfer and before it has said so. A second process resumes the run from its record, asks the bank, and does not pay again.',
    'Both runs are kept in the temporary folder, so that show and why can look at them afterwards. Ctrl-C ends it at any time.',
  ],
  examples: [{ line: 'rerail demo' }, { line: 'rerail demo --seed 7' }, { line: 'rerail demo --acts' }],
  exitCodes: [
    { code: 0, means: 'the project was repaired, and the invoice paid once' },
    { code: 130, means: 'ended with Ctrl-C' },
  ],
  load: async () => (await import('../commands/demo-command.ts')).runDemo,
};
