import type { CommandSpec } from './command-spec.ts';

export const chaosServeSpec: CommandSpec = {
  name: 'chaos serve',
  group: 'learn',
  summary: 'Run a provider that fails on purpose, to test an agent',
  options: [
    { flags: '--port <number>', text: 'The port to listen on; a free one by default' },
    { flags: '--host <name>', text: 'The address to listen on; only this machine by default' },
    { flags: '--allow-remote', text: 'Let other machines in' },
    {
      flags: '--allow-host <name...>',
      text: 'A name besides localhost that requests may be addressed to; may be repeated',
    },
    { flags: '--seed <number>', text: 'Decides the faults and the answers; 1 by default' },
    { flags: '--rate <share>', text: 'The share of requests that get a fault: 0.3' },
    { flags: '--faults <names>', text: 'The faults to draw from, with commas between them' },
    { flags: '--script <file>', text: 'A JSON file with one fault for each request, null for none' },
    { flags: '--tls', text: 'Serve https with a self-signed certificate' },
    { flags: '--json', text: 'Print JSON lines and nothing else' },
  ],
  details: ['Serves the protocols of OpenAI, Anthropic and Gemini until Ctrl-C.'],
  examples: [
    { line: 'rerail chaos serve --rate 0.3' },
    { line: 'rerail chaos serve --port 4000 --faults overloaded,reset-mid-stream --rate 1' },
    { line: 'rerail chaos serve --script faults.json --json' },
  ],
  load: async () => (await import('../commands/chaos-command.ts')).runChaosServe,
};

export const chaosFaultsSpec: CommandSpec = {
  name: 'chaos faults',
  group: 'learn',
  summary: 'List every fault of the simulated provider',
  options: [{ flags: '--json', text: 'Print one JSON object and nothing else' }],
  examples: [{ line: 'rerail chaos faults' }],
  load: async () => (await import('../commands/chaos-command.ts')).runChaosFaults,
};
