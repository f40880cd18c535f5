import { tmpdir } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { notAvailable } from '../../tools/sandbox/sandbox-failure.ts';
import { openWorkspace } from '../../tools/workspace/open-workspace.ts';
import { demandSandbox } from './demand-sandbox.ts';

describe('demandSandbox()', () => {
  it('fails closed where less is available than is required, and says what to install or to type', async () => {
    const reasons = ['contained: bubblewrap is not installed'];
    const workspace = await openWorkspace(tmpdir(), { sandbox: { min: 'contained' } }, () =>
      Promise.reject(notAvailable('contained', { found: 'restricted', reasons })),
    );
    await expect(demandSandbox(workspace)).rejects.toMatchObject({
      failure: {
        code: 'SANDBOX_SETUP_FAILED',
        message:
          'Commands must run in a sandbox of level "contained" at least, and this machine has "restricted": contained: bubblewrap is not installed',
        hint: 'The model was not asked. Install bubblewrap 0.5 or later, or let "min" be "restricted", at the command line: --sandbox restricted. What is missing: rerail doctor',
      },
    });
  });

  it('looks for nothing where nothing is demanded', async () => {
    const probe = vi.fn<() => Promise<never>>(() => Promise.reject(new Error('looked')));
    await demandSandbox(await openWorkspace(tmpdir(), {}, probe));
    await demandSandbox(await openWorkspace(tmpdir(), { sandbox: { off: 'a test' } }, probe));
    expect(probe).not.toHaveBeenCalled();
  });

  it('hands on what is no failure of the sandbox', async () => {
    const workspace = await openWorkspace(tmpdir(), { sandbox: { min: 'bare' } }, () =>
      Promise.reject(new TypeError('a defect')),
    );
    await expect(demandSandbox(workspace)).rejects.toThrow(TypeError);
  });
});
