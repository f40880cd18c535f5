import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startExample } from '../../kill/example.ts';
import { openBackend, serverName } from './backend.ts';
import type { Backend } from './backend.ts';
import { installTemporal } from './find-temporal.ts';

let backend: Backend;
beforeAll(async () => {
  backend = await openBackend('agents');
});
afterAll(() => backend.close());

describe('the example', { timeout: 120_000 }, () => {
  it('says without a server what to start, and replays a history instead', async () => {
    vi.stubEnv('RERAIL_TEMPORAL_PACKAGES', installTemporal());
    vi.stubEnv('TEMPORAL_ADDRESS', undefined);
    const { lines, err, exitCode } = await startExample('examples/temporal/main.ts');
    expect({ lines, err, exitCode }).toEqual({
      lines: [
        expect.stringMatching(/temporal server start-dev.*TEMPORAL_ADDRESS=127\.0\.0\.1:7233/),
        expect.stringMatching(/^the history as it is: \d\d events, and the workflow does what they hold$/),
        'the same with another step in it: refused as INVALID_STATE',
      ],
      err: expect.not.stringContaining('Error:') as string,
      exitCode: 0,
    });
  });

  it(`goes on with another worker on ${serverName}`, async () => {
    vi.stubEnv('RERAIL_TEMPORAL_PACKAGES', installTemporal());
    vi.stubEnv('TEMPORAL_ADDRESS', backend.options.address);
    const { lines, err, exitCode } = await startExample('examples/temporal/main.ts');
    expect({ lines, err, exitCode }).toEqual({
      lines: [
        'first worker:',
        '  suspended',
        'second worker:',
        '  shipping order 17',
        '  Order 17 is on its way.',
      ],
      err: '',
      exitCode: 0,
    });
  });
});
