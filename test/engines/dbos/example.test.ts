import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { bundleProgram } from '../../kill/program.ts';
import { installDbos } from './find-dbos.ts';

it(
  'the example goes on in another process after a SIGKILL, and does nothing twice',
  { timeout: 120_000 },
  async () => {
    installDbos();
    const program = await bundleProgram('examples/dbos/main.ts');
    try {
      const env = { ...process.env, NODE_OPTIONS: undefined };
      const child = spawn(process.execPath, [program.file], { env, timeout: 60_000, killSignal: 'SIGKILL' });
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect({ lines: out.trimEnd().split('\n'), err, exitCode: child.exitCode }).toEqual({
        lines: [
          'first process:',
          '  reserving order 17',
          '  suspended',
          '  SIGKILL',
          'second process:',
          '  shipping order 17',
          '  Order 17 is on its way.',
        ],
        err: '',
        exitCode: 0,
      });
    } finally {
      await program.remove();
    }
  },
);
