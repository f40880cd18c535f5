import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { systemClock, systemId } from '../../src/base/system.ts';
import { configError } from '../../src/errors/config-error.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import type { ChatAgent, ChatHandlers, StopName } from '../../src/cli/chat/chat-parts.ts';
import { holdChat } from '../../src/cli/chat/hold-chat.ts';
import { failureLine } from '../../src/cli/text/failure-line.ts';
import type { CliIo } from '../../src/cli/start/io.ts';
import { openTerminal } from '../../src/cli/start/open-terminal.ts';
import { openai } from '../../src/providers/openai/openai.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { tool } from '../../src/tools/tool.ts';

// A chat as the command line holds one, with its model at a chaos server: what a pseudo-terminal test runs.

const world = {
  baseURL: process.env['CHILD_BASE_URL'] ?? '',
  store: process.env['CHILD_STORE'] ?? '',
  commands: process.env['CHILD_COMMANDS'] ?? '',
};

const io: CliIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  readFile: (file) => toChunks(file),
  isTerminal: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
  columns: process.stdout.columns,
  env: process.env,
  now: () => Date.now(),
  folder: process.cwd(),
  home: process.cwd(),
  terminal:
    process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb'
      ? openTerminal(process.stdin, process.stdout)
      : undefined,
  command: 'rerail',
  version: '0.0.0',
};

async function* toChunks(file: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(readFileSync(file));
}

function open({ onApproval }: ChatHandlers, name = 'gpt-5.2'): Promise<ChatAgent> {
  if (name === 'nobody') return Promise.reject(configError('"nobody" names no model'));
  const model = openai(name, { baseURL: world.baseURL, apiKey: 'none' });
  const shell = tool({
    name: 'shell',
    description: 'Runs a command.',
    input: {
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
      additionalProperties: false,
    },
    effect: 'once',
    permission: 'ask',
    execute: () => Promise.resolve('it ran'),
  });
  const count = tool({
    name: 'count',
    description: 'Counts slowly.',
    input: { type: 'object', properties: {}, additionalProperties: false },
    effect: 'read',
    execute: (_input, { signal, progress }) => {
      progress('counting', { done: 1, total: 3 });
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('told to stop')), { once: true });
      });
    },
  });
  const nap = tool({
    name: 'nap',
    description: 'Sleeps for a moment.',
    input: { type: 'object', properties: {}, additionalProperties: false },
    effect: 'read',
    execute: (_input, { signal }) => setTimeout(800, 'rested', { signal }),
  });
  const book = tool({
    name: 'book',
    description: 'Books a seat.',
    input: { type: 'object', properties: {}, additionalProperties: false },
    execute: async (_input, { ask }) => `booked: ${await ask('Window or aisle?')}`,
  });
  const store = sqlite(world.store);
  const agent = createAgent({
    name: 'chat',
    model,
    tools: [shell, count, nap, book],
    policy: { retry: { baseDelayMs: 200 } },
    callbacks: { onApproval },
    store,
  });
  return Promise.resolve({
    agent,
    store,
    settings: {
      models: [{ name: `openai:${name}`, model }],
      modelLine: `openai:${name}, because the test says so`,
      notices: [],
      commandFiles: [],
      commandFolders: world.commands === '' ? [] : [world.commands],
      retry: { baseDelayMs: 200 },
    },
    tools: [shell, count, nap],
    takeBack: () => Promise.resolve([{ path: 'src/a.ts', result: 'restored' as const }]),
    close: () => store.close(),
  });
}

const names: readonly StopName[] = ['SIGHUP', 'SIGTERM', 'SIGINT'];

try {
  process.exitCode = await holdChat(
    {
      open: (wish, handlers) => open(handlers, wish.model),
      storeFlag: '',
      clock: systemClock,
      newId: systemId,
      onSignal: (hear) => {
        for (const name of names) process.on(name, () => hear(name));
        return () => undefined;
      },
      exit: (exitCode) => process.exit(exitCode),
    },
    io,
  );
} catch (error) {
  if (!RerailError.isInstance(error)) throw error;
  process.stderr.write(failureLine(error.failure));
  process.exitCode = 2;
}
