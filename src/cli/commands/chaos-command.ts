import { printableJson } from '../../base/printable.ts';
import { faultNames, faultRow } from '../../chaos/faults/fault-table.ts';
import { startChaosServer } from '../../chaos/server.ts';
import type { ChaosServer } from '../../chaos/server.ts';
import { chaosSettings } from './chaos-flags.ts';
import type { ChaosFlags } from './chaos-flags.ts';
import { renderAddresses, renderRequest, renderSummary } from './chaos-report.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen, layoutRows } from '../text/layout.ts';
import { onReaderGone } from '../start/reader-gone.ts';

/** `rerail chaos serve`, until Ctrl-C or a polite end of the process. */
export const runChaosServe: CommandRun = ({ flags }, io) => serveChaos(flags, io);

/** `rerail chaos faults`. */
export const runChaosFaults: CommandRun = ({ flags }, io) => {
  io.stdout.write(flags['json'] === true ? `${printableJson(faultRows())}\n` : renderFaults(io));
  return Promise.resolve(0);
};

/** Serves until it is interrupted, and says what happened. Returns the exit code. */
export async function serveChaos(
  flags: ChaosFlags,
  io: CliIo,
  interrupted: () => Promise<void> = untilSignal,
): Promise<number> {
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

/** Or until its lines have no reader any more. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      stopListening();
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      resolve();
    };
    const stopListening = onReaderGone(stop);
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
