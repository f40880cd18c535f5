import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { CliIo } from '../start/io.ts';
import type { ChatParts } from './chat-parts.ts';
import { holdChat } from './hold-chat.ts';

const parts: ChatParts = {
  open: () => Promise.reject(new Error('nobody asked for an agent')),
  storeFlag: '',
  clock: simulatedClock(),
  newId: () => 'id',
  onSignal: () => () => undefined,
  exit: () => undefined,
};

describe('a chat without a terminal', () => {
  it('refuses before anything is opened, and names what to type instead', async () => {
    const io = {
      isTerminal: { stdin: false, stdout: true, stderr: true },
      terminal: undefined,
      command: 'npx rerail',
    } as Partial<CliIo> as CliIo; // No more is looked at.
    await expect(holdChat(parts, io)).rejects.toMatchObject({
      failure: { code: 'CONFIG_ERROR', hint: expect.stringContaining('npx rerail run') as string },
    });
  });
});
