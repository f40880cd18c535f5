import type { Command } from 'commander';
import { printableJson } from '../base/printable.ts';
import { faultNames, faultRow } from '../chaos/faults/fault-table.ts';
import { startChaosServer } from '../chaos/server.ts';
import type { ChaosServer } from '../chaos/server.ts';
import { chaosSettings } from './chaos-flags.ts';
import type { ChaosFlags } from './chaos-flags.ts';
import { renderAddresses, renderRequest, renderSummary } from './chaos-report.ts';
import type { CliIo, CommandContext } from './io.ts';
import { createScreen, layoutRows } from './layout.ts';
import { quote, usageError } from './usage-error.ts';

/** What the command needs besides the command line. */
export interface ChaosCommandContext extends CommandContext {
  /** Resolves when the person has had enough; by default at Ctrl-C or a polite end of the process. */
  readonly interrupted?: () => Promise<void>;
}

/** Adds `rerail chaos serve` and `rerail chaos faults`. */
export function addChaosCommand(program: Command, context: ChaosCommandContext): void {
  const { io, onExitCode } = context;
  const chaos = program
    .command('chaos')
    .description('Run a provider that misbehaves on purpose, to try an agent on')
    .addHelpText('after', `\n${examples}`)
    .allowExcessArguments()
    .action((_flags: object, command: Command) => {
      const [unknown] = command.args;
      if (unknown === undefined) {
        chaos.outputHelp();
        return;
      }
      throw usageError({
        message: `Unknown command ${quote(unknown)}`,
        hint: 'Type: rerail chaos serve, or: rerail chaos faults',
      });
    });
  chaos
    .command('serve')
    .description('Serve the protocols of OpenAI, Anthropic and Gemini until Ctrl-C')
    .option('--port <number>', 'The port to listen on; a free one by default')
    .option('--host <name>', 'The address to listen on; only this machine by default')
    .option('--allow-remote', 'Let other machines in')
    .option('--seed <number>', 'Decides the faults and the answers; 1 by default')
    .option('--rate <share>', 'The share of requests that get a fault: 0.3')
    .option('--faults <names>', 'The faults to draw from, with commas between them')
    .option('--script <file>', 'A JSON file with one fault for each request, null for none')
    .option('--tls', 'Serve https with a self-signed certificate')
    .option('--json', 'Print JSON lines and nothing else')
    .allowExcessArguments(false)
    .action(async (flags: ChaosFlags) => onExitCode(await runChaosServe(flags, context)));
  chaos
    .command('faults')
    .description('List every fault')
    .option('--json', 'Print one JSON object and nothing else')
    .allowExcessArguments(false)
    .action((flags: { readonly json?: true }) => {
      io.stdout.write(flags.json === true ? `${printableJson(faultRows())}\n` : renderFaults(io));
    });
}

/** Serves until it is interrupted, and says what happened. Returns the exit code. */
async function runChaosServe(flags: ChaosFlags, context: ChaosCommandContext): Promise<number> {
  const { io, interrupted = untilSignal } = context;
  const isJson = flags.json === true;
  const screen = createScreen(io);
  const server = await startChaosServer({
    ...(await chaosSettings(flags, io)),
    onRequest: (request) => {
      io.stdout.write(isJson ? jsonLine('request', request) : `${renderRequest(request, screen)}\n`);
    },
  });
  try {
    io.stdout.write(isJson ? jsonLine('listening', addressesOf(server)) : renderAddresses(server, screen));
    await interrupted();
  } finally {
    await server.close();
  }
  const counters = server.counters();
  io.stdout.write(isJson ? jsonLine('summary', counters) : renderSummary(counters, screen));
  return 0;
}

function addressesOf(server: ChaosServer): object {
  const { url, baseURL, certificate } = server;
  const protocols = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ollama'] as const;
  const baseURLs = Object.fromEntries(protocols.map((protocol) => [protocol, baseURL(protocol)]));
  return { url, baseURLs, ...(certificate === undefined ? {} : { certificate }) };
}

function jsonLine(type: string, fields: object): string {
  return `${printableJson({ type, ...fields })}\n`;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

function faultRows(): object {
  const entries = faultNames.map((name) => {
    const { summary, group, parameters = {}, needs } = faultRow(name);
    return [name, { group, summary, parameters, ...(needs === undefined ? {} : { needs }) }];
  });
  return { faults: Object.fromEntries(entries) as object };
}

function renderFaults(io: CliIo): string {
  const screen = createScreen(io);
  const labelWidth = Math.max(...faultNames.map((name) => name.length)) + 2;
  const rows = faultNames.map((name) => {
    const { summary, parameters = {} } = faultRow(name);
    const names = Object.keys(parameters);
    return { label: name, text: names.length === 0 ? summary : `${summary} (${names.join(', ')})` };
  });
  const lines = layoutRows(rows, { ...screen, indent: 0, labelWidth });
  return `${lines.join('\n')}\n\nAsk for one by a header: x-rerail-fault: rate-limit;retryAfter=3\n`;
}

const examples = `Examples:
  rerail chaos serve --rate 0.3
  rerail chaos serve --port 4000 --faults overloaded,reset-mid-stream --rate 1
  rerail chaos serve --script faults.json --json
  rerail chaos faults`;
