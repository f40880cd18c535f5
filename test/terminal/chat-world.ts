import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChaosServer } from '../../src/chaos/server.ts';
import type { ChaosServer } from '../../src/chaos/server.ts';
import type { ChaosServerOptions } from '../../src/chaos/options.ts';
import { openPseudoTerminal } from './pseudo-terminal.ts';
import type { PseudoTerminal, PseudoTerminalOptions } from './pseudo-terminal.ts';

/** A chat in a terminal, with its model at a server that misbehaves as told. */
export interface ChatWorld {
  readonly terminal: PseudoTerminal;
  readonly server: ChaosServer;
  readonly storeFile: string;
  readonly folder: string;
  readonly close: () => Promise<void>;
}

export interface ChatWorldOptions extends Partial<Pick<PseudoTerminalOptions, 'env' | 'columns' | 'rows'>> {
  readonly server?: ChaosServerOptions;
}

/** Begins a chat with the program that was bundled from `chat-child.ts`. */
export async function openChatWorld(program: string, options: ChatWorldOptions = {}): Promise<ChatWorld> {
  const { server: serverOptions, env, ...size } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-chat-'));
  const server = await startChaosServer(serverOptions);
  const storeFile = path.join(folder, 'runs.db');
  const terminal = openPseudoTerminal({
    args: [program],
    folder,
    env: { CHILD_BASE_URL: server.baseURL('openai-chat'), CHILD_STORE: storeFile, ...env },
    ...size,
  });
  return {
    terminal,
    server,
    storeFile,
    folder,
    close: async () => {
      terminal.kill();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
