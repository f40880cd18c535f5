import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { classifyProviderFailure } from '../../src/index.ts';
import { bundleProgram } from '../kill/program.ts';
import { startWire } from './wire-server.ts';

describe('a machine that runs out of something while it connects', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL', 'EAGAIN', 'ENOMEM'])(
    '%s is retryable, and nothing was sent',
    (code) => {
      const error = Object.assign(new Error(`connect ${code} 127.0.0.1:443`), { code, syscall: 'connect' });
      expect(
        classifyProviderFailure({ error: new TypeError('fetch failed', { cause: error }) }),
      ).toMatchObject({
        code: 'NETWORK_ERROR',
        retryable: true,
        phase: 'connect',
      });
    },
  );

  it('completes 300 runs at once under a low limit of open files', async () => {
    const program = await bundleProgram('test/wire/few-files-program.ts');
    onTestFinished(program.remove);
    const { server } = await startWire('openai-chat', [{ text: 'Hello.' }]);
    const { port } = server.address() as AddressInfo;
    const command = `ulimit -n 40 && exec "$0" "$1" "$2" 300`;
    const child = spawn(
      'sh',
      ['-c', command, process.execPath, program.file, `http://127.0.0.1:${port}/v1`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: 60_000,
      },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await new Promise((resolve) => child.on('close', resolve));
    const { completed, shortages } = JSON.parse(output) as { completed: number; shortages: number };
    expect(shortages, 'the limit was reached').toBeGreaterThan(0);
    expect(completed).toBe(300);
  }, 90_000);
});
