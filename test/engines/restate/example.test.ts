import { expect, it } from 'vitest';
import { startExample } from '../../kill/example.ts';
import { installRestate } from './install.ts';

it('the example goes on with another worker after a SIGKILL, and does nothing twice', async () => {
  installRestate();
  const { lines, err, exitCode, left } = await startExample('examples/restate/main.ts');
  expect({ lines, err, exitCode, left }).toEqual({
    lines: [
      'first worker:',
      '  reserving order 17',
      '  suspended',
      '  SIGKILL',
      'second worker:',
      '  shipping order 17',
      '  Order 17 is on its way.',
    ],
    err: '',
    exitCode: 0,
    left: [],
  });
}, 120_000);
