import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callModel, classifyProviderFailure } from '../../src/index.ts';
import { createGates } from '../../src/model/index.ts';
import { simulatedClock } from '../../src/testing/index.ts';
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

  it('does not use up the attempts of a call', async () => {
    const clock = simulatedClock();
    const { model } = await startWire('openai-chat', [{ text: 'Hello.' }], { fetch: shortOfFiles(7) });
    const outcome = clock.runUntil(
      callModel(
        model,
        { messages: [{ role: 'user', content: 'Hi' }] },
        { clock, gates: createGates({ clock }) },
      ),
    );
    expect(await outcome).toMatchObject({ type: 'failure', failure: { code: 'INVALID_REQUEST' } });
  });

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

/** Fails so often for want of a file, and then answers with a refusal that is final. */
function shortOfFiles(times: number): typeof globalThis.fetch {
  let left = times;
  return () => {
    left -= 1;
    const error = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE', syscall: 'connect' });
    if (left >= 0) return Promise.reject(new TypeError('fetch failed', { cause: error }));
    return Promise.resolve(new Response('{"error":{"type":"invalid_request_error"}}', { status: 400 }));
  };
}
